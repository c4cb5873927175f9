import Foundation
import GRDB
import Testing

@testable import ClubKit

@Suite("The audit log of several devices")
struct AuditMergeTests {
    private let desk = ActionContext(actor: "Desk")

    private func key(_ byte: UInt8) throws -> IdentifierKey {
        try #require(IdentifierKey([UInt8](repeating: byte, count: 32)))
    }

    /// A device with a member, a card, and somebody who was erased.
    private func device(_ number: Int, _ key: IdentifierKey?) async throws -> MergeDevice {
        let device = try MergeDevice(number, identifierKey: key)
        _ = try await device.store.add(Member(userId: "ANN-0001", username: "Ann"), desk) { _ in }
        _ = try await device.store.setCard("CARD-0002", of: "ANN-0001", blocked: nil, .addedCard, desk) { _ in }
        return device
    }

    /// What was done at the desks, without the merges of this test.
    private func entries(_ device: MergeDevice) async throws -> [TransferRecord] {
        try await device.records().filter {
            guard case .audit(let entry) = $0 else { return false }
            return entry.action != AuditEntry.Action.merged.rawValue
        }
    }

    @Test("Devices with one key hold the same log, and no plain identifier of one without")
    func oneKey() async throws {
        let one = try await device(1, key(7))
        let other = try MergeDevice(2, identifierKey: key(7))
        try other.merge(await one.records())
        try one.merge(await other.records())
        #expect(try await entries(one) == entries(other))
        #expect(try await entries(one).count == 2)

        let plain = try await device(3, nil)
        try other.merge(await plain.records())
        #expect(try await entries(other).count == 4)
        #expect(try await !entries(other).contains { "\($0)".contains("ANN-") || "\($0)".contains("CARD-") })
    }

    @Test("A device with another key takes no entries in, and cannot take from those that there are")
    func otherKey() async throws {
        let one = try await device(1, key(7))
        let before = try await entries(one)
        let other = try MergeDevice(2, identifierKey: key(8))
        let verdicts = try other.merge(before)
        #expect(verdicts.allSatisfy { $0 == .skipped(MergeBatch.otherKeyReason) })

        let blank = before.map { record in
            guard case .audit(var entry) = record else { return record }
            (entry.subject, entry.detail) = (nil, nil)
            return .audit(entry)
        }
        #expect(try one.merge(blank).allSatisfy { $0 == .kept })
        #expect(try await entries(one) == before)
        // Whoever heard the empty one first takes the other's words.
        let late = try MergeDevice(3, identifierKey: key(7))
        try late.merge(blank)
        try late.merge(before)
        #expect(try await entries(late) == before)
    }
}
