import Foundation
import GRDB
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

@Suite("Merging between devices")
struct MergeConvergenceTests {
    private static let keys = ["A", "B", "C", "D"]
    private static let cards = ["A", "B", "C", "D", "X1", "X2"]

    static let plan = ScenarioPlan(
        [
            Scenario("few") { $0.maxExecutionsPermitted = 3 },
            Scenario("card") { $0.rules = [.every(2, since: nil)] },
            Scenario("kiosk") {
                $0.audience = .kiosk
                $0.rules = [.every(3, since: nil)]
            },
            Scenario("group") {
                $0.audience = .group("red")
                $0.rules = [.every(2, since: nil)]
            },
            Scenario("late") { $0.rules = [.every(2, since: start.addingTimeInterval(400))] },
            Scenario("later") { $0.rules = [.every(2, since: start.addingTimeInterval(200_000))] },
            Scenario("today") {
                $0.timeZone = .gmt
                $0.rules = [.reaches(2, within: .day), .executions(atMost: 1, within: .week)]
            },
        ],
        isDeliveredByTelling: false
    )

    /// Something that concerns the state of scenarios.
    private static func actOnScenarios(
        _ store: MemberStore,
        _ key: String,
        at date: Date,
        _ id: UUID,
        _ context: ActionContext,
        _ random: inout SeededNumbers
    ) async throws(ClubError) {
        let subject: ScenarioSubject = random.pick([.member(key), .group("red"), .kiosk])
        let time = Timestamp.microseconds(date) ?? 0
        let what = Int.random(in: 0..<4, using: &random)
        let state: ScenarioExecution.State = random.pick([.delivered, .refunded, .redeemed])
        let scenario = random.pick(["few", "card", "kiosk", "group"])
        let number = Int.random(in: 0..<100, using: &random)
        if what == 2, number < 50 {
            _ = try await store.setTags(.some(added: ["red"], removed: []), of: key, context) { _ in }
            return
        }
        try await store.write("act") { transaction in
            switch what {
            case 0: _ = try transaction.events.trigger("purchase", for: subject, at: time, id: id, "act")
            case 1 where number < 20:
                try transaction.events.reset(scenario, events: "purchase", for: subject, "act")
            default:
                let all = try transaction.db.executions.all(where: "1", [])
                guard !all.isEmpty else { return }
                _ = try transaction.executions.settle(all[number % all.count].id, state, context, at: time, "act")
            }
        }
    }

    /// Something that a person, a card or a file does. What is not possible just then does nothing.
    static func act(
        on device: MergeDevice,
        at time: Double,
        erasing: Bool,
        pace: Double = 1,
        _ random: inout SeededNumbers
    ) async throws {
        let store = device.store
        device.clock.advance(by: Double(Int.random(in: 0...90, using: &random)))
        let context = ActionContext(actor: "desk", reason: random.pick(["", "asked", "lost"]))
        let key = random.pick(cards)
        let date = start.addingTimeInterval(time)
        let id = UUIDSource.uuid(random.next())
        do throws(ClubError) {
            switch Int.random(in: 0..<27, using: &random) {
            case 24...: try await actOnScenarios(store, key, at: date, id, context, &random)
            case 0..<7:
                let event = ScanEvent(
                    id: id,
                    at: date,
                    reader: "Desk",
                    backend: .simulated,
                    memberKey: key,
                    memberName: "N"
                )
                var rules = TapRules(cooldown: 10_000_000)
                rules.scenarios = plan
                _ = try await store.receive(event, rules: rules, unknown: .create) { _ in }
            case 7, 8:
                let (name, level) = (random.pick(["Ann", "Bob", "", "Zoë"]), Int.random(in: 0...3, using: &random))
                _ = try await store.update(key, context) { _ in
                } _: { member in
                    member.username = name
                    member.fields["level"] = .int(level)
                }
            case 9: _ = try await store.delete(key, context) { _ in }
            case 10, 11: _ = try await store.recordVisit(of: key, at: date, id: id, context) { _ in }
            case 12, 13:
                let visits = try await store.visits(of: key, limit: 20).map(\.id)
                if let visit = visits.randomElement(using: &random) {
                    _ = try await store.undoVisit(visit, context) { _ in }
                }
            case 14: _ = try await store.sellVisits(Int.random(in: 1...5, using: &random), to: key, context) { _ in }
            case 15: _ = try await store.sellVisits(nil, to: key, context) { _ in }
            case 16:
                _ = try await store.set(
                    [random.pick(["$blocked", "$notes"]): random.pick([.null, .string("because")])],
                    of: key,
                    .blocked,
                    context
                ) { _ in }
            case 17: _ = try await store.mergeMember(key, into: random.pick(cards), context) { _ in }
            case 18:
                _ = try await store.setCard(
                    random.pick(cards),
                    of: key,
                    blocked: random.chance(30) ? "lost" : nil,
                    .addedCard,
                    context
                ) { _ in }
            case 19: _ = try await store.replaceCard(key, by: random.pick(cards), context) { _ in }
            case 20, 21, 22:
                let visits = Int.random(in: 0...6, using: &random)
                let row = ImportedMember(
                    row: 1,
                    userId: key,
                    username: random.pick([nil, .null, "", "Imported"]),
                    addedAt: 1_788_000_000_000_000,
                    numVisits: visits,
                    lastVisitAt: (1_788_256_800 + Int64(time)) * 1_000_000,
                    fields: random.chance(50) ? ["level": .int(9), "city": "Bonn"] : [:]
                )
                let sink = try StoreImportSink(store)
                _ = try sink.apply([row])
                try sink.finish()
            default:
                if erasing {
                    _ = try await store.erase(key, context) { _ in }
                } else {
                    let limit = date.addingTimeInterval(-pace * Double(Int.random(in: 0...600, using: &random)))
                    _ = try await store.pruneVisits(before: limit, context)
                }
            }
        } catch {
            let expected: [ClubError.Kind] = [
                .noSuchMember, .memberExists, .noSuchVisit, .invalidValue, .alreadySettled, .noSuchExecution,
            ]
            if !expected.contains(error.kind) { throw error }
        }
    }

