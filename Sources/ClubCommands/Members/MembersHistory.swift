import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// Lines of a history: a visit, what somebody did, or what a value was before.
enum HistoryLine {
    static let actionKeys = """
        event "action", at, userId, action (\(AuditEntry.Action.allCases.map(\.rawValue).joined(separator: ", "))), \
        actor (who did it), reason, detail (an object)
        """

    static func json(_ visit: Visit) -> JSONObject {
        [
            "at": ISO8601.text(visit.at), "event": "visit", "userId": visit.userId, "id": visit.id.uuidString,
            "reader": visit.reader.isEmpty ? nil : visit.reader, "source": visit.source.rawValue,
            "counted": visit.counts, "actor": visit.actor, "reason": visit.reason,
            "undone": visit.undoing.map {
                ["at": ISO8601.text($0.at), "reason": $0.reason, "actor": $0.actor] as JSONObject
            },
        ]
    }

    static func json(_ entry: AuditEntry) -> JSONObject {
        let particulars = entry.particulars
        return [
            "at": ISO8601.text(entry.at), "event": "action", "userId": entry.subject, "action": entry.action.rawValue,
            "actor": entry.actor, "reason": entry.reason, "detail": particulars.isEmpty ? nil : particulars,
        ]
    }

    static func json(_ former: FormerValue) -> JSONObject {
        [
            "at": ISO8601.text(former.end), "event": "formerValue", "userId": former.userId, "name": former.name,
            "value": former.value, "saidAt": former.saidAt.map(ISO8601.text), "device": former.device?.uuidString,
        ]
    }
}

struct MembersHistory: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows a member's visits, what was done with the member, and former values, the oldest first.",
        discussion: """
            JSON keys: of a visit event "visit", at, id, userId, reader, source (card, manual), counted, reason and \
            actor (of one by hand), undone (at, reason, actor); of what somebody did \(HistoryLine.actionKeys); of what \
            the name, a custom field or the notes were before event "formerValue", at (until when; 1970 if that is not \
            known), userId, name (username, a field, or $notes), value (null if it had been taken away), saidAt (if that \
            is known), device (on which it was said; none if a file said it). The last few of each value are kept.

            Of a member who was deleted it shows what is still held.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var latest: LimitOption
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func perform(_ club: Club, _ out: Output) async throws {
        let limit = latest.limit
        let found = try await club.held(member)
        let visits = try await club.heldVisits(of: member, limit: limit).map { visit in
            (visit.at, HistoryLine.json(visit), visit.text.onOneLine)
        }
        // That a visit was recorded or undone is reported by the visit.
        let told: Set<AuditEntry.Action> = [.recordedVisit, .undidVisit]
        let entries = try await club.heldAuditLog(of: member, limit: limit).filter { !told.contains($0.action) }
            .map { ($0.at, HistoryLine.json($0), $0.text(naming: false)) }
        let former = try await club.heldFormerValues(of: member, limit: limit).map { value in
            (value.end, HistoryLine.json(value), value.text.onOneLine)
        }
        let lines = (visits + entries + former).enumerated()
            .sorted { ($0.element.0, -$0.offset) < ($1.element.0, -$1.offset) }.map(\.element)
        for (_, line, text) in lines.suffix(limit) { try out.result(line, text: text) }
        let removed = try await club.numberOfRemovedVisits(of: member)
        if removed > 0 {
            out.message(
                "\(Count.text(removed, "earlier visit")) \(removed == 1 ? "was" : "were") removed (retention period)."
            )
        } else if lines.isEmpty {
            out.message("Nothing is known of what \(found.caption) did.")
        }
        if visits.isEmpty, found.numVisits > removed {
            let count = Count.text(found.numVisits - removed, "visit")
            out.message("\(count) came from a file as a total; when they were is not known.")
        }
    }
}

struct Audit: ClubCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows who did what in the club, the latest last.",
        discussion: "JSON keys: \(HistoryLine.actionKeys)."
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Option(help: "How many of the latest entries at most.")
    var limit = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let entries = try await club.auditLog(limit: limit)
        for entry in entries.reversed() { try out.result(HistoryLine.json(entry), text: entry.text(naming: true)) }
        if entries.isEmpty { out.message("Nothing was done yet.") }
    }
}
