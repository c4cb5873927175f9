import CardCore
import CardPasses

/// One line of a log: its bytes, with what steers a terminal replaced by spaces, so that columns stay.
struct LogLine {
    let bytes: [UInt8]
    let number: Int
    let file: String?

    var isBlank: Bool { bytes.allSatisfy(CaptureCursor.isSpace) }

    /// Splits a text, within the limits that hold for captures.
    static func split(_ text: [UInt8], file: String?) throws(CaptureError) -> [LogLine] {
        guard text.count <= CaptureLimits.fileLength else {
            let message = "the file has \(text.count) bytes, \(CaptureLimits.fileLength) are allowed"
            throw CaptureError(file: file, line: 1, column: 1, code: .fileTooLong, message: message)
        }
        var lines: [LogLine] = []
        for line in LineSequence(text) {
            let number = lines.count + 1
            guard line.count <= CaptureLimits.lineLength else {
                let message = "the line has \(line.count) bytes, \(CaptureLimits.lineLength) are allowed"
                throw CaptureError(file: file, line: number, column: 1, code: .lineTooLong, message: message)
            }
            lines.append(LogLine(bytes: plain(line), number: number, file: file))
        }
        return lines
    }

    /// Replaces ANSI colours (`ESC [ … letter`) and other control characters by spaces, one for each byte.
    private static func plain(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = Array(line)
        guard bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return bytes }
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x1B, index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "[") {
                let end = bytes[(index + 2)...].firstIndex { (0x40...0x7E).contains($0) } ?? bytes.count - 1
                for place in index...end { bytes[place] = UInt8(ascii: " ") }
                index = end
            } else if bytes[index] < 0x20 || bytes[index] == 0x7F {
                bytes[index] = UInt8(ascii: " ")
            }
            index += 1
        }
        return bytes
    }

    // MARK: Looking for words

    /// The place behind the first occurrence of a text, at or behind `start`.
    func end(of text: StaticString, from start: Int = 0) -> Int? {
        text.withUTF8Buffer { wanted in
            guard let first = wanted.first, bytes.count >= wanted.count, start <= bytes.count - wanted.count else {
                return nil
            }
            for place in start...(bytes.count - wanted.count)
            where bytes[place] == first && bytes[place..<(place + wanted.count)].elementsEqual(wanted) {
                return place + wanted.count
            }
            return nil
        }
    }

    func contains(_ text: StaticString) -> Bool { end(of: text) != nil }

    /// What stands from a place on, without white space round it.
    func text(from start: Int, to end: Int? = nil) -> String {
        let end = min(end ?? bytes.count, bytes.count)
        guard start < end else { return "" }
        return String(decoding: bytes[start..<end], as: UTF8.self).trimmed
    }

    /// What stands behind the first occurrence of a text.
    func text(behind text: StaticString, to end: Int? = nil) -> String? {
        self.end(of: text).map { self.text(from: $0, to: end) }
    }

    /// The first place from there on that is no white space.
    func skippingSpaces(_ start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { !CaptureCursor.isSpace($0) } ?? bytes.count
    }

    func cursor(at start: Int) -> CaptureCursor {
        var cursor = CaptureCursor(bytes, line: number, file: file)
        cursor.advance(max(0, start - cursor.position))
        return cursor
    }

    func hex(from start: Int) throws(CaptureError) -> [UInt8] {
        var cursor = cursor(at: start)
        return try cursor.hex()
    }

    func error(_ code: CaptureError.Code, at place: Int, _ message: String) -> CaptureError {
        cursor(at: 0).error(code, at: place, message)
    }
}
