/// What is said of a command and its answer.
struct ExplainedExchange: Sendable {
    /// What is said of one of them.
    struct Message: Sendable {
        var title: String
        var fields: [ExplainedField] = []

        init(_ title: String, _ fields: [ExplainedField] = []) {
            self.title = title
            self.fields = fields
        }
    }

    var command: Message
    /// Of no use where nothing came back.
    var answer: Message

    init(_ command: Message, _ answer: Message) {
        self.command = command
        self.answer = answer
    }
}

/// What one protocol, or one part of it, has to say of commands and their answers. It keeps what it has to remember of
/// those before.
protocol ExchangeExplainer: Sendable {
    /// What is said of an exchange, or `nil` if it is none of this protocol's.
    ///
    /// - Parameter state: what is known of the card so far; what the exchange itself changes in it is noted afterwards.
    mutating func explain(_ exchange: SaidExchange, _ state: inout ConversationState) -> ExplainedExchange?
}
