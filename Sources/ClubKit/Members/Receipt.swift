import Foundation
import ReaderKit

/// The outcome of a tap, which is on disk before the receipt is returned.
///
/// The same tap (by ``ScanEvent/id``) always has the same receipt: that of a retried tap equals the first.
public struct Receipt: Sendable, Hashable {
    /// The tap's identifier.
    public var eventID: UUID

    /// When the card was seen.
    public var at: Date

    /// The name of the reader.
    public var reader: String

    /// The kind of backend of the reader.
    public var backend: BackendKind

    /// The outcome of the tap.
    public var outcome: Outcome

    /// The member after the tap; `nil` if it belongs to no member.
    public var member: Member?

    /// Notices for the member, such as that the membership ends soon.
    public var notices: [Notice] = []

    /// The executions of scenarios charged at this visit (see ``Club/setScenarios(_:delivery:)``), as far as known
    /// here. The receipt of a retried tap has their current state.
    public var executions: [ScenarioExecution] = []

    /// Whether the tap was seen before, so that this receipt was returned before and nothing was changed. Ignored when
    /// receipts are compared.
    public var isDuplicate = false

    /// A notice for the member.
    public enum Notice: Sendable, Hashable, Codable {
        /// The membership ends at that time.
        case expiresSoon(Date)
        /// That number of bought visits is left.
        case visitsLeft(Int)
    }

    /// The outcome of a tap.
    public enum Outcome: Sendable, Hashable {
        /// The card was unknown; a member was created, with this as the first visit.
        case created
        /// A member's visit was counted.
        case visit
        /// A tap inside the cooldown: acknowledged, not counted.
        case `repeat`
        /// The tap was understood and ignored by configuration.
        case ignored(Reason)
        /// The tap was rejected.
        case rejected(Reason)
    }

    /// Why a tap was ignored or rejected.
    public struct Reason: Sendable, Hashable {
        /// The kind of reason, for programs.
        public var code: Code

        /// What happened and what can be done, for the person at the reader.
        public var message: String

        /// The kinds of reasons.
        public enum Code: Sendable, Hashable {
            /// The card is unknown, and the condition for creating members was not met.
            case unknownCard
            /// Nothing that identifies a member was read.
            case noIdentifier
            /// The identifier is empty, too long or contains control characters.
            case invalidIdentifier
            /// The time of the tap is not in the years 1970 to 9999.
            case invalidTime
            /// The card is blocked, for instance because it was replaced by another.
            case cardBlocked
            /// The member is blocked.
            case blocked
            /// The membership has ended.
            case expired
            /// All bought visits are used up.
            case noVisitsLeft
            /// The member was erased.
            case erased
            /// The kiosk is under maintenance (``KioskState/maintenance``).
            case maintenance
            /// A problem of the card that the scanner found.
            case card(ScanEvent.Problem.Code)
        }

        /// Creates a reason.
        public init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }

    /// Creates a receipt.
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

extension Receipt {
    /// Returns whether both have the same content, apart from ``isDuplicate``.
    public static func == (one: Receipt, other: Receipt) -> Bool {
        one.eventID == other.eventID && one.at == other.at && one.reader == other.reader && one.backend == other.backend
            && one.outcome == other.outcome && one.member == other.member && one.notices == other.notices
            && one.executions == other.executions
    }

    /// Hashes the tap's identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(eventID) }
}

extension Receipt.Notice {
    /// The message for the person at the reader.
    public var message: String {
        switch self {
        case .expiresSoon(let date):
            "The membership ends on \(Self.day(of: date, in: .current))."
        case .visitsLeft(let visits): "\(visits == 1 ? "1 visit is" : "\(visits) visits are") left."
        }
    }

