import ClubKit
import Foundation
import Testing

@testable import ClubKit

@Suite("Cards' identifiers that people type", .timeLimit(.minutes(10)))
struct CardKeyTests {
    @Test(
        "A UID in lower case or with separators is what the reader tells",
        arguments: [
            ("04a1b2c3", "04A1B2C3"), ("04:a1:b2:c3", "04A1B2C3"), ("04-A1-B2-C3", "04A1B2C3"),
            ("04 A1 b2 c3", "04A1B2C3"), ("0x04A1B2c3", "04A1B2C3"), ("0x12345678", "12345678"),
            ("04a1b2c3d4e5f6", "04A1B2C3D4E5F6"),
            ("04:A1:B2:C3:D4:E5:F6", "04A1B2C3D4E5F6"), ("e0:04:01:50:12:34:56:78", "E004015012345678"),
            ("04a1b2c3d4e5f6a7b8c9", "04A1B2C3D4E5F6A7B8C9"),
            ("04:a1:b2:c3:d4:e5:f6:a7:b8:c9", "04A1B2C3D4E5F6A7B8C9"),
        ]
    )
    func normalised(given: String, told: String) {
        #expect(CardKey.normalised(given) == told)
        #expect(CardKey.normalised(told) == nil)
    }

    @Test(
        "Everything else stays what it is",
        arguments: [
            "", ":", "04A1B2C3", "12345678", "04a1B2c3", "2026-1001", "1234-5678", "04:A1-B2:C3", "04:A1:B2:C3:",
            ":04:A1:B2:C3", "04::A1:B2", "04:A1:B2", "04a1b2c", "04a1b2c3d4", "04a1b2cg", "04:A1:B2:CG", "M-1",
            "card-0001", "04a1b2c3d4e5f6a7b8c9d0e1f2", "０４a1b2c3", "04:a1:b2:c3\n",
        ]
    )
    func others(given: String) {
        #expect(CardKey.normalised(given) == nil)
    }

    @Test("The desk may type a card as it likes")
    func typed() async throws {
        let club = try await openClub()
        #expect(try await club.add(Member(userId: "04:a1:b2:c3")).userId == "04A1B2C3")
        #expect(try await club.receive(tap("04A1B2C3")).outcome == .visit)
        let error = await #expect(throws: ClubError.self) { try await club.add(Member(userId: "04a1b2c3")) }
        #expect(error?.kind == .memberExists)
        try await club.addCard("05-a1-b2-c3", to: "04 a1 b2 c3")
        #expect(try await club.receive(tap("05A1B2C3", at: 60)).outcome == .visit)
        try await club.blockCard("05a1b2c3", by: ActionContext(reason: "lost"))
        #expect(try await club.receive(tap("05A1B2C3", at: 120)).outcome.reason?.code == .cardBlocked)
        try await club.unblockCard("05:A1:B2:C3")
        try await club.replaceCard("05a1b2c3", with: "06a1b2c3")
        #expect(try await club.receive(tap("05A1B2C3", at: 180)).outcome.reason?.code == .cardBlocked)
        #expect(try await club.receive(tap("06A1B2C3", at: 240)).outcome == .visit)
        #expect(try await club.member(withUserID: "06:a1:b2:c3")?.numVisits == 3)
        #expect(try club.getUser(with: "06:a1:b2:c3")?.userId == "04A1B2C3")
        #expect(try await club.details(of: "04a1b2c3")?.cards.map(\.id) == ["04A1B2C3", "05A1B2C3", "06A1B2C3"])
        #expect(try await club.visits(of: "04a1b2c3").count == 3)
        #expect(try await club.check() == [])
    }

