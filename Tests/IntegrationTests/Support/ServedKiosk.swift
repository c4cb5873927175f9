#if PCSC && NFC
import Foundation
import ReaderKit
import ReaderKitTesting
import Synchronization
import TestSupport
import Testing

/// `clubctl kiosk` as a program, with one reader of PC/SC, one of libnfc and one line in Smart Reader mode.
final class ServedKiosk: Sendable {
    /// A way in: how a card is presented there, and taken away again.
    enum Way: String, CaseIterable, Sendable {
        case pcsc, nfc, smartReader
    }

    let daemon: PCSCDaemon
    let slot = VirtualCardReader()
    let board: PN532Terminal
    let line: SmartReaderTerminal
    let database: String
    private let folder: ScratchFolder
    private let running: WitnessProgram.Running
    private let output: GrowingFile
    private let messages: GrowingFile
    private let pcsc = PCSCBackend()

    /// Starts it and waits until it serves all three.
    init(arguments: [String] = []) async throws {
        daemon = try PCSCDaemon()
        folder = try ScratchFolder()
        board = try PN532Terminal(link: folder.file("pn532"))
        line = try SmartReaderTerminal(link: folder.file("line"))
        database = folder.file("club.sqlite")
        running = try WitnessProgram(path: Tool.clubctl.path).start(
            [
                "kiosk", "--json", "--cooldown", "0", "--database", database,
                "--reader", "pcsc:Virtual PCD 00 00",
                "--reader", "nfc:pn532_uart:" + folder.file("pn532"),
                "--reader", "smart-reader:" + folder.file("line"),
            ] + arguments,
            in: folder
        )
        output = GrowingFile(folder.file("output"))
        messages = GrowingFile(folder.file("messages"))
        for way in Way.allCases { try await untilServed(way, times: 1) }
    }

    /// A test that failed leaves none behind.
    deinit { if running.process.isRunning { kill(identifier, SIGKILL) } }

    var identifier: Int32 { running.process.processIdentifier }

    /// The name of the reader.
    func reader(_ way: Way) -> String {
        switch way {
        case .pcsc: "Virtual PCD 00 00"
        case .nfc: "pn532_uart:" + folder.file("pn532")
        case .smartReader: folder.file("line")
        }
    }

    /// Waits until the kiosk has said so often that it serves the reader.
    func untilServed(_ way: Way, times: Int) async throws {
        try await until("\(reader(way)) is served \(times) times; \(messages.lines.suffix(5))") {
            self.timesServed(way) >= times
        }
    }

    /// How often the kiosk has said that it serves the reader.
    func timesServed(_ way: Way) -> Int { told("Serving", of: way) }

    /// Pulls a reader out and plugs it in again, and waits until the kiosk has seen both.
    func replug(_ way: Way, unplug: () -> Void, plugIn: () throws -> Void) async throws {
        let (served, gone) = (timesServed(way), told("Reader unplugged:", of: way))
        unplug()
        // One that is back before anybody has looked was never away.
        try await until("\(reader(way)) is gone; \(messages.lines.suffix(5))") {
            self.told("Reader unplugged:", of: way) > gone
        }
        try plugIn()
        try await untilServed(way, times: served + 1)
    }

    private func told(_ what: String, of way: Way) -> Int {
        let start = "\(what) \(reader(way))"
        return messages.lines.count { $0.hasPrefix(start) }
    }

    /// The identifiers of the taps that the kiosk has told of that reader, in their order.
    func taps(_ way: Way) -> [String] { output.taps[reader(way)] ?? [] }

    /// How many taps it has told of all readers.
    var tapCount: Int { output.taps.values.reduce(0) { $0 + $1.count } }

    /// Presents a card, waits for its tap, takes it away, and waits until that can have been seen.
    func tap(_ way: Way, _ number: Int) async throws {
        // Unlike those of the other ways, and the same for nobody.
        let card = SimulatedNTAG(.ntag213, uid: Self.bytes(way, number))
        let count = taps(way).count
        func told() async throws {
            try await until("tap \(number) on \(way); \(messages.lines.suffix(5))", within: .seconds(60)) {
                self.taps(way).count > count
            }
        }
        switch way {
        case .pcsc:
            try slot.present(card)
            try await told()
            slot.remove()
            try await until("pcscd has seen that it left") {
                try await self.pcsc.readers().allSatisfy { $0.card == nil }
            }
            // The kiosk's own look may come after ours.
            try await Task.sleep(for: VirtualCardReader.settlingTime)
        case .nfc:
            board.insert(card)
            try await told()
            board.remove()
            let commands = board.commands
            // One to find that it is gone, and those that look for the next.
            try await until("it was looked for") { self.board.commands > commands + 12 }
        case .smartReader:
            try line.report(card)
            try await told()
        }
    }

    /// Sends the lines of many taps at once, and waits until all are told.
    func burst(_ numbers: Range<Int>) async throws {
        let count = taps(.smartReader).count
        for number in numbers { try line.report(SimulatedNTAG(.ntag213, uid: Self.bytes(.smartReader, number))) }
        try await until("taps \(numbers) on the line; \(messages.lines.suffix(5))", within: .seconds(60)) {
            self.taps(.smartReader).count >= count + numbers.count
        }
    }

    /// The identifier that a tap has.
    static func uid(_ way: Way, _ number: Int) -> String {
        bytes(way, number).map { String(format: "%02X", $0) }.joined()
    }

    private static func bytes(_ way: Way, _ number: Int) -> [UInt8] {
        let place = UInt8(Way.allCases.firstIndex(of: way) ?? 0)
        return [0x04, place, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF), 0xD4, 0xE5, 0x80]
    }

    /// Ends it as a person does, and gives its exit status.
    func stop() async -> Int32 {
        kill(identifier, SIGINT)
        return await running.end()
    }
}

/// A file to which a program writes lines.
private final class GrowingFile: Sendable {
    private struct State {
        var offset = 0
        var pending: [UInt8] = []
        var lines: [String] = []
        var taps: [String: [String]] = [:]
    }

    private let path: String
    private let state = Mutex(State())

    init(_ path: String) { self.path = path }

    /// The whole lines that there are by now.
    var lines: [String] { read { $0.lines } }

    /// The identifiers of its scan events by reader.
    var taps: [String: [String]] { read { $0.taps } }

    private func read<Value>(_ value: (State) -> Value) -> Value {
        state.withLock { state in
            if let file = FileHandle(forReadingAtPath: path) {
                defer { try? file.close() }
                try? file.seek(toOffset: UInt64(state.offset))
                let data = (try? file.readToEnd()) ?? Data()
                state.offset += data.count
                state.pending += data
            }
            while let end = state.pending.firstIndex(of: 10) {
                let line = String(decoding: state.pending[..<end], as: UTF8.self)
                state.pending.removeSubrange(...end)
                state.lines.append(line)
                if let object = Tool.object(line), object["event"] as? String == "scan",
                    let reader = object["reader"] as? String
                {
                    state.taps[reader, default: []].append(object["uid"] as? String ?? "none")
                }
            }
            return value(state)
        }
    }
}
#endif
