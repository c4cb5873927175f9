import Foundation
import ReaderKit
import Testing

@testable import ClubKit
@testable import ClubRecords

/// What spreadsheets state of who is let in, taken into the club.
@Suite("Standing in files")
struct StandingImportTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func club(_ device: UInt64 = 500) async throws -> Club {
        var configuration = ClubConfiguration.test(.memory)
        configuration.makeUUID = { UUIDSource.uuid(device) }
        return try await openClub(configuration)
    }

    @discardableResult
    private func take(_ text: String, _ club: Club, _ mode: MergeMode = .merge) async throws -> ImportReport {
        let path = try directory.write(text, to: UUID().uuidString + ".csv")
        return try await club.importMembers(from: path, options: ImportOptions(mode: mode))
    }

    @Test("What was taken as a field of its own is what a mapping then says it is")
    func mappedLater() async throws {
        let club = try await club()
        let text = "userId,Bloqué,Fin\nU1,yes,2027-01-31"
        #expect(try await take(text, club).created == 1)
        #expect(try await club.details(of: "U1")?.blocked == nil)
        let path = try directory.write(text, to: "mapped.csv")
        let mappings = [
            ColumnMapping(column: "Bloqué", field: "blocked"), ColumnMapping(column: "Fin", field: "expires"),
        ]
        for changed in [1, 0] {
            let options = ImportOptions(mappings: mappings, mode: .merge)
            #expect(try await club.importMembers(from: path, options: options).changed == changed)
            let details = try #require(await club.details(of: "U1"))
            #expect(details.blocked == "" && details.expires != nil)
        }
    }

    private static let row = """
        userId,username,expires,visitsLeft,blocked,tags,cards,notes
        U1,Ann Berg,2027-01-31T12:00:00Z,2,unpaid,"students,gold",04A1B2C3D4E580,Tea
        """

    /// Why the next tap is refused, or how many visits are left after it.
    private func tapped(_ key: String, _ club: Club, _ second: Double) async throws -> String {
        let receipt = try await club.receive(tap(key, at: second))
        let left = try await club.details(of: key)?.visitsLeft.map(String.init) ?? "no limit"
        return receipt.outcome.reason.map { $0.code.rawValue } ?? left
    }

    @Test(
        "Each column is what it says, and again it is nothing new",
        arguments: [MergeMode.addOnly, .merge, .overwrite]
    )
    func taken(mode: MergeMode) async throws {
        let club = try await club()
        let report = try await take(Self.row, club, mode)
        #expect((report.created, report.noted, report.rows.count) == (1, 0, 0))
        let details = try #require(await club.details(of: "U1"))
        #expect((details.blocked, details.visitsLeft, details.notes) == ("unpaid", 2, "Tea"))
        #expect(details.tags == ["gold", "students"] && details.member.fields == [:])
        #expect(details.expires == ISO8601.date("2027-01-31T12:00:00Z"))
        #expect(details.cards.map(\.id).sorted() == ["04A1B2C3D4E580", "U1"])
        for mode in MergeMode.allCases {
            let again = try await take(Self.row, club, mode)
            #expect((again.changed, again.conflicting, again.noted) == (0, 0, 0), "\(again.rows)")
        }
        #expect(try await club.details(of: "U1") == details)
        #expect(try await club.check() == [])
    }

    @Test(
        "The tap is refused for what the file says",
        arguments: [
            ("blocked\nU1,yes", "blocked"), ("status\nU1,suspended", "blocked"), ("active\nU1,no", "blocked"),
            ("gesperrt\nU1,ja", "blocked"), ("expires\nU1,2025-01-31", "expired"),
            ("gültig bis\nU1,31.01.2025", "expired"),
            ("visitsLeft\nU1,0", "noVisitsLeft"), ("sessions left\nU1,1", "0"), ("active\nU1,yes", "no limit"),
            ("expires\nU1,never", "no limit"), ("visits left\nU1,unlimited", "no limit"),
        ]
    )
    func refused(_ file: String, _ outcome: String) async throws {
        for isThere in [false, true] {
            let club = try await club()
            if isThere { _ = try await club.add(Member(userId: "U1")) }
            try await take("userId," + file, club)
            #expect(try await tapped("U1", club, 50) == outcome, "\(isThere)")
        }
    }

    @Test("A pack does not come again, whatever came meanwhile")
    func pack() async throws {
        let file = "userId,username,visitsLeft\nU1,Ann,3\n"
        for isThere in [false, true] {
            let club = try await club()
            if isThere { for second in [0.0, 60] { _ = try await club.receive(tap("U1", at: second)) } }
            try await take(file, club)
            #expect(try await tapped("U1", club, 200) == "2")
            for mode in MergeMode.allCases {
                let again = try await take(file, club, mode)
                #expect(again.changed == 0, "\(isThere) \(mode)")
            }
            #expect(try await tapped("U1", club, 300) == "1")
            _ = try await club.sellVisits(10, to: "U1")
            #expect(try await tapped("U1", club, 400) == "10")
            // Another number is said, and does not count: the club knows better.
            let other = try await take("userId,username,visitsLeft\nU1,Ann,7\n", club, .overwrite)
            #expect(other.rows.first?.conflicts == [FieldDifference("$visitsLeft", stored: 10, imported: 7)])
            _ = try await club.removeVisitLimit(of: "U1")
            try await take(file, club, .overwrite)
            #expect(try await club.details(of: "U1")?.visitsLeft == nil)
        }
    }

    @Test("Visits since the last one that a file knows are off its pack, on each kiosk once")
    func packOfTwo() async throws {
        let (one, other, third) = (try MergeDevice(1), try MergeDevice(2), try MergeDevice(3))
        var standing = Standing()
        _ = try standing.read(.visitsLeft, 5, name: "visitsLeft")
        let row = ImportedMember(
            row: 1,
            userId: "U1",
            numVisits: 9,
            lastVisitAt: Timestamp.microseconds(start.addingTimeInterval(60)),
            standing: standing
        )
        for device in [one, other] {
            for second in [0.0, 60, 120] { try await device.tap("U1", at: start.addingTimeInterval(second)) }
            device.clock.advance(by: 500)
            try device.importRows([row])
            try device.importRows([row])
        }
        let left = { (device: MergeDevice) in
            try await device.store.read("test") { try $0.members.row(userID: "U1")?.visitsLeft }
        }
        for device in [one, other] { try third.merge(await device.records()) }
        #expect(try await left(third) != 10)
        let packs = try await third.store.read("test") {
            try $0.members.row(userID: "U1")?.facts().allPacks.map(\.visits)
        }
        #expect(packs == [5])
    }

    @Test("What the desk says is not overruled by an older file, and is by one that overwrites")
    func deskFirst() async throws {
        let club = try await club()
        try await take(Self.row, club)
        _ = try await club.unblock("U1")
        _ = try await club.setNotes("Coffee", on: "U1")
        _ = try await club.changeTags(of: "U1", adding: ["new"], removing: ["gold"])
        let merged = try await take(Self.row, club)
        #expect(Set(merged.rows.first?.conflicts.map(\.field) ?? []) == ["$blocked", "$notes", "$tags"])
        var details = try #require(await club.details(of: "U1"))
        #expect((details.blocked, details.notes, details.tags) == (nil, "Coffee", ["new", "students"]))
        let report = try await take(Self.row, club, .overwrite)
        #expect(report.changed == 1)
        details = try #require(await club.details(of: "U1"))
        #expect((details.blocked, details.notes, details.tags) == ("unpaid", "Tea", ["gold", "students"]))
        _ = try await take("userId,blocked\nU1,no\n", club, .overwrite)
        #expect(try await club.details(of: "U1")?.blocked == nil)
    }

    @Test("A card of somebody else stays theirs, and the row says so")
    func heldCard() async throws {
        let club = try await club()
        _ = try await club.add(Member(userId: "A"))
        try await club.addCard("C1", to: "A")
        let report = try await take("userId,username,card\nB,Bo,C1\nD,Di,c2; C2\nE,Ed,C2\n", club)
        #expect(report.rows.map(\.row) == [2, 4] && report.created == 3)
        #expect(report.rows.allSatisfy { $0.notes.contains { $0.contains("another member's") } })
        #expect(try await club.member(withUserID: "C1")?.userId == "A")
        #expect(try await club.member(withUserID: "C2")?.userId == "D")
        let kept = try await take("userId,card\nA,C9\n", club, .addOnly)
        #expect(kept.rows.first?.notes.first?.contains("--merge") == true)
    }

    @Test("What was a custom field comes back from an export as nothing new")
    func ownFields() async throws {
        let club = try await club()
        _ = try await club.add(Member(userId: "U1", fields: ["blocked": "yes", "tags": ["a", "b"], "visitsLeft": 0]))
        for format in TransferFormat.allCases {
            let path = directory.file("own." + format.pathExtension)
            try await club.exportMembers(to: path, options: ExportOptions(format: format, overwrite: true))
            let report = try await club.importMembers(from: path, options: ImportOptions(mode: .overwrite))
            #expect((report.changed, report.conflicting) == (0, 0), "\(format)")
        }
        let details = try #require(await club.details(of: "U1"))
        #expect(details.blocked == nil && details.visitsLeft == nil && details.tags == [])
    }
}
