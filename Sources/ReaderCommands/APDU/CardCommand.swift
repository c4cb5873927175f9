import Foundation
import ReaderKit
import ToolSupport

/// What `apdu` sends: an APDU, or a frame of the card's own protocol.
enum CardCommand {
    case apdu(APDUShorthand)
    case frame(RawFrame)

    /// Reads a command.
    init(_ text: some StringProtocol, raw: Bool) throws {
        if raw {
            self = .frame(try Self.frame(text))
        } else {
            self = .apdu(try APDUShorthand(parsing: text))
        }
    }

    /// Reads a line of a script; `nil` if there is nothing on it but a comment.
    init?(line: some StringProtocol, raw: Bool) throws {
        let text = line.prefix { $0 != "#" }
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        try self.init(text, raw: raw)
    }

    /// SELECT by name; anything but `9000` is a failure.
    static func selecting(_ aid: [UInt8]) throws -> CardCommand {
        guard (5...16).contains(aid.count) else {
            throw ToolFailure("The name of an application has 5 to 16 bytes.", exit: ToolExit.malformed)
        }
        return .apdu(try APDUShorthand(parsing: "00A40400:\(aid.hex)/00="))
    }

    private static func frame(_ text: some StringProtocol) throws -> RawFrame {
        let slash = text.firstIndex(of: "/")
        let digits = text[..<(slash ?? text.endIndex)]
        func fail(_ message: String, at column: Int? = nil) -> ToolFailure {
            let place = column ?? digits.count + 1
            return ToolFailure("could not read the frame: \(message) (column \(place))", exit: ToolExit.malformed)
        }
        let bytes: [UInt8]
        do {
            bytes = try Hex.decode(digits)
        } catch {
            throw fail("\(error)", at: error.offset + 1)
        }
        guard !bytes.isEmpty else { throw fail("there are no bytes") }
        guard let slash else { return RawFrame(bytes) }
        let digitsOfBits = String(text[text.index(after: slash)...]).trimmingCharacters(in: .whitespaces)
        guard let bits = Int(digitsOfBits), (1...8).contains(bits) else {
            throw fail("after '/' comes the number of bits in the last byte, 1 to 8")
        }
        return RawFrame(bytes, bitsInLastByte: bits)
    }
}
