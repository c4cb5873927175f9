import Foundation
import GRDB
import Testing

@testable import ClubKit

@Suite("Databases of earlier versions")
struct MigrationTests {
    private let directory: TemporaryDirectory
    private let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Fixtures/databases").standardizedFileURL

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func copy(_ name: String) throws -> String {
        let path = directory.file()
        try FileManager.default.copyItem(atPath: fixtures.appendingPathComponent(name).path, toPath: path)
        chmod(path, 0o600)
        return path
    }

    /// A visit as every schema has it.
    private struct Record: FetchableRecord, Equatable {
        var event: Data
        var device: Data
        var time: Int64
        var member: String
        var at: Int64
        var reader: String
        var backend: String

        init(row: Row) {
            (event, device, time, member) = (row[0], row[1], row[2], row[3])
            (at, reader, backend) = (row[4], row[5], row[6])
        }

        static let all = """
            SELECT event_id, device_id, hlc, user_id, at, reader, backend FROM visit JOIN member ON member.id = member_id
            ORDER BY visit.id
            """
    }

    @Test("Every member, visit and receipt of the first schema is there afterwards, and the check is clean")
    func firstSchema() async throws {
        let path = try copy("version-1.sqlite")
        let expected = try String(
            decoding: Data(contentsOf: fixtures.appendingPathComponent("version-1.expected.jsonl")),
            as: UTF8.self
        ).split(separator: "\n").map { try JSONDecoder().decode(Member.self, from: Data($0.utf8)) }
        let receiptsSQL = """
            SELECT event_id, at, reader, backend, outcome, reason_code, reason, member_id, num_visits, last_visit_at
            FROM receipt ORDER BY event_id
            """
        let before = try DatabaseQueue(path: path).read { db in
            (
                try Record.fetchAll(db, sql: Record.all), try Row.fetchAll(db, sql: receiptsSQL),
                try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'deviceID'")
            )
        }
        #expect(before.0.count == 84)

        let store = try MemberStore(.file(path: path), clock: { start }, makeUUID: { UUIDSource.uuid(9) })
        let members = try await store.members(sortedBy: .creation)
        #expect(members == expected)
        #expect(members.count == 34)
        #expect(members.first { $0.userId == "M-1017" }?.username == .some(nil))
        #expect(members.first { $0.userId == "U12" }?.fields["phone"] == "+49 30 1234567")
        let after = try store.database.read { db in
            (try Record.fetchAll(db, sql: Record.all), try Row.fetchAll(db, sql: receiptsSQL))
        }
        #expect(after.0 == before.0)
        #expect(after.1 == before.1)
        #expect(store.deviceID.uuidString == before.2)
        #expect(try await store.check() == [])
        try store.close()
        // Once is enough.
        let again = try MemberStore(.file(path: path), clock: { start }, makeUUID: { UUIDSource.uuid(9) })
        #expect(try await again.members(sortedBy: .creation) == expected)
        #expect(try await again.check() == [])
    }

    @Test("A tap, an undoing and a deletion after the migration")
    func goesOn() async throws {
        let club = try await openClub(.test(.file(path: try copy("version-1.sqlite"))))
        // The capture's own time is later than the clock of these tests.
        let visits = try await club.visits(of: "U1")
        let latest = try #require(visits.first)
        #expect(visits.count == 8)
        #expect(visits.allSatisfy { $0.source == .card && $0.counts })
        let member = try await club.undoVisit(latest.id, by: ActionContext())
        #expect(member.numVisits == 7)
        #expect(member.timeStampOfLastVisit == visits[1].at.timeIntervalSince1970)
        let time = latest.at.timeIntervalSince(start) + 4000
        #expect(try await club.receive(tap("U1", at: time)).member?.numVisits == 8)
        try await club.delete("U1")
        #expect(try await club.receive(tap("U1", at: time + 60)).member?.numVisits == 1)
        #expect(try await club.check() == [])
    }

