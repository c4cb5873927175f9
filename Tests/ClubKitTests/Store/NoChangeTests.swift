import Foundation
import GRDB
import Testing

@testable import ClubKit

/// What is so already is not said anew.
@Suite("Changes that are none")
struct NoChangeTests {
    private static let desk = ActionContext(actor: "desk", reason: "because")
    private static let day = Date(timeIntervalSince1970: 1_800_000_000)

    /// A change, and whether it is news when the same was done right before.
    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isNewsFirst = true
        var isNewsAgain = false
        var change: @Sendable (Club) async throws -> Void
    }

    private static let cases = [
        Case(testDescription: "unblock", isNewsFirst: false) { try await $0.unblock("A", by: desk) },
        Case(testDescription: "unblock a card", isNewsFirst: false) { try await $0.unblockCard("A", by: desk) },
        Case(testDescription: "block a card") { try await $0.blockCard("A", by: desk) },
        Case(testDescription: "add a card") { try await $0.addCard("04FF", to: "A", by: desk) },
        Case(testDescription: "add the own card", isNewsFirst: false) { try await $0.addCard("A", to: "A", by: desk) },
        Case(testDescription: "replace a card") { try await $0.replaceCard("A", with: "04FF", by: desk) },
        Case(testDescription: "expiry") { try await $0.setExpiry(of: "A", to: day, by: desk) },
        Case(testDescription: "no expiry", isNewsFirst: false) { try await $0.setExpiry(of: "A", to: nil, by: desk) },
        Case(testDescription: "notes") { try await $0.setNotes("tea", on: "A", by: desk) },
        Case(testDescription: "no notes", isNewsFirst: false) { try await $0.setNotes("", on: "A", by: desk) },
        Case(testDescription: "all tags") { try await $0.setTags(["gold"], of: "A", by: desk) },
        Case(testDescription: "a tag that is named", isNewsAgain: true) {
            try await $0.changeTags(of: "A", adding: ["gold"], by: desk)
        },
        Case(testDescription: "no tag", isNewsFirst: false) {
            try await $0.changeTags(of: "A", adding: [], removing: ["gold"], by: desk)
        },
        Case(testDescription: "a block", isNewsAgain: true) { try await $0.block("A", by: desk) },
        Case(testDescription: "edit") { try await $0.update("A", by: desk) { $0.fields["town"] = "Bern" } },
        Case(testDescription: "name") { try await $0.update("A", by: desk) { $0.username = "Ann\nLee" } },
        Case(testDescription: "number") { try await $0.update("A", by: desk) { $0.fields["age"] = .double(7) } },
        Case(testDescription: "no field", isNewsFirst: false) {
            try await $0.update("A", by: desk) { $0.fields["town"] = .null }
        },
        Case(testDescription: "distinct") { try await $0.dismissDuplicate("A", "B", by: desk) },
    ]

    @Test("Nothing is written", arguments: cases.indices)
    func nothing(index: Int) async throws {
        let one = Self.cases[index]
        let club = try await openClub()
        for key in ["A", "B"] { _ = try await club.add(Member(userId: key, username: "Ann")) }
        for isNews in [one.isNewsFirst, one.isNewsAgain] {
            let before = (try await club.auditLog(), try await dump(club))
            try await one.change(club)
            let after = (try await club.auditLog(), try await dump(club))
            #expect((after.0.count > before.0.count) == isNews, "\(one.testDescription)")
            #expect((after.1 != before.1) == isNews, "\(one.testDescription)")
        }
    }

    private func dump(_ club: Club) async throws -> [String] {
        try await club.openStore("test").read("test") { db in
            try Row.fetchAll(db, sql: "SELECT facts FROM member").map(\.description)
                + Row.fetchAll(db, sql: "SELECT * FROM card").map(\.description)
                + Row.fetchAll(db, sql: "SELECT * FROM clock").map(\.description)
        }
    }

    @Test("What was blocked without a reason is let in again")
    func blockedWithoutReason() async throws {
        let club = try await openClub()
        _ = try await club.add(Member(userId: "A", username: "Ann"))
        try await club.block("A", by: ActionContext())
        try await club.unblock("A")
        #expect(try await club.details(of: "A")?.blocked == nil)
        try await club.blockCard("A", by: ActionContext(reason: "lost"))
        try await club.blockCard("A", by: ActionContext())
        #expect(try await club.details(of: "A")?.cards.first?.blocked == "lost")
        try await club.unblockCard("A")
        #expect(try await club.details(of: "A")?.cards.first?.blocked == nil)
    }

    @Test("Who is let in though not blocked here stays blocked by another kiosk")
    func otherKiosk() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try second.merge(await first.records())
        first.clock.advance(by: 10)
        _ = try await first.store.set(["$blocked": "unpaid"], of: "A", .blocked, Self.desk) { _ in }
        second.clock.advance(by: 20)
        _ = try await second.store.set(["$blocked": .null], of: "A", .unblocked, Self.desk) { _ in }
        try second.merge(await first.records())
        #expect(try await second.store.details(of: "A")?.blocked == "unpaid")
    }

    @Test("What others say of the standing and is overruled is a conflict")
    func conflicts() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try second.merge(await first.records())
        let time = Int(Self.day.timeIntervalSince1970 * 1_000_000)
        first.clock.advance(by: 10)
        let old: [String: FieldValue] = ["$blocked": "unpaid", "$expires": .int(time), "$notes": "tea"]
        _ = try await first.store.set(old, of: "A", .edited, Self.desk) { _ in }
        second.clock.advance(by: 20)
        let new: [String: FieldValue] = ["$blocked": "rude", "$expires": .int(time + 1_000_000), "$notes": "cake"]
        _ = try await second.store.set(new, of: "A", .edited, Self.desk) { _ in }
        _ = try await first.store.setTags(.all(["x", "y"]), of: "A", Self.desk) { _ in }
        let verdicts = try second.merge(await first.records())
        let wanted = ImportVerdict.merged(
            changes: [FieldDifference("$tags", stored: nil, imported: ["x", "y"])],
            conflicts: [
                FieldDifference("$blocked", stored: "rude", imported: "unpaid"),
                FieldDifference("$expires", stored: "2027-01-15T08:00:01.000Z", imported: "2027-01-15T08:00:00.000Z"),
                FieldDifference("$notes", stored: "cake", imported: "tea"),
            ]
        )
        #expect(verdicts.first == wanted, "\(String(describing: verdicts.first))")
    }
}
