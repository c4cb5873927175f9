import CardCore
import Foundation

/// Reads the numbers of files from their digits, exactly where that is possible.
package enum NumberText {
    /// More visits than anybody makes: what is above counts as a mistake.
    package static let mostVisits = 1_000_000_000

    /// Why a text is no number, time or total.
    enum Fault: Error, Hashable {
        case noNumber, negative, tooLarge
        /// `#N/A`, `#VALUE!`, `#####`: what a spreadsheet shows instead of a value.
        case spreadsheetError
        /// Digits that a spreadsheet left out, as in 4.5E+04.
        case rounded
        /// What was read could be more than one number or day.
        case ambiguousNumber(String)
        case ambiguousDate(String)
        /// It is no date in the order that was asked for.
        case otherOrder(String)
        case noSuchDay(String)
        /// A number that is neither seconds since 1970 nor a day.
        case noTime
    }

    /// How a file writes numbers and dates.
    package struct Forms: Sendable, Hashable {
        /// Whether a comma may stand for the decimal point, as where a comma does not stand between fields.
        package var comma: Bool
        /// The order of dates, where they do not show it.
        package var order: DateOrder?
        /// Where a time without an offset is the time of day.
        package var zone: TimeZone

        package init(comma: Bool = false, order: DateOrder? = nil, zone: TimeZone = .current) {
            (self.comma, self.order, self.zone) = (comma, order, zone)
        }
    }

    /// Numbers from here on are seconds since 1970: those of eight digits and fewer are days, or nothing.
    private static let firstSecond: Int64 = 100_000_000

    /// A time: seconds since 1970, just as ``Timestamp/microseconds(_:)-(Date)`` rounds them, or a date in any form that
    /// can be one day only (``DateText``). Numbers of thirteen and sixteen digits are milliseconds and microseconds,
    /// those of five the days of a spreadsheet, those of four years. 0 is a time that is not known.
    static func moment(_ text: UnsafeBufferPointer<UInt8>, _ forms: Forms) -> Result<Moment, Fault> {
        if let value = exactMicroseconds(text, comma: forms.comma) {
            if value == 0 || value >= firstSecond * Timestamp.second { return .success(Moment(value)) }
        } else if let date = ISODate.moment(text, forms.zone) {
            return .success(date)
        }
        let text = PlainDigits.text(String(decoding: text, as: UTF8.self))
        return Result { () throws(Fault) in
            if text.hasPrefix("#") { throw .spreadsheetError }
            guard let number = try? WrittenNumber(text, forms).whole() else { return try date(text, forms) }
            return try moment(number, text, forms)
        }
    }

    /// Seconds since 1970, or a day, of a file that knows numbers.
    static func moment(_ number: Double, _ forms: Forms) -> Result<Moment, Fault> {
        guard number.isFinite, number >= 0 else { return .failure(.negative) }
        // A clock that was never set has such times, but not those of a spreadsheet's days.
        if number < Double(firstSecond), !isDay(number) {
            return Timestamp.microseconds(Date(timeIntervalSince1970: number)).map { .success(Moment($0)) }
                ?? .failure(.tooLarge)
        }
        let text = Int64(exactly: number).map(String.init) ?? "\(number)"
        return Array(text.utf8).withUnsafeBufferPointer { moment($0, forms) }
    }

    /// Whether a small number can be a day of a spreadsheet, a year, or a date of eight digits.
    private static func isDay(_ number: Double) -> Bool {
        (25_569..<100_000).contains(number) || (19_700_101..<22_000_000).contains(number)
            || (1970..<2200).contains(number) && number == number.rounded()
    }

    private static func moment(_ number: WrittenNumber, _ text: String, _ forms: Forms) throws(Fault) -> Moment {
        if number.digits == 0 { return Moment(0) }
        if number.isNegative { throw .negative }
        let isPlain = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // Twelve and fourteen digits may be a date and a time of day.
        if isPlain, [12, 14].contains(text.utf8.count), let date = try? date(text, forms) { return date }
        // The place of the last digit in microseconds, as a power of ten.
        var place = number.exponent
        switch number.magnitude {
        case 8...11: place += 6
        case 12: place += 3
        case 15: break
        case ..<8:
            guard number.exponent <= 0 else { throw .rounded }
            guard let day = number.plain else { throw .noTime }
            do throws(Fault) { return try date(day, forms) } catch { throw error == .noNumber ? .noTime : error }
        default: throw .tooLarge
        }
        var (at, unit) = (number.digits, Int64(1))
        for _ in 0..<max(place, 0) { (at, unit) = (at * 10, unit * 10) }
        if place < 0 {
            // As a number in JSON is rounded.
            let same = place == number.exponent + 6 ? Double(text) : nil
            let seconds = same ?? Double("\(number.digits)e\(place - 6)") ?? 0
            guard let time = Timestamp.microseconds(Date(timeIntervalSince1970: seconds)) else { throw .tooLarge }
            at = time
        }
        guard at <= Timestamp.latest else { throw .tooLarge }
        let margin = Moment(at)
        return unit - 1 <= margin.after ? margin : Moment(at, before: unit - 1, after: unit - 1)
    }

    private static func date(_ text: String, _ forms: Forms) throws(Fault) -> Moment {
        switch DateText.read(text, order: forms.order) {
        case .success(let date):
            guard let year = date.year else { throw .noNumber }
            guard year >= 1970, let moment = date.moment(in: forms.zone) else { throw .negative }
            return moment
        case .failure(.noDate): throw .noNumber
        case .failure(.ambiguous): throw .ambiguousDate(text)
        case .failure(.noSuchDay): throw .noSuchDay(text)
        case .failure(.otherOrder): throw .otherOrder(text)
        }
    }

    /// A total of visits: a whole number with all of its digits, with or without marks between its thousands, or with a
    /// fraction of zeros.
    static func visits(_ text: UnsafeBufferPointer<UInt8>, _ forms: Forms) -> Result<Int, Fault> {
        var value = 0
        let isPlain = !text.isEmpty && text.count <= 10 && text.allSatisfy { digit($0) != nil }
        if isPlain {
            for byte in text { value = value * 10 + Int(digit(byte) ?? 0) }
            return value <= mostVisits ? .success(value) : .failure(.tooLarge)
        }
        let text = PlainDigits.text(String(decoding: text, as: UTF8.self))
        return Result { () throws(Fault) in
            if text.hasPrefix("#") { throw .spreadsheetError }
            var number = try WrittenNumber(text, forms).whole(isTotal: true)
            if number.digits == 0 { return 0 }
            guard !number.isNegative else { throw .negative }
            while number.exponent < 0 {
                guard number.digits.isMultiple(of: 10) else { throw .noNumber }
                number.digits /= 10
                number.exponent += 1
            }
            guard number.exponent == 0 else { throw .rounded }
            guard number.digits <= mostVisits else { throw .tooLarge }
            return Int(number.digits)
        }
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

/// A number as it is written: so many of the place of its last digit.
struct WrittenNumber {
    var isNegative = false
    /// The digits without the point; eighteen at most.
    var digits: Int64 = 0
    /// The place of the last digit, as a power of ten.
    var exponent = 0
    /// Whether the only mark has three digits behind it, and so may divide thousands as well as be the point.
    private var isAmbiguous = false
    private let text: String

    /// - Parameter text: one of ``PlainDigits``.
    init(_ text: String, _ forms: NumberText.Forms) throws(NumberText.Fault) {
        self.text = text
        var rest = Array(text.utf8)[...]
        if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            isNegative = sign == UInt8(ascii: "-")
            rest = rest.dropFirst()
        }
        let mantissa = rest.prefix { $0 != UInt8(ascii: "e") }
        rest = rest[mantissa.endIndex...].dropFirst()
        if mantissa.endIndex < rest.startIndex {
            let sign = rest.first == UInt8(ascii: "-") ? -1 : 1
            if rest.first == UInt8(ascii: "+") || sign < 0 { rest = rest.dropFirst() }
            guard rest.count <= 3, let value = ISO8601.number(rest) else { throw .noNumber }
            exponent = sign * value
        }
        try read(mantissa, forms)
    }

    /// The power of ten of the first digit.
    var magnitude: Int { digits == 0 ? 0 : String(digits).count - 1 + exponent }

    /// The number with a point and without other marks, if it has all of its digits.
    var plain: String? {
        guard exponent <= 0 else { return nil }
        let text = String(digits)
        guard exponent < 0 else { return text }
        guard text.count > -exponent else { return nil }
        let fraction = text.suffix(-exponent)
        let whole = String(text.dropLast(-exponent))
        return fraction.allSatisfy { $0 == "0" } ? whole : "\(whole).\(fraction)"
    }

    /// The number, as one of thousands where that alone makes a whole one.
    ///
    /// - Parameter isTotal: whether only a whole number is one.
    func whole(isTotal: Bool = false) throws(NumberText.Fault) -> WrittenNumber {
        guard isAmbiguous else { return self }
        var whole = self
        whole.exponent += 3
        // 1.234 visits are no fraction. 1.000 may be one or a thousand.
        if isTotal, digits.isMultiple(of: 1000) { throw .ambiguousNumber(text) }
        return whole
    }

    private mutating func read(_ mantissa: ArraySlice<UInt8>, _ forms: NumberText.Forms) throws(NumberText.Fault) {
        let marks: [UInt8] = Array(".,' ".utf8)
        var groups: [ArraySlice<UInt8>] = []
        var found: [UInt8] = []
        var start = mantissa.startIndex
        for index in mantissa.indices {
            if marks.contains(mantissa[index]) {
                groups.append(mantissa[start..<index])
                found.append(mantissa[index])
                start = index + 1
            } else {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(mantissa[index]) else { throw .noNumber }
            }
        }
        groups.append(mantissa[start...])
        let (point, comma) = (UInt8(ascii: "."), UInt8(ascii: ","))
        var fraction: ArraySlice<UInt8> = []
        if let last = found.last, last == point || last == comma, found.filter({ $0 == last }).count == 1 {
            let whole = groups[groups.count - 2]
            let isGroup = groups.last?.count == 3 && (1...3).contains(whole.count) && whole.first != UInt8(ascii: "0")
            if found.count > 1 || !isGroup || exponent != 0 {
                fraction = groups.removeLast()
                found.removeLast()
                guard !fraction.isEmpty || found.isEmpty && !whole.isEmpty else { throw .noNumber }
            } else if last == point || forms.comma {
                isAmbiguous = true
                fraction = groups.removeLast()
                found.removeLast()
            }
        }
        guard Set(found).count <= 1,
            groups.count == 1 || Self.isGrouped(groups.map(\.count), comma: found.first == comma)
        else { throw .noNumber }
        guard groups.count == 1 || groups[0].first != UInt8(ascii: "0") else { throw .noNumber }
        let all = groups.joined() + fraction
        guard !all.isEmpty else { throw .noNumber }
        let significant = all.drop { $0 == UInt8(ascii: "0") }
        // What is behind the eighteenth is no digit that anybody meant.
        let dropped = max(significant.count - 18, 0)
        guard dropped <= fraction.count, significant.count <= 64 else { throw .tooLarge }
        for digit in significant.dropLast(dropped) { digits = digits * 10 + Int64(digit - UInt8(ascii: "0")) }
        exponent -= fraction.count - dropped
    }

    /// Whether the digits between marks are thousands, or lakhs and crores, which have commas.
    private static func isGrouped(_ counts: [Int], comma: Bool) -> Bool {
        guard counts.last == 3, let first = counts.first else { return false }
        let inner = counts.dropFirst().dropLast()
        return (1...3).contains(first) && inner.allSatisfy { $0 == 3 }
            || comma && (1...2).contains(first) && !inner.isEmpty && inner.allSatisfy { $0 == 2 }
    }
}

extension DateText {
    /// The moment, as exact as it is written; `nil` without a year. A day is one in UTC or in the time zone, whichever
    /// was meant; a time of day without an offset is one of the time zone, or of UTC. Midnight is no time of day, since
    /// programs write it where they know none.
    func moment(in zone: TimeZone) -> Moment? {
        guard let year else { return nil }
        func time(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
            Int64(ISO8601.days(year: year, month: month, day: day)) * Self.day
        }
        let start = time(year, month ?? 1, day ?? 1)
        guard let month else { return .day(start, time(year + 1, 1, 1), zone) }
        guard day != nil else {
            return .day(start, month == 12 ? time(year + 1, 1, 1) : time(year, month + 1, 1), zone)
        }
        guard let time = self.time, offset != nil || time != 0 else { return .day(start, start + Self.day, zone) }
        let utc = start + time
        let offset = Int64(offset ?? zone.secondsFromGMT(for: Timestamp.date(utc))) * Timestamp.second
        let at = utc - offset
        guard at >= 0 else { return nil }
        let exact = Moment(at)
        // Where no offset is written, it may be UTC.
        let other = self.offset == nil ? offset : 0
        let (before, after) = (max(unit - 1, exact.before), max(unit - 1, exact.after))
        return Moment(at, before: before + max(0, -other), after: after + max(0, other))
    }
}

extension Moment {
    /// What begins and ends so in UTC, or in a time zone.
    static func day(_ start: Int64, _ end: Int64, _ zone: TimeZone) -> Moment {
        let offset = Int64(zone.secondsFromGMT(for: Timestamp.date(start))) * Timestamp.second
        return Moment(start, before: max(0, offset), after: end - start - 1 + max(0, -offset))
    }
}

/// Reads dates as other programs write them (ISO 8601), for files that were not made by a club.
package enum ISODate {
    /// Microseconds since 1970 of `2026-09-01`, which is its beginning in UTC, or of `2026-09-01T10:00:00.25Z` with `Z` or
    /// an offset such as `+02:00`; the seconds may be missing, and a space may stand for the `T`. `nil` for anything
    /// else, also for a time without an offset, which could be any.
    package static func microseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? { moment(text, .gmt)?.at }

    /// The same, as exact as it is written. A day is one in UTC or in a time zone, whichever the file had in mind.
    static func moment(_ text: UnsafeBufferPointer<UInt8>, _ zone: TimeZone) -> Moment? {
        guard text.count >= 10, text.count <= 40, text[4] == minus, text[7] == minus,
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            year >= 1970, (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = ISO8601.days(year: Int(year), month: Int(month), day: Int(day))
        guard ISO8601.civil(days: days).day == day else { return nil }
        let midnight = Int64(days) * 86_400 * Timestamp.second
        guard text.count > 10 else { return .day(midnight, midnight + DateText.day, zone) }
        guard text[10] == UInt8(ascii: "T") || text[10] == UInt8(ascii: " "), text.count >= 17, text[13] == colon,
            let hour = number(text, 11, 2), hour < 24, let minute = number(text, 14, 2), minute < 60
        else { return nil }
        var time = (hour * 3600 + minute * 60) * Timestamp.second
        var at = 16
        var unit = 60 * Timestamp.second
        if text[at] == colon {
            unit = Timestamp.second
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
        guard result >= 0 else { return nil }
        return unit > Timestamp.second ? Moment(result, before: unit - 1, after: unit - 1) : Moment(result)
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
