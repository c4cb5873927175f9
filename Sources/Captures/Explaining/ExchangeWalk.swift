import CardCore

/// Goes through the exchanges with one card, and asks for each the protocols that know something of it.
struct ExchangeWalk {
    private var state: ConversationState
    private var explainers: [any ExchangeExplainer]

    /// How deep commands may stand within commands.
    private static let depthLimit = 3

    /// The conversation with a card of which that is known.
    init(_ facts: CardFacts) {
        state = ConversationState(facts)
        // The first that knows something of an exchange is the one that is heard.
        explainers = [
            FileExplainer(), SelectionExplainer(), AppleVASExplainer(), SmartTapExplainer(), DESFireExplainer(),
            ReaderExplainer(), PollingExplainer(), TagFrameExplainer(), StandardExplainer(),
        ]
    }

    /// What there is to say of the next exchange.
    mutating func explain(_ exchange: Capture.Exchange) -> ExplainedExchange {
        let explained = explain(SaidExchange(exchange), depth: 0)
        if case .fault = exchange.answer { state.forgetSelection() }
        return explained
    }

    private mutating func explain(_ exchange: SaidExchange, depth: Int) -> ExplainedExchange {
        if depth < Self.depthLimit, let wrapping = FrameWrapping(exchange, state) {
            let inner = explain(wrapping.inner, depth: depth + 1)
            return Self.outer(exchange, wrapping, inner)
        }
        defer { state.note(exchange) }
        for index in explainers.indices {
            if let explained = explainers[index].explain(exchange, &state) { return explained }
        }
        return ExplainedExchange(.init("not known here"), .init("not known here"))
    }

    /// What is said of a command that carries another one.
    private static func outer(
        _ exchange: SaidExchange,
        _ wrapping: FrameWrapping,
        _ inner: ExplainedExchange
    ) -> ExplainedExchange {
        guard !wrapping.carrier.isEmpty else { return inner }
        func field(_ bytes: [UInt8], _ offset: Int, _ message: ExplainedExchange.Message) -> ExplainedField {
            ExplainedField(
                "carried",
                offset: offset,
                length: bytes.count,
                bytes: bytes,
                meaning: message.title,
                fields: message.fields.map { $0.moved(by: offset) }
            )
        }
        let command = ExplainedExchange.Message(
            "\(wrapping.carrier): \(inner.command.title)",
            [field(wrapping.inner.command, wrapping.commandOffset, inner.command)]
        )
        let status = exchange.apdu.map { StatusText.field($0) } ?? []
        guard let answer = wrapping.inner.answer, !answer.isEmpty else {
            let title = exchange.apdu.map { ReaderExplainer.title($0, "nothing came back from the card") }
            return ExplainedExchange(command, .init(title ?? inner.answer.title, status))
        }
        return ExplainedExchange(
            command,
            .init(inner.answer.title, [field(answer, wrapping.answerOffset, inner.answer)] + status)
        )
    }
}
