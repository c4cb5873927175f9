import Dispatch
import Foundation
import Testing

@testable import ClubKit

@Suite("Debug mode")
struct DebugLoggerTests {
    @Test("It keeps nothing until it is switched on, and is off in a new program")
    func off() {
        let logger = DebugLogger()
        logger.addDebugMessage("Club - one")
        #expect(logger.getAllMessages() == [])
        logger.toggleDebug()
        logger.addDebugMessage("Club - two")
        logger.toggleDebug(isActivated: true)
        #expect(logger.isActivated)
        logger.toggleDebug()
        logger.addDebugMessage("Club - three")
        #expect(logger.getAllMessages() == ["Club - two"])
        logger.clear()
        #expect(logger.getAllMessages() == [])
    }

    @Test("It keeps the latest messages only, in their order, and cuts long ones")
    func bounded() {
        let logger = DebugLogger()
        logger.toggleDebug(isActivated: true)
        let count = DebugLogger.capacity * 2 + 7
        for number in 0..<count { logger.addDebugMessage("m\(number)") }
        let expected = (count - DebugLogger.capacity..<count).map { "m\($0)" }
        #expect(logger.getAllMessages() == expected)
        logger.clear()
        logger.addDebugMessage(String(repeating: "x", count: 1_000_000))
        #expect(logger.getAllMessages().map(\.count) == [DebugLogger.longestMessage])
    }

    @Test("It may be used from many threads at once")
    func threads() {
        let logger = DebugLogger()
        logger.toggleDebug(isActivated: true)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 {
                logger.addDebugMessage("\(thread) \(number)")
                if number % 100 == 0 { #expect(logger.getAllMessages().count <= DebugLogger.capacity) }
            }
        }
        #expect(logger.getAllMessages().count == DebugLogger.capacity)
    }

    @Test(
        "What identifies people and cards is left out",
        arguments: [
            ("Club - open", "Club - open"),
            ("Club - unexpected data 4|U1|x|Ann Lee of card", "Club - unexpected data …"),
            ("4|U1|x|Ann", "…"),
            ("card 04A1B2C3D4E5F6 came", "card … came"),
            ("card 04:A1:B2:C3:D4:E5:F6", "card …"),
            ("member D3F0B1C2-0000-4000-8000-00000000002A", "member …"),
            ("mail ann@example.org now", "mail … now"),
            ("call +49-170-1234567", "call …"),
            ("call 0170/1234567 now", "call … now"),
            ("cafe facade decade effaced", "cafe facade decade effaced"),
            ("SQLITE_BUSY 5, 1024 rows @ 3", "SQLITE_BUSY 5, 1024 rows @ 3"),
            ("two\nlines", "two lines"),
        ]
    )
    func redacted(message: String, expected: String) {
        let logger = DebugLogger()
        logger.toggleDebug(isActivated: true)
        logger.addDebugMessage(message)
        #expect(logger.getAllMessages() == [expected])
    }

    @Test("A club writes there what happens, and nobody's name or card")
    func club() async throws {
        let logger = DebugLogger()
        let club = try await openClub()
        #expect(club.debugLogger === DebugLogger.shared)
        club.familiar.withLock { $0.debugLogger = logger }
        _ = try await club.receive(tap("B"))
        club.setDebugMode(isActivated: true)
        var event = tap("04A1B2C3D4E5F6", name: "Ann Lee")
        event.reader = "Debug reader"
        _ = try await club.receive(event)
        club.setDayPass(hours: 99)
        club.setDebugMode(isActivated: false)
        _ = try await club.receive(tap("C"))
        let messages = logger.getAllMessages()
        #expect(messages.count == 2)
        #expect(messages.first == "Club - tap on Debug reader: created")
        #expect(messages.last?.contains("could not set the day pass") == true)
        #expect(!messages.contains { $0.contains("04A1B2C3D4E5F6") || $0.contains("Ann Lee") })
    }
}
