import Foundation
import ReaderKit
import Testing

@testable import ClubKit

@Suite("What is said of a member is carried over when they are joined to another", .timeLimit(.minutes(10)))
struct JoiningTests {
    private static let soon = start.addingTimeInterval(86_400)
    private static let later = start.addingTimeInterval(864_000)

    /// What the desk says of one member.
    struct Standing: Sendable {
        var blocked: String?
        var expires: Date?
        /// How many visits were bought.
        var pack: Int?
        var tags: [String] = []
        var notes: String?
        var name: String?
        var fields: [String: FieldValue] = [:]
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The one who remains.
        var one = Standing()
        /// The one who joins.
        var other = Standing()
        var blocked: String?
        var expires: Date?
        var visitsLeft: Int?
        var tags: [String] = []
        var notes: String?
        var carried: [JoinReport.Part] = []
        var notCarried: [JoinReport.Part] = []
        var fields: [String] = []

        init(_ description: String, _ one: Standing = Standing(), _ other: Standing = Standing()) {
            testDescription = description
            self.one = one
            self.other = other
        }

        /// The same, with what is expected.
        func then(_ body: (inout Case) -> Void) -> Case {
            var result = self
            body(&result)
            return result
        }
    }

    static let cases: [Case] = [
        Case("nothing"),
        Case("a block", Standing(), Standing(blocked: "unpaid")).then {
            ($0.blocked, $0.carried) = ("unpaid", [.blocked])
        },
        Case("a block without a reason", Standing(), Standing(blocked: "")).then {
            ($0.blocked, $0.carried) = ("", [.blocked])
        },
        Case("two blocks", Standing(blocked: "theft"), Standing(blocked: "unpaid")).then {
            ($0.blocked, $0.notCarried) = ("theft", [.blocked])
        },
        Case("the same block", Standing(blocked: "theft"), Standing(blocked: "theft")).then { $0.blocked = "theft" },
        Case("a block of the one who remains", Standing(blocked: "theft")).then { $0.blocked = "theft" },
        Case("an end", Standing(), Standing(expires: soon)).then { ($0.expires, $0.carried) = (soon, [.expires]) },
        Case("two ends", Standing(expires: later), Standing(expires: soon)).then {
            ($0.expires, $0.notCarried) = (later, [.expires])
        },
        Case("two ends, the later one joins", Standing(expires: soon), Standing(expires: later)).then {
            ($0.expires, $0.notCarried) = (soon, [.expires])
        },
        Case("the same end", Standing(expires: soon), Standing(expires: soon)).then { $0.expires = soon },
        // Each has made a visit.
        Case("two packs", Standing(pack: 10), Standing(pack: 5)).then {
            ($0.visitsLeft, $0.carried) = (13, [.visitsLeft])
        },
        Case("a pack that is used up", Standing(pack: 10), Standing(pack: 1)).then { $0.visitsLeft = 9 },
        Case("to one whose pack is used up", Standing(pack: 1), Standing(pack: 5)).then {
            ($0.visitsLeft, $0.carried) = (4, [.visitsLeft])
        },
        Case("a pack to one without a limit", Standing(), Standing(pack: 5)).then { $0.notCarried = [.visitsLeft] },
        Case("no limit to one with a pack", Standing(pack: 5)).then { $0.visitsLeft = 4 },
        Case("tags", Standing(tags: ["gold", "youth"]), Standing(tags: ["choir", "gold"])).then {
            ($0.tags, $0.carried) = (["choir", "gold", "youth"], [.tags])
        },
        Case("the same tags", Standing(tags: ["gold"]), Standing(tags: ["gold"])).then { $0.tags = ["gold"] },
        Case("notes", Standing(), Standing(notes: "a\nb")).then { ($0.notes, $0.carried) = ("a\nb", [.notes]) },
        Case("two notes", Standing(notes: "a"), Standing(notes: "b")).then {
            ($0.notes, $0.carried) = ("a\nb", [.notes])
        },
        Case("the same notes", Standing(notes: "a"), Standing(notes: "a")).then { $0.notes = "a" },
        Case(
            "name and fields",
            Standing(name: "Ann", fields: ["level": 1, "town": "Ulm"]),
            Standing(name: "Anne", fields: ["level": 2, "town": "Ulm", "age": 9, "void": ""])
        ).then { ($0.notCarried, $0.fields) = ([.username], ["age", "level"]) },
        Case(
            "everything",
            Standing(pack: 2),
            Standing(blocked: "x", expires: soon, pack: 3, tags: ["t"], notes: "n", name: "Bob")
        ).then {
            ($0.blocked, $0.expires, $0.visitsLeft, $0.tags, $0.notes) = ("x", soon, 3, ["t"], "n")
            ($0.carried, $0.notCarried) = ([.blocked, .expires, .visitsLeft, .tags, .notes], [.username])
        },
    ]

