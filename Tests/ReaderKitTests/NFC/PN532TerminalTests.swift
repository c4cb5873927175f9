import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// A simulated PN532 on its pseudo-terminal, spoken to byte by byte. That libnfc's programs read it is shown elsewhere.
@Suite(.timeLimit(.minutes(10))) struct PN532TerminalTests {
    private static let firmware = PN532Frame.answer([0x03, 0x32, 0x01, 0x06, 0x07])

    @Test func conversation() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        #expect(board.connectionString == "pn532_uart:\(port.path)")
        #expect(board.isPluggedIn && !board.hasCard && !board.isFieldOn)
        // A preamble to wake the chip, and the first command behind it.
        port.write([0x55, 0x55] + Array(repeating: 0, count: 14) + PN532Frame.command([0x14, 0x01]).bytes)
        #expect(try await port.frames(2) == [.acknowledgement, .answer([0x15])])
        let card = SimulatedNTAG(.ntag213)
        board.insert(card)
        #expect(
            try await port.ask([0x4A, 0x01, 0x00]) == .answer([0x4B, 0x01, 0x01, 0x00, 0x44, 0x00, 0x07] + card.uid)
        )
        #expect(try await port.ask([0x40, 0x01, 0x30, 0x03]) == .answer([0x41, 0x00] + card.memory[12..<28]))
        #expect(board.exchanges == 1 && board.commands == 3 && board.isFieldOn)
        board.remove()
        #expect(try await port.ask([0x40, 0x01, 0x30, 0x03]) == .answer([0x41, 0x01]))
        // The longest command and answer.
        let long = (0..<263).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await port.ask([0x00, 0x00] + long.dropFirst()) == .answer([0x01, 0x00] + long.dropFirst()))
    }

    @Test func waitingForCard() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        port.write(PN532Frame.command([0x60, 0xFF, 0x01, 0x10]).bytes)
        #expect(try await port.frames(1) == [.acknowledgement])
        #expect(board.isWaitingForCard)
        board.insert(SimulatedMIFAREClassic())
        let found: [UInt8] = [0x61, 0x01, 0x10, 0x09, 0x01, 0x00, 0x04, 0x08, 0x04, 0x3A, 0x5B, 0x7C, 0x9D]
        #expect(try await port.frames(1) == [.answer(found)])
        board.remove()
        // Given up, it is not answered any more, whatever comes.
        port.write(PN532Frame.command([0x60, 0xFF, 0x01, 0x10]).bytes)
        #expect(try await port.frames(1) == [.acknowledgement])
        port.write(PN532Frame.acknowledgement.bytes)
        try await until("the command is given up") { !board.isWaitingForCard }
        board.insert(SimulatedMIFAREClassic())
        #expect(try await port.ask([0x02]) == Self.firmware)
        // One that has an end says that there was no card.
        board.remove()
        let start = ContinuousClock.now
        #expect(try await port.ask([0x60, 0x01, 0x01, 0x10]) == .answer([0x61, 0x00]))
        #expect(ContinuousClock.now - start >= .milliseconds(150))
    }

    // MARK: What goes wrong

    @Test func delay() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        board.delay = .milliseconds(200)
        let start = ContinuousClock.now
        port.write(PN532Frame.command([0x02]).bytes)
        #expect(try await port.frames(1) == [.acknowledgement])
        #expect(try await port.frames(1) == [Self.firmware])
        #expect(ContinuousClock.now - start >= .milliseconds(200))
        // An answer for which nobody waits any more is not given.
        board.delay = .seconds(60)
        port.write(PN532Frame.command([0x00, 0x01]).bytes)
        #expect(try await port.frames(1) == [.acknowledgement])
        board.delay = .zero
        port.write(PN532Frame.acknowledgement.bytes)
        #expect(try await port.ask([0x02]) == Self.firmware)
    }

    @Test func hanging() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        board.hang()
        port.write(PN532Frame.command([0x02]).bytes)
        port.write(PN532Frame.acknowledgement.bytes)
        #expect(try await port.ask([0x00, 0x00, 0x07]) == .answer([0x01, 0x00, 0x07]))
    }

    @Test func tornInTheMiddle() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        let card = SimulatedNTAG(.ntag213)
        board.insert(card)
        _ = try await port.ask([0x4A, 0x01, 0x00])
        board.tear(atExchange: 0, afterwards: true)
        #expect(try await port.ask([0x40, 0x01, 0xA2, 0x08, 1, 2, 3, 4]) == .answer([0x41, 0x01]))
        #expect(!board.hasCard && card.memory[32..<36].elementsEqual([1, 2, 3, 4]))
    }

    /// A frame that was begun and not ended is forgotten when nothing more comes.
    @Test func halfAFrame() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        port.write([0x00, 0x00, 0xFF, 0x20, 0xE0, 0xD4])
        try await port.untilAnswered()
        board.send(noise: [0x12, 0x00, 0xFF, 0x34])
        try await until("the noise is there") { port.read() == [0x12, 0x00, 0xFF, 0x34] }
    }

    /// Seed 5320. A line that spoils one byte of 20 in both directions; afterwards all is well.
    @Test func noise() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        board.setNoise(LineNoise(seed: 5320, oneIn: 20))
        for _ in 0..<200 { port.write(PN532Frame.command([0x02]).bytes) }
        try await until("some commands were understood") { board.commands > 10 }
        board.setNoise(nil)
        try await port.untilAnswered()
        #expect(board.commands < 200 + 100)
        // The same seed, the same noise; none changes nothing.
        var (first, second) = (LineNoise(seed: 1, oneIn: 10), LineNoise(seed: 1, oneIn: 10))
        let bytes = (0..<200).map { UInt8($0) }
        let spoilt = first.spoil(bytes)
        #expect(spoilt == second.spoil(bytes) && spoilt != bytes && spoilt != first.spoil(bytes))
    }

    /// Seed 5321. Whatever comes over the line, the board goes on.
    @Test func randomBytes() async throws {
        let board = try PN532Terminal()
        board.insert(SimulatedNTAG(.ntag213))
        let port = try PN532Port(board)
        var random = SeededNumbers(seed: 5321)
        for _ in 0..<20 {
            for _ in 0..<10 {
                let meaning: [UInt8] = [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD4]
                port.write(random.bytes(50) + meaning.prefix(Int.random(in: 0...6, using: &random)))
                let command = [[0x40, 0x42, 0x4A, 0x60].randomElement(using: &random) ?? 0] + random.bytes(5)
                port.write(PN532Frame.command(command).bytes)
            }
            port.write(PN532Frame.acknowledgement.bytes)
            try await port.untilAnswered()
        }
    }

    /// A program that writes and never reads stops neither the board nor itself.
    @Test func nobodyReads() async throws {
        let board = try PN532Terminal()
        let port = try PN532Port(board)
        let command = PN532Frame.command([0x00, 0x00] + Array(repeating: 0xAA, count: 250)).bytes
        for _ in 0..<2000 { port.write(command) }
        try await port.untilAnswered()
    }

    // MARK: Coming and going

    @Test func unpluggedAndBack() async throws {
        let folder = try scratchFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let link = folder + "/pn532"
        let board = try PN532Terminal(link: link)
        #expect(board.path == link)
        let card = SimulatedType4Tag()
        board.insert(card)
        let port = try PN532Port(board)
        _ = try await port.ask([0x4A, 0x01, 0x00])
        board.unplug()
        board.unplug()
        #expect(board.path == nil && board.connectionString == nil && !board.isPluggedIn)
        #expect(!FileManager.default.fileExists(atPath: link))
        #expect(port.isGone)
        #expect(throws: (any Error).self) { try PN532Port(path: link) }
        for _ in 0..<3 {
            try board.plugIn()
            try board.plugIn()
            #expect(board.path == link && board.commands == 0 && board.hasCard)
            let port = try PN532Port(board)
            #expect(try await port.ask([0x4A, 0x01, 0x00]) != .answer([0x4B, 0x00]))
            board.unplug()
        }
    }

    @Test func links() throws {
        let folder = try scratchFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // A link is replaced, also one to nowhere; nothing else is.
        let link = folder + "/pn532"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nowhere")
        do {
            let board = try PN532Terminal(link: link)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link).hasPrefix("/dev/pts/"))
            withExtendedLifetime(board) {}
        }
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: link))
        #expect(throws: ReaderError.self) { try PN532Terminal(link: link) }
        #expect(throws: ReaderError.self) { try PN532Terminal(link: folder + "/no/such/folder") }
        #expect(try String(contentsOfFile: link, encoding: .utf8) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["pn532"])
    }

    /// Programs come and go; what one left in the terminal's settings is gone for the next, and nothing is done meanwhile.
    @Test func programsComeAndGo() async throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        for round in 0..<50 {
            let port = try PN532Port(board)
            #expect(try await port.ask([0x02]) == Self.firmware, "\(round)")
            port.spoilSettings()
            port.close()
            try await until("the settings are put right") {
                (try? PN532Port(path: path).inputFlags) == 0
            }
        }
        let thread = try #require(Self.threads["PN532 \(path.dropFirst(5))"])
        let before = Self.ticks(thread)
        // A thread that sleeps uses nothing, however long it is looked at.
        try await Task.sleep(for: .milliseconds(500))
        // In hundredths of a second.
        #expect(Self.ticks(thread) - before <= 2)
    }

    @Test func nothingIsLeft() async throws {
        let folder = try scratchFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let link = folder + "/pn532"
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        var names: Set<String> = []
        for _ in 0..<200 {
            let board = try PN532Terminal(link: link)
            names.insert("PN532 " + (try FileManager.default.destinationOfSymbolicLink(atPath: link).dropFirst(5)))
            let port = try PN532Port(board)
            port.write(PN532Frame.command([0x60, 0xFF, 0x01, 0x10]).bytes)
        }
        #expect(!names.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        // Tests beside this one open some too.
        try await until("the descriptors are closed") {
            ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? .max) < before + 150
        }
        try await until("the threads have ended") { Self.threads.count { names.contains($0.key) } < 50 }
    }

    /// The threads of this process: name and number.
    private static var threads: [String: String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return numbers.reduce(into: [:]) { threads, number in
            guard let name = try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8) else {
                return
            }
            threads[name.trimmingCharacters(in: .newlines)] = number
        }
    }

    /// The processor time of a thread, in hundredths of a second.
    private static func ticks(_ thread: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
    }

    private func scratchFolder() throws -> String {
        let path = NSTemporaryDirectory() + "/pn532-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}
