/// What goes over the line between a computer and a PN532 (user manual UM0701, section 6.2.1).
public enum PN532Frame: Sendable, Hashable {
    /// `00 FF`: the command was taken; from the computer, the command under way is given up.
    case acknowledgement

    /// `FF 00`: the last frame shall be sent again.
    case refusal

    /// A command of the computer (`D4`): its code and its parameters.
    case command([UInt8])

    /// An answer of the chip (`D5`): the command's code plus one, and the data.
    case answer([UInt8])

    /// `7F`: the chip does not understand the command.
    case error

    /// The most bytes in one frame, its identifier included.
    public static let longestData = 265

    /// The most bytes in a frame of the normal form; longer ones take the extended form.
    public static let longestNormalData = 255

    static let host: UInt8 = 0xD4
    static let chip: UInt8 = 0xD5
    static let failure: UInt8 = 0x7F

    /// The frame as it goes over the line, with preamble, start code, checksums and postamble; what is longer than
    /// ``longestData`` is cut.
    public var bytes: [UInt8] {
        switch self {
        case .acknowledgement: [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
        case .refusal: [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
        case .command(let body): PN532Frame.encode(PN532Frame.host, body)
        case .answer(let body): PN532Frame.encode(PN532Frame.chip, body)
        case .error: PN532Frame.encode(PN532Frame.failure, [])
        }
    }

    private static func encode(_ identifier: UInt8, _ body: [UInt8]) -> [UInt8] {
        let data = [identifier] + body.prefix(longestData - 1)
        let header: [UInt8]
        if data.count <= longestNormalData {
            header = [UInt8(data.count), 0 &- UInt8(data.count)]
        } else {
            let (high, low) = (UInt8(data.count >> 8), UInt8(data.count & 0xFF))
            header = [0xFF, 0xFF, high, low, 0 &- (high &+ low)]
        }
        return [0x00, 0x00, 0xFF] + header + data + [0 &- data.reduce(0, &+), 0x00]
    }
}

/// Finds frames in what comes over the line, in pieces of any size.
///
/// Whatever is not part of a frame is passed over: the preamble with which a sleeping chip is woken (`55 55 00 00 …`),
/// postambles, and noise. Behind a frame that is not well formed the search goes on within it, so that a damaged one
/// hides no good one.
public struct PN532FrameDecoder: Sendable {
    /// What was found.
    public enum Item: Sendable, Hashable {
        /// A frame.
        case frame(PN532Frame)
        /// A start code with something behind it that is no frame.
        case malformed(Fault)
    }

    /// Why bytes behind a start code are no frame.
    public enum Fault: Sendable, Hashable {
        /// Length and its checksum do not add up to zero.
        case lengthChecksum
        /// The length is zero, or more than ``PN532Frame/longestData``.
        case length
        /// The first byte is none of `D4`, `D5` and `7F`.
        case identifier
        /// The data and their checksum do not add up to zero.
        case dataChecksum
    }

    private var buffer: [UInt8] = []

    /// Nothing has come yet.
    public init() {}

    /// Takes what came over the line.
    public mutating func append(_ bytes: some Sequence<UInt8>) { buffer += bytes }

    /// Whether a frame has begun that is not there whole.
    public var isWithinFrame: Bool { buffer.count >= 2 }

    /// Forgets a frame that has begun and was never ended.
    public mutating func reset() { buffer = [] }

    /// The next frame or fault, or `nil` until more has come.
    public mutating func next() -> Item? {
        skipToStartCode()
        guard buffer.count >= 4 else { return nil }
        switch (buffer[2], buffer[3]) {
        case (0x00, 0xFF): return take(4, .acknowledgement)
        case (0xFF, 0x00): return take(4, .refusal)
        case (0xFF, 0xFF):
            guard buffer.count >= 7 else { return nil }
            guard buffer[4] &+ buffer[5] &+ buffer[6] == 0 else { return fail(.lengthChecksum) }
            return data(at: 7, count: Int(buffer[4]) << 8 | Int(buffer[5]))
        default:
            guard buffer[2] &+ buffer[3] == 0 else { return fail(.lengthChecksum) }
            return data(at: 4, count: Int(buffer[2]))
        }
    }

    /// Drops everything before a start code, `00 FF`, or before what may become one.
    private mutating func skipToStartCode() {
        for index in buffer.indices where buffer[index] == 0x00 {
            guard index + 1 == buffer.count || buffer[index + 1] == 0xFF else { continue }
            if index > 0 { buffer.removeFirst(index) }
            return
        }
        buffer = []
    }

    private mutating func data(at start: Int, count: Int) -> Item? {
        guard (1...PN532Frame.longestData).contains(count) else { return fail(.length) }
        // Recognized by the first byte, a false start does not wait for all the bytes that it claims.
        guard buffer.count > start else { return nil }
        let identifier = buffer[start]
        let isKnown =
            identifier == PN532Frame.host || identifier == PN532Frame.chip
            || (identifier == PN532Frame.failure && count == 1)
        guard isKnown else { return fail(.identifier) }
        guard buffer.count > start + count else { return nil }
        guard buffer[start...start + count].reduce(0, &+) == 0 else { return fail(.dataChecksum) }
        let body = Array(buffer[start + 1..<start + count])
        switch identifier {
        case PN532Frame.host: return take(start + count + 1, .command(body))
        case PN532Frame.chip: return take(start + count + 1, .answer(body))
        default: return take(start + count + 1, .error)
        }
    }

    private mutating func take(_ count: Int, _ frame: PN532Frame) -> Item {
        buffer.removeFirst(count)
        return .frame(frame)
    }

    /// The start code was none; the search goes on behind its first byte.
    private mutating func fail(_ fault: Fault) -> Item {
        buffer.removeFirst()
        return .malformed(fault)
    }
}
