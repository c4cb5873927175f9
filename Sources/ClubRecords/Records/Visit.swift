import Foundation

/// A visit in the ledger.
public struct Visit: Sendable, Hashable, Identifiable {
    /// What the visit is known by everywhere: the identifier of its tap, or its own.
    public var id: UUID

    /// The ``Member/userId`` of the member whose visit it is.
    public var userId: String

    /// When it was.
    public var at: Date

    /// The name of the reader; empty for a visit that was recorded by hand.
    public var reader: String

    /// How it was recorded.
    public var source: Source

    /// Why it was recorded by hand.
    public var reason: String?

    /// Who recorded it by hand.
    public var actor: String?

    /// The device that recorded it.
    public var device: UUID

    /// Why and by whom it was undone, or `nil` if it counts.
    public var undoing: Undoing?

    package init(
        id: UUID,
        userId: String,
        at: Date,
        reader: String,
        source: Source,
        reason: String? = nil,
        actor: String? = nil,
        device: UUID,
        undoing: Undoing? = nil
    ) {
        self.id = id
        self.userId = userId
        self.at = at
        self.reader = reader
        self.source = source
        self.reason = reason
        self.actor = actor
        self.device = device
        self.undoing = undoing
    }

    /// Whether it counts: it was not undone.
    public var counts: Bool { undoing == nil }

    /// How a visit was recorded.
    public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// A card was presented to a reader.
        case card
        /// By hand.
        case manual
    }

    /// That a visit does not count any more.
    public struct Undoing: Sendable, Hashable {
        /// When it was undone.
        public var at: Date
        /// Why.
        public var reason: String?
        /// By whom.
        public var actor: String?

        package init(at: Date, reason: String? = nil, actor: String? = nil) {
            self.at = at
            self.reason = reason
            self.actor = actor
        }
    }
}
