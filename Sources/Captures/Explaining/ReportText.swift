import CardCore

/// Lines of a reader in Smart Reader mode, explained.
enum ReportText {
    static func message(_ line: String) -> ExplainedExchange.Message {
        do throws(SmartReaderLineError) {
            switch try SmartReaderLine(decoding: line) {
            case .greeting: return .init("the reader says that it is there")
            case .tag(let tag): return .init(title(tag), fields(tag))
            }
        } catch {
            return .init(
                "a line that is not well formed",
                [ExplainedField("not read", length: line.utf8.count, meaning: "\(error)")]
            )
        }
    }

    private static func title(_ tag: SmartReaderTag) -> String {
        switch (tag.move, tag.template) {
        case (.remove?, _): "the reader reports that a card went"
        case (_, 0xD1?): "the reader reports a pass of Apple Wallet"
        case (_, 0xD2?): "the reader reports a pass of Google Wallet"
        default: "the reader reports a card"
        }
    }

    private static func fields(_ tag: SmartReaderTag) -> [ExplainedField] {
        func field(_ name: String, _ text: String?, _ meaning: String? = nil) -> ExplainedField? {
            text.map { ExplainedField(name, length: $0.utf8.count, text: $0, meaning: meaning) }
        }
        let uid = tag.identifierBytes.map { CardUID(readerBytes: $0, technology: tag.technology) }
        let kind = uid.flatMap { CardUID.lengths.contains($0.bytes.count) ? ReaderExplainer.text(of: $0.kind) : nil }
        return [
            field("interface", tag.interface), field("protocol", tag.radioProtocol, tag.technology?.rawValue),
            field("template", tag.template.map { [$0].hex }, tag.template.map(template)),
            field("identifier", tag.id.isEmpty ? nil : tag.id, kind),
            field("what the card did", tag.move?.rawValue, tag.move.map(move)), field("data", tag.data),
            field("details", tag.details), field("strength", tag.rssi.map { "\($0)" }),
            field("the reader's clock", tag.uptime),
        ].compactMap(\.self)
    }

    private static func template(_ number: UInt8) -> String {
        switch number {
        case 0: "none"
        case 1...4: "as it is numbered in the reader: what it reads is not told"
        case 0xD1: "Apple VAS"
        case 0xD2: "Google Smart Tap"
        case 0x40...0x4F: "NDEF"
        default: "what the template looks for"
        }
    }

    private static func move(_ move: SmartReaderTag.Move) -> String {
        switch move {
        case .insert: "it came"
        case .remove: "it went"
        case .insertAndRemove: "it came and went"
        }
    }
}
