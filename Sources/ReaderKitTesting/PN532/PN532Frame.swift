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

    /// The frame as it goes over the line, with preamble, start code, checksums and postamble.
    ///
    /// What is longer than ``longestData`` is cut.
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
