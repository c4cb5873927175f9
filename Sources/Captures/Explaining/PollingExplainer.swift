import CardPasses

/// Frames by which a reader looks for cards and chooses one, and those by which it announces to phones what it wants.
struct PollingExplainer: ExchangeExplainer {
    func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard exchange.carrier == .frame else { return nil }
        let command = exchange.command
        if let annotation = PollingAnnotation(frame: command) {
            var fields = Self.fields(of: annotation)
            let offset = annotation.bytes.count
            if command.count > offset {
                fields.append(ExplainedField("checksum", at: offset, Array(command[offset...]), meaning: "right"))
            }
            return ExplainedExchange(
                .init("polling annotation (ECP): \(annotation.meaning)", fields),
                .init("an answer, which no card gives to this frame", Self.data(exchange.answer))
            )
        }
        switch (state.technology, command.first) {
        case (.iso14443b, 0x05?): return Self.make("REQB or WUPB: is any card of type B there?", exchange)
        case (.iso14443b, 0x1D?): return Self.make("ATTRIB: chooses the card", exchange)
        case (.iso14443b, 0x50?): return Self.make("HLTB: lets the card wait", exchange)
        case (.iso14443a, _), (nil, _): return typeA(exchange)
        default: return nil
        }
    }

    private static func fields(of annotation: PollingAnnotation) -> [ExplainedField] {
        var reader = FieldReader(annotation.bytes, at: 0)
        reader.take("annotation", 1)
        let version = reader.take("version", 1) { "\($0[0])" }
        if version == [0x01] {
            reader.take("what is wanted", 3) { _ in annotation.meaning }
        } else {
            reader.take("configuration", 1) { bytes in
                let flags: KeyValuePairs<UInt8, String> = [
                    0x80: "presents by itself", 0x40: "without the owner's confirmation",
                ]
                return ExplanationText.bits(bytes[0] & 0xF0, flags, none: "no flags")
                    + ", \(bytes[0] & 0x0F) bytes follow the kind"
            }
            reader.take("kind of reader", 1) { PollingAnnotation.kind($0[0]) }
            reader.take("subkind", 1)
        }
        reader.rest("data")
        return reader.fields
    }

    // MARK: Type A

    private func typeA(_ exchange: RecordedExchange) -> ExplainedExchange? {
        let command = exchange.command
        let title: String
        var answer = "an answer"
        switch (command.first, command.count) {
        case (0x26?, 1) where exchange.commandBits == 7 || exchange.answer?.count == 2:
            (title, answer) = ("REQA: is any card of type A there?", "ATQA: a card is there")
        case (0x52?, 1) where exchange.commandBits == 7 || exchange.answer?.count == 2:
            (title, answer) = ("WUPA: is any card of type A there, also one that waits?", "ATQA: a card is there")
        case (0x50?, 2) where command[1] == 0: title = "HLTA: lets the card wait"
        case (0x93?, 2), (0x95?, 2), (0x97?, 2):
            title = "anticollision, level \(Self.level(command[0])): who is there?"
            answer = "a part of the identifier"
        case (0x93?, 7...9), (0x95?, 7...9), (0x97?, 7...9):
            title = "SELECT, level \(Self.level(command[0])): chooses the card"
            answer = "SAK: what kind of card it is"
        case (0xE0?, 2): (title, answer) = ("RATS: asks for the answer to select", "ATS: the answer to select")
        case (let first?, 3) where first & 0xF0 == 0xD0: (title, answer) = ("PPS: settles the speed", "it is settled")
        case (0xC2?, 1), (0xCA?, 2): (title, answer) = ("DESELECT: ends the conversation", "it is ended")
        default: return nil
        }
        return Self.make(title, exchange, answer)
    }

    private static func level(_ byte: UInt8) -> Int { [0x93: 1, 0x95: 2][byte] ?? 3 }

    private static func make(
        _ title: String,
        _ exchange: RecordedExchange,
        _ answer: String = "an answer"
    ) -> ExplainedExchange {
        ExplainedExchange(.init(title, data(exchange.command)), .init(answer, data(exchange.answer)))
    }

    private static func data(_ bytes: [UInt8]?) -> [ExplainedField] {
        guard let bytes, bytes.count > 1 else { return [] }
        return [ExplainedField("data", at: 0, bytes)]
    }
}
