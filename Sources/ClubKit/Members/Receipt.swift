import Foundation
import ReaderKit

/// What the club made of a tap. Once it is handed out, it is on disk.
///
/// The same tap (by ``ScanEvent/id``) always has the same receipt.
public struct Receipt: Sendable, Hashable {
    /// The tap's identifier.
    public var eventID: UUID

    /// When the card was seen.
    public var at: Date

    /// The name of the reader.
    public var reader: String

    /// The way by which the reader is reached.
    public var backend: BackendKind

    /// What became of the tap.
    public var outcome: Outcome

    /// The member after the tap, or `nil` if the tap belongs to nobody.
    public var member: Member?

    /// What becomes of a tap.
    public enum Outcome: Sendable, Hashable {
        /// The card was unknown; a member was created, with this as the first visit.
        case created
        /// A member's visit was counted.
        case visit
        /// A tap inside the cooldown: acknowledged, not counted.
        case `repeat`
        /// The tap was understood and, by configuration, nothing was done about it.
        case ignored(Reason)
        /// The tap says nothing that the club could use.
        case rejected(Reason)
    }

    /// Why a tap was ignored or rejected.
    public struct Reason: Sendable, Hashable {
        /// The kind of reason, for programs.
        public var code: Code

        /// What happened and what can be done, for the person at the reader.
        public var message: String

        /// The kinds of reasons.
        public enum Code: String, Sendable, Hashable, CaseIterable {
            /// The card is unknown, and the condition for creating members was not satisfied.
            case unknownCard
            /// Nothing was read that says who the member is.
            case noIdentifier
            /// The identifier is empty, too long or contains control characters.
            case invalidIdentifier
            /// The time of the tap is no time of the years 1970 to 9999.
            case invalidTime
            /// The card left before all of it was read.
            case cardRemoved
            /// The link to the card or its reader failed.
            case readFailed
            /// The tag's memory is inconsistent.
            case tagCorrupt
            /// The message on the tag cannot be read without a key or a password.
            case tagProtected
            /// The tag is of a version that is not known here.
            case tagUnsupported
            /// The NDEF message on the tag is malformed.
            case ndefMalformed
            /// A membership text that is not well formed.
            case invalidPass
            /// The card shows a new identifier each time.
            case randomUID
            /// The card's identifier is not unique.
            case nonUniqueUID
        }

        /// A reason.
        public init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }

    /// A receipt.
    public init(
        eventID: UUID,
        at: Date,
        reader: String,
        backend: BackendKind,
        outcome: Outcome,
        member: Member? = nil
    ) {
        self.eventID = eventID
        self.at = at
        self.reader = reader
        self.backend = backend
        self.outcome = outcome
        self.member = member
    }
}

extension Receipt.Outcome {
    /// `created`, `visit`, `repeat`, `ignored` or `rejected`: the name of the club event.
    public var name: String {
        switch self {
        case .created: "created"
        case .visit: "visit"
        case .repeat: "repeat"
        case .ignored: "ignored"
        case .rejected: "rejected"
        }
    }

    /// Why the tap was ignored or rejected.
    public var reason: Receipt.Reason? {
        switch self {
        case .created, .visit, .repeat: nil
        case .ignored(let reason), .rejected(let reason): reason
        }
    }
}
