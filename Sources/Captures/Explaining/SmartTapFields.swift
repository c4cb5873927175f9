import CardCore
import CardPasses
import NDEFCodec

/// The records of Smart Tap as fields: messages within records, under names of one to three letters.
enum SmartTapFields {
    /// How deep messages stand within records: a request, a session's part, its merchant, and one to spare.
    private static let depthLimit = 6

    /// How much is shown of data that inflate, in bytes: more than any pass, and not so much that a small file makes a long
    /// text.
    private static let longestInflated = 4096

    static func message(_ bytes: [UInt8], at start: Int, depth: Int = 1) -> [ExplainedField] {
        guard !bytes.isEmpty, depth <= depthLimit else { return [] }
        return NDEFFields.records(bytes, at: start, name: name) { content($0, at: $1, depth: depth) }
    }

    /// Reads the records before the first fault.
    static func leniently(_ bytes: [UInt8]) -> [NDEFRecord] {
        bytes.isEmpty ? [] : NDEFMessage.decodeLeniently(bytes).message.records
    }

    // MARK: For titles

    /// The collector that a request names, as `collector 20180608`.
    static func collector(in records: [NDEFRecord]) -> String? {
        let inner = records.lazy.filter { $0.isNamed("ngr") || $0.isNamed("srq") }
            .flatMap { leniently(Array($0.payload.dropFirst(2))) }
        for record in inner {
            let skip = record.isNamed("cpr") ? proofLength : record.isNamed("mer") ? 0 : nil
            guard let skip, let id = leniently(Array(record.payload.dropFirst(skip))).first(named: "cld")?.primitive
            else { continue }
            return "collector " + (ExplanationText.number(id).map(String.init) ?? id.hex)
        }
        return nil
    }

    static func services(in records: [NDEFRecord]) -> [String] {
        guard let request = records.first(named: "srq"),
            let list = leniently(Array(request.payload.dropFirst(2))).first(named: "slr")
        else { return [] }
        return leniently(list.payload).filter { $0.isNamed("str") }.flatMap(\.payload).map(service)
    }

    // MARK: Records

    /// The name by which Smart Tap knows a record: the type of an external record, else its id.
    private static func shortName(_ record: NDEFRecord) -> String? {
        let bytes = record.tnf == .external ? record.type : record.id ?? []
        return bytes.count <= 3 ? ExplanationText.ascii(bytes) : nil
    }

    private static func name(_ record: NDEFRecord) -> String {
        guard let short = shortName(record) else { return NDEFFields.name(record) }
        return names[short].map { "\(short) \($0)" } ?? short
    }

    private static func content(_ record: NDEFRecord, at payload: Int?, depth: Int) -> TagDictionary.Content {
        guard let short = shortName(record), names[short] != nil else {
            return NDEFFields.content(record, at: nil, depth: NDEFLimits.default.nesting)
        }
        // What is in chunks has no place of its own.
        var reader = FieldReader(record.payload, at: payload ?? 0)
        func nested() {
            reader.rest { message($0, at: $1, depth: depth + 1) }
        }
        var said = TagDictionary.Content()
        switch short {
        case "ngr", "srq", "spr":
            reader.take("version", 2) { $0 == [0x00, 0x01] ? "Smart Tap 2.1" : nil }
            nested()
        case _ where messages.contains(short): nested()
        case "ses":
            reader.take("session id", 8)
            reader.take("number of the command", 1) { "\($0[0])" }
            reader.take("status", 1) { sessionStatus[$0[0]] ?? "unknown" }
            if record.payload.count == 10 { said.meaning = sessionStatus[record.payload[9]] }
            reader.rest("more")
        case "cpr":
            reader.take("nonce of the terminal", 32) { _ in "random, for this tap" }
            reader.take("kind of signature", 1) { signatures[$0[0]] ?? "unknown" }
            reader.take("ephemeral key of the terminal", 33) { _ in "a compressed point, for this tap" }
            reader.take("key version", 4) { ExplanationText.number($0).map { "\($0), of the collector's key" } }
            nested()
        case "dpk": said.meaning = "a compressed point, for this tap"
        case "str": said.meaning = ExplanationText.list(record.payload.map(service))
        case "pcr":
            for (name, bits) in capabilities { reader.take(name, 1) { ExplanationText.bits($0[0], bits) } }
            reader.rest("more")
        case "reb": bundle(record.payload, &reader, depth)
        case "i":
            format(&reader)
            reader.take("kind of issuer", 1) { issuers[$0[0]] ?? "unknown" }
            reader.rest("issuer") { ExplanationText.number($0).map { "\($0)" } }
        case "nsr":
            reader.take("kind of push", 1) { pushes[$0[0]] ?? "unknown" }
            nested()
        case "sug":
            reader.take("what became of it", 1) { usages[$0[0]] ?? "unknown" }
            nested()
        case "sup":
            reader.take("operation", 1) { operations[$0[0]] ?? "unknown" }
            reader.rest("value")
        case "cld":
            format(&reader)
            reader.rest("collector id") { ExplanationText.number($0).map { "\($0)" } }
        default: said = primitive(record, &reader)
        }
        if payload != nil { said.fields = reader.fields }
        return said
    }

