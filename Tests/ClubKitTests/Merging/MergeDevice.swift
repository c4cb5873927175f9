import Foundation
import GRDB
import ReaderKit
import Synchronization

@testable import ClubKit

/// A clock that a test sets.
final class HandClock: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date = start) {
        self.date = Mutex(date)
    }

    var now: Date { date.withLock { $0 } }

    func advance(by seconds: Double) {
        date.withLock { $0 += seconds }
    }
}

/// A device of its own: a store in memory with a clock that is wrong in its own way.
struct MergeDevice: Sendable {
    let store: MemberStore
    let clock: HandClock

    init(_ number: Int, skew: Double = 0, identifierKey: IdentifierKey? = nil) throws {
        let clock = HandClock(start.addingTimeInterval(skew))
        self.clock = clock
        store = try MemberStore(
            .memory,
            identifierKey: identifierKey,
            clock: { clock.now },
            makeUUID: { UUIDSource.uuid(UInt64(number)) }
        )
    }

    @discardableResult
    func tap(_ key: String, at date: Date, id: UUID = UUID(), cooldown: Int64 = 30_000_000) async throws -> Receipt? {
        let event = ScanEvent(id: id, at: date, reader: "Desk", backend: .simulated, memberKey: key)
        return try await store.receive(event, rules: TapRules(cooldown: cooldown), unknown: .create) { _ in }
    }

    /// Everything that merges, in the order of a club's file.
    func records() async throws -> [TransferRecord] {
        try await store.read("test") { db in try MergeDump.records(in: db) }
    }

    /// Takes in what another device has.
    @discardableResult
    func merge(_ records: [TransferRecord], batch: Int = .max, mode: MergeMode = .merge) throws -> [ImportVerdict] {
        let sink = try StoreImportSink(store, mode: mode)
        var verdicts: [ImportVerdict] = []
        var rest = records[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(batch))
            verdicts += try sink.apply(part)
            rest = rest.dropFirst(part.count)
        }
        try sink.finish()
        return verdicts
    }

    @discardableResult
    func importRows(_ rows: [ImportedMember], mode: MergeMode = .merge, dryRun: Bool = false) throws -> [ImportVerdict]
    {
        let sink = try StoreImportSink(store, mode: mode, dryRun: dryRun)
        let verdicts = try sink.apply(rows)
        try sink.finish()
        return verdicts
    }

    /// All that devices have in common after they have told each other everything, as text.
    func dump() async throws -> [String] {
        try await store.read("test") { db in try MergeDump.lines(in: db) }
    }

    func member(_ key: String) async throws -> Member? { try await store.member(withUserID: key) }
}

/// What a store holds, as records and as text.
enum MergeDump {
    static func records(in db: Database) throws -> [TransferRecord] {
        var records: [TransferRecord] = []
        for row in try Row.fetchAll(db, sql: "SELECT salt, hash, hlc, device_id FROM erased ORDER BY salt, hash") {
            records.append(
                .erasure(.init(salt: row[0], hash: row[1], stamp: Stamp(time: row[2], device: row[3])))
            )
        }
        let members = try Row.fetchAll(db, sql: "SELECT \(MemberRow.columns) FROM member ORDER BY id").map {
            try MemberRow($0)
        }
        for member in members {
            records.append(.member(.init(userId: member.member.userId, facts: try member.facts())))
        }
        for row in try Row.fetchAll(db, sql: "SELECT card_id, member_key, blocked, hlc, device_id FROM card ORDER BY 1")
        {
            records.append(
                .card(
                    .init(cardId: row[0], userId: row[1], blocked: row[2], stamp: Stamp(time: row[3], device: row[4]))
                )
            )
        }
        let visits = try Row.fetchAll(
            db,
            sql: """
                SELECT event_id, hlc, visit.device_id, user_id, at, reader, backend, born, source, reason, actor
                FROM visit JOIN member ON member.id = member_id ORDER BY visit.device_id, hlc, event_id
                """
        )
        for row in visits {
            records.append(
                .visit(
                    .init(
                        eventID: row[0],
                        stamp: Stamp(time: row[1], device: row[2]),
                        userId: row[3],
                        at: row[4],
                        reader: row[5],
                        backend: row[6],
                        born: row[7],
                        source: row[8],
                        reason: row[9],
                        actor: row[10]
                    )
                )
            )
        }
        for row in try Row.fetchAll(
            db,
            sql: "SELECT event_id, hlc, device_id, at, reason, actor FROM undo ORDER BY 3, 2, 1"
        ) {
            records.append(
                .undo(
                    .init(
                        eventID: row[0],
                        stamp: Stamp(time: row[1], device: row[2]),
                        at: row[3],
                        reason: row[4],
                        actor: row[5]
                    )
                )
            )
        }
        try ScenarioExport { records.append($0) }.write(db)
        for row in try Row.fetchAll(
            db,
            sql: "SELECT hlc, device_id, at, actor, action, subject, detail FROM audit ORDER BY 2, 1, 3, 5"
        ) {
            let detail: String? = row[6]
            records.append(
                .audit(
                    .init(
                        stamp: Stamp(time: row[0], device: row[1]),
                        at: row[2],
                        actor: row[3],
                        action: row[4],
                        subject: row[5],
                        detail: detail.map(MemberRow.fields)
                    )
                )
            )
        }
        return records
    }

    /// The records in an order of their own, and what every member shows.
    static func lines(in db: Database) throws -> [String] {
        let records = try records(in: db).map { try MemberRow.json($0) }
        let shown = try Row.fetchAll(
            db,
            sql: """
                SELECT user_id, username, added_at, num_visits, last_visit_at, fields, status, merged_into, blocked,
                    expires_at, visits_left, tags, own_visits
                FROM member ORDER BY user_id
                """
        ).map { row in row.databaseValues.map(\.description).joined(separator: "|") }
        let counting = try String.fetchAll(
            db,
            sql: """
                SELECT kind || ' ' || subject || ' ' || born || ' ' || hlc || ' ' || hex(device_id) || ' '
                    || hex(execution_id) || ' ' || counts
                FROM scenario_execution ORDER BY execution_id
                """
        )
        return records.sorted() + shown + counting
    }
}
