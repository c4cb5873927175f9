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
    /// Encodes the line. A scan is the object of ``ReaderKit/ScanEvent``. All others have `event` and `at`. A received
    /// tap has its `id`, `reader` and `backend`, the `member` if there is one, `reason` (words) and `reasonCode` if
    /// ignored or rejected, `notices` (words) if there are any, and `duplicate` (true) if it was seen before; a change
    /// without a tap has `update` (`manualVisit`, `undo`, `edit`, `merge`); `imported` and `merged` have `report`, the
    /// object of ``ImportReport`` or ``MergeReport``; `scenario` has `id`, `scenario` (its identifier), `number`,
    /// `state` (`charged`, `delivered`, `refunded`, `redeemed`), `subject` if no member is known, `visit` (the `id` of
    /// the tap), `title`, `message` and `reason`; `routed` has `id`, `type`, `source`, `outcome`, `processor` and
    /// `reason`; an error has `error` with `code` and `message`.
    public func encode(to encoder: any Encoder) throws {
        let own: JSONObject
        switch self {
        case .scan(let event): return try event.encode(to: encoder)
        case .received(let receipt):
            let (reason, notices) = (receipt.outcome.reason, receipt.notices.map(\.message))
            own = [
                "id": receipt.eventID.uuidString, "reader": receipt.reader, "backend": receipt.backend,
                "member": receipt.member, "reason": reason?.message, "reasonCode": reason?.code.rawValue,
                "notices": notices.isEmpty ? nil : notices, "duplicate": receipt.isDuplicate ? true : nil,
            ]
        case .added(let member, _), .deleted(let member, _): own = ["member": member]
        case .updated(let member, let reason, _): own = ["member": member, "update": reason]
        case .imported(let report, _): own = ["report": report]
        case .merged(let report, _): own = ["report": report]
        case .scenario(let result):
            let execution = result.execution
            own = [
                "id": execution.id.uuidString, "scenario": execution.scenario, "number": execution.number,
                "state": execution.state, "subject": result.member == nil ? execution.subject : nil,
                "member": result.member, "visit": execution.visit?.uuidString, "title": result.title,
                "message": result.message, "reason": execution.reason,
            ]
        case .routed(let result):
            own = [
                "id": result.messageID, "type": result.type, "source": result.source.kind.rawValue,
                "outcome": result.outcome.name, "processor": result.processor, "reason": result.outcome.reason,
            ]
        case .error(let error, _):
            own = ["error": ["code": error.kind.rawValue, "message": error.description] as JSONObject]
        }
        try encoder.encodeObject(JSONObject(own, ["event": name, "at": ISO8601.text(at)]))
    }
}
