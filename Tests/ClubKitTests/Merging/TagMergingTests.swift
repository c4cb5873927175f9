import Foundation
import GRDB
import TestSupport
import Testing

@testable import ClubKit

@Suite("Tags between devices")
struct TagMergingTests {
    private static let desk = ActionContext(actor: "desk")
    private static let texts = ["gold", "Gold", "student", "zoë", "late: twice"]

    private static func tags(_ device: MergeDevice, _ key: String = "A") async throws -> [String]? {
        try await device.store.details(of: key)?.tags
    }

    private static func say(_ change: TagChange, on device: MergeDevice) async throws {
        device.clock.advance(by: 1)
        _ = try await device.store.setTags(change, of: "A", desk) { _ in }
    }

    private static func tell(_ from: MergeDevice, _ to: MergeDevice) async throws {
        try to.merge(await from.records())
    }

    /// Two devices that know a member with those tags.
    private static func pair(_ tags: [String] = []) async throws -> (MergeDevice, MergeDevice) {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2, skew: 0.5))
        try await first.tap("A", at: start)
        if !tags.isEmpty { try await say(.all(tags), on: first) }
        try await tell(first, second)
        second.clock.advance(by: 1)
        return (first, second)
    }

    private static func exchange(_ first: MergeDevice, _ second: MergeDevice, _ tags: [String]) async throws {
        try await tell(first, second)
        try await tell(second, first)
        for device in [first, second] {
            #expect(try await Self.tags(device) == tags)
            #expect(try await device.store.check() == [])
        }
    }

    @Test("Two kiosks that each add a tag keep both, whether they name it or the whole list")
    func adding() async throws {
        let (first, second) = try await Self.pair(["old"])
        try await Self.say(.some(added: [" gold "], removed: []), on: first)
        try await Self.say(.all(["old", "student", "student", ""]), on: second)
        try await Self.exchange(first, second, ["gold", "old", "student"])
    }

    @Test("Of adding and removing one tag the later is right")
    func laterWins() async throws {
        let (first, second) = try await Self.pair(["gold", "old"])
        try await Self.say(.some(added: [], removed: ["gold"]), on: first)
        second.clock.advance(by: 10)
        try await Self.say(.some(added: ["gold"], removed: []), on: second)
        try await Self.exchange(first, second, ["gold", "old"])
        first.clock.advance(by: 30)
        try await Self.say(.some(added: ["new"], removed: ["gold", "new"]), on: first)
        try await Self.exchange(first, second, ["new", "old"])
    }

    @Test("Replacing the list takes away what is not in it, and says nothing new of what stays")
    func replacing() async throws {
        let (first, second) = try await Self.pair(["gold", "old"])
        try await Self.say(.some(added: [], removed: ["gold"]), on: first)
        second.clock.advance(by: 10)
        try await Self.say(.all(["gold", "new"]), on: second)
        try await Self.exchange(first, second, ["new"])
        try await Self.say(.all([]), on: second)
        try await Self.exchange(first, second, [])
    }

    @Test("The log tells all tags; the row and what is disclosed hold them; an erasure takes them")
    func elsewhere() async throws {
        let (first, second) = try await Self.pair()
        try await Self.say(.some(added: ["zoë", "gold"], removed: []), on: first)
        let entry = try #require(try await first.store.auditLog(of: "A", limit: 1).first)
        #expect(entry.action == .tagged && entry.detail == ["tags": ["gold", "zoë"]])
        let stored = try await first.store.read("test") { db in
            try String.fetchOne(db, sql: "SELECT tags FROM member WHERE user_id = 'A'")
        }
        #expect(stored == #"["gold","zoë"]"#)
        // What the club keeps is no custom field.
        #expect(try await first.member("A")?.fields == [:])
        let device = first.store.device
        let disclosed = try await first.store.read("test") { db in
            let row = try #require(try db.members.row(userID: "A"))
            return String(decoding: try Disclosing(db: db, device: device).json(of: row), as: UTF8.self)
        }
        #expect(disclosed.contains(#""$tag:gold""#))
        try await Self.tell(first, second)
        _ = try await second.store.erase("A", Self.desk) { _ in }
        try await Self.tell(second, first)
        let left = try await first.store.read("test") { db in
            try String.fetchAll(db, sql: "SELECT coalesce(tags, '') || coalesce(facts, '') FROM member")
        }
        #expect(!left.joined().contains("gold"))
    }

    @Test("What a file says of a tag that nobody can read is not shown")
    func unusable() {
        var facts = MemberFacts()
        let stamp = Stamp(time: 1 << 16, device: UUIDSource.uuid(1))
        for name in ["$tag:", "$tag:a\nb", "$tags", "$tag", "tag:x"] { facts.set(name, .bool(true), stamp) }
        facts.set("$tag:b", .int(1), stamp)
        facts.set("$tag:e\u{301}", .bool(true), stamp)
        facts.set("$tag:a:b", .bool(true), stamp)
        #expect(SystemValues(facts).tags == ["a:b", "\u{E9}"])
    }

    @Test(
        "Three devices come to the same tags: of each, what was said last",
        arguments: [UInt64](1...10).oneIn(3)
    )
    func converges(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let devices = try (1...3).map { try MergeDevice($0, skew: Double(Int.random(in: -90...90, using: &random))) }
        try await devices[0].tap("A", at: start)
        for device in devices.dropFirst() { try await Self.tell(devices[0], device) }
        // What was said last of each tag.
        var said: [String: (stamp: Stamp, isThere: Bool)] = [:]
        for _ in 0..<40 {
            let device = random.pick(devices)
            device.clock.advance(by: Double(Int.random(in: 0...20, using: &random)))
            if random.chance(25) {
                try await Self.tell(random.pick(devices), device)
                continue
            }
            let before = try #require(try await Self.tags(device))
            let some = Self.texts.filter { _ in random.chance(40) }
            let others = Self.texts.filter { _ in random.chance(30) }
            let change: TagChange = random.chance(40) ? .all(some) : .some(added: some, removed: others)
            _ = try await device.store.setTags(change, of: "A", Self.desk) { _ in }
            let facts = try await device.store.read("test") { db in
                try #require(try db.members.row(userID: "A")).facts()
            }
            let now: [String: Bool] =
                switch change {
                case .all(let tags):
                    Dictionary(
                        uniqueKeysWithValues: Set(tags).symmetricDifference(before).map { ($0, tags.contains($0)) }
                    )
                case .some(let added, let removed):
                    // To take away what is not there says nothing.
                    Dictionary(
                        uniqueKeysWithValues: Set(added + removed.filter(before.contains)).map {
                            ($0, added.contains($0))
                        }
                    )
                }
            for (tag, isThere) in now {
                let stamp = try #require(facts.values["$tag:" + tag]?.first?.stamp, "seed \(seed)")
                if said[tag].map({ $0.stamp < stamp }) ?? true { said[tag] = (stamp, isThere) }
            }
        }
        for _ in 0..<2 {
            for device in devices.shuffled(using: &random) {
                for other in devices.shuffled(using: &random) { try await Self.tell(other, device) }
            }
        }
        let expected = said.filter(\.value.isThere).keys.sorted()
        let first = try await devices[0].dump().filter { !$0.contains(#""action":"merged""#) }
        for device in devices {
            #expect(try await Self.tags(device) == expected, "seed \(seed)")
            #expect(try await device.dump().filter { !$0.contains(#""action":"merged""#) } == first, "seed \(seed)")
            #expect(try await device.store.check() == [], "seed \(seed)")
        }
    }
}