    @Test("A membership number that looks like a UID in lower case is found as it is, and by its card")
    func membershipNumbers() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("3f2a9c01"))
        #expect(try await club.member(withUserID: "3f2a9c01")?.numVisits == 1)
        try await club.blockCard("3f2a9c01", by: ActionContext(reason: "lost"))
        #expect(try await club.receive(tap("3f2a9c01", at: 60)).outcome.reason?.code == .cardBlocked)
        // One that was typed before its card was seen.
        try await club.add(Member(userId: "4f2a9c01"))
        #expect(try await club.receive(tap("4f2a9c01", at: 60)).outcome == .visit)
        #expect(try await club.memberCount() == 2)
        #expect(try await club.check() == [])
    }

    @Test(
        "A UID is known in the spellings of other programs",
        arguments: [
            (
                "04A1B2C3",
                ["04a1b2c3", "04:A1:B2:C3", "04:a1:b2:c3", "04-A1-B2-C3", "04-a1-b2-c3", "04 A1 B2 C3", "04 a1 b2 c3"]
            ),
            ("12345678", ["12:34:56:78", "12-34-56-78", "12 34 56 78"]),
            ("04a1b2c3", []), ("M-1", []), ("", []), ("04A1B2C", []), ("04A1B2C3D4", []),
        ]
    )
    func spellings(told: String, spellings: [String]) {
        #expect(CardKey.spellings(told) == spellings)
    }

    @Test(
        "A card of a file that another program wrote is known at the reader and at the desk, however it spells it",
        arguments: ["04a1b2c3", "04:A1:B2:C3", "04 a1 b2 c3", "04A1B2C3"],
        [nil, IdentifierKey([UInt8](repeating: 7, count: 32))]
    )
    func imported(spelling: String, key: IdentifierKey?) async throws {
        let directory = try TemporaryDirectory()
        var configuration = ClubConfiguration.test()
        configuration.identifierKey = key
        let club = Club(configuration: configuration)
        try await club.open()
        let file = directory.file("members.csv")
        try Data("userId,username\n\(spelling),Ada\n".utf8).write(to: URL(fileURLWithPath: file))
        _ = try await club.importMembers(from: file)
        #expect(try await club.receive(tap("04A1B2C3")).outcome == .visit)
        for typed in ["04A1B2C3", "04a1b2c3", "04:a1:b2:c3", "04-A1-B2-C3"] {
            #expect(try await club.member(withUserID: typed)?.username == "Ada")
        }
        let error = await #expect(throws: ClubError.self) { try await club.add(Member(userId: "04A1B2C3")) }
        #expect(error?.kind == .memberExists)
        #expect(try await club.memberCount() == 1)
        #expect(try await club.check() == [])
        try await club.close()
    }

    @Test(
        "A row counts for the card that is known, however either is spelled",
        arguments: ["04A1B2C3", "04a1b2c3", "04:A1:B2:C3"],
        ["04 a1 b2 c3", "04-A1-B2-C3", "04a1b2c3", "04A1B2C3", "0x04A1B2C3"]
    )
    func known(spelling: String, other: String) async throws {
        for key in [nil, IdentifierKey([UInt8](repeating: 7, count: 32))] {
            for isErased in [false, true] {
                let directory = try TemporaryDirectory()
                var configuration = ClubConfiguration.test()
                configuration.identifierKey = key
                let club = try await openClub(configuration)
                func take(_ id: String, _ name: String) async throws -> ImportReport {
                    let file = try directory.write("userId,username,numVisits\n\(id),\(name),3\n", to: "members.csv")
                    return try await club.importMembers(from: file)
                }
                _ = try await take(spelling, "Ada")
                if isErased { try await club.erase(spelling, by: ActionContext(reason: "asked")) }
                let report = try await take(other, "Ada B")
                #expect(try await club.memberCount() == (isErased ? 0 : 1))
                #expect(report.skipped == (isErased ? 1 : 0), "\(report)")
                guard !isErased else { continue }
                #expect((report.noted == 1) == (spelling != other), "\(report)")
                #expect(try await club.member(withUserID: other)?.username == "Ada")
                #expect(report.conflicting == 1 && report.created == 0)
            }
        }
    }

    @Test("Two rows of a card that is known are of its member")
    func twoRowsOfACard() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub()
        _ = try await club.receive(tap("04A1B2C3"))
        let file = try directory.write("userId,username\n04:a1:b2:c3,Ada\n04a1b2c3,Bo\n", to: "two.csv")
        let report = try await club.importMembers(from: file)
        #expect(try await club.memberCount() == 1)
        #expect(report.rows.last?.notes.contains { $0.contains("row 2 is of the same member") } == true, "\(report)")
    }

    @Test("Where a file brought a second record of a card, the desk means the one that the reader knows")
    func twoRecords() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub()
        // Two rows of one file may be two people.
        let file = try directory.write("userId,username\n04A1B2C3,\n04:a1:b2:c3,Ada\n", to: "members.csv")
        _ = try await club.importMembers(from: file)
        #expect(try await club.member(withUserID: "04:a1:b2:c3")?.username == "Ada")
        try await club.blockCard("04a1b2c3", by: ActionContext(reason: "lost"))
        #expect(try await club.receive(tap("04A1B2C3", at: 60)).outcome.reason?.code == .cardBlocked)
        // Once the record that the tap made is gone, the card is Ada's.
        try await club.delete("04A1B2C3")
        #expect(try await club.receive(tap("04A1B2C3", at: 120)).outcome == .visit)
        #expect(try await club.member(withUserID: "04:a1:b2:c3")?.numVisits == 1)
        #expect(try await club.check() == [])
    }

    @Test("With a key, the card that was typed is hidden as the one that is read")
    func hidden() async throws {
        let device = try MergeDevice(1, identifierKey: IdentifierKey([UInt8](repeating: 7, count: 32)))
        _ = try await device.store.add(Member(userId: "04:a1:b2:c3"), ActionContext()) { _ in }
        #expect(try await device.tap("04A1B2C3", at: start)?.outcome == .visit)
        #expect(try await device.member("04a1b2c3")?.numVisits == 1)
    }
}
