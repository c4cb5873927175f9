import Foundation
import ReaderKit
import Testing

@testable import ClubKit

@Suite("Windows of lists", .timeLimit(.minutes(10)))
struct MemberWindowsTests {
    private let quiet = Duration.seconds(3600)

    @Test("The first window comes at once, and another one after each change that it shows")
    func following() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        for (number, key) in ["A", "B", "C"].enumerated() { _ = try await club.receive(tap(key, at: Double(number))) }
        let query = MemberQuery(order: .lastVisit, limit: 2)
        var windows = club.members(in: query, pollInterval: quiet).makeAsyncIterator()
        var window = try #require(try await windows.next())
        #expect(window.members.map(\.userId) == ["C", "B"] && window.total == 3 && window.changes == nil)

        _ = try await club.receive(tap("B", at: 60))
        window = try #require(try await windows.next())
        #expect(window.members.map(\.userId) == ["B", "C"] && window.members[0].numVisits == 2)
        #expect(window.changes == ListChanges(deletions: [1], insertions: [0]))

        // Somebody comes in from outside, and somebody leaves over the other edge.
        _ = try await club.receive(tap("A", at: 61))
        window = try #require(try await windows.next())
        #expect(window.members.map(\.userId) == ["A", "B"])
        #expect(window.changes == ListChanges(deletions: [1], insertions: [0]))

        // The place in the window stays the same.
        _ = try await club.receive(tap("A", at: 62))
        window = try #require(try await windows.next())
        #expect(window.changes == ListChanges(modifications: [0]))

        // Outside the window, and yet the list is shorter.
        try await club.delete("C")
        window = try #require(try await windows.next())
        #expect(window.total == 2 && window.changes == ListChanges())

        try await club.delete("A")
        window = try #require(try await windows.next())
        #expect(window.members.map(\.userId) == ["B"] && window.total == 1)
        #expect(window.changes == ListChanges(deletions: [0]))
    }

    @Test("What a window does not show makes no window")
    func outside() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        for key in ["A", "B", "C", "D"] { _ = try await club.receive(tap(key)) }
        var windows = club.members(in: MemberQuery(order: .userId, offset: 1, limit: 1), pollInterval: quiet)
            .makeAsyncIterator()
        _ = try await windows.next()
        _ = try await club.receive(tap("D", at: 60))
        _ = try await club.receive(tap("A", at: 61))
        try await club.update("B") { $0.username = "Bea" }
        let window = try #require(try await windows.next())
        #expect(window.members.map(\.username) == ["Bea"])
        #expect(window.changes == ListChanges(modifications: [0]))
    }

    @Test(
        "Windows without room or behind the end, and numbers below zero",
        arguments: [(0, 0), (9, 3), (-4, -1), (.max, .max)]
    )
    func edges(offset: Int, limit: Int) async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        let query = MemberQuery(offset: offset, limit: limit)
        var windows = club.members(in: query, pollInterval: quiet).makeAsyncIterator()
        var window = try #require(try await windows.next())
        #expect(window.members.isEmpty && window.total == 1)
        _ = try await club.receive(tap("B"))
        window = try #require(try await windows.next())
        #expect(window.members.isEmpty && window.total == 2 && window.changes == ListChanges())
    }

    @Test("Before opening and after closing it throws, once")
    func closing() async throws {
        let directory = try TemporaryDirectory()
        let club = Club(configuration: .test(.file(path: directory.file())))
        var early = club.members(in: MemberQuery(), pollInterval: quiet).makeAsyncIterator()
        do {
            _ = try await early.next()
            Issue.record("The club is not open.")
        } catch {
            #expect(error == ClubError(.notOpen, attempting: "follow the members"))
        }
        let nothing = try await early.next()
        #expect(nothing == nil)
        try await club.open()
        var windows = club.members(in: MemberQuery(), pollInterval: .milliseconds(2)).makeAsyncIterator()
        _ = try await windows.next()
        try await club.close()
        do {
            _ = try await windows.next()
            Issue.record("The club is closed.")
        } catch {
            #expect(error.kind == .notOpen)
        }
        let nothingMore = try await windows.next()
        #expect(nothingMore == nil)
    }

    @Test("Code of the main actor can follow a window")
    @MainActor
    func mainActor() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        var count = 0
        for try await window in club.members(in: MemberQuery()) {
            MainActor.preconditionIsolated()
            count += window.total
            break
        }
        #expect(count == 1)
    }

    @Test("Cancelling the task ends the sequence")
    func cancelling() async throws {
        let club = try await openClub()
        let begun = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for try await _ in club.members(in: MemberQuery(), pollInterval: quiet) {
                count += 1
                begun.continuation.yield()
            }
            return count
        }
        _ = await begun.stream.first(1)
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test("What another club does on the same file is seen")
    func otherProcess() async throws {
        let directory = try TemporaryDirectory()
        let configuration = ClubConfiguration.test(.file(path: directory.file()), cooldown: .zero)
        let club = try await openClub(configuration)
        let other = try await openClub(configuration)
        var windows = club.members(in: MemberQuery(), pollInterval: .milliseconds(2)).makeAsyncIterator()
        var window = try await windows.next()
        #expect(window?.total == 0)
        _ = try await other.receive(tap("A"))
        window = try await windows.next()
        #expect(window?.members.map(\.userId) == ["A"])
        _ = try await other.receive(tap("A", at: 60))
        window = try await windows.next()
        #expect(window?.members.map(\.numVisits) == [2])
        try await other.close()
    }

    @Test("A membership that ends is seen without anybody changing anything")
    func expiry() async throws {
        let clock = SetClock()
        let club = try await openClub(.test(clock: { clock.now }))
        for key in ["A", "B"] { _ = try await club.receive(tap(key)) }
        try await club.setExpiry(of: "B", to: start.addingTimeInterval(100))
        let query = MemberQuery(filter: MemberFilter(isExpired: true))
        var windows = club.members(in: query, pollInterval: .milliseconds(2)).makeAsyncIterator()
        let before = try await windows.next()
        #expect(before?.total == 0)
        clock.advance(by: 100)
        let window = try #require(try await windows.next())
        #expect(window.members.map(\.userId) == ["B"] && window.changes == ListChanges(insertions: [0]))
    }
}
