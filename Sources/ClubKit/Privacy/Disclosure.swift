import Foundation
import GRDB
import ReaderKit

/// The JSON object that is disclosed.
private struct Disclosure: Encodable {
    struct Entry: Encodable {
        var at: String
        var values: [String: FieldValue]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: FieldKey.self)
            try container.encode(at, forKey: FieldKey("at"))
            for (name, value) in values where value != .null { try container.encode(value, forKey: FieldKey(name)) }
        }
    }

    struct Record: Encodable {
        var member: Member
        /// What was recorded of each value, newest first, also what no longer counts.
        var versions: [String: [Entry]]
        var created: [String]
        var deleted: String?
        var claims: [Entry]
        var visitsBought: [Entry]
        var visitsRemoved: Int
        /// How many of these are kept for scenarios as having been since then.
        var visitsRemovedSince: [Entry]
    }

    struct Card: Encodable {
        var id: String
        var blocked: String?
        /// How far the card has counted its taps, if it does.
        var counter: Int64?
    }

    var disclosedAt: String
    var records: [Record]
    var cards: [Card]
    var visits: [Entry]
    var taps: [Entry]
    /// What scenarios did for the member.
    var executions: [Entry]
    /// What programs recorded for scenarios.
    var events: [Entry]
    /// What came on the member's cards, or names the member.
    var messages: [Entry]
    var audit: [Entry]
}

struct Disclosing {
    let db: Database
    let device: LocalDevice

    func json(of row: MemberRow) throws -> [UInt8] {
        let rows = try db.members.held(with: row)
        let ids = rows.map { String($0.id) }.joined(separator: ",")
        func time(_ microseconds: Int64) -> String { ISO8601.text(Timestamp.date(microseconds)) }
        func time(_ stamp: Stamp) -> String { ISO8601.text(stamp.date) }
        let records = try rows.map { one in
            let facts = try one.facts()
            return Disclosure.Record(
                member: one.member,
                versions: facts.values.mapValues { versions in
                    versions.map { Disclosure.Entry(at: time($0.stamp), values: ["value": $0.value]) }
                },
                created: facts.births.map { time($0.at) },
                deleted: one.exists ? nil : facts.end.map { time($0) },
                claims: facts.claims.map { .init(at: time($0.at), values: ["visits": .int($0.visits)]) },
                visitsBought: facts.allPacks.map { .init(at: time($0.stamp), values: ["visits": .int($0.visits)]) },
                visitsRemoved: facts.removedVisits,
                visitsRemovedSince: Set(facts.removals.flatMap(\.tallies).map(\.from)).sorted().map { from in
                    let visits = facts.removedVisits(after: from - 1, through: .max)
                    return .init(at: time(from), values: ["visits": .int(visits)])
                }
            )
        }
        typealias Entry = Disclosure.Entry
        func entries(_ sql: String, _ names: [String], _ arguments: StatementArguments = []) throws -> [Entry] {
            try Row.fetchAll(db, sql: sql, arguments: arguments).map { row in
                var values: [String: FieldValue] = [:]
                for (index, name) in names.enumerated() {
                    let stored: DatabaseValue = row[index + 1]
                    values[name] =
                        switch stored.storage {
                        case .null, .blob: .null
                        case .int64(let value): .int(Int(value))
                        case .double(let value): .double(value)
                        case .string(let value):
                            ["detail", "payload"].contains(name) ? .object(MemberRow.fields(value)) : .string(value)
                        }
                }
                return .init(at: time(try row.value(0)), values: values)
            }
        }
        let names = rows.map(\.member.userId)
        let marks = databaseQuestionMarks(count: names.count)
        let subjects = StatementArguments(names)
        let cards = try db.members.cards(of: rows, first: row.member.userId)
        let naming = try StoredMessages(db: db, device: device).naming(Set(names + cards.map(\.id)))
            .map(String.init).joined(separator: ",")
        let disclosure = Disclosure(
            disclosedAt: ISO8601.text(device.clock()),
            records: records,
            cards: try cards.map { card in
                let counter: Int64? = try db.value("SELECT counter FROM presented WHERE name = ?", [card.id])
                return .init(id: card.id, blocked: card.blocked, counter: counter)
            },
            visits: try entries(
                """
                SELECT visit.at, reader, source, visit.reason, visit.actor, undo.at IS NOT NULL, undo.reason, undo.actor
                FROM visit LEFT JOIN undo USING (event_id) WHERE member_id IN (\(ids)) ORDER BY visit.at
                """,
                ["reader", "source", "reason", "by", "undone", "undoneReason", "undoneBy"]
            ),
            taps: try entries(
                "SELECT at, reader, outcome, reason FROM receipt WHERE member_id IN (\(ids)) ORDER BY at",
                ["reader", "outcome", "reason"]
            ),
            executions: try entries(
                """
                SELECT e.at, e.scenario, e.number, s.state, s.actor, s.reason FROM scenario_execution AS e
                    LEFT JOIN scenario_settlement AS s USING (execution_id)
                WHERE kind = 'member' AND subject IN (\(marks)) ORDER BY e.at, s.state
                """,
                ["scenario", "number", "state", "by", "reason"],
                subjects
            ),
            events: try entries(
                "SELECT at, name FROM scenario_event WHERE kind = 'member' AND subject IN (\(marks)) ORDER BY at",
                ["name"],
                subjects
            ),
            messages: try entries(
                """
                SELECT received_at, content ->> '$.type', content ->> '$.source.kind', content ->> '$.payload',
                    coalesce(outcome, state), reason
                FROM message WHERE seq IN (\(naming)) OR seq IN (\(StoredMessages.ofTaps("""
                    SELECT event_id FROM receipt WHERE member_id IN (\(ids))
                    UNION SELECT event_id FROM visit WHERE member_id IN (\(ids))
                    """))) ORDER BY seq
                """,
                ["type", "source", "payload", "outcome", "reason"]
            ),
            audit: try entries(
                "SELECT at, action, actor, detail FROM audit WHERE subject IN (\(marks)) ORDER BY at, hlc",
                ["action", "actor", "detail"],
                subjects
            )
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(disclosure)) + [0x0A]
    }

