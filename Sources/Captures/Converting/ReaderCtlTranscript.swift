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

    private struct Object: Decodable {
        var command: String
        var data: String
        var statusWord: String?
    }

    /// The command and answer that a JSON object describes, or `nil` for other lines and objects.
    static func object(_ line: LogLine, _ start: Int) throws(CaptureError) -> (LogBytes, LogBytes)? {
        guard let object = try? JSONDecoder().decode(Object.self, from: Data(line.bytes[start...])) else { return nil }
        let carrier: LogBytes.Carrier = object.statusWord == nil ? .frame : .apdu
        func bytes(_ name: String, _ text: String) throws(CaptureError) -> LogBytes {
            guard let frame = frame(text) else {
                throw line.error(.invalidHex, at: start, "'\(name)' holds no bytes in hexadecimal")
            }
            var result = LogBytes(line, at: start, bytes: frame.bytes)
            (result.bits, result.carrier, result.isEnded) = (frame.bitsInLastByte, carrier, true)
            return result
        }
        let command = try bytes("command", object.command)
        var answer = try bytes("data", object.data)
        if let word = object.statusWord {
            guard let status = try? Hex.decode(word), status.count == 2 else {
                throw line.error(.invalidHex, at: start, "'statusWord' holds no status word in hexadecimal")
            }
            answer.bytes += status
        }
        return (command, answer)
    }

    private static func frame(_ text: String) -> RawFrame? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let bytes = try? Hex.decode(String(parts[0])) else { return nil }
        guard parts.count > 1 else { return RawFrame(bytes) }
        guard parts.count == 2, let bits = Int(parts[1]), (1...7).contains(bits), !bytes.isEmpty else { return nil }
        return RawFrame(bytes, bitsInLastByte: bits)
    }
}