    @Test("A first schema without any member")
    func empty() async throws {
        let path = directory.file()
        let old = try DatabaseQueue(path: path)
        try DatabaseSchema.migrator(deviceID: UUIDSource.uuid(3)).migrate(old, upTo: "1 members and their visits")
        try old.close()
        chmod(path, 0o600)
        let club = try await openClub(.test(.file(path: path)))
        #expect(try await club.check() == [])
        #expect(try await club.receive(tap("A")).outcome == .created)
        #expect(try await club.check() == [])
    }

    @Test("Members of the first schema are facts that do not depend on when they are brought over")
    func facts() async throws {
        let store = try MemberStore(
            .file(path: try copy("version-1.sqlite")),
            clock: { start.addingTimeInterval(1e8) },
            makeUUID: { UUIDSource.uuid(9) }
        )
        let (rows, first) = try await store.database.read { db in
            (
                try Row.fetchAll(db, sql: "SELECT \(MemberRow.columns) FROM member").map { try MemberRow($0) },
                try Int64.fetchAll(db, sql: "SELECT min(hlc) FROM visit GROUP BY member_id ORDER BY member_id")
            )
        }
        #expect(rows.map(\.origin.time) == first)
        #expect(rows.allSatisfy { $0.origin.device == store.deviceID && $0.ended == -1 && $0.status == .present })
        #expect(try rows.allSatisfy { try $0.facts().isPlain })
        let born = try await store.database.read {
            try Int.fetchOne(
                $0,
                sql: "SELECT count(*) FROM visit JOIN member ON member.id = member_id WHERE born <> origin_hlc"
            )
        }
        #expect(born == 0)
    }

    @Test("A copied disk's visit may have a moment that another has; an event stays one, and the ledger stays guarded")
    func ledger() async throws {
        let store = try MemberStore(
            .file(path: try copy("version-1.sqlite")),
            clock: { start },
            makeUUID: { UUIDSource.uuid(9) }
        )
        func insert(_ event: String) throws {
            try store.database.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO visit (event_id, device_id, hlc, member_id, at, reader, backend, born)
                        SELECT \(event), device_id, hlc, member_id, at, reader, backend, born FROM visit WHERE id = 1
                        """
                )
            }
        }
        try insert("randomblob(16)")
        #expect(throws: DatabaseError.self) { try insert("event_id") }
        for sql in ["UPDATE visit SET at = 0", "DELETE FROM visit"] {
            #expect(throws: DatabaseError.self) { try store.database.write { try $0.execute(sql: sql) } }
        }
        let indexes = try await store.database.read { db in
            try String.fetchSet(db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'visit'")
        }
        #expect(indexes == ["visit_by_event", "visit_by_device", "visit_by_member", "visit_by_time"])
    }

    @Test("A migration that does not come to its end leaves the first schema as it was")
    func cutOff() async throws {
        let path = try copy("version-1.sqlite")
        let schema = "SELECT name || coalesce(sql, '') FROM sqlite_master WHERE name <> 'audit' ORDER BY name"
        let old = try DatabaseQueue(path: path)
        let (visits, tables) = try await old.read { db in
            (try Record.fetchAll(db, sql: Record.all), try String.fetchAll(db, sql: schema))
        }
        // The ledger is made anew before this is found.
        try await old.write { try $0.execute(sql: "CREATE TABLE audit (id INTEGER)") }
        #expect(throws: ClubError.self) {
            _ = try MemberStore(.file(path: path), clock: { start }, makeUUID: { UUIDSource.uuid(9) })
        }
        let after = try await old.read { db in
            (try Record.fetchAll(db, sql: Record.all), try String.fetchAll(db, sql: schema))
        }
        #expect(after.0 == visits)
        #expect(after.1 == tables)
        try await old.write { try $0.execute(sql: "DROP TABLE audit") }
        try old.close()
        let store = try MemberStore(.file(path: path), clock: { start }, makeUUID: { UUIDSource.uuid(9) })
        let migrated = try await store.database.read { try Record.fetchAll($0, sql: Record.all) }
        #expect(migrated == visits)
        #expect(try await store.check() == [])
    }
}
