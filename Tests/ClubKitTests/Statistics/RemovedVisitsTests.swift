import Foundation
import ReaderKit
import Synchronization
import Testing

@testable import ClubKit

/// What is told of visits that an erasure or the retention period has removed.
@Suite struct RemovedVisitsTests {
    private static let day: Double = 86_400
    private let desk = ActionContext(actor: "desk")

    private func records(_ club: Club) async throws -> [TapRecord] {
        let records = Mutex<[TapRecord]>([])
        try await club.forEachTap { record in records.withLock { $0.append(record) } }
        return records.withLock(\.self)
    }

    /// What removes all visits of the first day.
    enum Removal: CaseIterable {
        case retention, erasure

        func remove(from club: Club) async throws {
            switch self {
            case .retention:
                let store = try club.openStore("test")
                let limit = start.addingTimeInterval(RemovedVisitsTests.day)
                #expect(try await store.pruneVisits(before: limit, ActionContext()) == 3)
            case .erasure:
                for key in ["anna", "ben"] { try await club.erase(key, by: ActionContext(actor: "desk")) }
            }
        }
    }

    @Test("What is left of their receipts is no tap that was ignored", arguments: Removal.allCases)
    func receipts(removal: Removal) async throws {
        let club = try await openClub()
        let undone = try await club.receive(tap("ben", at: 60))
        _ = try await club.receive(tap("anna"))
        _ = try await club.receive(tap("anna", at: 10))
        _ = try await club.receive(tap("anna", at: 100))
        try await club.undoVisit(undone.eventID, by: desk)
        _ = try await club.receive(tap(nil, at: 200, problems: []))
        _ = try await club.receive(tap("cleo", at: 2 * Self.day))
        _ = try await club.receive(tap("cleo", at: 2 * Self.day + 5))
        try await removal.remove(from: club)
        #expect(try await records(club).map(\.standing) == [.rejected, .counted, .repeat])
        let all = try await club.statistics(from: start, to: start.addingTimeInterval(3 * Self.day), in: .gmt)
        #expect(all.ignored == 0 && all.repeats == 1 && all.rejected == 1)
        #expect(all.reasons == ["noIdentifier": 1])
        // Of who was erased not even the time is kept.
        let epoch = Date(timeIntervalSince1970: 0)
        let first = try await club.statistics(from: epoch, to: epoch.addingTimeInterval(Self.day), in: .gmt)
        #expect(first.ignored == 0 && first.reasons.isEmpty)
        try await club.close()
    }

    @Test("Who came before the retention period is no new visitor")
    func returning() async throws {
        let club = try await openClub()
        let store = try club.openStore("test")
        for key in ["regular", "leaves", "joined"] { _ = try await club.receive(tap(key)) }
        let undone = try await club.receive(tap("undone"))
        try await club.undoVisit(undone.eventID, by: desk)
        try await club.delete("leaves")
        #expect(try await store.pruneVisits(before: start.addingTimeInterval(Self.day), desk) == 4)
        for key in ["regular", "leaves", "undone", "other", "new"] {
            _ = try await club.receive(tap(key, at: 30 * Self.day))
        }
        try await club.mergeMember("joined", into: "other")
        let day = try await club.statistics(ofDayAt: start.addingTimeInterval(30 * Self.day), in: .gmt)
        #expect(day.uniqueVisitors == 5)
        // The regular one, and the other one by what was joined.
        #expect(day.returningMembers == 2)
        try await club.close()
    }
}
