import Foundation
import Testing

@testable import ClubKit

@Suite("Duplicates")
struct DuplicatesTests {
    @Test(
        "What is alike",
        arguments: [
            ("Zoë Müller", "muller, ZOE", true), ("Ann", "Anna", false), ("Li", "li", false),
            ("van der Berg", "Berg van der", true), ("İsmail Işık", "ISMAIL IŞIK", true), ("Groß", "GROSS", true),
            ("Νίκος Πέτρος", "ΝΊΚΟΣ ΠΈΤΡΟΣ", true), ("Jörg Müller", "Mueller, Joerg", true), ("Łukasz", "Lukasz", true),
            ("Søren", "Soeren", true), ("Åse", "Aase", true), ("Ａｎｎ", "ann", true), ("Müller", "Mailer", false),
        ]
    )
    func names(one: String, other: String, isAlike: Bool) {
        #expect(!Likeness.names(one).isDisjoint(with: Likeness.names(other)) == isAlike)
    }

    @Test(
        "Values that mean the same",
        arguments: [
            ("+49 170 1234567", "0170/1234567", true), ("Ann@Example.org ", "ann@example.org", true),
            ("٠١٧٠ ١٢٣٤٥٦٧", "0170 1234567", true),
            ("0170\u{A0}123\u{2011}4567", "01701234567", true), ("12345", "12345", false), ("yes", "yes", false),
            ("ann@example.org", "bob@example.org", false),
        ]
    )
    func fields(one: String, other: String, isAlike: Bool) {
        let (left, right) = (Likeness.field(one), Likeness.field(other))
        #expect((left != nil && left == right) == isAlike)
    }

    @Test(
        "Identifiers that are one number",
        arguments: [
            ("04A1B2C3", "C3B2A104", true), ("04A1B2C3", "04:a1:b2:c3", true), ("04A1B2C3", "77705923", true),
            ("04A1B2C3D4E580", "80E5D4C3B2A104", true), ("04A1B2C3", "04A1B2C4", false), ("ABC", "abc", false),
        ]
    )
    func identifiers(one: String, other: String, isAlike: Bool) {
        #expect(!Set(Likeness.identifiers(one)).isDisjoint(with: Likeness.identifiers(other)) == isAlike)
    }

    @Test("Pairs are offered once, the most telling first, until they are joined or dismissed")
    func pairs() async throws {
        let club = try await openClub()
        let members = [
            Member(userId: "04A1B2C3", username: "Ann Lee", timeStampAdded: 50, fields: ["mail": "ann@example.org"]),
            Member(userId: "C3B2A104", username: "Lee, Ann", timeStampAdded: 20, fields: ["mail": "ANN@example.org"]),
            Member(userId: "M-1001", username: "Bob Gray", timeStampAdded: 30),
            Member(userId: "M-2001", username: "bob gray", timeStampAdded: 40),
            Member(userId: "M-3001", username: "Carl", timeStampAdded: 60),
        ]
        try await club.merge(members)
        let pairs = try await club.duplicates()
        #expect(
            pairs.map { [$0.first.userId, $0.second.userId] } == [["C3B2A104", "04A1B2C3"], ["M-1001", "M-2001"]]
        )
        #expect(pairs.map { $0.reasons.map(\.text) } == [["identifier", "field:mail", "name"], ["name"]])
        #expect(try await club.duplicates(limit: 1).count == 1)
        try await club.mergeMember("04A1B2C3", into: "C3B2A104")
        try await club.dismissDuplicate("M-2001", "M-1001", by: ActionContext(actor: "desk"))
        #expect(try await club.duplicates().isEmpty)
        // As it is printed on a card.
        try await club.dismissDuplicate("c3:b2:a1:04", "M-1001")
        // Another device that merges hears of it.
        let other = try MergeDevice(2)
        let records = try await club.openStore("test").read("test") { db in try MergeDump.records(in: db) }
        try other.merge(records)
        #expect(try await other.store.duplicates(limit: 9).isEmpty)
        await #expect(throws: ClubError.self) { try await club.dismissDuplicate("M-1001", "M-1001") }
        await #expect(throws: ClubError.self) { try await club.dismissDuplicate("M-1001", "nobody") }
    }

    @Test("A value that many have says nothing")
    func common() async throws {
        let club = try await openClub()
        try await club.merge(
            (0..<20).map { Member(userId: "N\($0)X", username: "Guest", fields: ["club": "Riverside"]) }
        )
        #expect(try await club.duplicates().isEmpty)
    }
}
