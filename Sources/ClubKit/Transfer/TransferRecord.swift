import Foundation

/// A line of a club's file: a piece of what merges.
package enum TransferRecord: Sendable, Hashable {
    case member(userId: String, facts: MemberFacts)
    case card(Card)
    case visit(Visit)
    case undo(Undo)
    case erasure(Erasure)
    case audit(Audit)

    /// A card's state, of which the latest stamp counts.
    package struct Card: Sendable, Hashable, Codable {
        package var cardId: String
        /// Whose it is.
        package var userId: String
        package var isBlocked: Bool
        package var reason: String?
        package var stamp: Stamp
    }

    /// An entry of the ledger.
    package struct Visit: Sendable, Hashable, Codable {
        package var eventID: UUID
        package var stamp: Stamp
        package var userId: String
        /// Microseconds since 1970.
        package var at: Int64
        package var reader: String
        package var backend: String
        /// The creation with which it ends, as the raw value of a logical clock.
        package var born: Int64
        /// `card` or `manual`.
        package var source: String
        package var reason: String?
        package var actor: String?
    }

    /// An entry of the ledger that takes a visit back.
    package struct Undo: Sendable, Hashable, Codable {
        package var eventID: UUID
        package var stamp: Stamp
        /// Microseconds since 1970.
        package var at: Int64
        package var reason: String?
        package var actor: String?
    }

    /// Somebody who must not come back by way of a file.
    package struct Erasure: Sendable, Hashable, Codable {
        package var salt: [UInt8]
        package var hash: [UInt8]
        package var stamp: Stamp
    }

    /// An entry of the audit log.
    package struct Audit: Sendable, Hashable, Codable {
        package var stamp: Stamp
        /// Microseconds since 1970.
        package var at: Int64
        package var actor: String
        package var action: String
        package var subject: String
        package var detail: FieldValue
    }
}