    /// A text, or a format and some bytes.
    private static func primitive(_ record: NDEFRecord, _ reader: inout FieldReader) -> TagDictionary.Content {
        if record.tnf == .wellKnown {
            if record.type == NDEFType.uri { return NDEFFields.content(record, at: nil, depth: 0) }
            return .init(text: record.smartTapText)
        }
        format(&reader)
        reader.rest("value")
        // A format of characters, and not one of bytes.
        return .init(text: record.payload.first == 0x00 ? nil : record.smartTapText)
    }

    private static func format(_ reader: inout FieldReader) {
        reader.take("format", 1) { formats[$0[0]] ?? "unknown" }
    }

    // MARK: The bundle

    /// Flags, then data that may be encrypted and compressed. What is encrypted is never opened.
    private static func bundle(_ payload: [UInt8], _ reader: inout FieldReader, _ depth: Int) {
        let names: KeyValuePairs<UInt8, String> = [0x01: "encrypted", 0x02: "compressed"]
        reader.take("flags", 1) { ExplanationText.bits($0[0], names, none: "neither encrypted nor compressed") }
        guard let flags = payload.first else { return }
        guard flags & 0x01 == 0 else {
            let (vector, code) = (12, 32)
            guard reader.left >= vector + code else { return reader.rest("data") { _ in "too short to be encrypted" } }
            reader.take("initialisation vector", vector)
            reader.take("ciphertext", reader.left - code) { _ in
                "what the phone gives, encrypted for this tap; it is not opened here"
            }
            return reader.rest("authentication code") { _ in "proves that it is of this tap, and unchanged" }
        }
        guard flags & 0x02 != 0 else { return reader.rest { message($0, at: $1, depth: depth + 1) } }
        reader.rest { bytes, start in
            var field = ExplainedField("compressed data", at: start, bytes)
            do throws(Inflation.Failure) {
                let data = try Inflation.inflate(bytes, limit: longestInflated)
                let fields = message(data, at: 0, depth: depth + 1)
                field.fields = [ExplainedField("inflated data", at: nil, data, isJoined: true, fields: fields)]
            } catch {
                field.meaning =
                    error == .tooLong
                    ? "longer than \(longestInflated) bytes when inflated, which is not shown" : "they do not inflate"
            }
            return [field]
        }
    }

    // MARK: Tables

    private static let capabilities: KeyValuePairs<String, KeyValuePairs<UInt8, String>> = [
        "system": [
            0x01: "stand-alone", 0x02: "semi-integrated", 0x04: "unattended", 0x08: "online", 0x10: "offline",
            0x20: "mobile marketing", 0x40: "inflates compressed data",
        ],
        "interface": [
            0x01: "printer", 0x02: "printer of graphics", 0x04: "display", 0x08: "images", 0x10: "audio",
            0x20: "animation", 0x40: "video",
        ],
        "checkout": [
            0x01: "payment", 0x02: "digital receipts", 0x04: "issues services",
            0x08: "data of the point of sale over the air",
        ],
        "verification": [
            0x01: "online PIN", 0x02: "PIN of the device", 0x04: "signature", 0x08: "none needed",
            0x10: "code of the device", 0x20: "code of the service provider", 0x40: "identity document",
            0x80: "biometric",
        ],
        "tap mode": [
            0x01: "passes only", 0x02: "payment only", 0x04: "passes and payment", 0x08: "passes rather than payment",
        ],
    ]

