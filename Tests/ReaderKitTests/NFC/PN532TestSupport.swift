import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

extension PN532Chip {
    /// A chip of which a program wants no waiting for cards.
    static func impatient(_ card: (any SimulatedCard)?, _ habits: Habits = .init()) -> PN532Chip {
        var chip = PN532Chip(habits)
        _ = chip.receive(.command([0x32, 0x05, 0x00, 0x01, 0x02]))
        if let card { _ = chip.insert(card) }
        return chip
    }

    /// Gives the chip commands and compares its answers.
    ///
    /// A line is a command without `D4`, and the answer without `D5`; `-` is no answer, `error` the error frame.
    mutating func check(_ steps: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for step in steps.split(separator: "\n") where !step.hasPrefix("#") {
            let sides = step.components(separatedBy: " > ")
            let answer = ask(try Hex.decode(sides[0]))
            #expect(answer == sides.last, "\(step)", sourceLocation: sourceLocation)
        }
    }

    /// What the chip answers to a command, as ``check(_:sourceLocation:)`` writes it.
    mutating func ask(_ command: [UInt8]) -> String {
        let frames = receive(.command(command))
        #expect(frames.first == .acknowledgement)
        return PN532Chip.text(Array(frames.dropFirst()))
    }

    static func text(_ frames: [PN532Frame]) -> String {
        switch frames.first {
        case .answer(let bytes): Hex.encode(bytes, separator: " ")
        case .error: "error"
        case nil: "-"
        default: "\(frames)"
        }
    }
}

/// A program's end of a terminal.
final class PN532Port {
    let path: String

    private var descriptor: Int32
    private var decoder = PN532FrameDecoder()

    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    convenience init(_ board: PN532Terminal) throws {
        try self.init(path: try #require(board.path))
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// What does not fit is lost.
    func write(_ bytes: [UInt8]) { _ = Glibc.write(descriptor, bytes, bytes.count) }

    /// What is there now.
    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Whether the other end was closed.
    var isGone: Bool {
        var byte: UInt8 = 0
        let count = Glibc.read(descriptor, &byte, 1)
        return count == 0 || (count < 0 && errno == EIO)
    }

    /// The next frames, of which there have to be so many.
    func frames(_ count: Int) async throws -> [PN532Frame] {
        var frames: [PN532Frame] = []
        try await until("\(count) frames have come") {
            decoder.append(read())
            while frames.count < count, let item = decoder.next() {
                if case .frame(let frame) = item { frames.append(frame) }
            }
            return frames.count == count
        }
        return frames
    }

    /// The answer to a command, behind its acknowledgement.
    func ask(_ command: [UInt8]) async throws -> PN532Frame? {
        write(PN532Frame.command(command).bytes)
        let frames = try await frames(2)
        #expect(frames.first == .acknowledgement)
        return frames.last
    }

    /// Asks for an echo until it comes; anything else is passed over.
    func untilAnswered() async throws {
        for attempt in UInt8(0)..<20 {
            write(PN532Frame.command([0x00, 0x00, 0xEC, 0x40, attempt]).bytes)
            do {
                return try await until("an echo", within: .seconds(2)) {
                    decoder.append(read())
                    while let item = decoder.next() {
                        if item == .frame(.answer([0x01, 0x00, 0xEC, 0x40, attempt])) { return true }
                    }
                    return false
                }
            } catch is NotInTime {}
        }
        throw NotInTime(description: "the board does not answer")
    }

    /// The input flags of the terminal; those of a raw one are 0.
    var inputFlags: UInt32 {
        var settings = termios()
        tcgetattr(descriptor, &settings)
        return settings.c_iflag
    }

    /// What libnfc does to a terminal, and a program that is killed leaves.
    func spoilSettings() {
        var settings = termios()
        tcgetattr(descriptor, &settings)
        settings.c_iflag = 0x8000_0000 | UInt32(ICRNL)
        settings.c_lflag = UInt32(ECHO)
        tcsetattr(descriptor, TCSANOW, &settings)
    }
}
