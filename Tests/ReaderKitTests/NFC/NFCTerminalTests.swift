import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

/// The real libnfc, with a simulated PN532 at the other end of a pseudo-terminal.
@Suite(.timeLimit(.minutes(10)), .serialized) struct NFCTerminalTests {
    private static func backend(_ name: String?, _ pause: Duration = .milliseconds(20)) throws -> NFCBackend {
        NFCBackend(
            library: .system,
            configuration: NFCConfiguration(
                connectionStrings: [try #require(name)],
                pollInterval: pause,
                lastBackOff: .milliseconds(50)
            ),
            abandoned: AbandonedThreads()
        )
    }

    /// Presents cards one after the other, and gives the one event of each.
    private static func taps(
        _ board: PN532Terminal,
        _ cards: [any SimulatedCard]
    ) async throws -> (taps: [ScanEvent], readers: [ReaderEvent]) {
        let taps = Taps(Scanning.scanner(try backend(board.connectionString)))
        try await until("the reader") { taps.readers.contains { if case .readerAdded = $0 { true } else { false } } }
        for (index, card) in cards.enumerated() {
            board.insert(card)
            try await taps.until("tap \(index + 1); \(taps.readers)") { $0.count > index }
            board.remove()
            try await until("its end; \(taps.readers)") {
                taps.readers.count { if case .cardRemoved = $0 { true } else { false } } > index
            }
        }
        return (taps.all, taps.readers)
    }

    @Test(arguments: NFCCards.all) func sameEventAsInProcess(_ sample: NFCCards.Sample) async throws {
        let board = try PN532Terminal()
        let taps = try await Self.taps(board, [try sample.card(), try sample.card()]).taps
        let expected = try #require(await Scanning.scan(try sample.card()))
        for tap in taps {
            #expect(tap.backend == .nfc)
            #expect(tap.withoutWay == expected.withoutWay)
        }
        #expect(taps.count == 2)
    }

    @Test func eachOfManyTapsOnce() async throws {
        let board = try PN532Terminal()
        let cards = (0..<20).map { SimulatedMIFAREClassic(uid: [0x10, 0x20, 0x30, UInt8($0)]) }
        let (taps, readers) = try await Self.taps(board, cards)
        #expect(taps.map { $0.uid?.bytes } == cards.map(\.uid))
        #expect(readers.count == 1 + 2 * cards.count)
    }

    @Test func tornConversation() async throws {
        let board = try PN532Terminal()
        let backend = try Self.backend(board.connectionString)
        let taps = Taps(Scanning.scanner(backend))
        try await until("the reader") { !taps.readers.isEmpty }
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: try NFCCards.message))
        board.insert(card)
        board.tear(atExchange: 1)
        try await taps.until("the torn tap; \(taps.readers)") { $0.count == 1 }
        #expect(taps.all[0].problems.map(\.code) == [.cardRemoved])
        #expect(taps.all[0].memberKey == nil)
        board.insert(card)
        try await taps.until("the next tap; \(taps.readers)") { $0.count == 2 }
        #expect(taps.all[1].problems.isEmpty)
        #expect(taps.all[1].memberKey != nil)
    }

    @Test func readerComesBackUnderItsLink() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let board = try PN532Terminal(link: folder.appending(path: "reader").path)
        let name = try #require(board.connectionString)
        let watcher = Watcher(try Self.backend(name))
        try await watcher.until("added \(name)")
        for round in 1...3 {
            board.insert(SimulatedNTAG(.ntag213))
            try await watcher.until("inserted \(name) \(round)")
            board.unplug()
            try await watcher.until("gone \(name)", times: round)
            board.remove()
            try board.plugIn()
            try await watcher.until("added \(name)", times: round + 1)
        }
        let expected = (1...3).flatMap { round in
            ["added \(name)", "inserted \(name) \(round)", "removed \(name) \(round)", "gone \(name)"]
        }
        #expect(watcher.texts == expected + ["added \(name)"])
    }

    /// What a program leaves that was killed in the middle: a chip at work, a half frame, and libnfc's claim.
    @Test(arguments: ["asleep on its last command", "waiting for a card", "in the middle of a frame"])
    func leftByAKilledProgram(_ state: String) async throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let line = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(line) }
        var settings = termios()
        #expect(tcgetattr(line, &settings) == 0)
        cfmakeraw(&settings)
        settings.c_iflag |= 0x8000_0000
        #expect(tcsetattr(line, TCSANOW, &settings) == 0)
        let left: [UInt8]
        switch state {
        case "asleep on its last command":
            board.hang()
            left = []
        case "waiting for a card":
            left = PN532Frame.command([0x32, 0x05, 0xFF, 0xFF, 0xFF]).bytes + PN532Frame.command([0x4A, 1, 0]).bytes
        default:
            left = Array(PN532Frame.command([0x42, 1, 2, 3, 4, 5, 6, 7]).bytes.prefix(7))
        }
        _ = left.withUnsafeBytes { write(line, $0.baseAddress, $0.count) }
        let watcher = Watcher(try Self.backend(board.connectionString))
        try await watcher.until("added pn532_uart:\(path)")
        board.insert(SimulatedNTAG(.ntag213))
        try await watcher.until("inserted pn532_uart:\(path) 1")
    }

    @Test func lineIsClosedToOthersAndGivenBack() async throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let line = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(line) }
        func isExclusive() -> Bool {
            var flag: Int32 = 0
            return ioctl(line, 0x8004_5440, &flag) == 0 && flag != 0
        }
        #expect(!isExclusive())
        do {
            let watcher = Watcher(try Self.backend(board.connectionString))
            try await watcher.until("added pn532_uart:\(path)")
            #expect(isExclusive())
        }
        try await until("it was given back") { !isExclusive() }
    }

    @Test func noiseLosesNoTap() async throws {
        let board = try PN532Terminal()
        board.setNoise(LineNoise(seed: 5, oneIn: 4000))
        let cards = try (0..<8).map { index in
            try #require(
                SimulatedNTAG.formatted(.ntag213, uid: [4, 1, 2, 3, 4, 5, UInt8(index)], message: try NFCCards.message)
            )
        }
        let taps = Taps(Scanning.scanner(try Self.backend(board.connectionString)))
        for (index, card) in cards.enumerated() {
            board.insert(card)
            try await taps.until("tap \(index + 1); \(taps.readers)") { all in
                all.contains { $0.uid?.bytes == card.uid && $0.problems.isEmpty }
            }
            board.remove()
        }
    }

    @Test func cardWithRandomIdentifiersRests() async throws {
        let board = try PN532Terminal()
        let name = try #require(board.connectionString)
        let backend = try Self.backend(name)
        let watcher = Watcher(backend)
        try await watcher.until("added \(name)")
        board.insert(SimulatedType4Tag(uid: [0x08, 0x22, 0x33, 0x44]))
        try await watcher.until("inserted \(name) 1")
        let card = try #require(watcher.card(on: name))
        for _ in 0..<3 {
            let answer = try await backend.withCard(card) { channel in
                try channel.reset()
                return try channel.transmit([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]).count
            }
            #expect(answer == 2)
            let commands = board.commands
            try await until("it rests") { board.commands > commands + 10 }
        }
        #expect(watcher.texts == ["added \(name)", "inserted \(name) 1"])
    }

    @Test func descriptorsStayTheSame() async throws {
        let board = try PN532Terminal()
        let name = try #require(board.connectionString)
        func round() async throws {
            let backend = try Self.backend(name)
            board.insert(SimulatedNTAG(.ntag213))
            #expect(try await backend.readers().first?.card != nil)
            board.remove()
        }
        try await round()
        let path = try #require(board.path)
        for _ in 0..<5 {
            try await until("it was let go") { (try? NFCPort(path)) != nil }
            try await round()
        }
        try await until("it was let go") { (try? NFCPort(path)) != nil }
        #expect(NFCPort.links(to: path) == 0)
    }
}

extension NFCPort {
    /// How many descriptors of this process are for a line. Its other end is another file.
    fileprivate static func links(to path: String) -> Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return files.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
#endif
