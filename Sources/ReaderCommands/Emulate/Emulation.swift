import Foundation
import ReaderKit
import ReaderKitTesting
import ToolSupport

/// Presents cards until the end, and reports what happens.
struct Emulation {
    let stage: any EmulationStage
    let cards: [EmulatedCard]
    let taps: EmulationTapOptions
    let output: Output

    /// How often it looks whether a program has sent something.
    private static let interval = Duration.milliseconds(100)

    func run() async throws {
        // Before its place is reported: nothing may be there to present it to.
        let isPresented = !stage.isUnheard
        if isPresented {
            try stage.insert(cards[0].make())
            try await stage.untilReachable()
        }
        try output.result(
            fields: [
                "event": "reachable", "via": stage.way, "connection": stage.connection, "card": cards[0].name,
                "times": taps.times,
            ],
            text: "\(cards[0].name) on \(stage.connection)"
        )
        for hint in stage.hints { output.message(hint) }
        var failure: (any Error)?
        do {
            try await tap(isPresented)
        } catch {
            failure = error
        }
        stage.remove()
        try output.result(
            fields: ["event": "ended", "exchanges": stage.exchanges],
            text: "Ended after " + counted(stage.exchanges, "exchange") + "."
        )
        if let failure { throw failure }
    }

    /// - Parameter isPresented: whether the first card lies there already.
    private func tap(_ isPresented: Bool) async throws {
        let end = taps.timeout.map { ContinuousClock.now + .seconds($0) }
        guard let rhythm = taps.rhythm(stage.way) else {
            try tell("inserted")
            return try await watch(until: end)
        }
        var number = 0
        while true {
            if number > 0 || !isPresented {
                guard try await waitToBeHeard(end) else { return }
                try stage.insert(cards[number % cards.count].make())
            }
            try tell("inserted")
            number += 1
            guard try await wait(rhythm.present, end) else { return }
            stage.remove()
            try tell("removed")
            if number == taps.times { return }
            guard try await pause(rhythm.absent, end) else { return }
        }
    }

    /// Waits until a program is there to be notified of a card; false if the end came first.
    private func waitToBeHeard(_ end: ContinuousClock.Instant?) async throws -> Bool {
        while stage.isUnheard {
            guard try await pause(Self.interval, end) else { return false }
        }
        return true
    }

    /// Waits with a card there; false if the end came first.
    private func wait(_ duration: Duration, _ end: ContinuousClock.Instant?) async throws -> Bool {
        let next = ContinuousClock.now + duration
        try await watch(until: min(next, end ?? next))
        return end.map { next < $0 } ?? true
    }

    /// Waits without a card; false if the end came first.
    private func pause(_ duration: Duration, _ end: ContinuousClock.Instant?) async throws -> Bool {
        let next = ContinuousClock.now + duration
        try await ContinuousClock().sleep(until: min(next, end ?? next))
        return end.map { next < $0 } ?? true
    }

    /// Waits with a card there, and reports when a program has talked to it and falls silent.
    private func watch(until end: ContinuousClock.Instant?) async throws {
        var told = stage.activity
        var last = (activity: told, exchanges: stage.exchanges)
        var toldExchanges = last.exchanges
        var hasTold = false
        func note() throws {
            hasTold = true
            try tell("talked", stage.exchanges)
            (told, toldExchanges) = (stage.activity, stage.exchanges)
        }
        while true {
            if let end, end <= .now {
                // What was exchanged last, before the card leaves.
                if stage.exchanges != toldExchanges { try note() }
                return
            }
            let next = ContinuousClock.now + Self.interval
            try await ContinuousClock().sleep(until: min(next, end ?? next))
            try stage.check()
            let now = (activity: stage.activity, exchanges: stage.exchanges)
            // A program that only looks for cards is reported once; one that keeps looking, when it has sent something.
            let hasSaid = now.exchanges == last.exchanges && now.exchanges != toldExchanges
            let hasLooked = now.activity == last.activity && now.activity != told && !hasTold
            if hasSaid || hasLooked { try note() }
            last = now
        }
    }

    private func tell(_ event: String, _ exchanges: Int? = nil) throws {
        let now = ISO8601.text(Date())
        let words = exchanges.map { counted($0, "exchange") + " so far" } ?? "card \(event)"
        try output.result(fields: ["event": event, "at": now, "exchanges": exchanges], text: now + "  " + words)
    }
}
