import Foundation
import GRDB
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

/// Values that are damaged in several tables at once, where what would tell of one is damaged too.
@Suite("Damaged values together")
struct DamagedFieldsTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func club() -> Club { Club(configuration: .test(.file(path: path))) }

    private func fill() async throws -> [Member] {
        let club = club()
        try await club.open()
        for round in 0..<3 {
            for index in 0..<12 {
                let event = tap("member \(index)", at: Double(round * 1000 + index), name: "Name \(index)")
                _ = try await club.receive(event)
            }
        }
        for index in 0..<4 {
            try await club.update("member \(index)") { $0.fields["mail"] = .string("\(index)@club.example") }
        }
        try await club.sellVisits(5, to: "member 2")
        try await club.setTags(["vip"], of: "member 2")
        try await club.block("member 6", by: ActionContext(reason: "test"))
        try await club.addCard("card", to: "member 2")
        try await club.mergeMember("member 3", into: "member 4")
        _ = try await club.delete("member 5")
        try await club.undoVisit(club.visits(of: "member 0")[0].id, by: ActionContext(reason: "test"))
        let members = try await club.members(sortedBy: .userId)
        #expect(try await club.check() == [])
        try await club.close()
        return members
    }

    private func damage(_ statements: [String]) throws {
        try DatabaseQueue(path: path).inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN")
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            for statement in statements { try db.execute(sql: statement) }
            try db.execute(sql: "DELETE FROM ledger_permit; COMMIT")
        }
    }

    private static let fields = ["'x'", "'[]'", "'{\"mail\":'", "substr(fields, 2)"].map {
        "UPDATE member SET fields = \($0)"
    }
    private static let keys = [
        "UPDATE meta SET key = 'deviceIx' WHERE key = 'deviceID'", "DELETE FROM meta",
        "UPDATE meta SET value = 'x' WHERE key = 'deviceID'",
    ]
    private static let births = ["-7", "\(Int64.max)", "0", "born | (1 << 61)", "born + (1 << 40)", "hlc + id"].map {
        "UPDATE visit SET born = \($0)"
    }
    private static let facts = ["'x'", "substr(facts, 3)", "'{\"births\":7}'", "'[]'", "''"].map {
        "UPDATE member SET facts = \($0) WHERE facts IS NOT NULL"
    }
    private static let changes = ["0", "-member_id", "member_id + 1", "member_id * 1000000007", "1"].map {
        "UPDATE change SET member_id = \($0)"
    }
    private static let clocks = ["UPDATE clock SET id = 7", "UPDATE clock SET id = -1, hlc = -1"]

    private static let combinations: [[String]] =
        fields.flatMap { fields in keys.flatMap { key in births.map { [fields, key, $0] } } }
        + facts.flatMap { facts in changes.flatMap { change in (clocks + keys).map { [facts, change, $0] } } }

    @Test(
        "Whatever is damaged together, nothing is left to be found, and who is there is there",
        arguments: combinations.oneIn(31)
    )
    func combined(statements: [String]) async throws {
        let members = try await fill()
        try damage(statements)
        let report = try await club().repair()
        #expect(report.remaining == [])
        let club = club()
        try await club.open()
        #expect(try await club.check() == [])
        let now = try await club.members(sortedBy: .userId)
        #expect(Set(now.map(\.userId)).isSuperset(of: members.map(\.userId)), "\(report.lost)")
        #expect(try await club.receive(tap("member 7", at: 50_000)).outcome.isCounted)
        // Nothing counts twice.
        let (before, after) = (members.map(\.numVisits).reduce(0, +), now.map(\.numVisits).reduce(0, +))
        #expect(after <= before + 3, "\(now)")
        #expect(try await club.repair().wasClean)
        try await club.close()
    }
}
