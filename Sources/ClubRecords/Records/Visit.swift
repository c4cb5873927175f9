import Foundation

/// A visit in the ledger.
public struct Visit: Sendable, Hashable, Identifiable {
    /// The identifier of the visit, the same on all devices: that of its tap, or its own.
    public var id: UUID

    /// The ``Member/userId`` of the member.
    public var userId: String

    /// The time of the visit.
    public var at: Date

    /// The name of the reader; empty for a visit that was recorded by hand.
    public var reader: String

    /// How it was recorded.
    public var source: Source

    /// The reason for recording it by hand.
    public var reason: String?

    /// The person who recorded it by hand.
    public var actor: String?

    /// The device that recorded it.
    public var device: UUID

    /// The undoing of the visit; `nil` if it counts.
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

    /// Whether it counts, that is, was not undone.
    public var counts: Bool { undoing == nil }

    /// How a visit was recorded.
    public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// A card was presented to a reader.
        case card
        /// By hand.
        case manual
    }

    /// The undoing of a visit.
    public struct Undoing: Sendable, Hashable {
        /// The time at which it was undone.
        public var at: Date
        /// The reason.
        public var reason: String?
        /// The person who undid it.
        public var actor: String?

        package init(at: Date, reason: String? = nil, actor: String? = nil) {
            self.at = at
            self.reason = reason
            self.actor = actor
        }
    }
}
