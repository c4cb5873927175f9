import CardCore
import Foundation

/// What `readerctl apdu` prints, where it is more than commands and answers behind marks.
///
/// ```
/// < 9000 (success), 3 bytes
///   0000  55 05 31                                         |U.1|
/// {"command":"FFCA000000","data":"04A1","durationMs":1.5,"statusName":"success","statusWord":"9000"}
/// ```
enum ReaderCtlTranscript {
    /// The end of an answer's bytes, and how many follow in lines of a dump, if the line announces them.
    static func announced(_ line: LogLine, from start: Int) -> (end: Int, count: Int)? {
        guard let comma = line.bytes[start...].lastIndex(of: UInt8(ascii: ",")) else { return nil }
        let words = line.text(from: comma + 1).split(separator: " ")
        guard words.count == 2, words[1] == "bytes" || words[1] == "byte", let count = Int(words[0]), count > 0,
            count <= ReaderLimits.responseLength
        else { return nil }
        return (comma, count)
    }

    /// A line of a dump: the address of its first byte, the bytes, and their text between bars.
    static func dump(_ line: LogLine, at address: Int) throws(CaptureError) -> [UInt8] {
        var cursor = line.cursor(at: 0)
        let start = cursor.position
        let wanted = [UInt8(truncatingIfNeeded: address >> 8), UInt8(truncatingIfNeeded: address)]
        guard let high = try? cursor.hexByte(), let low = try? cursor.hexByte(), [high, low] == wanted else {
            throw line.error(.wrongLength, at: start, "the dump of the answer should go on here with \(wanted.hex)")
        }
        let bytes = try cursor.hex(stops: [UInt8(ascii: "|")])
        guard !bytes.isEmpty, bytes.count <= 16 else {
            throw line.error(.wrongLength, at: start, "a line of a dump has 1 to 16 bytes")
        }
        return bytes
    }

    private struct Object: Decodable {
        var command: String
        var data: String
        var statusWord: String?
    }

    /// The exchange that a JSON object describes, or `nil` for other lines and objects.
    static func object(_ line: LogLine, _ start: Int) throws(CaptureError) -> Capture.Exchange? {
        guard start < line.bytes.count, line.bytes[start] == UInt8(ascii: "{"),
            let object = try? JSONDecoder().decode(Object.self, from: Data(line.bytes[start...]))
        else { return nil }
        func malformed(_ name: String) -> CaptureError {
            line.error(.invalidHex, at: start, "'\(name)' holds no bytes in hexadecimal")
        }
        guard let command = frame(object.command) else { throw malformed("command") }
        guard let data = frame(object.data) else { throw malformed("data") }
        guard command.bytes.count <= CaptureLimits.longestCommand, data.bytes.count < ReaderLimits.responseLength else {
            throw line.error(.wrongLength, at: start, "the command or its answer is too long")
        }
        guard let word = object.statusWord else {
            guard !command.bytes.isEmpty else { throw malformed("command") }
            return .init(.raw(command), data.bytes.isEmpty ? .fault(.timeout) : .raw(data))
        }
        guard let status = try? Hex.decode(word), status.count == 2 else { throw malformed("statusWord") }
        guard command.bytes.count >= CaptureLimits.shortestCommand, data.bytes.count + 2 <= ReaderLimits.responseLength
        else { throw line.error(.wrongLength, at: start, "a command has at least four bytes") }
        return .init(.apdu(command.bytes), .bytes(data.bytes + status))
    }

    private static func frame(_ text: String) -> RawFrame? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let bytes = try? Hex.decode(String(parts[0])) else { return nil }
        guard parts.count > 1 else { return RawFrame(bytes) }
        guard parts.count == 2, let bits = Int(parts[1]), (1...7).contains(bits), !bytes.isEmpty else { return nil }
        return RawFrame(bytes, bitsInLastByte: bits)
    }
}
