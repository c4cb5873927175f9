import Foundation
import ReaderKit

extension FuzzTarget {
    /// The low half of the first byte says what the rest is, the high half how the place reads it.
    static func runPasses(_ bytes: [UInt8]) throws(FuzzFinding) {
        guard let how = bytes.first else { return }
        guard let place = PassPlace.fixed else { throw FuzzFinding("the keys of the place are keys") }
        let rest = Array(bytes.dropFirst())
        switch how & 0x0F {
        case 0: try runPhone(rest, how, place)
        case 1: try runSignedAddress(rest, place)
        case 2: try runPassConfiguration(rest)
        case 3: try runPieces(rest, place)
        default: break
        }
    }

    // MARK: A conversation with a phone

    private static func runPhone(_ answers: [UInt8], _ how: UInt8, _ place: PassPlace) throws(FuzzFinding) {
        func read(_ site: PassSite, after seconds: TimeInterval = 0) -> CardReading {
            let channel = ScriptedChannel(facts: PassPlace.phone, answers: FuzzInput(answers))
            return CardReading(
                over: channel,
                limits: .default,
                site: site,
                at: PassPlace.moment.addingTimeInterval(seconds)
            )
        }
        let site = place.site(how)
        let reading = read(site)
        try check(reading, of: answers)
        try require(!reading.passes.contains { $0.kind == .uid }, "a phone's identifier names nobody")
        for pass in reading.passes where pass.kind == .smartTap && pass.assurance != .identifier {
            // Only a signature made in advance is the same each time, and with it what phones encrypt for it.
            try require(
                how & 0x40 != 0 && pass.assurance == .cryptographic && place.proven.contains(pass.id),
                "only genuine data are proven, and a recording of them no further than that"
            )
        }
        for pass in reading.passes where pass.kind == .sdm {
            try require(place.holders.contains(pass.id), "an address is accepted that no tag has signed")
        }
        let apple = reading.passes.filter { $0.kind == .appleVAS }
        guard !apple.isEmpty else { return }
        try require(apple.map(\.id) == [PassPlace.message], "one pass is given, and says what was encrypted")
        try require(
            place.cryptograms(how).contains { answers.contains($0) },
            "a cryptogram opens that nobody has made"
        )
        for (what, again) in [
            ("presented again", read(site, after: 1)), ("too old", read(place.site(how), after: 301)),
            ("of a time to come", read(place.site(how), after: -301)),
        ] {
            try check(again, of: answers)
            try require(!again.passes.contains { $0.kind == .appleVAS }, "a pass counts that is \(what)")
        }
    }

    private static func check(_ reading: CardReading, of input: [UInt8]) throws(FuzzFinding) {
        for problem in reading.problems {
            switch problem.code {
            case .passNotAccepted, .passReplayed, .passExpired, .passNotTrusted, .noPass, .invalidPass, .phoneLocked,
                .phoneNeedsOwner:
                try PassWords.check(problem.message, of: input)
            default: try require(!problem.message.isEmpty, "a problem says what it is")
            }
        }
        for pass in reading.passes { try require(MemberID.isUsable(pass.id), "an id of a pass is usable") }
    }

    // MARK: The address of a signing tag

    private static func runSignedAddress(_ bytes: [UInt8], _ place: PassPlace) throws(FuzzFinding) {
        let url = String(decoding: bytes, as: UTF8.self)
        for tags in place.tags {
            switch Result(catching: { () throws(SDMError) in try tags.verifier.verify(url) }) {
            case .success(let tap): try require(place.taps.contains(tap), "a code is accepted that no tag has made")
            case .failure(let error): try PassWords.check("\(error)", of: Array(url.utf8))
            }
        }
        // As it stands on a tag. Longer ones are none that tags have room for.
        guard let record = try? NDEFRecord.uri(url), let message = try? NDEFMessage([record]).encoded(),
            message.count <= 1024
        else { return }
        let container: [UInt8] = [0x00, 0x0F, 0x20, 0, 0x7F, 0, 0x7F, 0x04, 0x06, 0xE1, 0x04, 0x04, 0x02, 0x00, 0x00]
        let length = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
        let file = length + message + [UInt8](repeating: 0, count: 1024 - message.count)
        // No wallet is asked for here: the card answers to every name.
        let site = PassSite(signingTags: place.tags)
        func read() throws(FuzzFinding) -> CardReading {
            let card = FileChannel(container: container, file: file)
            let reading = CardReading(over: card, limits: .default, site: site, at: PassPlace.moment)
            try check(reading, of: Array(url.utf8))
            if reading.problems.contains(where: { $0.code == .passNotAccepted || $0.code == .passReplayed }) {
                try require(reading.passes.isEmpty, "an address that is not right names nobody")
            }
            return reading
        }
        let signed = try read().passes.filter { $0.kind == .sdm }
        guard let pass = signed.first else { return }
        try require(signed.count == 1 && place.holders.contains(pass.id), "an address names whom the tag has signed")
        let again = try read().passes.filter { $0.kind == .sdm }
        try require(
            again.isEmpty == (pass.assurance == .cryptographicWithReplayProtection),
            "an address with an identifier and a counter counts once, any other as often as it comes"
        )
    }

