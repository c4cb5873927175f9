import ArgumentParser
import Foundation
import ReaderKit
import Synchronization

package struct ReplayOptions: ParsableArguments, Sendable {
    @Flag(help: "Answer strictly in the recorded order; anything else is a mismatch that names the line.")
    package var strict = false

    @Flag(help: "Replay at the recorded speed instead of as fast as possible.")
    package var realtime = false

    @Option(
        help: ArgumentHelp(
            "The moment of the capture's time 0, in ISO 8601; without it the header 'started', else the present.",
            discussion: "Further captures follow, each 31 s after the end of the one before.",
            valueName: "time"
        ),
        transform: { text in
            guard let date = ISO8601.date(text) else {
                throw ValidationError("'\(text)' is not a time like 2026-11-21T08:30:00Z.")
            }
            return date
        }
    )
    package var start: Date?

    @Option(help: "Make the event ids from this number, so that they are the same each time.")
    package var seed: UInt64?

    package init() {}

    /// Seconds between two captures of one replay with ``start``: longer than the club's usual cooldown.
    private static let pause = 31.0

    package var mode: ReplayMode { strict ? .strict : .byCommand }

    package func backend(
        _ captures: [Capture],
        startingAt defaultStart: @escaping @Sendable (Capture) async -> Date
    ) throws -> ReplayBackend {
        let next = Mutex(start)
        return ReplayBackend(captures, mode: mode, speed: realtime ? .recorded : .asFastAsPossible) { capture in
            let chosen = next.withLock { next in
                defer { next = next.map { $0 + capture.duration.seconds + Self.pause } }
                return next
            }
            if let chosen { return chosen }
            return await defaultStart(capture)
        }
    }

    package func makeID() -> @Sendable () -> UUID {
        guard let seed else { return { UUID() } }
        return Self.makeID(seed: seed)
    }

    /// The source of event ids for taps that are kept: the same for the same captures at the same time, and others for
    /// any others, so that one seed does not make two taps one.
    package func makeID(for captures: [Capture]) -> @Sendable () -> UUID {
        guard let seed else { return { UUID() } }
        let identity = captures.map { $0.text() } + [start.map(ISO8601.text) ?? ""]
        // FNV-1a: the same everywhere, which Swift's own hashes are not.
        let mixed = identity.joined(separator: "\0").utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        return Self.makeID(seed: mixed)
    }

    private static func makeID(seed: UInt64) -> @Sendable () -> UUID {
        let source = SeededUUIDs(seed: seed)
        return { source.next() }
    }
}
