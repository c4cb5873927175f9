import ClubKit
import Foundation
import Testing

@testable import ClubKit

@Suite("The tap that makes a member of whom others have spoken", .timeLimit(.minutes(10)))
struct FirstTapTests {
    private let desk = ActionContext(actor: "desk", reason: "fees unpaid")

    /// A device that has deleted A, and another that says something of A later.
    private func device(_ say: (MemberStore) async throws -> Void) async throws -> MergeDevice {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try second.merge(await first.records())
        first.clock.advance(by: 60)
        _ = try await first.store.delete("A", desk) { _ in }
        second.clock.advance(by: 120)
        try await say(second.store)
        try first.merge(await second.records())
        #expect(try await first.member("A") == nil)
        first.clock.advance(by: 600)
        return first
    }

    @Test("Who was blocked meanwhile is not let in")
    func blocked() async throws {
        let device = try await device { store in
            _ = try await store.set(["$blocked": .string("fees unpaid")], of: "A", .blocked, desk) { _ in }
        }
        let receipt = try #require(try await device.tap("A", at: start.addingTimeInterval(600)))
        #expect(receipt.outcome.reason?.code == .blocked)
        #expect(try await device.member("A")?.numVisits == 0)
        #expect(try await device.store.check() == [])
    }

    @Test("A membership that ended meanwhile has ended")
    func expired() async throws {
        let end = try #require(Timestamp.microseconds(start.addingTimeInterval(500)))
        let device = try await device { store in
            _ = try await store.set(["$expires": .int(Int(end))], of: "A", .setExpiry, desk) { _ in }
        }
        let receipt = try #require(try await device.tap("A", at: start.addingTimeInterval(600)))
        #expect(receipt.outcome.reason?.code == .expired)
        #expect(try await device.member("A")?.numVisits == 0)
        // Before its end it is a first visit.
        #expect(try await device.tap("A", at: start.addingTimeInterval(400))?.outcome == .visit)
        #expect(try await device.store.check() == [])
    }
}
