import BenchmarkSupport
import ClubKit
import Foundation

/// Compares what a message costs that a router processes, one after the other, with the three commits of the club's inbox
/// that it consists of (kept, begun, settled), and with a router whose inbox is in memory, in alternating blocks.
@main
struct MessageRate {
    static func main() async throws {
        // What is deferred is done before the process ends.
        try await run()
    }

    private static func run() async throws {
        let arguments = try Arguments(options: ["--rounds", "--block"])
        let rounds = max(1, try arguments.number("--rounds", default: 15))
        let block = max(1, try arguments.number("--block", default: 250))
        let folder = FileManager.default.currentDirectoryPath + "/.build/message-rate-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = ClubConfiguration(database: .file(path: folder + "/club.sqlite"))
        configuration.logger.logLevel = .error
        let club = Club(configuration: configuration)
        try await club.open()
        let durable = router(club.inbox)
        let quick = router(MemoryInbox(limit: block))

        var (ratios, own): ([Double], [Double]) = ([], [])
        print("round   commits us   router us   ratio   in memory us")
        for round in 0...rounds {
            let first = try await microseconds(messages(block)) { try await commit($0, club.inbox) }
            let routed = try await microseconds(messages(block)) { try await route($0, durable) }
            let second = try await microseconds(messages(block)) { try await commit($0, club.inbox) }
            let inMemory = try await microseconds(messages(block)) { try await route($0, quick) }
            let reference = (first + second) / 2
            // The first round warms up.
            guard round > 0 else { continue }
            ratios.append(routed / reference)
            own.append(inMemory)
            let ratio = routed / reference
            print(String(format: "%5d %12.1f %11.1f %7.3f %14.1f", round, reference, routed, ratio, inMemory))
        }
        print(String(format: "median of the rounds: %.3f; in memory %.1f us a message", ratios.median, own.median))
        try await club.close()
    }

    private static func router(_ inbox: some MessageInbox) -> MessageRouter {
        var configuration = RouterConfiguration()
        configuration.logger.logLevel = .error
        let router = MessageRouter(inbox: inbox, configuration: configuration)
        router.register(type: "greeting") { (_: [String: String], _) in .newData }
        return router
    }

    private static func messages(_ count: Int) -> [Message] {
        (0..<count).map { _ in
            Message(type: "greeting", payload: .object(["text": .string("hello"), "for": .string("everybody")]))
        }
    }

    private struct Failure: Error {}

    private static func commit(_ message: Message, _ inbox: ClubInbox) async throws {
        guard try await inbox.add(message), try await inbox.beginAttempt(message.id) == 1 else { throw Failure() }
        try await inbox.settle(message.id, outcome: .newData, at: Date())
    }

    private static func route(_ message: Message, _ router: MessageRouter) async throws {
        guard try await router.accept(message).outcome == .newData else { throw Failure() }
    }

    private static func microseconds(
        _ messages: [Message],
        _ body: (Message) async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        for message in messages { try await body(message) }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(messages.count)
    }
}
