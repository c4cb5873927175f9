import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

/// Repair of files of which whole tables are gone: what it says it lost is what it lost, no more and no less.
@Suite("Repairing what is gone")
struct LossyRepairTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func club() -> Club { Club(configuration: .test(.file(path: path))) }

    /// Members with visits by taps, by hand, of another device and told by a file; one was joined, one deleted.
    private func fill(members: Int = 120) async throws -> [Member] {
        var configuration = ClubConfiguration.test()
        configuration.makeUUID = { UUID() }
        let other = try await openClub(configuration)
        for index in 0..<members / 2 { _ = try await other.receive(tap("member \(index)", at: 9000)) }
        let file = directory.file("other.clubkit")
        try await other.exportMembers(to: file, options: ExportOptions(format: .clubkit))
        let list = directory.file("list.csv")
        let lines = [
            "userId,username,numVisits,timeStampOfLastVisit", "member 5,Five,40,1788200000", "old,Old,7,1788200000", "",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: list))

        let club = club()
        try await club.open()
        for round in 0..<3 {
            for index in 0..<members {
                _ = try await club.receive(tap("member \(index)", at: Double(round * 1000 + index), name: "N \(index)"))
            }
        }
        _ = try await club.importMembers(from: list, options: ImportOptions())
        _ = try await club.importMembers(from: file, options: ImportOptions())
        for index in 20..<30 {
            try await club.recordVisit(of: "member \(index)", by: ActionContext(actor: "desk", reason: "forgot"))
        }
        try await club.mergeMember("member 11", into: "member 12")
        _ = try await club.delete("member 13")
        let members = try await club.members(sortedBy: .userId)
        #expect(try await club.check() == [])
        try await club.close()
        try FileManager.default.removeItem(atPath: file)
        return members
    }

    private func destroy(_ table: String) throws { try DamagedFile.destroyTrees([table], of: path) }

    private func sum(_ members: [Member]) -> Int { members.map(\.numVisits).reduce(0, +) }

    @Test("Without the pages of the visits, all visits are put together from the indexes")
    func visits() async throws {
        let members = try await fill()
        try destroy("visit")
        let club = club()
        let report = try await club.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        try await club.open()
        #expect(try await club.members(sortedBy: .userId) == members)
        // 10 by hand, 60 of the other device.
        #expect(report.lost.count == 1)
        #expect(report.lost.first?.hasPrefix("70 visits' reader") == true, "\(report.lost)")
        #expect(try await club.visits(of: "member 23").map(\.source).filter { $0 == .manual }.count == 1)
        #expect(try await club.receive(tap("member 3", at: 50_000)).outcome == .visit)
        #expect(try await club.check() == [])
    }

    @Test("Without the visits and most indexes, receipts tell of taps, and the rest is counted as lost")
    func visitsAndIndexes() async throws {
        let members = try await fill()
        for name in try indexes(of: "visit", but: ["member_id", "at"]) { try destroy(name) }
        try destroy("visit")
        let club = club()
        let report = try await club.repair()
        #expect(report.remaining == [])
        try await club.open()
        let now = try await club.members(sortedBy: .userId)
        #expect(report.lost.contains("70 visits that could not be read"), "\(report.lost)")
        #expect(sum(members) - sum(now) <= 70)
        #expect(sum(now) >= 3 * 119)
        #expect(try await club.check() == [])
    }

    @Test("Without the pages of the members, what the journal and the indexes have is there, and the rest is named")
    func members() async throws {
        let members = try await fill()
        try destroy("member")
        let club = club()
        let report = try await club.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        try await club.open()
        let now = try await club.members(sortedBy: .userId)
        #expect(now.map(\.userId) == members.map(\.userId))
        #expect(now.map(\.username) == members.map(\.username))
        for (before, after) in zip(members, now) where before.userId != "old" {
            #expect(after.numVisits == before.numVisits, "\(before.userId): \(report.lost)")
        }
        // The journal has nothing of one who was made by a list.
        #expect(report.lost.contains { $0.hasPrefix("1 members' fields, totals from files") }, "\(report.lost)")
        #expect(try await club.member(withUserID: "member 11")?.userId == "member 12")
        #expect(try await club.member(withUserID: "member 13") == nil)
        #expect(!report.lost.contains { $0.contains("could not be read") }, "\(report.lost)")
        #expect(report.lost.contains { $0.hasPrefix("1 deleted members'") }, "\(report.lost)")
        #expect(report.lost.contains { $0.hasPrefix("1 joined members'") }, "\(report.lost)")
        #expect(try await club.check() == [])
    }

    @Test("Without the members and the journal, totals of files are lost, and that is said")
    func membersAndJournal() async throws {
        let members = try await fill()
        try destroy("member")
        try destroy("change")
        let club = club()
        let report = try await club.repair()
        #expect(report.remaining == [])
        try await club.open()
        let now = try await club.members(sortedBy: .userId)
        #expect(now.map(\.userId) == members.map(\.userId))
        // What the files told of beyond the visits in the ledger.
        for (before, after) in zip(members, now) where !["member 5", "old"].contains(before.userId) {
            #expect(after.numVisits == before.numVisits, "\(before.userId)")
        }
        #expect(report.lost.contains { $0.contains("totals from files") }, "\(report.lost)")
        #expect(try await club.check() == [])
    }

    private func indexes(of table: String, but columns: [String]) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            try db.indexes(on: table).filter { $0.columns != columns }.map(\.name)
        }
    }
}
