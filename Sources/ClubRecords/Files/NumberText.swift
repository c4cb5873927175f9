import Foundation

/// Reads the numbers of files from their digits, exactly where that is possible.
package enum NumberText {
    /// More visits than anybody makes: what is above counts as a mistake.
    package static let mostVisits = 1_000_000_000

    /// Why a number cannot be used.
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

    /// Without white space at both ends.
    static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var (start, end) = (0, text.count)
        while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
        while end > start, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
        return UnsafeBufferPointer(rebasing: text[start..<end])
    }

    /// The value by its digits alone, where a `Double` in between gives the same: up to the year 2106, or to
    /// 2038 with a seventh digit behind the point, which must leave no doubt. `nil` elsewhere.
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

    /// Appends the decimal digits of a number.
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