    // MARK: A configuration

    private static func runPassConfiguration(_ bytes: [UInt8]) throws(FuzzFinding) {
        let parsed = Result { () throws(PassConfigurationError.Fault) in try PassConfiguration(json: Data(bytes)) }
        switch parsed {
        case .failure(let fault):
            try require(!fault.what.isEmpty, "a fault says what is wrong")
            _ = "\(PassConfigurationError.malformed("passes.json", fault))"
        case .success(let configuration):
            let json = try unfailing("what was read can be written") { try JSONEncoder().encode(configuration) }
            let again = try? PassConfiguration(json: json)
            try require(again == configuration, "a configuration comes back from its JSON")
        }
    }

    // MARK: Pieces, each by itself

    private static func runPieces(_ bytes: [UInt8], _ place: PassPlace) throws(FuzzFinding) {
        if let answer = try? ResponseAPDU(bytes: bytes) { try runSelection(answer) }
        if let cryptogram = try? AppleVASCryptogram(bytes) {
            for merchant in place.merchants {
                let opened = Result { () throws(AppleVASError) in
                    try cryptogram.open(for: merchant, allowsVariant: true)
                }
                switch opened {
                case .success(let message):
                    try require(place.cryptograms(0).contains(bytes), "a cryptogram opens that nobody has made")
                    try require(message.text == PassPlace.message, "a cryptogram says what was encrypted")
                case .failure(let error): try PassWords.check("\(error)", of: bytes)
                }
            }
        }
        // A record whose content is malformed is read, for whoever needs it to judge, and not written.
        let isWellFormed = NDEFMessage.decodeLeniently(bytes).fault?.isTolerable ?? true
        if isWellFormed, let records = try? SmartTapRecords.read(bytes), !records.isEmpty {
            let again = try? SmartTapRecords.read(SmartTapRecords.bytes(records))
            try require(again == records, "records come back from their bytes")
            for record in records {
                try require(record.primitive?.count ?? 0 == max(record.payload.count - 1, 0), "a primitive is the rest")
                _ = record.smartTapText
            }
        }
        if let data = try? Inflation.inflate(bytes, limit: 4096) {
            try require(data.count <= 4096, "what is inflated keeps to the limit")
        }
        // No phone sends them, and a person may name any file.
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = AppleVASKey(pem: text) {
            try require(key.identifier.count == 4 && key.publicKey.count == 33, "a key has an identifier and a point")
        }
        _ = (SmartTapKey(pem: text, collectorID: 1, version: 1), SecretKey(text: text))
        if let signature = SmartTapPreSignature(text: text) {
            let again = SmartTapPreSignature(text: signature.text)
            try require(again?.text == signature.text, "a signature made in advance comes back from its text")
        }
    }

    private static func runSelection(_ answer: ResponseAPDU) throws(FuzzFinding) {
        switch WalletSelection(answer) {
        case .apple(let template):
            switch Result(catching: { () throws(AppleVASError) in try AppleVASApplication(template) }) {
            case .success(let application):
                try require(application.version.major == 1, "another version of the protocol is not spoken")
            case .failure(let error): try PassWords.check("\(error)", of: answer.data)
            }
        case .google(let template):
            switch Result(catching: { () throws(SmartTapError) in try SmartTapApplication(template) }) {
            case .success(let application):
                try require(application.versions.contains(1), "another version of the protocol is not spoken")
                try require(application.nonce?.count ?? 32 == 32, "a number to sign has 32 bytes")
                try require(application.ephemeralKey?.count ?? 33 == 33, "a point has 33 bytes")
            case .failure(let error): try PassWords.check("\(error)", of: answer.data)
            }
        case .unknown(let label):
            try require(
                label.utf8.count <= 16 && label.utf8.allSatisfy { (0x20..<0x7F).contains($0) },
                "a label is short and can be shown"
            )
        case .absent, .malformed: break
        }
    }
}
