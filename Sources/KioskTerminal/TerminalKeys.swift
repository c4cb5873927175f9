/// A key that was pressed in a terminal.
public enum TerminalKey: Sendable, Hashable {
    /// A character.
    case character(Character)
    /// The return key.
    case enter
    /// The escape key.
    case escape
    /// The upward arrow.
    case up
    /// The downward arrow.
    case down
    /// The arrow to the left.
    case left
    /// The arrow to the right.
    case right
    /// Control-L, after which the session draws the screen anew by itself.
    case redraw
}

/// Finds keys in the bytes that a terminal sends. Escape sequences that it does not know are passed over.
struct TerminalKeyParser {
    private enum State {
        case text
        /// After an escape, which is a key if nothing follows soon.
        case escape
        /// After `ESC [` or `ESC O`, with the number of bytes since.
        case sequence(Int)
    }

    /// The longest escape sequence, in bytes.
    private static let longest = 32

    private var state = State.text
    /// The bytes of a character that is not complete yet.
    private var character: [UInt8] = []

    /// Whether an escape waits for what follows.
    var isWaiting: Bool { if case .escape = state { true } else { false } }

    /// Takes bytes as they come.
    mutating func keys(in bytes: some Sequence<UInt8>) -> [TerminalKey] { bytes.compactMap { key($0) } }

    /// Takes it that nothing follows the escape that waits.
    mutating func timeOut() -> [TerminalKey] {
        guard isWaiting else { return [] }
        state = .text
        return [.escape]
    }

    private mutating func key(_ byte: UInt8) -> TerminalKey? {
        switch state {
        case .escape:
            if byte == 0x1B { return .escape }
            let isIntroducer = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O")
            state = isIntroducer ? .sequence(0) : .text
            return nil
        case .sequence(let count):
            guard 0x40...0x7E ~= byte else {
                let isParameter = 0x20...0x3F ~= byte && count < Self.longest
                state = isParameter ? .sequence(count + 1) : byte == 0x1B ? .escape : .text
                return nil
            }
            state = .text
            let arrows: [UInt8: TerminalKey] = [0x41: .up, 0x42: .down, 0x43: .right, 0x44: .left]
            return arrows[byte]
        case .text: return text(byte)
        }
    }

    private mutating func text(_ byte: UInt8) -> TerminalKey? {
        switch byte {
        case 0x1B:
            character = []
            state = .escape
            return nil
        case 0x0C: return .redraw
        case 0x0A, 0x0D: return .enter
        case 0..<0x20, 0x7F: return nil
        case 0x20..<0x7F:
            character = []
            return .character(Character(Unicode.Scalar(byte)))
        case 0xC2...0xF4: character = [byte]
        default:
            guard !character.isEmpty, character.count < 4 else { return nil }
            character.append(byte)
        }
        guard let text = String(validating: character, as: UTF8.self), let whole = text.first else { return nil }
        character = []
        return .character(whole)
    }
}
