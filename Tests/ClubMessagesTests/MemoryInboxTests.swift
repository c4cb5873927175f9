import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import Testing

@Suite("The inbox in memory", .timeLimit(.minutes(10)))
struct MemoryInboxTests {
    @Test("A message is kept once, processed, settled, opened again and forgotten")
    func life() async throws {
        let inbox = MemoryInbox()
        #expect(await inbox.add(message("a")))
        #expect(await inbox.add(message("b")))
        #expect(await !inbox.add(message("a", "other")))
        #expect(await inbox.pending().map(\.id) == ["a", "b"])
        #expect(try await inbox.beginAttempt("a") == 1)
        #expect(try await inbox.beginAttempt("a") == 2)
        #expect(await inbox.pending().map(\.attempts) == [2, 0])

        try await inbox.settle("a", outcome: .failed("why"), at: start)
        #expect(await inbox.pending().map(\.id) == ["b"])
        let dead = await inbox.entries(.dead, limit: 10)
        #expect(dead.map(\.reason) == ["why"])
        #expect(dead.map(\.settledAt) == [start])
        #expect(await !inbox.add(message("a")))
        await #expect(throws: ClubError.self) { try await inbox.beginAttempt("a") }
        await #expect(throws: ClubError.self) { try await inbox.beginAttempt("c") }
        await #expect(throws: ClubError.self) { try await inbox.settle("c", outcome: .newData, at: start) }

        #expect(await inbox.reopen("b") == nil)
        #expect(await inbox.reopen("c") == nil)
        #expect(await inbox.reopen("a")?.id == "a")
        #expect(await inbox.pending().map(\.id) == ["b", "a"])
        #expect(await inbox.pending().map(\.attempts) == [0, 0])
        #expect(await inbox.pending().map(\.outcome) == [nil, nil])

        try await inbox.settle("a", outcome: .newData, at: start)
        #expect(await inbox.reopen("a") == nil)
        #expect(await inbox.prune(before: start) == 0)
        #expect(await inbox.prune(before: start.addingTimeInterval(1)) == 1)
        #expect(await inbox.entries(nil, limit: 10).map(\.id) == ["b"])
        #expect(await inbox.add(message("a")))
    }

    @Test("A list has the latest ones, in order")
    func listing() async throws {
        let inbox = MemoryInbox()
        for number in 1...5 { #expect(await inbox.add(message("\(number)"))) }
        for number in [2, 4] { try await inbox.settle("\(number)", outcome: .noData, at: start) }
        #expect(await inbox.entries(nil, limit: 3).map(\.id) == ["3", "4", "5"])
        #expect(await inbox.entries(.done, limit: 10).map(\.id) == ["2", "4"])
        #expect(await inbox.entries(.pending, limit: 2).map(\.id) == ["3", "5"])
        #expect(await inbox.entries(nil, limit: 0) == [])
        #expect(await inbox.entries(nil, limit: -1) == [])
    }

    @Test("Of settled messages so many are kept, and pending ones always")
    func forgetting() async throws {
        let inbox = MemoryInbox(limit: 10)
        #expect(await inbox.add(message("pending")))
        for number in 1...100 {
            #expect(await inbox.add(message("\(number)")))
            try await inbox.settle("\(number)", outcome: number.isMultiple(of: 2) ? .newData : .timedOut, at: start)
        }
        let settled = await inbox.entries(nil, limit: 1000).filter { $0.state != .pending }
        #expect((10...11).contains(settled.count))
        #expect(settled.last?.id == "100")
        #expect(await inbox.pending().map(\.id) == ["pending"])
    }
}
