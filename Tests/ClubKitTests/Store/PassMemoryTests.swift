import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

/// What a club remembers of passes, also after it was closed.
@Suite struct PassMemoryTests {
    private let directory: TemporaryDirectory
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private static let tag: [UInt8] = [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]

    init() throws { directory = try TemporaryDirectory() }

    private func club(_ key: IdentifierKey? = nil) -> Club {
        var configuration = ClubConfiguration.test(.file(path: directory.file()))
        configuration.identifierKey = key
        return Club(configuration: configuration)
    }

    private func names() throws -> [String] {
        let queue = try DatabaseQueue(path: directory.file())
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT name FROM presented ORDER BY name") }
    }

    @Test func afterRestart() async throws {
        for round in 0..<2 {
            let club = club()
            try await club.open()
            let memory = club.passMemory
            let end = Self.now.addingTimeInterval(300)
            #expect(try memory.takeOnce([1, 2, 3], until: end, now: Self.now) == (round == 0))
            #expect(try !memory.takeOnce([1, 2, 3], until: end, now: Self.now))
            #expect(try memory.takeCounter(5, of: Self.tag) == (round == 0))
            #expect(try !memory.takeCounter(4, of: Self.tag) && !memory.takeCounter(5, of: Self.tag))
            #expect(try memory.takeCounter(5, of: [1]) == (round == 0))
            try await club.close()
            #expect(throws: ClubError.self) { try memory.takeCounter(6, of: Self.tag) }
            #expect(throws: ClubError.self) { try memory.takeOnce([9], until: end, now: Self.now) }
        }
    }

    @Test func whatIsTooOldIsForgotten() async throws {
        let club = club()
        try await club.open()
        for second in 0..<100 {
            let now = Self.now.addingTimeInterval(Double(second))
            #expect(try club.passMemory.takeOnce([UInt8(second)], until: now.addingTimeInterval(10), now: now))
        }
        try await club.close()
        #expect(try names().count == 11)
    }

    @Test func hiddenIdentifiers() async throws {
        let club = club(IdentifierKey([UInt8](repeating: 7, count: 32)))
        try await club.open()
        #expect(try club.passMemory.takeCounter(1, of: Self.tag))
        #expect(try !club.passMemory.takeCounter(1, of: Self.tag))
        try await club.close()
        #expect(try names().allSatisfy { !$0.contains("04DE5F1EACC040") })
    }

    @Test func erasedWithTheMember() async throws {
        let club = club()
        try await club.open()
        _ = try await club.receive(tap("04DE5F1EACC040", at: 0))
        #expect(try club.passMemory.takeCounter(1, of: Self.tag) && club.passMemory.takeCounter(1, of: [1]))
        try await club.erase("04DE5F1EACC040")
        try await club.close()
        #expect(try names() == ["01"])
    }

    /// Taps of several readers at once: each is new to one of them.
    @Test func concurrently() async throws {
        let club = club()
        try await club.open()
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (1...50).count { value in
                        (try? club.passMemory.takeOnce([UInt8(value)], until: .distantFuture, now: Self.now)) == true
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 50)
        try await club.close()
    }

    @Test func repaired() async throws {
        let club = club()
        try await club.open()
        _ = try await club.receive(tap("A", at: 0))
        #expect(try club.passMemory.takeCounter(7, of: Self.tag))
        _ = try await club.repair()
        #expect(try !club.passMemory.takeCounter(7, of: Self.tag) && club.passMemory.takeCounter(8, of: Self.tag))
        try await club.close()
    }
}
