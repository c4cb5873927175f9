import ArgumentParser
import Foundation
import ReaderKit
import Synchronization

/// How captures are replayed.
package struct ReplayOptions: ParsableArguments {
    @Flag(help: "Answer strictly in the recorded order; anything else is a mismatch that names the line.")
    package var strict = false

    @Flag(help: "Replay at the recorded speed instead of as fast as possible.")
    package var realtime = false

    @Option(
        help: ArgumentHelp(
            "The moment of the captures' time 0, in ISO 8601; without it the header 'started', else the present.",
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

    /// How answers are found.
    package var mode: ReplayMode { strict ? .strict : .byCommand }

    /// A backend that replays these captures.
    package func backend(
        _ captures: [Capture],
        startingAt defaultStart: @escaping @Sendable (Capture) async -> Date
    ) throws -> ReplayBackend {
        let start = start
        return ReplayBackend(captures, mode: mode, speed: realtime ? .recorded : .asFastAsPossible) { capture in
            if let start { return start }
            return await defaultStart(capture)
        }
    }

    /// The source of event ids.
    package func makeID() -> @Sendable () -> UUID {
        guard let seed else { return { UUID() } }
        let source = SeededUUIDs(seed: seed)
        return { source.next() }
    }
}
