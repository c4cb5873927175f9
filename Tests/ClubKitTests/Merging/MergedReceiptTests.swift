import Foundation
import GRDB
import ReaderKit
import Synchronization
import Testing

@testable import ClubKit

@Suite("Receipts of members who are one with somebody")
struct MergedReceiptTests {
    private static let first = UUIDSource.uuid(1001)
    private static let second = UUIDSource.uuid(1002)

    /// B, who has tapped, is joined to A, who has.
    private func joined() async throws -> MergeDevice {
        let device = try MergeDevice(1)
        try await device.tap("A", at: start, id: Self.first)
        try await device.tap("B", at: start.addingTimeInterval(100), id: Self.second)
        _ = try await device.store.mergeMember("B", into: "A", ActionContext()) { _ in }
        return device
    }

    private func expect(_ receipt: Receipt?, _ userID: String, visits: Int, last: Double) throws {
        let member = try #require(receipt?.member)
        #expect((member.userId, member.numVisits) == (userID, visits))
        #expect(member.timeStampOfLastVisit == start.timeIntervalSince1970 + last)
    }

    @Test("A tap, and the same tap again, tell the totals of all")
    func taps() async throws {
        let device = try await joined()
        let id = UUIDSource.uuid(1003)
        let time = start.addingTimeInterval(200)
        let receipt = try await device.tap("B", at: time, id: id)
        try expect(receipt, "A", visits: 3, last: 200)
        #expect(try await device.tap("B", at: time, id: id) == receipt)
    }

    @Test("A tap that this device has lost, and one that another has recorded, tell of all", arguments: [1, 2])
    func merged(number: Int) async throws {
        let device = try await joined()
        let other = try MergeDevice(number)
        try other.merge(await device.records())
        for (key, id) in [("A", Self.first), ("B", Self.second)] {
            try expect(try await other.tap(key, at: start, id: id), "A", visits: 2, last: 100)
        }
        #expect(try await other.store.check() == [])
    }

    @Test("A tap that was a repeat of another member here tells the totals of all for whom it counts")
    func other() async throws {
        let (device, other) = (try await joined(), try MergeDevice(2))
        // The other kiosk, which reads the card as Z, has heard of nobody.
        try await other.tap("Z", at: start.addingTimeInterval(-5))
        #expect(try await other.tap("Z", at: start, id: Self.first)?.outcome == .repeat)
        try other.merge(await device.records())
        try expect(try await other.tap("Z", at: start, id: Self.first), "A", visits: 2, last: 100)
        #expect(try await other.store.check() == [])
    }

    @Test("Who is there again by a tap, and is one with somebody by then, is told of as a part of them")
    func createdAndJoined() async throws {
        let (device, other) = (try MergeDevice(1), try MergeDevice(2))
        try await device.tap("A", at: start)
        try await device.tap("B", at: start)
        try other.merge(await device.records())
        _ = try await device.store.delete("A", ActionContext()) { _ in }
        // The other device has not heard of the deletion.
        other.clock.advance(by: 60)
        _ = try await other.store.mergeMember("A", into: "B", ActionContext()) { _ in }
        try device.merge(await other.records())
        #expect(try await device.member("A") == nil)
        device.clock.advance(by: 120)
        let id = UUIDSource.uuid(1003)
        let receipt = try await device.tap("A", at: start.addingTimeInterval(120), id: id)
        try expect(receipt, "B", visits: 2, last: 120)
        #expect(receipt?.outcome == .visit)
        #expect(try await device.tap("A", at: start.addingTimeInterval(120), id: id) == receipt)
        #expect(try await device.store.check() == [])
    }

    @Test("Another device's visits take no statements for receipts that are not there")
    func statements() async throws {
        let device = try MergeDevice(1)
        try await device.tap("A", at: start)
        let source = try MergeDevice(2)
        for index in 0..<40 { try await source.tap("A", at: start.addingTimeInterval(Double(index + 1) * 60)) }
        let records = try await source.records()
        let told = Mutex<[String]>([])
        try await device.store.database.writeWithoutTransaction { db in
            db.trace { event in
                if case .statement(let statement) = event { told.withLock { $0.append(statement.sql) } }
            }
        }
        try device.merge(records)
        try await device.store.database.writeWithoutTransaction { $0.trace(options: []) }
        #expect(try await device.member("A")?.numVisits == 41)
        let count = told.withLock { $0.count { $0.contains("receipt") } }
        #expect(count == 1, "\(count) statements")
    }
}
