/// Where the keys and passwords of a conversation stand, those left out that everybody knows.
struct KeySpans {
    private var commands: [Int: [Range<Int>]] = [:]
    private var answers: [Int: [Range<Int>]] = [:]

    init(_ presentation: Capture.Presentation) {
        for span in RedactionConversation(presentation).spans
        where span.kind == .key && !span.isPublic(in: presentation) {
            if span.isCommand {
                commands[span.exchange, default: []].append(span.range)
            } else {
                answers[span.exchange, default: []].append(span.range)
            }
        }
    }

    func command(_ index: Int) -> [Range<Int>] { commands[index] ?? [] }

    func answer(_ index: Int) -> [Range<Int>] { answers[index] ?? [] }
}