    func visits(of row: MemberRow) throws -> [UInt8] {
        let ids = try db.members.held(with: row).map { String($0.id) }.joined(separator: ",")
        var text = "at,reader,source,counted,reason,by\r\n"
        let sql = """
            SELECT visit.at, reader, source, CASE WHEN undo.at IS NULL THEN 'yes' ELSE 'no' END,
                coalesce(undo.reason, visit.reason, ''), coalesce(undo.actor, visit.actor, '')
            FROM visit LEFT JOIN undo USING (event_id) WHERE member_id IN (\(ids)) ORDER BY visit.at
            """
        for row in try Row.fetchAll(db, sql: sql) {
            let time = ISO8601.text(Timestamp.date(try row.value(0)))
            let texts: [String] = try (1...5).map { try row.value($0) }
            text += ([time] + texts).map(Self.cell).joined(separator: ",") + "\r\n"
        }
        return Array(text.utf8)
    }

    /// A cell by RFC 4180 that no spreadsheet takes for a formula.
    private static func cell(_ text: String) -> String {
        let isGuarded = Array(text.utf8).withUnsafeBufferPointer { CSVCell.isGuarded($0) }
        let safe = isGuarded ? "'" + text : text
        let needsQuotes = safe.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
        return needsQuotes ? "\"" + safe.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : safe
    }
}

enum PrivateFiles {
    /// Makes a directory of mode 0700, or takes one that is empty.
    static func makeDirectory(_ path: String, _ attempt: String) throws(ClubError) {
        if mkdir(path, 0o700) == 0 { return }
        guard errno == EEXIST else { throw ClubError(errno: errno, attempting: attempt) }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path), names.isEmpty else {
            throw ClubError(.fileExists, attempting: attempt, detail: "the directory is not empty")
        }
    }

    /// Writes a new file of mode 0600, through to the disk.
    static func write(_ bytes: [UInt8], to path: String, _ attempt: String) throws(ClubError) {
        do throws(FileSteps.Failure) {
            let file = try FileSteps.create(path)
            defer { close(file) }
            try FileSteps.write(bytes[...], to: file)
            try FileSteps.synchronise(file)
        } catch {
            throw DatabaseFiles.failure(attempt, error.code)
        }
    }
}
