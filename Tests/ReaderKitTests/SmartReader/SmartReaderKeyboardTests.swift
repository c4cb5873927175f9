import CardCore
import Testing
import TestSupport

@testable import ReaderKit

/// What a reader types.
@Suite struct SmartReaderKeyboardTests {
    /// A `struct input_event` of a 64-bit system.
    static func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> [UInt8] {
        let value = UInt32(bitPattern: value)
        let fields = [type, code, UInt16(truncatingIfNeeded: value), UInt16(truncatingIfNeeded: value >> 16)]
        return [UInt8](repeating: 0xA5, count: 16) + fields.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    /// A key pressed and let go, each with what a keyboard sends besides.
    static func stroke(_ code: UInt16) -> [UInt8] {
        event(4, 4, 0x7001E) + event(1, code, 1) + event(0, 0, 0) + event(1, code, 0) + event(0, 0, 0)
    }

    static func shifted(_ code: UInt16) -> [UInt8] { event(1, 42, 1) + stroke(code) + event(1, 42, 0) }

    private static func typed(_ bytes: [UInt8]) -> String {
        var keyboard = SmartReaderKeyboard()
        return String(decoding: keyboard.append(bytes), as: UTF8.self)
    }

    private static let letters: [UInt16] = [
        30, 48, 46, 32, 18, 33, 34, 35, 23, 36, 37, 38, 50, 49, 24, 25, 16, 19, 31, 20, 22, 47, 17, 45, 21, 44,
    ]

    @Test func lettersAndDigits() {
        #expect(Self.typed(Self.letters.flatMap(Self.stroke)) == "abcdefghijklmnopqrstuvwxyz")
        #expect(Self.typed(Self.letters.flatMap(Self.shifted)) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        #expect(Self.typed((2...11).flatMap { Self.stroke($0) }) == "1234567890")
        #expect(Self.typed([82, 79, 80, 81, 75, 76, 77, 71, 72, 73].flatMap(Self.stroke)) == "0123456789")
    }

    @Test func signs() {
        #expect(Self.typed((2...13).flatMap { Self.shifted($0) }) == "!@#$%^&*()_+")
        #expect(Self.typed([12, 13, 26, 27, 39, 40, 41, 43, 51, 52, 53, 57].flatMap(Self.stroke)) == "-=[];'`\\,./ ")
        #expect(Self.typed([26, 27, 39, 40, 41, 43, 51, 52, 53].flatMap(Self.shifted)) == "{}:\"~|<>?")
        #expect(Self.typed([28, 96, 15].flatMap(Self.stroke)) == "\n\n\t")
    }

    @Test func locksAndRepetitions() {
        #expect(Self.typed(Self.stroke(58) + Self.stroke(30) + Self.stroke(2) + Self.shifted(30)) == "A1a")
        #expect(Self.typed(Self.event(1, 30, 1) + Self.event(1, 30, 2) + Self.event(1, 30, 2)) == "a")
        // Both shifts, and the right one alone.
        let both = Self.event(1, 42, 1) + Self.event(1, 54, 1) + Self.event(1, 42, 0) + Self.stroke(30)
        #expect(Self.typed(both + Self.event(1, 54, 0) + Self.stroke(30)) == "Aa")
        // Keys that type nothing, other events.
        #expect(Self.typed(Self.stroke(1) + Self.stroke(59) + Self.event(17, 0, 1) + Self.event(1, 700, 1)) == "")
    }

    @Test func lostStrokesSpoilTheLine() {
        var keyboard = SmartReaderKeyboard()
        var framer = SmartReaderFramer(SmartReaderRules(format: .plain))
        var strokes = Self.stroke(2) + Self.event(1, 42, 1) + Self.event(0, 3, 0) + Self.stroke(30) + Self.stroke(28)
        var lines = framer.append(keyboard.append(strokes))
        #expect(lines.count == 1)
        #expect(lines.contains { (try? SmartReaderLine(decoding: $0)) != nil } == false)
        strokes = Self.stroke(2) + Self.stroke(28)
        lines = framer.append(keyboard.append(strokes))
        #expect(lines == ["1"])
    }

    /// Events come in whole or in parts.
    @Test func partsOfEvents() {
        var keyboard = SmartReaderKeyboard()
        let bytes = Self.letters.flatMap(Self.stroke)
        let typed = bytes.flatMap { keyboard.append([$0]) }
        #expect(String(decoding: typed, as: UTF8.self) == "abcdefghijklmnopqrstuvwxyz")
    }
}
