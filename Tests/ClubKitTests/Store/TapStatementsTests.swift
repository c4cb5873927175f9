import Foundation
import GRDB
import Synchronization
import Testing

@testable import ClubKit

@Suite("What a tap asks of SQLite")
struct TapStatementsTests {
    /// The statements of a tap, without the values.
    private func statements(of key: String, at seconds: Double, in club: Club) async throws -> [String] {
        let told = Mutex<[String]>([])
        let database = try club.openStore("test").database
        try await database.writeWithoutTransaction { db in
            db.trace { event in
                if case .statement(let statement) = event { told.withLock { $0.append(statement.sql) } }
            }
        }
        _ = try await club.receive(tap(key, at: seconds))
        try await database.writeWithoutTransaction { $0.trace(options: []) }
        return told.withLock { $0 }.map(plain)
    }

    private func plain(_ sql: String) -> String {
        sql.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("( ", with: "(")
    }

    @Test("The C client of the benchmark makes the same statements in the same order")
    func benchmark() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Benchmarks/Sources/CVisits/cvisits.c").standardizedFileURL
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "sql[STATEMENTS] = {"))
        let end = try #require(text[start.upperBound...].range(of: "};"))
        // Literals that stand one after the other are one, as C has it.
        var list = text[start.upperBound..<end.lowerBound]
            .replacingOccurrences(of: "\" COLUMNS \"", with: MemberRow.columns)
            .replacing(/"\s*\n\s*"/, with: "")
        list.removeAll { $0 == "\n" }
        let theirs = list.matches(of: /"([^"]+)"/).map { plain(String($0.output.1)) }

        let bench = try StoreBench()
        let club = try await openClub(.test(.file(path: bench.directory.file())))
        _ = try await club.receive(tap("A"))
        _ = try await club.receive(tap("A", at: 31))
        let ours = try await statements(of: "A", at: 62, in: club)
        #expect(ours == theirs)
    }

    @Test("However many visits there were, a tap makes the same statements")
    func sameForAll() async throws {
        let club = try await openClub()
        for index in 0..<100 { _ = try await club.receive(tap("A", at: Double(index) * 31)) }
        _ = try await club.receive(tap("B"))
        let many = try await statements(of: "A", at: 4000, in: club)
        let few = try await statements(of: "B", at: 4000, in: club)
        #expect(many == few)
        // None of them reads a table from end to end.
        let database = try club.openStore("test").database
        for sql in many where !sql.contains("TRANSACTION") {
            let plan = try await database.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql.replacing(/\?\d*/, with: "1")).map {
                    $0[3] as String
                }
            }
            #expect(
                !plan.contains { $0.hasPrefix("SCAN ") && $0 != "SCAN clock" && $0 != "SCAN CONSTANT ROW" },
                "\(sql): \(plan)"
            )
        }
    }
}
