import Foundation
import Testing

@testable import ClubKit

@Suite("The inbox of a club")
struct ClubInboxTests {
    private func message(_ id: String) -> Message {
        Message(id: id, type: "t", payload: .object(["a": .int(1)]), receivedAt: start)
    }

    @Test("Messages survive, are taken once, and settle")
    func life() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        #expect(try await club.inbox.add(message("1")))
        #expect(try await !club.inbox.add(message("1")))
        #expect(try await club.inbox.add(message("2")))
        #expect(try await club.inbox.beginAttempt("1") == 1)
        try await club.close()
        try await club.open()
        #expect(try await club.inbox.pending().map(\.id) == ["1", "2"])
        #expect(try await club.inbox.pending().map(\.attempts) == [1, 0])
        #expect(try await club.inbox.pending().first?.message == message("1"))
        #expect(try await club.inbox.beginAttempt("1") == 2)
        try await club.inbox.settle("1", outcome: .newData, at: start)
        try await club.inbox.settle("2", outcome: .failed("no paper"), at: start)
        #expect(try await club.inbox.pending().isEmpty)
        #expect(try await club.inbox.entries(.dead, limit: 10).map(\.reason) == ["no paper"])
        #expect(try await club.inbox.entry("1")?.state == .done)
        #expect(try await club.inbox.reopen("1") == nil)
        #expect(try await club.inbox.reopen("2") == message("2"))
        #expect(try await club.inbox.pending().map(\.attempts) == [0])
        #expect(try await club.inbox.prune(before: start.addingTimeInterval(1)) == 1)
        #expect(try await club.inbox.entries(nil, limit: 10).map(\.id) == ["2"])
        await #expect { try await club.inbox.beginAttempt("9") } throws: {
            ($0 as? ClubError)?.kind == .noSuchMessage
        }
        #expect(try await club.check().isEmpty)
    }

    @Test("What one program works on, another leaves alone")
    func claimed() async throws {
        let directory = try TemporaryDirectory()
        let one = try await openClub(.test(.file(path: directory.file())))
        let other = try await openClub(.test(.file(path: directory.file())))
        _ = try await one.inbox.add(message("1"))
        #expect(try await other.inbox.pending().map(\.id) == ["1"])
        _ = try await one.inbox.beginAttempt("1")
        #expect(try await other.inbox.pending().isEmpty)
        await #expect { try await other.inbox.beginAttempt("1") } throws: {
            ($0 as? ClubError)?.kind == .noSuchMessage
        }
        try await one.close()
        #expect(try await other.inbox.pending().map(\.id) == ["1"])
        #expect(try await other.inbox.beginAttempt("1") == 2)
    }
}
