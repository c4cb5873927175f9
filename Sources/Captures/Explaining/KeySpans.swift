/// Where the keys and passwords of a conversation stand, those left out that everybody knows.
struct KeySpans {
    private var commands: [Int: [Range<Int>]] = [:]
    private var answers: [Int: [Range<Int>]] = [:]

    init(_ presentation: Capture.Presentation) {
        for span in RedactionConversation(presentation).spans where span.kind == .key {
            let exchange = presentation.exchanges[span.exchange]
            guard !RedactionVocabulary.isPublic(Self.bytes(of: exchange, span)) else { continue }
            if span.isCommand {
                commands[span.exchange, default: []].append(span.range)
            } else {
                answers[span.exchange, default: []].append(span.range)
            }
        }
    }

    func command(_ index: Int) -> [Range<Int>] { commands[index] ?? [] }

    func answer(_ index: Int) -> [Range<Int>] { answers[index] ?? [] }

    private static func bytes(of exchange: Capture.Exchange, _ span: RedactionConversation.Span) -> [UInt8] {
        let bytes: [UInt8] =
            switch (span.isCommand, exchange.request, exchange.answer) {
            case (true, .apdu(let bytes), _), (true, .control(_, let bytes), _): bytes
            case (true, .raw(let frame), _): frame.bytes
            case (false, _, .bytes(let bytes)): bytes
            case (false, _, .raw(let frame)): frame.bytes
            case (false, _, .fault): []
            }
        let range = span.range.clamped(to: 0..<bytes.count)
        return Array(bytes[range])
    }
}
