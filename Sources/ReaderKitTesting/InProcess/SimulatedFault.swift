import ReaderKit

/// Something that goes wrong with one exchange between a reader and a simulated card.
public struct SimulatedFault: Sendable, Hashable {
    /// What the caller sees.
    public var kind: Kind

    /// The exchange that fails, counted from 0 over all APDUs, raw frames and control codes of the conversation.
    public var exchange: Int

    /// Whether the card receives and carries out the command, only its answer being lost.
    public var afterCommand: Bool

    /// What can go wrong.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The card is taken away; it stays away for the rest of the conversation.
        case removed
        /// Another program resets the card: it loses its power for a moment.
        case reset
        /// No answer comes in time.
        case timeout
        /// The radio link fails.
        case communication
    }

    /// A fault at an exchange.
    public init(_ kind: Kind, atExchange exchange: Int, afterCommand: Bool = false) {
        self.kind = kind
        self.exchange = exchange
        self.afterCommand = afterCommand
    }

    /// The card is taken away before it receives that exchange's command.
    public static func tear(beforeExchange exchange: Int) -> SimulatedFault {
        SimulatedFault(.removed, atExchange: exchange)
    }

    /// The card is taken away after it carried out that exchange's command; the answer is lost.
    public static func tear(afterExchange exchange: Int) -> SimulatedFault {
        SimulatedFault(.removed, atExchange: exchange, afterCommand: true)
    }
}
