import Foundation

/// A message in an inbox, and what became of it.
public struct InboxEntry: Sendable, Hashable, Identifiable {
    /// The message.
    public var message: Message

    /// How far it has got.
    public var state: State

    /// How often processing it was begun since it came, or was opened again.
    public var attempts: Int

    /// What became of it; `nil` while it is pending.
    public var outcome: RoutingResult.Outcome?

    /// When it was settled; `nil` while it is pending.
    public var settledAt: Date?

    /// How far a message has got.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is to be processed.
        case pending
        /// It was processed. It is kept to recognise it, should it come again.
        case done
        /// A dead letter: it could not be processed, and can be replayed.
        case dead
    }

    /// ``Message/id``.
    public var id: String { message.id }

    /// Why it became a dead letter, for a person.
    public var reason: String? { outcome?.reason }

    /// An entry; a new message if nothing else is said.
    public init(
        message: Message,
        state: State = .pending,
        attempts: Int = 0,
        outcome: RoutingResult.Outcome? = nil,
        settledAt: Date? = nil
    ) {
        self.message = message
        self.state = state
        self.attempts = attempts
        self.outcome = outcome
        self.settledAt = settledAt
    }
}