    private func say(_ standing: Standing, of key: String, in club: Club) async throws {
        try await club.add(Member(userId: key, username: standing.name, fields: standing.fields))
        if let visits = standing.pack { try await club.sellVisits(visits, to: key) }
        _ = try await club.receive(tap(key))
        if let reason = standing.blocked { try await club.block(key, by: ActionContext(reason: reason)) }
        if let end = standing.expires { try await club.setExpiry(of: key, to: end) }
        if !standing.tags.isEmpty { try await club.setTags(standing.tags, of: key) }
        if let notes = standing.notes { try await club.setNotes(notes, on: key) }
    }

    @Test(arguments: cases)
    func carrying(_ wanted: Case) async throws {
        let club = try await openClub()
        try await say(wanted.one, of: "A", in: club)
        try await say(wanted.other, of: "B", in: club)
        let report = try await club.mergeMember("B", into: "A", by: ActionContext(actor: "desk"))
        #expect(report.carried == wanted.carried)
        #expect(report.notCarried == wanted.notCarried)
        #expect(report.fieldsNotCarried == wanted.fields)
        #expect(report.member == (try await club.member(withUserID: "B")))
        #expect(report.member.numVisits == 2)
        #expect(report.member.username == wanted.one.name ?? "")
        for key in ["A", "B"] {
            let details = try #require(try await club.details(of: key))
            #expect(details.blocked == wanted.blocked)
            #expect(details.expires == wanted.expires)
            #expect(details.visitsLeft == wanted.visitsLeft)
            #expect(details.tags == wanted.tags)
            #expect(details.notes == wanted.notes)
            let receipt = try await club.receive(tap(key, at: key == "A" ? 600 : 1200))
            let isOut = wanted.blocked != nil
            #expect((receipt.outcome.reason?.code == .blocked) == isOut, "\(receipt.outcome)")
            // For the other card.
            if !isOut, receipt.outcome == .visit { try await club.undoVisit(receipt.eventID, by: ActionContext()) }
        }
        let entry = try #require(try await club.auditLog().first { $0.action == .joined })
        func names(_ key: String) -> [String] {
            guard case .array(let values) = entry.detail[key] else { return [] }
            return values.compactMap { if case .string(let name) = $0 { name } else { nil } }
        }
        #expect(entry.subject == "B")
        #expect(entry.detail["into"] == "A")
        #expect(names("carried") == wanted.carried.map(\.rawValue))
        #expect(names("notCarried") == wanted.notCarried.map(\.rawValue))
        #expect(names("fieldsNotCarried") == wanted.fields)
        #expect(try await club.check() == [])
    }

    @Test("Two desks that join the same pair before they hear of one another carry the visits over once")
    func joinedTwice() async throws {
        let (one, two) = (try MergeDevice(1), try MergeDevice(2, skew: 7))
        for (key, seconds, visits) in [("A", 0, 10), ("B", 40, 5)] {
            try await one.tap(key, at: start.addingTimeInterval(Double(seconds)))
            _ = try await one.store.sellVisits(visits, to: key, ActionContext()) { _ in }
        }
        try two.merge(await one.records())
        for device in [one, two] { _ = try await device.store.mergeMember("B", into: "A", ActionContext()) { _ in } }
        for _ in 0..<2 {
            try two.merge(await one.records())
            try one.merge(await two.records())
        }
        for device in [one, two] {
            #expect(try await device.store.details(of: "B")?.visitsLeft == 15)
            #expect(try await device.store.check() == [])
        }
        #expect(try await one.dump() == two.dump())
    }

    @Test("Two devices hold the same after a joining, in whatever order they hear of it")
    func convergence() async throws {
        let (one, two, three) = (try MergeDevice(1), try MergeDevice(2, skew: -50), try MergeDevice(3, skew: 9))
        for (key, seconds) in [("A", 0), ("B", 40), ("B", 80)] {
            try await one.tap(key, at: start.addingTimeInterval(Double(seconds)))
        }
        _ = try await one.store.set(["$blocked": .string("unpaid")], of: "B", .blocked, ActionContext()) { _ in }
        try two.merge(try await one.records())
        _ = try await one.store.mergeMember("B", into: "A", ActionContext()) { _ in }
        _ = try await two.store.setTags(.all(["gold"]), of: "B", ActionContext()) { _ in }
        _ = try await two.store.mergeMember("B", into: "A", ActionContext()) { _ in }
        let (first, second) = (try await one.records(), try await two.records())
        try one.merge(second)
        try two.merge(first)
        try three.merge(second)
        try three.merge(first)
        for device in [one, two, three] {
            let details = try #require(try await device.store.details(of: "B"))
            #expect(details.member.userId == "A")
            #expect(details.member.numVisits == 3)
            #expect(details.blocked == "unpaid")
            #expect(details.tags == ["gold"])
            #expect(try await device.store.check() == [])
        }
        try one.merge(try await three.records())
        let dumps = try await [one.dump(), two.dump(), three.dump()].map { lines in
            lines.filter { !$0.contains(#""action":"merged""#) }
        }
        #expect(dumps[0] == dumps[1])
        #expect(dumps[0] == dumps[2])
    }
}
