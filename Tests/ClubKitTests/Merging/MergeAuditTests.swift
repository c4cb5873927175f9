import Foundation
import ReaderKit
import Synchronization
import Testing

@testable import ClubKit

@Suite("What the audit log and the report tell of those whom a merge has changed")
struct MergeAuditTests {
    private let directory: TemporaryDirectory
    private let desk = ActionContext(actor: "desk", reason: "monday")

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func entries(_ club: Club) async throws -> [String: AuditEntry] {
        let entries = try await club.auditLog().filter { $0.action == .merged && $0.subject != nil }
        #expect(Set(entries.map(\.subject)).count == entries.count)
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.subject ?? "", $0) })
    }

    @Test(
        "An entry for each member whom rows have changed, with the file and the names of the values",
        arguments: [
            ("x.csv", "userId,username,numVisits\nA,Anna,7\nB,Bob,0\nC,Eve,1\nA,Anna,9\n"),
            (
                "x.musrl",
                #"[{"userId":"A","username":"Anna","numVisits":7},{"userId":"B","username":"Bob"},{"userId":"C"},"#
                    + #"{"userId":"A","numVisits":9}]"#
            ),
        ]
    )
    func rows(name: String, text: String) async throws {
        let club = try await openClub(.test(.memory))
        for key in ["A", "B"] { _ = try await club.add(Member(userId: key, username: key == "B" ? "Bob" : "")) }
        let path = try directory.write(text, to: name)
        try await club.importMembers(from: path, options: ImportOptions(mode: .merge), by: desk)
        let entries = try await entries(club)
        #expect(entries.keys.sorted() == ["A"])
        let entry = try #require(entries["A"])
        #expect(entry.actor == "desk")
        #expect(entry.detail["file"] == .string(name))
        #expect(entry.detail["reason"] == "monday")
        guard case .array(let fields)? = entry.detail["fields"] else {
            Issue.record("\(entry)")
            return
        }
        #expect(fields.contains("username") && fields.contains("numVisits"))
        #expect(try await club.auditLog(of: "A").first == entry)
        // What is known already is no change.
        try await club.importMembers(from: path, options: ImportOptions(mode: .merge), by: desk)
        #expect(try await self.entries(club) == ["A": entry])
    }

    @Test("A file that has the name of somebody who is erased is still told")
    func fileNamedLikeSomebody() async throws {
        let club = try await openClub(.test(.memory))
        let other = try await openClub(.test(.memory))
        for key in ["A", "5"] { _ = try await club.add(Member(userId: key)) }
        let path = try directory.write("userId,username\nA,Anna\n", to: "5")
        try await club.importMembers(from: path, options: ImportOptions(mode: .merge), by: desk)
        let before = try #require(try await entries(club)["A"])
        try await club.erase("5")
        #expect(try await entries(club) == ["A": before])
        let all = directory.file("all.clubkit")
        try await club.exportMembers(to: all, options: ExportOptions(format: .clubkit))
        try await other.importMembers(from: all, options: ImportOptions(mode: .merge))
        #expect(try await entries(other)["A"]?.detail["file"] == "5")
    }

    @Test("An entry for each member of whom another kiosk's file says something else, but for visits and new members")
    func records() async throws {
        let club = try await openClub(.test(.memory))
        let other = try await openClub(.test(.memory))
        for key in ["block", "name", "card", "gone", "same", "visit"] { _ = try await club.add(Member(userId: key)) }
        let (path, back) = (directory.file("a.clubkit"), directory.file("b.clubkit"))
        try await club.exportMembers(to: path, options: ExportOptions(format: .clubkit))
        try await other.importMembers(from: path, by: desk)
        #expect(try await entries(other).isEmpty)
        _ = try await other.block("block", by: ActionContext(reason: "unpaid"))
        _ = try await other.update("name") { $0.username = "Name" }
        _ = try await other.addCard("second", to: "card")
        _ = try await other.delete("gone")
        _ = try await other.recordVisit(of: "visit", by: ActionContext())
        _ = try await other.add(Member(userId: "new"))
        try await other.exportMembers(to: back, options: ExportOptions(format: .clubkit))

        let rows = Mutex<[ImportedRow]>([])
        let report = try await club.importMembers(
            from: back,
            by: desk,
            row: { row in rows.withLock { $0.append(row) } }
        )
        #expect(report.changed == 5)
        #expect(report.created == 1)
        // A row that brings a card only is a change.
        let card = try #require(rows.withLock { $0.first { $0.record == "card" } })
        #expect((card.userId, card.outcome) == ("card", .changed))
        let entries = try await entries(club)
        let fields = entries.mapValues { $0.detail["fields"] }
        #expect(
            fields == [
                "block": .array(["$blocked"]), "name": .array(["username"]), "card": .array(["$cards"]),
                "gone": .array(["$state"]),
            ]
        )
        #expect(entries.values.allSatisfy { $0.actor == "desk" && $0.detail["file"] == "b.clubkit" })
        try await club.importMembers(from: back, by: desk)
        #expect(try await self.entries(club) == entries)
    }

    @Test("A merge that brings somebody back says so")
    func back() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try second.merge(await first.records())
        _ = try await first.store.delete("A", ActionContext()) { _ in }
        try second.merge(await first.records())
        second.clock.advance(by: 60)
        try await second.tap("A", at: start.addingTimeInterval(60))
        #expect(try first.merge(await second.records()).first == .created)
        #expect(try await first.member("A")?.numVisits == 1)
    }

    @Test("Who stands for themselves again, since whom they were joined to was deleted elsewhere, is told of")
    func released() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try await first.tap("B", at: start)
        try second.merge(await first.records())
        _ = try await first.store.mergeMember("B", into: "A", ActionContext()) { _ in }
        second.clock.advance(by: 60)
        _ = try await second.store.delete("A", ActionContext()) { _ in }
        let told = Mutex<[MergedMember]>([])
        let sink = try StoreImportSink(first.store) { members in told.withLock { $0 += members } }
        _ = try sink.apply(await second.records())
        try sink.finish()
        #expect(try await first.member("B")?.numVisits == 1)
        #expect(told.withLock { $0.filter { !$0.isDeleted }.map(\.member.userId) } == ["B"])
        #expect(told.withLock { $0.filter(\.isDeleted).map(\.member.userId) } == ["A"])
        let log = try await first.store.auditLog(of: "B", limit: 10).filter { $0.action == .merged }
        #expect(log.map(\.subject) == ["B"])
    }

    @Test("No entry of a merge names somebody who was erased, whichever is heard of first", arguments: [true, false])
    func erased(isHeardFirst: Bool) async throws {
        let devices = try (1...3).map { try MergeDevice($0) }
        try await devices[0].tap("A", at: start)
        for device in devices.dropFirst() { try device.merge(await devices[0].records()) }
        _ = try await devices[0].store.update("A", ActionContext(), committed: { _ in }, { $0.username = "Ann" })
        let edited = try await devices[0].records()
        _ = try await devices[2].store.erase("A", ActionContext()) { _ in }
        devices[1].clock.advance(by: 3600)
        // Later than the erasure, of which it has not heard.
        try devices[1].merge(edited)
        if isHeardFirst {
            try devices[0].merge(await devices[2].records())
            try devices[0].merge(await devices[1].records())
        } else {
            try devices[0].merge(await devices[1].records())
            try devices[0].merge(await devices[2].records())
        }
        try devices[1].merge(await devices[2].records())
        for device in devices {
            let log = try await device.store.auditLog(of: nil, limit: 100)
            #expect(!log.contains { $0.subject == "A" }, "\(log)")
        }
    }
}
