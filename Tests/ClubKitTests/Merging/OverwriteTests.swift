import Foundation
import TestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

@Suite("Files that overwrite, in which a member has several rows")
struct OverwriteTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// What the club has before: whether the member is there, and by what; and how many rows are between.
    struct Case: Sendable {
        var isThere: Bool
        /// The name that was said here.
        var name: String?
        /// More than the reader hands over at once.
        var between = 0
    }

    private static let cases: [(Case, Int)] = [
        Case(isThere: false), Case(isThere: true), Case(isThere: true, name: "Anna"),
        Case(isThere: true, name: "Ann"), Case(isThere: true, name: "Anne"),
        Case(isThere: false, between: RowBatch.sizes.upperBound),
        Case(isThere: true, name: "Anna", between: RowBatch.sizes.upperBound),
    ].flatMap { one in [1_600_000_000, 1_500_000_000].oneIn(one.between > 0 ? 2 : 1).map { (one, $0) } }

    @Test(
        "What a spreadsheet shortened overwrites nothing",
        arguments: [
            ("4917012345678", "4,91701E+12", true), ("01234", "1234", true), ("+491701", "491701", true),
            ("Ann", "#N/A", true), ("12345678901234567", "12345678901234500", true), ("01234", "4321", false),
            ("1234", "01234", false), ("4917012345678", "4917012345679", false), ("#N/A", "#NAME?", false),
        ]
    )
    func shortened(known: String, given: String, stays: Bool) async throws {
        let club = try await openClub(.test(.memory))
        _ = try await club.add(Member(userId: "A", username: "Ann", fields: ["phone": .string(known)]))
        let path = try directory.write("userId,phone\nA,\"\(given)\"\n", to: "members.csv")
        let report = try await club.importMembers(from: path, options: ImportOptions(mode: .overwrite))
        #expect(try await club.member(withUserID: "A")?.fields["phone"]?.cellText == (stays ? known : given))
        #expect((report.noted == 1) == stays && (report.changed == 1) == !stays, "\(report.rows)")
    }

    @Test(
        "The first row counts, the second is told as a conflict, and the same file again changes nothing",
        arguments: cases
    )
    func twice(one: Case, time: Int) async throws {
        let club = try await openClub(.test(.memory))
        if one.isThere { _ = try await club.add(Member(userId: "A", username: one.name)) }
        var text = "userId,username,level,timeStampAdded,numVisits,timeStampOfLastVisit\n"
        text += "A,Ann,1,1400000000,2,1550000000\n"
        for number in 0..<one.between { text += "U\(number),,,,,\n" }
        text += "A,Anne,2,1400000000,3,\(time)\n"
        let path = try directory.write(text, to: "members.csv")
        let options = ImportOptions(mode: .overwrite)
        func line() async throws -> [String] {
            let store = try club.openStore("test")
            return try await store.read("test") { db in
                try db.members.row(userID: "A").map { [try MemberRow.json($0.facts())] } ?? []
            }
        }
        let first = try await club.importMembers(from: path, options: options)
        #expect(try await club.member(withUserID: "A")?.username == "Ann")
        #expect(try await club.member(withUserID: "A")?.fields == ["level": "1"])
        #expect(first.rows.map { $0.conflicts.map(\.field) } == [["username", "level"]])
        let facts = try await line()
        let again = try await club.importMembers(from: path, options: options)
        #expect((again.created, again.changed, again.conflicting) == (0, 0, 1))
        #expect(try await line() == facts)
        #expect(try await club.check() == [])
    }

    @Test("The first row counts also where the second says what is there", arguments: [false, true])
    func secondAsBefore(hasCards: Bool) async throws {
        let club = try await openClub(.test(.memory))
        let head = "userId,username,numVisits,timeStampOfLastVisit\n"
        let before = try directory.write(head + "7,Ana,2,1550000000\n", to: "before.csv")
        try await club.importMembers(from: before)
        if hasCards {
            _ = try await club.add(Member(userId: "8"))
            try await club.addCard("C", to: "8")
        }
        let text = head + "7,Anna,2,1550000000\n7,Ana,2,1550000000\n"
        let path = try directory.write(text, to: "members.csv")
        let report = try await club.importMembers(from: path, options: ImportOptions(mode: .overwrite))
        #expect(try await club.member(withUserID: "7")?.username == "Anna")
        #expect((report.changed, report.conflicting) == (1, 1))
    }

    @Test("What a file says counts as said now, whatever the dates in it", arguments: [("Alt", "Neu"), ("Neu", "Alt")])
    func saidNow(former: String, latter: String) async throws {
        let (desk, office) = (try MergeDevice(1), try MergeDevice(2))
        func file(_ name: String) -> ImportedMember {
            var member = Member(userId: "A", username: name, timeStampAdded: 1_500_000_000)
            member.fields = ["town": .string("in \(name)")]
            return ImportedMember(member, row: 1)
        }
        for device in [desk, office] { try device.importRows([file(former)]) }
        desk.clock.advance(by: 10)
        _ = try await desk.store.update("A", ActionContext(), committed: { _ in }) {
            $0.username = "Desk"
            $0.fields["town"] = "at the desk"
        }
        office.clock.advance(by: 20)
        let verdicts = try office.importRows([file(latter)], mode: .overwrite)
        guard case .merged(let changes, let conflicts)? = verdicts.first else {
            Issue.record("\(verdicts)")
            return
        }
        #expect(changes.map(\.field) == ["username", "town"] && conflicts.isEmpty)
        #expect(try office.importRows([file(latter)], mode: .overwrite) == [.kept])
        try desk.merge(await office.records())
        try office.merge(await desk.records())
        for device in [desk, office] {
            let member = try #require(await device.member("A"))
            #expect(member.username == latter)
            #expect(member.fields["town"] == .string("in \(latter)"))
            // Nothing that is shown stands among what was said before.
            let versions = try await device.store.formerValues(of: "A", limit: 100).map(\.value)
            #expect(!versions.contains(.string(latter)))
        }
    }
}