    /// How many bytes stand before the message in `cpr`: number, kind of signature, key, key version.
    private static let proofLength = 32 + 1 + 33 + 4

    /// Records that hold a message and nothing else.
    private static let messages: Set<String> = [
        "nrs", "srs", "psr", "mer", "slr", "ssr", "asv", "bpr", "cus", "ly", "of", "gc", "pl", "et", "fl", "tr", "gr",
        "gp",
    ]

    private static let names: [String: String] = [
        "ngr": "negotiation", "nrs": "answer to the negotiation", "ses": "session", "cpr": "terminal's proof",
        "sig": "signature", "cld": "collector", "dpk": "ephemeral key of the phone", "mdn": "nonce of the phone",
        "srq": "request", "srs": "answer to the request", "mer": "merchant", "lid": "location", "tid": "terminal",
        "mnr": "name of the merchant", "mcr": "category of the merchant", "slr": "list of services",
        "str": "kinds of passes", "pcr": "what the terminal can do", "reb": "bundle", "asv": "service value",
        "i": "issuer", "cus": "customer", "cid": "customer id", "cpl": "language", "cut": "number of the tap",
        "cud": "device of the customer", "ly": "loyalty card", "of": "offer", "gc": "gift card",
        "pl": "closed loop card", "et": "ticket to an event", "fl": "boarding pass", "tr": "ticket of public transport",
        "gr": "generic pass", "gp": "generic private pass", "oid": "object id", "n": "value", "p": "PIN",
        "ex": "expiry", "c1": "check number", "tr1": "magnetic track 1", "tr2": "magnetic track 2",
        "tcr": "transaction counter", "spr": "push", "psr": "answer to the push", "ssr": "status of a service",
        "sug": "usage", "sut": "title", "sud": "description", "sup": "update", "nsr": "new service",
        "nst": "title", "nsu": "address", "bpr": "basket", "mon": "amount", "ccd": "currency",
        "mid": "collector (old)", "sid": "service id", "asr": "further request (old)", "enc": "encrypted value (old)",
    ]

    private static let sessionStatus: [UInt8: String] = [
        0: "unknown", 1: "well", 2: "the records could not be read", 3: "the version is not supported",
        4: "the number of the command is wrong", 5: "the merchant is not known", 6: "what the merchant is is missing",
        7: "what is asked for is missing", 8: "to be sent again", 9: "the data are not there yet",
    ]

    private static let signatures: [UInt8: String] = [
        0: "made in advance: over zeros in place of the phone's number",
        1: "live: over the phone's number too",
    ]

    private static let formats: [UInt8: String] = [
        0: "not told", 1: "ASCII", 2: "UTF-8", 3: "UTF-16", 4: "binary", 5: "decimal digits",
    ]

    private static let issuers: [UInt8: String] = [
        0: "not told", 1: "a merchant", 2: "the wallet", 3: "the maker of the phone",
    ]

    private static let pushes: [UInt8: String] = [
        0: "not told", 1: "something of value", 2: "receipt", 3: "survey", 4: "goods", 5: "sign-up",
    ]

    private static let usages: [UInt8: String] = [
        0: "not told", 1: "it was accepted", 2: "its format is wrong", 3: "its value is wrong", 0xFF: "unknown",
    ]

    private static let operations: [UInt8: String] = [
        0: "none", 1: "remove", 2: "set", 3: "add", 4: "subtract", 5: "free", 0xFF: "unknown",
    ]

    private static func service(_ byte: UInt8) -> String {
        SmartTapRequest.Service(rawValue: byte).flatMap { services[$0] } ?? "unknown kind \([byte].hex)"
    }

    private static let services: [SmartTapRequest.Service: String] = [
        .all: "all passes", .allExceptPayment: "all but payment", .payment: "payment", .loyalty: "loyalty cards",
        .offer: "offers", .giftCard: "gift cards", .privateLabel: "closed loop cards",
        .eventTicket: "tickets to events", .flight: "boarding passes", .transit: "tickets of public transport",
        .cloudWallet: "what a wallet keeps in the cloud", .mobileMarketing: "marketing", .generic: "generic passes",
        .genericPrivate: "generic private passes", .customer: "who the customer is",
    ]
}
