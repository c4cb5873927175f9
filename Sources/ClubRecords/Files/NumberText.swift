import CardCore
import Foundation

/// Reads the numbers of files from their digits, exactly where that is possible.
package enum NumberText {
    /// More visits than anybody makes: what is above counts as a mistake.
    package static let mostVisits = 1_000_000_000

    enum Fault: Error {
        case noNumber, negative, tooLarge
    }

    /// Seconds since 1970 as microseconds, just as ``Timestamp/microseconds(_:)-(Date)`` rounds them; or a date as
    /// ``ISODate`` reads it.
    ///
    /// - Parameter comma: whether a comma may stand for the decimal point.
    static func microseconds(_ text: UnsafeBufferPointer<UInt8>, comma: Bool) -> Result<Int64, Fault> {
        if let value = exactMicroseconds(text, comma: comma) {
            return value <= Timestamp.latest ? .success(value) : .failure(.tooLarge)
        }
        if let value = ISODate.microseconds(text) { return .success(value) }
        guard let seconds = double(text, comma: comma) else { return .failure(.noNumber) }
        guard seconds >= 0 else { return .failure(.negative) }
        guard let value = Timestamp.microseconds(Date(timeIntervalSince1970: seconds)) else {
            return .failure(.tooLarge)
        }
        return .success(value)
    }

    /// A total of visits: a whole number, which may be written with a fraction of zeros.
    static func visits(_ text: UnsafeBufferPointer<UInt8>, comma: Bool) -> Result<Int, Fault> {
        var value = 0
        var isPlain = !text.isEmpty && text.count <= 10
        for byte in text where isPlain {
            isPlain = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
            if isPlain { value = value * 10 + Int(byte - UInt8(ascii: "0")) }
        }
        if !isPlain {
            guard let number = double(text, comma: comma), number == number.rounded() else {
                return .failure(.noNumber)
            }
            guard number >= 0 else { return .failure(.negative) }
            guard let whole = Int(exactly: number) else { return .failure(.tooLarge) }
            value = whole
        }
        return value <= mostVisits ? .success(value) : .failure(.tooLarge)
    }

    /// Without the blanks at both ends, of any kind: as ``Swift/StringProtocol/trimmed`` has it for cards and the desk.
    static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var (start, end) = (0, text.count)
        while start < end, isBlank(text[start]) { start += 1 }
        while end > start, isBlank(text[end - 1]) { end -= 1 }
        let rest = UnsafeBufferPointer(rebasing: text[start..<end])
        guard rest.first ?? 0 >= 0x80 || rest.last ?? 0 >= 0x80 else { return rest }
        // The first byte of a character, or the last: none, or those of other blanks.
        let string = Substring(String(decoding: rest, as: UTF8.self))
        let front = string.prefix(while: \.isWhitespace).utf8.count
        guard front < rest.count else { return UnsafeBufferPointer(rebasing: rest[..<0]) }
        var back = 0
        for character in string.reversed() {
            guard character.isWhitespace else { break }
            back += character.utf8.count
        }
        return UnsafeBufferPointer(rebasing: rest[front..<rest.count - back])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The value by its digits alone, where a `Double` in between yields the same: up to the year 2106, or to 2038 with
    /// a seventh digit behind the point, which must leave no doubt. `nil` elsewhere.
    private static func exactMicroseconds(_ text: UnsafeBufferPointer<UInt8>, comma: Bool) -> Int64? {
        var at = 0
        var seconds: Int64 = 0
        while at < text.count, let digit = digit(text[at]) {
            guard at < 10 else { return nil }
            seconds = seconds * 10 + digit
            at += 1
        }
        guard at > 0, seconds < 1 << 32 else { return nil }
        var fraction: Int64 = 0
        if at < text.count {
            guard text[at] == UInt8(ascii: ".") || comma && text[at] == UInt8(ascii: ",") else { return nil }
            at += 1
            guard at < text.count else { return nil }
            var places = 0
            while at < text.count, let digit = digit(text[at]) {
                if places < 6 {
                    fraction = fraction * 10 + digit
                } else if places == 6 {
                    guard seconds < 1 << 31, digit <= 1 || digit >= 8 else { return nil }
                    if digit >= 8 { fraction += 1 }
                }
                places += 1
                at += 1
            }
            guard at == text.count else { return nil }
            while places < 6 {
                fraction *= 10
                places += 1
            }
        }
        return seconds * Timestamp.second + fraction
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int64(byte - UInt8(ascii: "0")) : nil
    }

    private static func double(_ text: UnsafeBufferPointer<UInt8>, comma: Bool) -> Double? {
        guard text.count <= 64 else { return nil }
        var text = String(decoding: text, as: UTF8.self)
        if comma { text = text.replacing(",", with: ".") }
        // `Double` reads "nan", "inf" and hexadecimal too.
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text) else {
            return nil
        }
        return value.isFinite ? value : nil
    }

    /// Appends seconds since 1970, with as many digits behind the point as the microseconds need.
    package static func append(seconds microseconds: Int64, to text: inout [UInt8]) {
        append(microseconds / Timestamp.second, to: &text)
        var fraction = abs(microseconds % Timestamp.second)
        guard fraction > 0 else { return }
        text.append(UInt8(ascii: "."))
        var unit = Timestamp.second / 10
        while fraction > 0 {
            text.append(UInt8(ascii: "0") + UInt8(fraction / unit))
            fraction %= unit
            unit /= 10
        }
    }

    /// Appends a time as a date of ISO 8601 in UTC, with as many digits behind the point as the microseconds need: what
    /// spreadsheets keep as it is, where they round a number. 0 is a time that is not known.
    package static func append(date microseconds: Int64, to text: inout [UInt8]) {
        guard microseconds > 0 else { return append(seconds: microseconds, to: &text) }
        let (days, rest) = (Int(microseconds / DateText.day), microseconds % DateText.day)
        let (year, month, day) = ISO8601.civil(days: days)
        func add(_ number: Int, _ mark: Unicode.Scalar) {
            if number < 10 { text.append(UInt8(ascii: "0")) }
            append(Int64(number), to: &text)
            text.append(UInt8(ascii: mark))
        }
        let (seconds, fraction) = (Int(rest / Timestamp.second), rest % Timestamp.second)
        add(year, "-")
        add(month, "-")
        add(day, "T")
        add(seconds / 3600, ":")
        add(seconds / 60 % 60, ":")
        if seconds % 60 < 10 { text.append(UInt8(ascii: "0")) }
        append(seconds: Int64(seconds % 60) * Timestamp.second + fraction, to: &text)
        text.append(UInt8(ascii: "Z"))
    }

    package static func append(_ number: Int64, to text: inout [UInt8]) {
        if number < 0 { text.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = text.count
        repeat {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        text[start...].reverse()
    }
}

/// Reads dates as other programs write them (ISO 8601), for files that were not made by a club.
package enum ISODate {
    /// Microseconds since 1970 of `2026-09-01`, which is its beginning in UTC, or of `2026-09-01T10:00:00.25Z` with `Z` or
    /// an offset such as `+02:00`; the seconds may be missing, and a space may stand for the `T`. `nil` for anything
    /// else, also for a time without an offset, which could be any.
    package static func microseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count >= 10, text.count <= 40, text[4] == minus, text[7] == minus,
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            year >= 1970, (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = ISO8601.days(year: Int(year), month: Int(month), day: Int(day))
        guard ISO8601.civil(days: days).day == day else { return nil }
        let midnight = Int64(days) * 86_400 * Timestamp.second
        guard text.count > 10 else { return midnight }
        guard text[10] == UInt8(ascii: "T") || text[10] == UInt8(ascii: " "), text.count >= 17, text[13] == colon,
            let hour = number(text, 11, 2), hour < 24, let minute = number(text, 14, 2), minute < 60
        else { return nil }
        var time = (hour * 3600 + minute * 60) * Timestamp.second
        var at = 16
        if text[at] == colon {
            guard let second = number(text, at + 1, 2), second < 61 else { return nil }
            // A leap second is the last one of its minute.
            time += min(second, 59) * Timestamp.second
            at += 3
            if at < text.count, text[at] == UInt8(ascii: ".") {
                at += 1
                var unit = Timestamp.second / 10
                let start = at
                while at < text.count, let digit = number(text, at, 1) {
                    time += digit * unit
                    unit /= 10
                    at += 1
                }
                guard at > start else { return nil }
            }
        }
        guard let offset = offset(text, at) else { return nil }
        let result = midnight + time - offset * 60 * Timestamp.second
        return result >= 0 ? result : nil
    }

    private static let minus = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")

    /// Minutes east of UTC: `Z`, `+02:00`, `+0200` or `+02` at the end of the text.
    private static func offset(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int64? {
        guard start < text.count else { return nil }
        if text[start] == UInt8(ascii: "Z") { return text.count == start + 1 ? 0 : nil }
        guard text[start] == UInt8(ascii: "+") || text[start] == minus, let hours = number(text, start + 1, 2),
            hours < 24
        else { return nil }
        var at = start + 3
        var minutes: Int64 = 0
        if at < text.count {
            if text[at] == colon { at += 1 }
            guard let value = number(text, at, 2), value < 60, text.count == at + 2 else { return nil }
            minutes = value
        }
        let sum = hours * 60 + minutes
        return text[start] == minus ? -sum : sum
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        start + count <= text.count ? ISO8601.number(text[start..<start + count]).map(Int64.init) : nil
    }
}
