import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

/// From one club through a file into another, or back into the same.
@Suite struct TransferRoundTripTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    func newClub(_ name: String, device: UInt64 = 500, at now: Date = start) async throws -> Club {
        var configuration = ClubConfiguration.test(.file(path: directory.file(name)), clock: { now })
        configuration.makeUUID = { UUIDSource.uuid(device) }
        return try await openClub(configuration)
    }

    /// A club with everything in it that members can have.
    func fullClub(_ name: String = "full.sqlite", seed: UInt64 = 21) async throws -> Club {
        let club = try await openClub(.test(.file(path: directory.file(name))))
        var random = SeededNumbers(seed: seed)
        let names = ["level", "memo", "Straße", "a b", "=f", "teams"]
        for number in 1...40 {
            var member = Member(
                userId: number.isMultiple(of: 7) ? "+49 \(number)" : "U\(number)",
                username: random.text()
            )
            if number.isMultiple(of: 5) { member.username = nil }
            for name in names where Bool.random(using: &random) { member.fields[name] = random.value().normalized }
            try await club.add(member)
            for visit in 0..<Int.random(in: 0...3, using: &random) {
                let time = Double(number * 100_000 + visit * 4000) + 0.25
                _ = try await club.receive(tap(member.userId, at: time, id: UUIDSource.uuid(random.next())))
            }
        }
        _ = try await club.receive(tap("card", at: 1, id: UUIDSource.uuid(1), name: "Ann"))
        try await club.undoVisit(UUIDSource.uuid(1), by: ActionContext(reason: "by mistake"))
        try await club.addCard("second card", to: "U1")
        try await club.replaceCard("U2", with: "new card")
        try await club.block("U3", by: ActionContext(reason: "unpaid"))
        try await club.sellVisits(10, to: "U4")
        try await club.setTags(["gold"], of: "U5")
        try await club.delete("U6")
        try await club.mergeMember("U8", into: "U9")
        return club
    }

    func export(_ club: Club, _ format: TransferFormat, _ name: String) async throws -> String {
        let path = directory.file(name + "." + format.pathExtension)
        try await club.exportMembers(to: path, options: ExportOptions(format: format, overwrite: true))
        return path
    }

    /// The records of a club's file, without the audit log, which differs.
    func records(_ club: Club) async throws -> Set<String> {
        let lines = try content(of: await export(club, .clubkit, "records")).split(separator: 0x0A)
        return Set(
            lines.dropFirst().dropLast().map { String(decoding: $0, as: UTF8.self) }.filter {
                !$0.hasPrefix(#"{"audit""#)
            }
        )
    }

    @Test(arguments: TransferFormat.allCases)
    func importingOnesOwnExportChangesNothing(_ format: TransferFormat) async throws {
        let club = try await fullClub()
        let before = try await club.members(sortedBy: .userId)
        let path = try await export(club, format, "own")
        let changes = Mutex<[[FieldDifference]]>([])
        let report = try await club.importMembers(
            from: path,
            row: { row in
                if !row.changes.isEmpty { changes.withLock { $0.append(row.changes) } }
            }
        )
        #expect(changes.withLock { $0 } == [])
        #expect(try await club.members(sortedBy: .userId) == before)
        #expect((report.malformed, report.skipped, report.created, report.changed) == (0, 0, 0, 0))
        #expect(report.newRecords == 0)
        #expect(report.conflicting == 0, "\(report.rows.first?.conflicts ?? [])")
        #expect(report.kept + report.records == report.total)
        // And once more.
        try await club.importMembers(from: path)
        #expect(try await club.members(sortedBy: .userId) == before)
        #expect(try await club.check().filter { $0.severity == .error } == [])
    }

    @Test(arguments: TransferFormat.allCases)
    func membersArriveAsTheyWere(_ format: TransferFormat) async throws {
        let club = try await fullClub()
        // When all of the visits are over.
        let other = try await newClub("other.sqlite", at: start.addingTimeInterval(100 * 86_400))
        let path = try await export(club, format, "members")
        let report = try await other.importMembers(from: path)
        #expect((report.malformed, report.skipped) == (0, 0))
        let before = try await club.members(sortedBy: .userId)
        let after = try await other.members(sortedBy: .userId)
        #expect(before.map(\.userId) == after.map(\.userId))
        for (one, two) in zip(before, after) {
            #expect(one.username == two.username)
            #expect(one.timeStampAdded == two.timeStampAdded)
            #expect(one.numVisits == two.numVisits)
            #expect(one.timeStampOfLastVisit == two.timeStampOfLastVisit)
            if format == .csv {
                #expect(one.fields.mapValues(\.cellText) == two.fields.mapValues(\.cellText))
            } else {
                #expect(one.fields == two.fields)
            }
        }
        #expect(try await other.check().filter { $0.severity == .error } == [])
    }

    @Test func aClubsFileMovesEverything() async throws {
        let club = try await fullClub()
        let other = try await newClub("other.sqlite")
        let path = try await export(club, .clubkit, "all")
        let report = try await other.importMembers(from: path)
        #expect(report.newRecords == report.records)
        #expect(try await records(other) == records(club))
        #expect(try await other.member(withUserID: "second card")?.userId == "U1")
        #expect(try await other.visits(of: "U9").map(\.id) == club.visits(of: "U9").map(\.id))
        // And again, which brings nothing new.
        let again = try await other.importMembers(from: path)
        #expect((again.created, again.changed, again.newRecords) == (0, 0, 0))
        #expect(try await records(other) == records(club))
    }

    @Test(arguments: TransferFormat.allCases)
    func aDryRunSaysTheSameAndChangesNothing(_ format: TransferFormat) async throws {
        let club = try await fullClub()
        let path = try await export(club, format, "members")
        let other = try await newClub("other.sqlite")
        try await other.add(Member(userId: "U1", username: "Somebody else", fields: ["level": "1"]))
        let before = try await records(other)
        let dryRows = Mutex<[ImportedRow]>([])
        let dry = try await other.importMembers(
            from: path,
            options: ImportOptions(dryRun: true),
            row: { row in dryRows.withLock { $0.append(row) } }
        )
        #expect(try await records(other) == before)
        #expect(try await other.auditLog().allSatisfy { $0.action != .merged })
        let rows = Mutex<[ImportedRow]>([])
        var wet = try await other.importMembers(from: path, row: { row in rows.withLock { $0.append(row) } })
        wet.dryRun = true
        #expect(dry == wet)
        #expect(dryRows.withLock { $0 } == rows.withLock { $0 })
        #expect(dry.created > 0)
    }

    @Test func readsFilesOfTheOriginalLibrary() async throws {
        let older = """
            userId,username,timeStampAdded,numVisits,timeStampOfLastVisit
            U1,Ann,1598441234.123456,7,1600000000.5
            U2,<null>,1598441235,1,1598441235
            """
        let newer = """
            [{"passId":"U1","memberId":"6F","username":"Ann B","timeStampAdded":1598441234.123456,"numVisits":9,\
            "timeStampOfLastVisit":1610000000},{"numVisits":2,"memberId":"70","username":"Eve","passId":"U3",\
            "timeStampOfLastVisit":1610000001,"timeStampAdded":1610000000}]
            """
        let files = [
            try directory.write(older, to: "a.MUCSV"), try directory.write(newer, to: "b.musrl"),
        ]
        for order in [files, files.reversed()] {
            let club = try await newClub("\(UUID().uuidString).sqlite")
            for path in order + order { try await club.importMembers(from: path) }
            let members = try await club.members(sortedBy: .userId)
            #expect(
                members == [
                    Member(
                        userId: "U1",
                        username: "Ann B",
                        timeStampAdded: 1_598_441_234.123456,
                        numVisits: 9,
                        timeStampOfLastVisit: 1_610_000_000,
                        fields: ["memberId": "6F"]
                    ),
                    Member(
                        userId: "U2",
                        username: nil,
                        timeStampAdded: 1_598_441_235,
                        numVisits: 1,
                        timeStampOfLastVisit: 1_598_441_235
                    ),
                    Member(
                        userId: "U3",
                        username: "Eve",
                        timeStampAdded: 1_610_000_000,
                        numVisits: 2,
                        timeStampOfLastVisit: 1_610_000_001,
                        fields: ["memberId": "70"]
                    ),
                ]
            )
            // The older file reduces nothing.
            let report = try await club.importMembers(from: files[0])
            #expect(report.changed == 0)
            #expect(try await club.members(sortedBy: .userId) == members)
        }
    }

    @Test func aFileThatASpreadsheetSavedIsRead() async throws {
        let club = try await newClub("club.sqlite")
        let text = "\u{FEFF}userId;username;numVisits\r\nU1;\"Ann; \"\"A\"\"\";3\r\n\r\n;;\r\nU2;Zoë\r\n'+49;Bob;1\r\n"
        let report = try await club.importMembers(from: directory.write(text, to: "x.csv"))
        #expect((report.created, report.malformed) == (2, 1))
        #expect(report.rows.map(\.row) == [5])
        #expect(try await club.members(sortedBy: .userId).map(\.userId) == ["+49", "U1"])
    }

    @Test func tellsOfItself() async throws {
        let club = try await newClub("club.sqlite")
        let events = club.events
        let path = try directory.write("userId\nU1\nU2", to: "x.csv")
        let report = try await club.importMembers(from: path, by: ActionContext(actor: "desk"))
        let event = try #require(await events.first(1).first)
        guard case .imported(report, _) = event else {
            Issue.record("\(event)")
            return
        }
        let entry = try #require(try await club.auditLog().first)
        #expect(entry.action == .merged && entry.actor == "desk")
    }

    @Test func cancelsAndGoesOnWhereItWas() async throws {
        let club = try await newClub("club.sqlite")
        let text = "userId\n" + (1...40_000).map { "U\($0)\n" }.joined()
        let path = try directory.write(text, to: "x.csv")
        let task = Mutex<Task<ImportReport, any Error>?>(nil)
        let cancelled = Task {
            try await club.importMembers(from: path, progress: { _ in task.withLock { $0?.cancel() } })
        }
        task.withLock { $0 = cancelled }
        await #expect {
            _ = try await cancelled.value
        } throws: { error in
            (error as? TransferError)?.kind == .cancelled
        }
        let count = try await club.memberCount()
        #expect(count < 40_000)
        let report = try await club.importMembers(from: path)
        #expect((report.kept, report.created) == (count, 40_000 - count))
        #expect(try await club.memberCount() == 40_000)
    }
}