    /// The day as the desk of the club has it.
    static func day(of date: Date, in timeZone: TimeZone) -> String {
        date.formatted(Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day())
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

    /// Whether a visit was counted.
    public var isCounted: Bool { self == .created || self == .visit }

    /// The signal with which the reader answers the person at it.
    public var signal: FeedbackSignal {
        switch self {
        case .created, .visit: .accepted
        case .repeat: .repeated
        case .rejected(let reason) where reason.code == .card(.cardRemoved): .holdLonger
        case .ignored, .rejected: .rejected
        }
    }

    /// The reason why the tap was ignored or rejected.
    public var reason: Receipt.Reason? {
        switch self {
        case .created, .visit, .repeat: nil
        case .ignored(let reason), .rejected(let reason): reason
        }
    }
}

extension Receipt.Reason.Code: RawRepresentable, CaseIterable {
    /// All kinds of reasons.
    public static var allCases: [Receipt.Reason.Code] {
        [
            .unknownCard, .noIdentifier, .invalidIdentifier, .invalidTime, .cardBlocked, .blocked, .expired,
            .noVisitsLeft, .erased, .maintenance,
        ] + ScanEvent.Problem.Code.allCases.map(Self.card)
    }

    /// The name in JSON and in the store; for a card's problem that of the problem.
    public var rawValue: String {
        switch self {
        case .unknownCard: "unknownCard"
        case .noIdentifier: "noIdentifier"
        case .invalidIdentifier: "invalidIdentifier"
        case .invalidTime: "invalidTime"
        case .cardBlocked: "cardBlocked"
        case .blocked: "blocked"
        case .expired: "expired"
        case .noVisitsLeft: "noVisitsLeft"
        case .erased: "erased"
        case .maintenance: "maintenance"
        case .card(let problem): problem.rawValue
        }
    }

    /// Creates the reason with that name; `nil` if unknown.
    public init?(rawValue: String) {
        guard let code = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = code
    }
}

enum Rejection {
    static let unknownCard = Receipt.Reason(.unknownCard, "This card is not known here. Ask at the desk to join.")

    static let cardBlocked = Receipt.Reason(
        .cardBlocked,
        "This card is blocked. Use your new card, or ask at the desk."
    )

    static func blocked(_ reason: String) -> Receipt.Reason {
        let words = PlainText.line(reason)
        let cause = words.isEmpty ? "" : ": \(words)"
        return Receipt.Reason(.blocked, "This membership is blocked\(cause). Ask at the desk.")
    }

    static let expired = Receipt.Reason(.expired, "This membership has ended. Ask at the desk to renew it.")

    static let noVisitsLeft = Receipt.Reason(.noVisitsLeft, "No visits are left. Ask at the desk for more.")

    static let maintenance = Receipt.Reason(
        .maintenance,
        "Somebody works on this kiosk: the visit was not counted. Tap again later, or ask at the desk."
    )

    static let erased = Receipt.Reason(.erased, "What was known of this tap was erased.")

    /// The reason to reject the tap, or `nil` if it can be used. `time` is the tap's time, `nil` if it is none that the
    /// store can keep.
    static func reason(for event: ScanEvent, time: Int64?) -> Receipt.Reason? {
        guard time != nil else {
            let message = "The time of the tap is not valid. Check the clock of the reader's computer."
            return Receipt.Reason(.invalidTime, message)
        }
        guard let key = event.memberKey else { return reason(from: event.problems) }
        let isUsable = MemberID.isUsable(key) && !key.allSatisfy(\.isWhitespace)
        return isUsable
            ? nil
            : Receipt.Reason(.invalidIdentifier, "The membership number on this card is not valid. Ask at the desk.")
    }

    /// The most useful of the problems: they are declared so that what another try can mend comes first, then what is
    /// wrong on the card, then what kind of card it is.
    private static func reason(from problems: [ScanEvent.Problem]) -> Receipt.Reason {
        let order = ScanEvent.Problem.Code.allCases
        guard let problem = order.lazy.compactMap({ code in problems.first { $0.code == code } }).first else {
            let message = "Nothing was read that says who this is. Try again, or ask at the desk."
            return Receipt.Reason(.noIdentifier, message)
        }
        let text = PlainText.line(problem.message)
        return Receipt.Reason(.card(problem.code), text.isEmpty ? problem.code.advice : text)
    }
}
