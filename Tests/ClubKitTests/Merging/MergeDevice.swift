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
        func members() throws {
            for row in try Row.fetchAll(db, sql: "SELECT \(MemberRow.columns) FROM member ORDER BY id") {
                let member = try MemberRow(row)
                records.append(.member(.init(userId: member.member.userId, facts: try member.facts())))
            }
        }
        try TransferRecord.forEach(in: db, members: members) { records.append($0) }
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
