import Foundation
import GRDB
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

/// Damage to the list of tables, which has several pages, of which the first is the file's first.
@Suite("A damaged list of tables")
struct DamagedSchemaTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func club() -> Club { Club(configuration: .test(.file(path: path))) }

    /// A file with something in each table, and what the club says of its members and visits. It is made once, and each
    /// test has a copy.
    private static let sound = Task { try await DamagedSchemaTests().makeSound() }

    private func fill() async throws -> (members: [Member], visits: Set<UUID>) {
        let sound = try await Self.sound.value
        try sound.bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        return (sound.members, sound.visits)
    }

    private func makeSound() async throws -> (bytes: Data, members: [Member], visits: Set<UUID>) {
        let club = club()
        try await club.open()
        for round in 0..<3 {
            for index in 0..<150 {
                let event = tap("member \(index)", at: Double(round * 1000 + index), name: "Name \(index)")
                _ = try await club.receive(event)
            }
        }
        try await club.update("member 1") { $0.fields["mail"] = "one@club.example" }
        try await club.addCard("card", to: "member 2")
        try await club.mergeMember("member 3", into: "member 4")
        _ = try await club.delete("member 5")
        try await club.undoVisit(club.visits(of: "member 0")[0].id, by: ActionContext(reason: "test"))
        try await club.erase("member 6")
        #expect(try club.passMemory.takeCounter(7, of: [4, 1, 2, 3, 4, 5, 6]))
        #expect(try club.passMemory.takeOnce([1, 2, 3], until: .distantFuture, now: Date(timeIntervalSince1970: 0)))
        let members = try await club.members(sortedBy: .userId)
        #expect(try await club.check() == [])
        try await club.close()
        return (try Data(contentsOf: URL(fileURLWithPath: path)), members, try visits())
    }

    @Test(
        "A trigger, an index and a table that are missing are found, and made anew",
        arguments: [
            ("TRIGGER", "scenario_event_adds"), ("INDEX", "visit_by_member"), ("TABLE", "scenario_count"),
            ("TABLE", "presented"),
        ]
    )
    func missing(type: String, name: String) async throws {
        let before = try await fill()
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "DROP \(type) \(name)") }
        try queue.close()
        let damaged = club()
        try await damaged.open()
        let findings = try await damaged.check()
        #expect(findings.first?.message.contains("'\(name)' is missing") == true, "\(findings)")
        #expect(findings.allSatisfy { $0.code == .damaged })
        try await damaged.close()
        let report = try await club().repair()
        #expect(report.remaining.isEmpty, "\(report)")
        let mended = club()
        try await mended.open()
        #expect(try await mended.members(sortedBy: .userId) == before.members)
        try await mended.close()
        #expect(try visits() == before.visits)
    }

    private func visits() throws -> Set<UUID> {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try UUID.fetchSet($0, sql: "SELECT event_id FROM visit") }
    }

    /// The pages of the list behind the first.
    private func pagesOfList() throws -> [Int] { Array(DamagedFile.pagesOfList(try content(of: path)).dropFirst()) }

    enum Damage: CaseIterable {
        case nonsense, zeros, beginning, header
    }

    private func damage(_ page: Int, _ damage: Damage) throws {
        try DamagedFile.change(path) { bytes in
            let place = (page - 1) * 4096
            switch damage {
            case .nonsense: DamagedFile.destroy(page, in: &bytes)
            case .zeros: bytes.replaceSubrange(place..<place + 4096, with: Data(count: 4096))
            case .beginning: bytes.replaceSubrange(place..<place + 128, with: Data(repeating: 0x5A, count: 128))
            case .header: bytes[place + (page == 1 ? 100 : 0)] ^= 0x40
            }
        }
    }

    @Test(
        "Whichever page of the list is damaged, all members and visits are kept, and none is there twice",
        arguments: Damage.allCases,
        Array(0..<5).oneIn(4)
    )
    func pages(damage: Damage, index: Int) async throws {
        let known = try await fill()
        let pages = [1] + (try pagesOfList())
        guard index < pages.count else { return }
        try self.damage(pages[index], damage)
        let report = try await club().repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        #expect(report.lost.allSatisfy { $0.hasSuffix("may have been empty, could not be found") }, "\(report.lost)")
        let club = club()
        try await club.open()
        #expect(try await club.members(sortedBy: .userId) == known.members)
        #expect(try await club.receive(tap("card", at: 50_000)).member?.userId == "member 2")
        #expect(try await club.check() == [])
        try await club.close()
        #expect(try visits().isSuperset(of: known.visits))
        #expect(try visits().count == known.visits.count + 1)
    }

    @Test("All pages of the list at once")
    func wholeList() async throws {
        let known = try await fill()
        let pages = [1] + (try pagesOfList())
        #expect(pages.count > 2)
        for page in pages { try damage(page, .nonsense) }
        let report = try await club().repair()
        #expect(report.remaining == [])
        let club = club()
        try await club.open()
        #expect(try await club.members(sortedBy: .userId) == known.members)
        try await club.close()
        #expect(try visits() == known.visits)
    }

    @Test(
        "With the list and the root of a table, its indexes and receipts tell the rest, and what is lost is said",
        arguments: ["visit", "member", "receipt"]
    )
    func listAndTable(table: String) async throws {
        let known = try await fill()
        let pages = try pagesOfList()
        try DamagedFile.destroyTrees([table], of: path)
        for page in pages { try damage(page, .nonsense) }
        let report = try await club().repair()
        #expect(report.remaining == [])
        // Of visits of taps the indexes and receipts have all. Which tables are empty, nobody can tell.
        let lost = report.lost.filter { !$0.hasSuffix("may have been empty, could not be found") }
        #expect(lost.isEmpty == (table == "visit"), "\(report.lost)")
        let club = club()
        try await club.open()
        #expect(try await club.check() == [])
        let now = try await club.members(sortedBy: .userId)
        try await club.close()
        #expect(try visits() == known.visits, "\(report.lost)")
        if table != "member" { #expect(now == known.members, "\(report.lost)") }
    }

    @Test("Where a first large import has made indexes anew, which are elsewhere, no index is taken for another")
    func indexesElsewhere() async throws {
        let known = try await fill()
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            let names = "('member_by_name', 'visit_by_event', 'visit_by_member')"
            let sql = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE name IN \(names)")
            try db.execute(sql: "DROP INDEX member_by_name; DROP INDEX visit_by_event; DROP INDEX visit_by_member")
            for sql in sql.reversed() { try db.execute(sql: sql) }
        }
        try queue.close()
        try DamagedFile.destroyTrees(["visit"], of: path)
        try damage(1, .nonsense)
        let report = try await club().repair()
        #expect(report.remaining == [])
        let club = club()
        try await club.open()
        #expect(try await club.members(sortedBy: .userId).map(\.userId) == known.members.map(\.userId))
        #expect(try await club.check() == [])
        try await club.close()
        #expect(try visits() == known.visits, "\(report.lost)")
    }
}
