import Foundation
import ReaderKit
import Synchronization
import Testing

@testable import ClubKit

/// The list of every tap, and its export.
@Suite struct TapRecordTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A club with a tap of every kind, a minute apart.
    private func club() async throws -> Club {
        let club = try await openClub()
        _ = try await club.receive(tap("anna", at: 0, name: "=Anna, \"A\""))
        _ = try await club.receive(tap("anna", at: 10))
        _ = try await club.receive(tap(nil, at: 60))
        let undone = try await club.receive(tap("ben", at: 120))
        try await club.undoVisit(undone.eventID, by: ActionContext(reason: "not him"))
        try await club.recordVisit(of: "ben", at: start.addingTimeInterval(180), by: ActionContext(reason: "forgot"))
        _ = try await club.receive(tap("gone", at: 240))
        try await club.delete("gone")
        try await club.block("ben", by: ActionContext(reason: "fees"))
        _ = try await club.receive(tap("ben", at: 300))
        _ = try await club.receive(tap("anna2", at: 360))
        try await club.mergeMember("anna2", into: "anna")
        return club
    }

    private func records(_ club: Club, from: Date? = nil, to: Date? = nil) async throws -> [TapRecord] {
        let records = Mutex<[TapRecord]>([])
        try await club.forEachTap(from: from, to: to) { record in records.withLock { $0.append(record) } }
        return records.withLock(\.self)
    }

    @Test func everyTapInOrder() async throws {
        let club = try await club()
        let records = try await records(club)
        #expect(
            records.map(\.standing) == [
                .counted, .repeat, .rejected, .undone, .counted, .deleted, .rejected, .counted,
            ]
        )
        #expect(records.map(\.userId) == ["anna", "anna", nil, "ben", "ben", "gone", "ben", "anna"])
        #expect(records.map(\.source) == [.card, .card, .card, .card, .manual, .card, .card, .card])
        #expect(records[3].reason == "not him")
        #expect(records[4].reason == "forgot")
        #expect(records[6].reason?.contains("fees") == true)
        #expect(records.map(\.at) == records.map(\.at).sorted())
        let part = try await self.records(
            club,
            from: start.addingTimeInterval(10),
            to: start.addingTimeInterval(120)
        )
        #expect(part == Array(records[1...2]))
        #expect(try await self.records(club, from: .distantPast, to: .distantFuture) == records)
        try await club.close()
    }

    @Test func whatTheClosureThrowsComesOut() async throws {
        struct Enough: Error {}
        let club = try await club()
        let count = Atomic(0)
        await #expect(throws: Enough.self) {
            try await club.forEachTap { _ in
                if count.wrappingAdd(1, ordering: .relaxed).newValue == 3 { throw Enough() }
            }
        }
        #expect(count.load(ordering: .relaxed) == 3)
        await #expect(throws: Enough.self) { try await club.forEachMember { _ in throw Enough() } }
        try await club.close()
    }

    @Test func theExport() async throws {
        let club = try await club()
        let path = directory.file("visits.csv")
        let report = try await club.exportTaps(to: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.components(separatedBy: "\n")
        #expect(report.rows == 8 && report.counted == 3 && report.bytes == text.utf8.count)
        #expect(lines.first == "time,userId,username,reader,source,counted,reason,id")
        #expect(lines.count == 10 && lines.last == "")
        #expect(lines[1].hasPrefix("2026-09-01T10:00:00.000Z,anna,\"'=Anna, \"\"A\"\"\",Test reader,card,yes,,"))
        #expect(lines[2].contains(",repeat,,"))
        #expect(lines[4].contains(",undone,not him,"))
        #expect(lines[5].contains(",ben,,,manual,yes,forgot,"))
        #expect(lines[6].contains(",deleted,,"))
        // Nothing is replaced unless asked for.
        do {
            try await club.exportTaps(to: path)
            Issue.record("it was replaced")
        } catch {
            #expect(error.kind == .exists)
        }
        let later = try await club.exportTaps(to: path, from: start.addingTimeInterval(350), overwrite: true)
        #expect(later.rows == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await club.close()
    }

    @Test func membersOneByOne() async throws {
        let club = try await club()
        let names = Mutex<[String]>([])
        try await club.forEachMember(in: MemberQuery(order: .userId, limit: .max)) { member in
            names.withLock { $0.append(member.userId) }
        }
        #expect(names.withLock(\.self) == ["anna", "ben"])
        names.withLock { $0 = [] }
        let query = MemberQuery(order: .userId, filter: MemberFilter(isBlocked: true), limit: 5)
        try await club.forEachMember(in: query) { member in names.withLock { $0.append(member.userId) } }
        #expect(names.withLock(\.self) == ["ben"])
        try await club.close()
    }
}
