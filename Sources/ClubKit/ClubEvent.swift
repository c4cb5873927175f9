import Foundation
import ReaderKit

/// Something that happened in the club, after it was committed.
///
/// The `Encodable` form is the line that `clubctl kiosk --json` prints.
public enum ClubEvent: Sendable, Hashable {
    /// A card was presented; its receipt follows.
    case scan(ScanEvent)
    /// The outcome of a tap: `created`, `visit`, `repeat`, `ignored` or `rejected`.
    case received(Receipt)
    /// A member was added by hand.
    case added(Member, at: Date)
    /// A member changed other than by a tap.
    case updated(Member, MembershipUpdateReason, at: Date)
    /// A member, with these last values, was deleted.
    case deleted(Member, at: Date)
    /// A file was imported. Each changed member was reported before, as ``updated(_:_:at:)``; created members are not
    /// reported one by one.
    case imported(ImportReport, at: Date)
    /// Members were merged into the club, as with ``imported(_:at:)``.
    case merged(MergeReport, at: Date)
    /// A scenario was executed for a member, a group or the kiosk, or an execution was refunded.
    case scenario(ScenarioResult)
    /// A message was passed to its processor, or no processor accepted it.
    case routed(RoutingResult)
    /// An operation failed.
    case error(ClubError, at: Date)
}

extension ClubEvent {
    /// The event's name in JSON.
    public var name: String {
        switch self {
        case .scan: "scan"
        case .received(let receipt): receipt.outcome.name
        case .added: "created"
        case .updated(_, .manualVisit, _): "visit"
        case .updated: "updated"
        case .deleted: "deleted"
        case .imported: "imported"
        case .merged: "merged"
        case .scenario: "scenario"
        case .routed: "routed"
        case .error: "error"
        }
    }

    /// The time of the event: the tap's for taps, the club's for errors.
    public var at: Date {
        switch self {
        case .scan(let event): event.at
        case .received(let receipt): receipt.at
        case .added(_, let date), .updated(_, _, let date), .deleted(_, let date), .error(_, let date): date
        case .imported(_, let date), .merged(_, let date): date
        case .scenario(let result): result.execution.at
        case .routed(let result): result.at
        }
    }

    /// The affected member, after the event.
    public var member: Member? {
        switch self {
        case .received(let receipt): receipt.member
        case .added(let member, _), .updated(let member, _, _), .deleted(let member, _): member
        case .scenario(let result): result.member
        case .scan, .imported, .merged, .routed, .error: nil
        }
    }

    /// The reason why a member changed; `nil` for other events.
    public var updateReason: MembershipUpdateReason? {
        switch self {
        case .received(let receipt) where receipt.outcome == .visit: .visit
        case .updated(_, let reason, _): reason
        default: nil
        }
    }

    /// The reason, in words, why a tap was ignored or rejected, an execution refunded, or a message declined.
    public var reason: String? {
        switch self {
        case .received(let receipt): receipt.outcome.reason?.message
        case .scenario(let result): result.execution.reason
        case .routed(let result): result.outcome.reason
        default: nil
        }
    }
}

extension ClubEvent: Encodable {
    private enum CodingKeys: String, CodingKey {
        case event, at, id, reader, backend, member, reason, reasonCode, notices, duplicate, update, report, error
        case scenario, subject, number, state, title, message, visit, type, source, outcome, processor
    }

    /// Encodes the line. A scan is the object of ``ReaderKit/ScanEvent``. All others have `event` and `at`. A received
    /// tap has its `id`, `reader` and `backend`, the `member` if there is one, `reason` (words) and `reasonCode` if
    /// ignored or rejected, `notices` (words) if there are any, and `duplicate` (true) if it was seen before; a change
    /// without a tap has `update` (`manualVisit`, `undo`, `edit`, `merge`); `imported` and `merged` have `report`, the
    /// object of ``ImportReport`` or ``MergeReport``; `scenario` has `id`, `scenario` (its identifier), `number`,
    /// `state` (`charged`, `delivered`, `refunded`, `redeemed`), `subject` if no member is known, `visit` (the `id` of
    /// the tap), `title`, `message` and `reason`; `routed` has `id`, `type`, `source`, `outcome`, `processor` and
    /// `reason`; an error has `error` with `code` and `message`.
    public func encode(to encoder: any Encoder) throws {
        if case .scan(let event) = self { return try event.encode(to: encoder) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .event)
        try container.encode(ISO8601.text(at), forKey: .at)
        switch self {
        case .scan:
            break
        case .received(let receipt):
            try container.encode(receipt.eventID.uuidString, forKey: .id)
            try container.encode(receipt.reader, forKey: .reader)
            try container.encode(receipt.backend, forKey: .backend)
            try container.encodeIfPresent(receipt.member, forKey: .member)
            try container.encodeIfPresent(receipt.outcome.reason?.message, forKey: .reason)
            try container.encodeIfPresent(receipt.outcome.reason?.code.rawValue, forKey: .reasonCode)
            if !receipt.notices.isEmpty { try container.encode(receipt.notices.map(\.message), forKey: .notices) }
            if receipt.isDuplicate { try container.encode(true, forKey: .duplicate) }
        case .added(let member, _), .deleted(let member, _):
            try container.encode(member, forKey: .member)
        case .updated(let member, let reason, _):
            try container.encode(member, forKey: .member)
            try container.encode(reason, forKey: .update)
        case .imported(let report, _):
            try container.encode(report, forKey: .report)
        case .merged(let report, _):
            try container.encode(report, forKey: .report)
        case .scenario(let result):
            try encode(result, in: &container)
        case .routed(let result):
            try container.encode(result.messageID, forKey: .id)
            try container.encodeIfPresent(result.type, forKey: .type)
            try container.encode(result.source.kind.rawValue, forKey: .source)
            try container.encode(result.outcome.name, forKey: .outcome)
            try container.encodeIfPresent(result.processor, forKey: .processor)
            try container.encodeIfPresent(result.outcome.reason, forKey: .reason)
        case .error(let error, _):
            try container.encode(["code": error.kind.rawValue, "message": error.description], forKey: .error)
        }
    }

    private func encode(_ result: ScenarioResult, in container: inout KeyedEncodingContainer<CodingKeys>) throws {
        let execution = result.execution
        try container.encode(execution.id.uuidString, forKey: .id)
        try container.encode(execution.scenario, forKey: .scenario)
        try container.encode(execution.number, forKey: .number)
        try container.encode(execution.state, forKey: .state)
        if result.member == nil { try container.encode(execution.subject, forKey: .subject) }
        try container.encodeIfPresent(result.member, forKey: .member)
        try container.encodeIfPresent(execution.visit?.uuidString, forKey: .visit)
        try container.encodeIfPresent(result.title, forKey: .title)
        try container.encodeIfPresent(result.message, forKey: .message)
        try container.encodeIfPresent(execution.reason, forKey: .reason)
    }
}
