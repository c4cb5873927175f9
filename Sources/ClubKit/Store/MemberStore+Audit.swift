import Foundation
import GRDB

extension MemberStore {
    /// Writes down who did what.
    func audit(
        _ action: AuditEntry.Action,
        of subject: String?,
        _ context: ActionContext,
        detail: [String: FieldValue] = [:],
        in db: Database
    ) throws {
        let stamp = try nextStamp(in: db)
        var detail = detail
        if let reason = context.reason, !reason.isEmpty { detail["reason"] = .string(PlainText.line(reason)) }
        try db.cachedStatement(
            sql: "INSERT INTO audit (device_id, hlc, at, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            stamp.device, stamp.time, Timestamp.microseconds(clock()) ?? 0, context.actor.map(PlainText.line),
            action.rawValue, subject, try detail.isEmpty ? nil : MemberRow.json(detail),
        ])
    }
}
