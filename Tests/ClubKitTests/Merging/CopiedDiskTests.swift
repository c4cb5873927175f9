import Foundation
import GRDB
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

@Suite("Two kiosks with one identifier, and several records of one tap")
struct CopiedDiskTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: Any order

    /// The records in the order of the file, but those of one kind in any, and some twice.
    private func shuffled(_ records: [TransferRecord], _ random: inout SeededNumbers) -> [TransferRecord] {
        func rank(_ record: TransferRecord) -> Int {
            switch record {
            case .erasure: 0
            case .member: 1
            case .card: 2
            case .visit: 3
            case .undo: 4
            case .reset: 5
            case .event: 6
            case .execution: 7
            case .settlement: 8
            case .audit: 9
            }
        }
        let more = records.filter { _ in random.chance(10) }
        return (0...9).flatMap { kind in
            (records + more).filter { rank($0) == kind }.shuffled(using: &random)
        }
    }

    /// What a device exports, but for the first line, which is of that device, and the last, which is its checksum.
    private func export(_ device: MergeDevice) async throws -> [String] {
        let path = directory.file("\(UUID()).clubkit")
        try await device.store.read("test") { db in
            let output = try OutputFile(path, overwrite: false, hashed: true)
            var tooLong: [String] = []
            _ = try ClubFileExport(device: device.store.deviceID, at: start, output: output, progress: { _ in })
                .write(db, tooLong: &tooLong)
            _ = try output.finish(overwrite: false)
        }
        let lines = try String(decoding: content(of: path), as: UTF8.self).split(separator: "\n").map(String.init)
        return Array(lines.dropFirst().dropLast())
    }

    private func expectSame(_ devices: [MergeDevice], _ place: Comment) async throws {
        let dump = try await devices[0].dump()
        let lines = try await export(devices[0])
        for device in devices {
            let other = try await device.dump()
            #expect(other == dump, "\(place): \(MergeConvergenceTests.firstDifference(dump, other))")
            let exported = try await export(device)
            // Members are in the order in which they came.
            #expect(exported.sorted() == lines.sorted(), place)
            #expect(exported.filter { !$0.hasPrefix(#"{"member""#) } == lines.filter { !$0.hasPrefix(#"{"member""#) })
            let findings = try await device.store.check()
            #expect(findings.isEmpty, "\(place): \(findings)")
            try await MergeConvergenceTests.expectLedger(device, place)
        }
    }

    @Test(
        "Copies of one device and a third one hold the same, whatever they heard in what order",
        arguments: Array(1...12 as ClosedRange<UInt64>).oneIn(6)
    )
    func converges(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let (first, copy) = (try MergeDevice(1), try MergeDevice(1))
        let devices = [first, copy, try MergeDevice(2, skew: Double(Int.random(in: -60...60, using: &random)))]
        for step in 0..<Int.random(in: 20...60, using: &random) {
            let device = random.pick(devices)
            let time = Double(step) * 20
            if random.chance(25) {
                // One tap, given to several devices, which may not agree whose card it is.
                let id = UUIDSource.uuid(random.next())
                for device in devices where random.chance(70) {
                    let key = random.pick(["A", "A", "B"])
                    try await device.tap(key, at: start.addingTimeInterval(time), id: id, cooldown: 10_000_000)
                }
            } else {
                try await MergeConvergenceTests.act(on: device, at: time, erasing: seed.isMultiple(of: 2), &random)
            }
            // The copies have one time, so that they use the same moments.
            let ahead = first.clock.now.timeIntervalSince(copy.clock.now)
            (ahead > 0 ? copy : first).clock.advance(by: abs(ahead))
            if random.chance(15) {
                let records = shuffled(try await random.pick(devices).records(), &random)
                try random.pick(devices).merge(records, batch: Int.random(in: 1...40, using: &random))
            }
        }
        for _ in 0..<2 {
            for index in devices.indices.shuffled(using: &random) {
                for other in devices.indices.shuffled(using: &random) where other != index {
                    let records = shuffled(try await devices[other].records(), &random)
                    try devices[index].merge(records, batch: Int.random(in: 1...60, using: &random))
                }
            }
        }
        try await MergeConvergenceTests.exchange(devices, &random)
        try await expectSame(devices, "seed \(seed)")
    }

    @Test("A visit keeps the moment at which it was said to be, also if another has it")
    func stampsStay() async throws {
        let devices = try (1...3).map { _ in try MergeDevice(1) }
        for (device, key) in zip(devices, ["A", "B"]) {
            try await device.tap(key, at: start)
            try await device.tap(key, at: start.addingTimeInterval(60))
        }
        let (first, second) = (try await devices[0].records(), try await devices[1].records())
        try devices[0].merge(second)
        try devices[1].merge(first)
        try devices[2].merge(second + first)
        let times = try await devices[2].store.read("test") { db in
            try Int64.fetchAll(db, sql: "SELECT hlc FROM visit ORDER BY device_id, hlc, event_id")
        }
        #expect(times.count == 4 && Set(times).count == 2)
        // Each has an entry of its merging to tell of.
        var random = SeededNumbers(seed: 1)
        try await MergeConvergenceTests.exchange(devices, &random)
        try await expectSame(devices, "three copies")
    }

    // MARK: One tap, several records

    private static let stamp = Stamp(time: 1_788_256_800_000 << 16, device: UUIDSource.uuid(1))

    private static func visit(_ change: (inout TransferRecord.Visit) -> Void) -> TransferRecord {
        var visit = TransferRecord.Visit(
            eventID: UUIDSource.uuid(7),
            stamp: stamp,
            userId: "A",
            at: 1_788_256_800_000_000,
            reader: "Desk",
            backend: "simulated",
            born: 5 << 16,
            source: "card"
        )
        change(&visit)
        return .visit(visit)
    }

    @Test(
        "Of several records of one tap the same one stands, in whatever order they come",
        arguments: [
            [visit { $0.stamp.time += 1 }, visit { $0.userId = "B" }],
            [visit { $0.stamp.device = UUIDSource.uuid(3) }, visit { $0.stamp.device = UUIDSource.uuid(2) }],
            [visit { $0.userId = "B" }, visit { $0.userId = "C" }],
            [visit { $0.born += 1 << 16 }, visit { $0.born += 2 << 16 }],
            [visit { $0.at += 1 }, visit { $0.at += 2 }],
            [visit { $0.reader = "e\u{301}" }, visit { $0.reader = "\u{E9}" }],
            [visit { $0.backend = "pcsc" }, visit { $0.source = "manual" }],
            [visit { $0.reason = "" }, visit { $0.reason = "late" }],
            [visit { $0.actor = "desk" }, visit { ($0.userId, $0.born, $0.actor) = ("B", 6 << 16, "X") }],
        ].oneIn(3)
    )
    func sameTap(others: [TransferRecord]) async throws {
        let records = [Self.visit { _ in }] + others
        let undo = TransferRecord.undo(.init(eventID: UUIDSource.uuid(7), stamp: Self.stamp, at: 1))
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        for isUndone in [false, true] {
            var devices: [MergeDevice] = []
            for order in orders {
                let device = try MergeDevice(1)
                for index in order { try device.merge([records[index]]) }
                // And all of them once more.
                try device.merge(order.reversed().map { records[$0] })
                if isUndone { try device.merge([undo]) }
                // A member with the same facts everywhere, also where no visit of them came.
                for key in ["A", "B", "C"] {
                    try device.merge([.member(.init(userId: key, facts: Self.facts))])
                }
                devices.append(device)
            }
            func visits(_ device: MergeDevice) async throws -> [String] {
                try await device.dump().filter { !$0.contains(#""action":"merged""#) }
            }
            let expected = try await visits(devices[0])
            for device in devices {
                #expect(try await visits(device) == expected)
                #expect(try await device.store.check() == [])
                let totals = try await device.store.members(sortedBy: .userId).map(\.numVisits)
                #expect(totals.reduce(0, +) == (isUndone ? 0 : 1))
            }
        }
    }

    private static var facts: MemberFacts {
        .plain(origin: Stamp(time: 1 << 16, device: stamp.device), addedAt: 1, username: "N", fields: [:], claim: nil)
    }

    @Test("A tap that two kiosks took for different members counts once, and each kiosk's receipt says for whom")
    func differentMembers() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2, skew: 5))
        let id = UUID()
        try await first.tap("A", at: start, id: id)
        try await second.tap("B", at: start, id: id)
        try first.merge(await second.records())
        try second.merge(await first.records())
        for device in [first, second] {
            #expect(try await device.member("A")?.numVisits == 0)
            #expect(try await device.member("B")?.numVisits == 1)
            let receipt = try #require(try await device.tap("A", at: start, id: id))
            #expect(receipt.outcome.isCounted)
            #expect(receipt.member?.userId == "B")
            #expect(receipt.member?.numVisits == 1)
            #expect(try await device.store.check() == [])
        }
    }

    @Test("A tap that was a repeat at one kiosk counts there too, once another kiosk has counted it")
    func repeatElsewhere() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        let id = UUID()
        try await first.tap("A", at: start)
        #expect(try await first.tap("A", at: start.addingTimeInterval(5), id: id)?.outcome == .repeat)
        try await second.tap("A", at: start.addingTimeInterval(5), id: id)
        try first.merge(await second.records())
        let receipt = try #require(try await first.tap("A", at: start.addingTimeInterval(5), id: id))
        #expect(receipt.outcome == .visit)
        #expect(receipt.member?.numVisits == 1)
        #expect(try await first.member("A")?.numVisits == 2)
        #expect(try await first.store.check() == [])
    }

    @Test("Of two records of one tap, the one of the membership that goes on stands")
    func deletedAtOne() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try second.merge(await first.records())
        second.clock.advance(by: 60)
        _ = try await second.store.delete("A", ActionContext()) { _ in }
        // The first has not heard of it.
        let (id, later) = (UUID(), start.addingTimeInterval(100))
        try await first.tap("A", at: later, id: id)
        #expect(try await second.tap("A", at: later, id: id)?.outcome == .created)
        try first.merge(await second.records())
        try second.merge(await first.records())
        for device in [first, second] {
            #expect(try await device.member("A")?.numVisits == 1)
            #expect(try await device.store.check() == [])
        }
    }

    @Test("Where members are only added, no visit changes hands")
    func addOnly() async throws {
        let device = try MergeDevice(1)
        try device.merge([Self.visit { $0.userId = "B" }])
        let before = try await device.dump()
        #expect(try device.merge([Self.visit { _ in }], mode: .addOnly) == [.kept])
        #expect(try await device.dump() == before)
    }

    // MARK: Hostile files

    @Test("Many visits of one moment take no more statements than those of many")
    func manyOfOneMoment() async throws {
        func statements(step: Int64) async throws -> Int {
            let device = try MergeDevice(9)
            let records = (0..<2000).map { number in
                Self.visit {
                    $0.eventID = UUIDSource.uuid(UInt64(100 + number))
                    $0.stamp.time += Int64(number) * step
                }
            }
            let count = Mutex(0)
            let database = device.store.database
            try await database.writeWithoutTransaction { db in
                db.trace { event in if case .statement = event { count.withLock { $0 += 1 } } }
            }
            #expect(try device.merge(records).allSatisfy { $0 == .created })
            try await database.writeWithoutTransaction { $0.trace(options: []) }
            return count.withLock { $0 }
        }
        #expect(try await statements(step: 0) == statements(step: 1))
    }

    @Test("Thousands of visits of one moment are all there, and go on from there")
    func oneMoment() async throws {
        let (device, other) = (try MergeDevice(9), try MergeDevice(8))
        let records = rounds(4000).map { number in
            Self.visit { $0.eventID = UUIDSource.uuid(UInt64(100 + number)) }
        }
        try device.merge(records, batch: 1000)
        try other.merge(records.reversed(), batch: 700)
        func counts(_ device: MergeDevice) async throws -> [Int] {
            try await device.store.read("test") { db in
                let sql = "SELECT count(*), count(DISTINCT hlc), count(DISTINCT event_id) FROM visit"
                let row = try Row.fetchOne(db, sql: sql)
                return [row?[0] ?? 0, row?[1] ?? 0, row?[2] ?? 0]
            }
        }
        #expect(try await counts(device) == [records.count, 1, records.count])
        #expect(try await counts(other) == [records.count, 1, records.count])
        try await device.tap("A", at: start.addingTimeInterval(60))
        #expect(try await device.store.check() == [])
    }
}
