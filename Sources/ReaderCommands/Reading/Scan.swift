import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct Scan: ToolCommand, ReaderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads each presented card once and prints its content.",
        discussion: """
            EXAMPLES
              readerctl scan --once
              readerctl scan --json --timeout 60

            JSON keys of a tap: event ("scan"), id, at, reader, backend, technology, card, uid, uidKind, atr, ndef, \
            passes, objects, memberKey, memberName, problems and durationMs; what is not known is absent. When the time is over \
            without a card: {"event":"timeout"} and exit code 1; while a card is read no time runs out. Reading a card \
            takes 15 s at the most.

            What has contacts and no identifier is no card that somebody presents, and is passed over: a module in the \
            reader (SAM), a contact card, an empty slot that reports 3B00. 'watch', 'list', 'info' and 'record' show it.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @OptionGroup var limit: ScanLimitOptions
    @OptionGroup var passes: PassOptions

    func perform() async throws {
        // A recording waits for whoever reads, and loses no line to them.
        try await output.withLines(isLive: readers.replayed == nil) { out in
            let site = try passes.site()
            let loop = TapLoop(output: out, readers: readers, limit: limit, site: site)
            try await readers.withBackend { try await loop.run($0) }
        }
    }
}

struct ScanLimitOptions: ParsableArguments, Sendable {
    @Flag(help: "End after the first card.")
    var once = false

    @Option(help: ArgumentHelp("End after this many seconds without a card.", valueName: "seconds"))
    var timeout: Double?

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout <= 86_400 * 365) {
            throw ValidationError("--timeout takes a number of seconds greater than 0.")
        }
    }
}

/// Reads taps and prints them, with the end conditions that `scan` and `record` share.
struct TapLoop {
    let output: Output
    let readers: ReaderSelection
    let limit: ScanLimitOptions
    let site: PassSite?
    /// Whether what has contacts is told as well, as in a recording of what is there.
    var includesContactCards = false
    /// Looks after each tap whether to go on.
    var check: @Sendable () throws -> Void = {}

    /// - Throws: exit code 1 when the time is over; ``ReaderError`` when there is no service to wait for.
    func run(_ backend: any ReaderBackend) async throws {
        if readers.isChoice { _ = try await readers.present(of: backend) }
        let activity = Activity()
        let isTimely = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await read(backend, activity)
                return true
            }
            if let timeout = limit.timeout {
                group.addTask { try await activity.waitForSilence(of: .seconds(timeout)) }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? true
        }
        if !isTimely {
            try output.json(fields: ["event": "timeout"])
            output.message("No card within \(limit.timeout ?? 0) s.")
            throw ToolExit.failure
        }
    }

    private func read(_ backend: any ReaderBackend, _ activity: Activity) async throws {
        var configuration = readers.scanning(site)
        configuration.includesContactCards = includesContactCards
        let scanner = CardScanner(backend, configuration: configuration)
        var isFirst = true
        var hasRead = false
        for await event in scanner.events() {
            switch event {
            case .scan(let tap):
                await activity.end(tap.reader)
                hasRead = true
                try output.result(tap, text: TapText.describe(tap))
                try check()
                if limit.once { return }
            case .reader(.serviceLost(let error)):
                // Started without a service, a tool for one card has nothing to wait for, unless there are readers that
                // do without; a lasting one goes on.
                if isFirst, limit.once || limit.timeout != nil {
                    guard try await !backend.readers().filter({ readers.matches($0.reader) }).isEmpty else {
                        throw error
                    }
                }
                output.message("\(error)")
            case .reader(.failed(let error)):
                throw error
            case .reader(.readerStuck(let reader, let error)) where readers.matches(reader):
                output.message("\(error)")
            case .reader(.readerAdded(let reader)) where readers.matches(reader):
                if !backend.isRecording { output.message("Waiting for a card on \(reader.label)") }
            case .reader(.cardInserted(let presence))
            where readers.matches(presence) && (presence.mayBeVisitors || includesContactCards):
                await activity.begin(presence.reader.name)
            case .reader(.serviceBack):
                output.message("The reader service is back.")
            case .reader:
                break
            }
            isFirst = false
        }
        try Task.checkCancellation()
        if limit.once, !hasRead {
            output.message("There was no card, and none can come any more.")
            throw ToolExit.failure
        }
    }
}

/// When a card was last seen, and where one is being read.
private actor Activity {
    private var last = ContinuousClock.now
    private var readings: [String: ContinuousClock.Instant] = [:]

    /// How long a reading may take at the most; a card that rested on the reader all the time causes no tap at its end.
    private static let longestReading = ReaderLimits.tapDuration + .seconds(15)

    func begin(_ reader: String) { readings[reader] = .now + Self.longestReading }

    func end(_ reader: String) {
        readings[reader] = nil
        last = .now
    }

    /// Returns false after that much time without a card.
    func waitForSilence(of duration: Duration) async throws -> Bool {
        while true {
            // Whenever a reading ends until then, the time since its end is not over yet.
            let end = readings.values.contains { $0 > .now } ? .now + duration : last + duration
            guard end > .now else { return false }
            try await ContinuousClock().sleep(until: end)
        }
    }
}

enum TapText {
    static func describe(_ tap: ScanEvent) -> String {
        var lines: InfoLines = [
            "reader": tap.reader,
            "uid": tap.uid.map { "\($0.hex) (\($0.kind.rawValue)\($0.manufacturer.map { ", " + $0 } ?? ""))" },
            "member": tap.memberKey.map { $0 + (tap.memberName.map { " (\($0))" } ?? "") },
            "ndef": tap.ndef?.isEmpty == true ? "formatted, empty" : nil,
        ]
        for record in tap.ndef ?? [] { lines.add("ndef", RecordText.describe(record)) }
        for problem in tap.problems { lines.add("problem", problem.message) }
        return (["\(ISO8601.text(tap.at))  \(tap.card)"] + lines.rows()).joined(separator: "\n")
    }
}
