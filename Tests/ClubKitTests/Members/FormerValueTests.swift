import Foundation
import Testing

@testable import ClubKit

@Suite("What values were before")
struct FormerValueTests {
    private static let desk = ActionContext(actor: "desk")

    private static func rename(_ device: MergeDevice, _ name: String, city: FieldValue? = nil) async throws {
        device.clock.advance(by: 60)
        _ = try await device.store.update("A", desk) { _ in
        } _: { member in
            member.username = name
            member.fields["city"] = city
        }
    }

    @Test("Former names, fields and notes, also those of a kiosk that was overruled, the last first")
    func former() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try second.merge(await first.records())
        try await Self.rename(first, "Ann", city: "Bonn")
        second.clock.advance(by: 30)
        try await Self.rename(second, "Anna")
        try await Self.rename(first, "Anne", city: nil)
        _ = try await first.store.set(["$notes": "tea"], of: "A", .noted, Self.desk) { _ in }
        first.clock.advance(by: 60)
        _ = try await first.store.set(["$notes": "cake"], of: "A", .noted, Self.desk) { _ in }
        _ = try await first.store.setTags(.all(["gold"]), of: "A", Self.desk) { _ in }
        _ = try await first.store.setTags(.all([]), of: "A", Self.desk) { _ in }
        try first.merge(await second.records())
        let values = try await first.store.formerValues(of: "A", limit: 10)
        #expect(values.map(\.name) == ["$notes", "username", "city", "username"])
        #expect(values.map(\.value) == ["tea", "Anna", "Bonn", "Ann"])
        let (one, two) = (UUIDSource.uuid(1), UUIDSource.uuid(2))
        #expect(values.map(\.device) == [one, two, one, one])
        #expect(values.map { $0.saidAt?.timeIntervalSince(start) } == [120, 90, 60, 60])
        #expect(values.map { $0.until?.timeIntervalSince(start) } == [180, 120, 120, 90])
        #expect(values.allSatisfy { $0.userId == "A" })
        #expect(try await first.store.formerValues(of: "A", limit: 1) == [values[0]])
        await #expect(throws: ClubError.self) { try await first.store.formerValues(of: "B", limit: 1) }
    }

    @Test("A file names no device, and perhaps no time; what it leaves empty was never shown")
    func files() async throws {
        let device = try MergeDevice(1)
        for name in ["Bob", "Ann", ""] as [FieldValue] {
            try device.importRows([ImportedMember(row: 1, userId: "A", username: name, fields: [:])])
        }
        let values = try await device.store.formerValues(of: "A", limit: 10)
        #expect(values == [FormerValue(userId: "A", name: "username", value: "Ann")])
        _ = try await device.store.update("A", Self.desk) { _ in
        } _: { member in
            member.username = "Eve"
        }
        let later = try await device.store.formerValues(of: "A", limit: 10)
        #expect(later.map(\.value) == ["Bob", "Ann"])
        #expect(later.first?.until == start && later.first?.saidAt == nil && later.first?.device == nil)
    }
}