    static func exchange(_ devices: [MergeDevice], _ random: inout SeededNumbers) async throws {
        // Until nobody has anything to tell that is new.
        var before: [[String]] = []
        for _ in 0..<12 {
            for index in devices.indices.shuffled(using: &random) {
                for other in devices.indices.shuffled(using: &random) where other != index {
                    let records = try await devices[other].records()
                    try devices[index].merge(records, batch: Int.random(in: 1...60, using: &random))
                    if random.chance(25) { try devices[index].merge(records) }
                }
            }
            var after: [[String]] = []
            for device in devices { after.append(try await device.dump()) }
            if after == before { return }
            before = after
        }
    }

    static func firstDifference(_ left: [String], _ right: [String]) -> String {
        let (left, right) = (Set(left), Set(right))
        return "only first: \(left.subtracting(right).sorted().prefix(3)), only second: "
            + "\(right.subtracting(left).sorted().prefix(3))"
    }

    @Test(
        "Devices that have told each other everything hold the same, whatever happened in what order",
        arguments: (Array(1...12) + Array(25...30) as [UInt64]).oneIn(6)
    )
    func converges(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        // Some take a week, so that times are rounded.
        let pace: Double = seed > 24 ? 400 : 1
        let count = Int.random(in: 3...5, using: &random)
        let devices = try (1...count).map { number in
            try MergeDevice(number, skew: Double(Int.random(in: -4000...4000, using: &random)))
        }
        // Not all have the same scenarios.
        for device in devices {
            let spans = Self.plan.spans.filter { _ in random.chance(80) }
            try await device.store.write("test") { transaction in try transaction.events.keep(spans) }
        }
        for step in 0..<Int.random(in: 20...80, using: &random) {
            if pace > 1 { for device in devices { device.clock.advance(by: 20 * pace) } }
            try await Self.act(
                on: random.pick(devices),
                at: Double(step) * 20 * pace,
                erasing: seed.isMultiple(of: 2),
                pace: pace,
                &random
            )
            if random.chance(20) {
                // A partition: some hear of some.
                let (from, to) = (random.pick(devices), random.pick(devices))
                try to.merge(await from.records(), batch: Int.random(in: 1...40, using: &random))
            }
        }
        try await Self.exchange(devices, &random)
        let first = try await devices[0].dump()
        for (index, device) in devices.enumerated() {
            let dump = try await device.dump()
            #expect(dump == first, "seed \(seed), device \(index): \(Self.firstDifference(first, dump))")
            let findings = try await device.store.check()
            #expect(findings.isEmpty, "seed \(seed), device \(index): \(findings)")
        }
        try await Self.expectLedger(devices[0], "seed \(seed)")
    }

    /// The totals of members without claims are the visits in the ledger, and those that were removed from it.
    static func expectLedger(_ device: MergeDevice, _ place: Comment) async throws {
        try await device.store.read("test") { db in
            let rows = try Row.fetchAll(db, sql: "SELECT \(MemberRow.columns) FROM member").map { try MemberRow($0) }
            for row in rows where row.exists {
                let facts = try row.facts()
                let ledger =
                    try Int.fetchOne(
                        db,
                        sql: """
                            SELECT count(*) FROM visit WHERE member_id = ? AND born > ?
                                AND event_id NOT IN (SELECT event_id FROM undo)
                            """,
                        arguments: [row.id, row.ended]
                    ) ?? 0
                let known = ledger + facts.removedVisits
                #expect(row.ownVisits >= known, place)
                if facts.claims.isEmpty { #expect(row.ownVisits == known, place) }
            }
        }
    }

    @Test("A batch may end anywhere, and a file may come twice", arguments: [1, 2, 3, 7, 1000])
    func batches(size: Int) async throws {
        var random = SeededNumbers(seed: 99)
        let (first, second, third) = (try MergeDevice(1), try MergeDevice(2), try MergeDevice(3))
        for step in 0..<60 { try await Self.act(on: first, at: Double(step) * 20, erasing: false, &random) }
        let records = try await first.records()
        try second.merge(records, batch: size)
        try third.merge(records)
        try third.merge(records, batch: size)
        // Each has its own entry of having merged.
        func common(_ device: MergeDevice) async throws -> [String] {
            try await device.dump().filter { !$0.contains(#""action":"merged""#) }
        }
        #expect(try await common(second) == common(third))
        let again = try second.merge(records, batch: size)
        #expect(again.allSatisfy { $0 == .kept })
    }
}
