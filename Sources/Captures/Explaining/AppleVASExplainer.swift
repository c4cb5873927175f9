import CardCore
import CardPasses

/// Apple VAS: GET VAS DATA, and what a phone answers to it and to its SELECT.
struct AppleVASExplainer: ExchangeExplainer {
    func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.cla == 0x80, apdu.ins == Instruction.getData else { return nil }
        // GET DATA of class 80 is many applications'; VAS asks with its own tags.
        let objects = BERTLV.decodePrefix(apdu.data).objects
        let isVAS = objects.contains { [0x9F22, 0x9F25, 0x9F26, 0x9F29].contains($0.tag) }
        guard state.selection == .wallet(.apple) || isVAS else { return nil }
        return ExplainedExchange(command(apdu, objects), answer(apdu))
    }

    private func command(_ apdu: RecordedExchange.Parts, _ objects: [BERTLV]) -> ExplainedExchange.Message {
        var fields = TLVFields.make(apdu.data, at: apdu.dataOffset, Self.request) + apdu.faults
        if apdu.p1 != 0x01 || apdu.p2 > 0x01 {
            let meaning = "0101 asks for a pass and 0100 offers an address; nothing else is known"
            fields.insert(ExplainedField("P1 P2", at: 2, [apdu.p1, apdu.p2], meaning: meaning), at: 0)
        }
        let title: String
        if apdu.p2 == 0x00 {
            let url = objects.find(0x9F29)?.value.flatMap(ExplanationText.ascii)
            title = url.map { "offers the address \(ExplanationText.quote($0))" } ?? "offers an address, and has none"
        } else {
            let id = objects.find(0x9F25)?.value
            title = id.map { "asks for the pass \(ExplanationText.hex($0, longest: 8))" } ?? "asks for no pass"
        }
        return .init("GET VAS DATA: " + title, fields)
    }

    private func answer(_ apdu: RecordedExchange.Parts) -> ExplainedExchange.Message {
        guard let status = apdu.status else { return .init(StatusText.title(apdu, "")) }
        let fields = TLVFields.make(apdu.body, at: 0, Self.answer)
        let meaning: String
        do throws(AppleVASError) {
            switch try AppleVASAnswer(ResponseAPDU(data: apdu.body, statusWord: status)) {
            case .pass(let cryptogram):
                meaning = "a pass, encrypted for the key \(cryptogram.keyIdentifier.hex)"
            case .noData: meaning = status.isSuccess ? "done, without a pass" : "the phone has nothing to say"
            case .noSuchPass: meaning = "there is no pass of this kind, or another one is shown"
            case .locked: meaning = "the pass is there, but the phone is locked"
            case .needsUser: meaning = "the owner has to choose or to confirm on the phone"
            case .refused: meaning = Self.refusals[status] ?? status.name
            }
        } catch {
            meaning = error.message
        }
        return .init(StatusText.title(status, meaning), fields + StatusText.field(apdu, meaning))
    }

    private static let refusals: [StatusWord: String] = [
        .incorrectData: "the phone does not understand the data objects",
        .wrongLength: "the phone does not take a command of this length",
        .wrongP1P2: "the phone does not know these P1 and P2",
        .functionNotSupported: "the phone does not have this function",
        .fileNotFound: "the wallet is not selected",
        .securityStatusNotSatisfied: "the phone does not allow it",
    ]

    // MARK: Tags

    static let selection = TagDictionary([
        0x9F21: .meaning("version of VAS") {
            $0.count == 2 ? "\($0[0]).\($0[1])" : "should have 2 bytes, has \($0.count)"
        },
        0x9F24: .init("nonce of the phone", "another one at each SELECT; nothing depends on it"),
        0x9F23: .meaning("mobile capabilities") { value in
            value.last.map { ExplanationText.bits($0, capabilities) }
        },
    ]).adding(SelectionExplainer.template)

    static let request = TagDictionary([
        0x9F22: .meaning("version of VAS") { $0 == [0x01, 0x00] ? "1.0" : "1.0 is known, which is 0100" },
        0x9F25: .meaning("merchant id") { value in
            "SHA-256 of the pass type identifier"
                + (value.count == 32 ? "" : ", which should have 32 bytes, has \(value.count)")
        },
        0x9F26: .init("terminal capabilities") { value, start in
            .init(
                meaning: value.count == 4 ? nil : "should have 4 bytes, has \(value.count)",
                fields: terminal(value, start)
            )
        },
        0x9F28: .init("nonce of the terminal", "random; nothing depends on it"),
        0x9F2B: .meaning("filter") { $0 == [0x01, 0, 0, 0, 0] ? "none" : "0100000000 is known, which is none" },
        0x9F29: .ascii("address to get a pass at"),
    ])

    static let answer = TagDictionary([
        0x70: .init("answer"),
        0x9F2A: .meaning("mobile token") {
            $0.count > AppleVASLimits.token ? "longer than \(AppleVASLimits.token) bytes, and so not accepted" : nil
        },
        0x9F27: .init("cryptogram", explain: cryptogram),
    ])

    private static func cryptogram(_ value: [UInt8], _ start: Int) -> TagDictionary.Content {
        guard (try? AppleVASCryptogram(value)) != nil else {
            return .init(meaning: value.isEmpty ? nil : "too short or too long to be one")
        }
        var reader = FieldReader(value, at: start)
        reader.take("key identifier", 4) { _ in "which of the reader's keys it is for" }
        reader.take("ephemeral key", 32) { _ in "X of a key that the phone made for this tap" }
        reader.take("ciphertext", value.count - 52) { _ in "time and message of the pass; not opened here" }
        reader.rest("tag") { _ in "proves that nothing of it was changed" }
        return .init(fields: reader.fields)
    }

    private static let capabilities: KeyValuePairs<UInt8, String> = [
        0x01: "gives passes as plain text", 0x02: "gives passes encrypted", 0x04: "passes may be left out",
        0x08: "passes may be asked for", 0x10: "payment may be left out", 0x20: "payment may be asked for",
    ]

    private static func terminal(_ value: [UInt8], _ start: Int) -> [ExplainedField] {
        guard value.count == 4 else { return [] }
        var reader = FieldReader(value, at: start)
        reader.take("reserved", 1)
        reader.take("kind of reader", 1) { bytes in
            let kind = terminals[bytes[0] & 0x0F] ?? "unknown kind \([bytes[0] & 0x0F].hex)"
            let flags: KeyValuePairs<UInt8, String> = [0x80: "passes", 0x40: "the owner has to confirm"]
            return "\(ExplanationText.bits(bytes[0] & 0xF0, flags, none: "no passes")); \(kind)"
        }
        reader.take("reserved", 1)
        reader.take("mode", 1) { bytes in
            let mode = modes[bytes[0] & 0x03] ?? ""
            let unknown = bytes[0] & 0x7C
            return mode + (bytes[0] & 0x80 == 0 ? ", the last question" : ", more questions follow")
                + (unknown == 0 ? "" : ", unknown bits \([unknown].hex)")
        }
        return reader.fields
    }

    private static let terminals: [UInt8: String] = [
        0x0: "payment", 0x1: "transit", 0x2: "access", 0x3: "wireless handover", 0x4: "handover to an app",
        0xF: "another kind",
    ]

    private static let modes: [UInt8: String] = [
        0: "a pass or a payment", 1: "passes and a payment", 2: "passes only", 3: "a payment only",
    ]
}
