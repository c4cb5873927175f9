import ReaderKit
import ToolSupport

/// The reader, and what it carries.
struct ReaderSection: InfoSection {
    static let key = "reader"
    static let title = "Reader"

    var name: String
    var backend: BackendKind
    var serial: String?
    var longestCommand: Int
    var longestResponse: Int
    var extendedLength: Bool?
    var readerCommands: Bool
    /// What no reader can do that is reached this way.
    var missingTechnologies: [Technology]?

    init(_ card: CardOnReader) {
        let reader = card.presence.reader
        let capabilities = card.channel.capabilities
        name = reader.name
        backend = reader.backend
        serial = reader.serial
        longestCommand = capabilities.longestCommand
        longestResponse = capabilities.longestResponse
        extendedLength = capabilities.extendedLength
        readerCommands = capabilities.hasPseudoAPDUs
        #if NFC
        if backend == .nfc { missingTechnologies = LibNFC.missingTechnologies }
        #endif
    }

    var lines: [InfoLine] {
        var lines = [InfoLine("name", name), InfoLine("backend", backend.rawValue)]
        if let serial { lines.append(InfoLine("serial", serial)) }
        lines.append(InfoLine("APDUs", "commands up to \(longestCommand) bytes, answers up to \(longestResponse)"))
        let extended = extendedLength.map { $0 ? "yes" : "no" } ?? "only trying tells"
        lines.append(InfoLine("extended", extended))
        lines.append(InfoLine("class FF", readerCommands ? "answered by the reader" : "not known to the reader"))
        if let missingTechnologies {
            let names = missingTechnologies.map(\.rawValue).joined(separator: ", ")
            lines.append(InfoLine("not read", "\(names): libnfc does not know it; use a reader of PC/SC for it"))
        }
        return lines
    }
}

/// The answer to reset.
struct ATRSection: InfoSection {
    static let key = "atr"
    static let title = "Answer to reset"

    var bytes: String
    var card: String
    var technology: Technology?
    var protocols: [String]
    var historicalBytes: String
    var tckValid: Bool?
    var warnings: [String]?

    init(_ bytes: [UInt8]) throws {
        let atr = try ATR(bytes)
        self.bytes = bytes.hex
        card = atr.cardName
        technology = atr.technology
        protocols = atr.protocols.map { "T=\($0)" }
        historicalBytes = atr.historicalBytes.hex
        tckValid = atr.isTCKValid
        warnings = atr.warnings.isEmpty ? nil : atr.warnings.map { "\($0)" }
    }

    var lines: [InfoLine] {
        var lines = [
            InfoLine("bytes", bytes),
            InfoLine("card", card),
            InfoLine("technology", technology?.rawValue ?? "unknown"),
            InfoLine("protocols", protocols.joined(separator: ", ")),
            InfoLine("historical", historicalBytes.isEmpty ? "none" : historicalBytes),
        ]
        lines += (warnings ?? []).map { InfoLine("warning", $0) }
        return lines
    }
}

/// What else a reader told, such as the answers of anticollision.
struct FactsSection: InfoSection {
    static let key = "facts"
    static let title = "Anticollision"

    private var values: [CardFacts.Value]

    init?(_ facts: CardFacts) {
        guard !facts.values.isEmpty else { return nil }
        values = facts.values
    }

    var lines: [InfoLine] { values.map { InfoLine($0.name, $0.bytes.hex) } }

    func encode(to encoder: any Encoder) throws {
        try Dictionary(values.map { ($0.name, $0.bytes.hex) }) { first, _ in first }.encode(to: encoder)
    }
}

/// The identifier.
struct UIDSection: InfoSection {
    static let key = "uid"
    static let title = "Identifier"

    private var uid: CardUID

    init(_ uid: CardUID) {
        self.uid = uid
    }

    var lines: [InfoLine] {
        let kind =
            switch uid.kind {
            case .fixed: "fixed"
            case .random: "random, another one at each tap"
            case .nonUnique: "not unique, other cards may have it"
            }
        return [
            InfoLine("hex", uid.hex),
            InfoLine("reversed", uid.hexReversed),
            InfoLine("kind", kind),
            InfoLine("manufacturer", uid.manufacturer ?? "unknown"),
            InfoLine("decimal", "\(uid.decimal), reversed \(uid.decimalReversed)"),
            InfoLine("Wiegand 26", uid.wiegand26 ?? "-"),
            InfoLine("Wiegand 34", uid.wiegand34 ?? "-"),
        ]
    }

    func encode(to encoder: any Encoder) throws {
        try UIDSummary(uid).encode(to: encoder)
    }
}

/// What the card is taken for.
struct ProductSection: InfoSection {
    static let key = "product"
    static let title = "Product"

    var name: String
    var family: String
    var memory: Int?
    var certainty: String
    var use: String
    var technology: Technology?
    var tagType: TagType?
    var evidence: [Evidence]

    struct Evidence: Encodable, Sendable {
        var source: String
        var finding: String
    }

    /// - Parameter isRecorded: whether what the card did not answer may only be what it was not asked.
    init(_ card: Card, isRecorded: Bool) {
        name = card.product.name
        family = card.product.family.rawValue
        memory = card.product.memory
        certainty = card.certainty.rawValue
        use = card.use.rawValue
        technology = card.technology
        tagType = card.tagType
        let answered = card.evidence.filter { !isRecorded || $0.finding != "the tag does not know GET VERSION" }
        evidence = answered.map { Evidence(source: $0.source.rawValue, finding: $0.finding) }
    }

    var lines: [InfoLine] {
        var lines = [InfoLine("name", "\(name) (\(certainty))")]
        if let memory { lines.append(InfoLine("memory", "\(memory) bytes")) }
        if let tagType { lines.append(InfoLine("tag", tagType.name)) }
        if use != Card.Use.general.rawValue { lines.append(InfoLine("use", useText)) }
        lines += evidence.enumerated().map { index, item in
            InfoLine(index == 0 ? "evidence" : "", "\(item.source): \(item.finding)")
        }
        return lines
    }

    private var useText: String {
        switch Card.Use(rawValue: use) {
        case .phone: "phone or watch"
        case .payment: "payment card"
        case .identityDocument: "identity document"
        case .general, nil: "any"
        }
    }
}

/// The place for a message and the message.
struct NDEFSection: InfoSection {
    static let key = "ndef"
    static let title = "NDEF"

    private var state: TagState

    init?(_ card: CardOnReader) throws {
        let content = try TagReader.readNDEF(over: card.channel, limits: .maximum)
        guard content.type != nil else { return nil }
        state = TagState(content)
    }

    var lines: [InfoLine] {
        var lines = [InfoLine("tag", state.summary)]
        if let version = state.version { lines.append(InfoLine("mapping", "version \(version)")) }
        if let read = state.readAccess, let write = state.writeAccess {
            lines.append(InfoLine("access", "reading \(read), writing \(write)"))
        }
        if state.state == .empty { lines.append(InfoLine("message", "none")) }
        lines += (state.records ?? []).map { InfoLine("record", RecordText.describe($0)) }
        if let error = state.error { lines.append(InfoLine("malformed", "\(error)")) }
        return lines
    }

    func encode(to encoder: any Encoder) throws {
        try state.encode(to: encoder)
    }
}
