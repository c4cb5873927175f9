import CardCore

/// The order in which a file writes the numbers of its dates, where they do not show it: 03/04/2026 is two days.
public enum DateOrder: String, Sendable, Hashable, Codable, CaseIterable {
    case dayMonthYear
    case monthDayYear
    case yearMonthDay
}

/// A day, or a day and a time, as a person or a program wrote it: `2026-11-03T18:45:12Z`, `3.11.2026`, `11/03/2026
/// 6:45 PM`, `Tue, 03 Nov 2026 18:45:12 GMT`, `20261103`, `--11-03`, in the digits of any script.
///
/// Only what can be one day is read as it; of what could be two, ``Fault/ambiguous`` says so.
package struct DateText: Sendable, Hashable {
    /// `nil` where none is written, as in `--05-17` and `17 May`.
    package var year: Int?
    /// `nil` where the year stands alone.
    package var month: Int?
    /// `nil` where only a year or a month is written.
    package var day: Int?
    /// Microseconds since midnight; `nil` where no time is written.
    package var time: Int64?
    /// The last place of the time that is written, in microseconds: a minute, a second, or a part of one.
    package var unit: Int64 = Self.day
    /// Seconds east of UTC; `nil` where none are written.
    package var offset: Int?

    package enum Fault: Error, Hashable {
        case noDate
        /// It could be more than one day; an order would decide.
        case ambiguous
        /// It has the form of a date, and there is no such day.
        case noSuchDay
        /// It is none in the order that was asked for.
        case otherOrder
    }

    /// A day in microseconds.
    package static let day: Int64 = 86_400_000_000

    /// More than any date needs.
    private static let longest = 64

    package init(year: Int?, month: Int?, day: Int?) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Reads a date with at least a month and a day, or with a year. A number of five digits, with a fraction or without,
    /// is one of a spreadsheet (``serial(_:)``).
    ///
    /// - Parameter order: decides where the numbers do not. One that contradicts them is ``Fault/otherOrder``.
    package static func read(_ text: String, order: DateOrder? = nil) -> Result<DateText, Fault> {
        guard text.utf8.count <= 4 * longest else { return .failure(.noDate) }
        var tokens = Tokens(PlainDigits.text(text))
        guard !tokens.all.isEmpty, tokens.all.count <= longest else { return .failure(.noDate) }
        return Result { () throws(Fault) in try tokens.date(order) }
    }

    /// A day by its number in spreadsheets, which count from 1900: 25569 is 1 January 1970. `nil` for one that no
    /// spreadsheet has.
    ///
    /// The first 60 are counted from a 29 February 1900 that there was not, and are nobody's.
    package static func serial(_ number: Int) -> DateText? {
        guard (61..<2_958_466).contains(number) else { return nil }
        let (year, month, day) = ISO8601.civil(days: number - 25_569)
        return DateText(year: year, month: month, day: day)
    }

    /// Whether there is such a day; without a year, in some year.
    package var exists: Bool {
        guard let month else { return day == nil }
        guard (1...12).contains(month) else { return false }
        guard let day else { return true }
        guard (1...31).contains(day) else { return false }
        let days = ISO8601.days(year: year ?? 2000, month: month, day: day)
        return ISO8601.civil(days: days).day == day
    }
}

/// Digits and marks of all scripts as those of ASCII, letters in lower case, blanks as spaces, without what is invisible.
package enum PlainDigits {
    package static func text(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 && !(0x41...0x5A).contains($0) && $0 >= 0x20 }) {
            return text.utf8.first == 0x20 || text.utf8.last == 0x20 ? trimmed(text) : text
        }
        var result = ""
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            if properties.numericType == .decimal, let value = properties.numericValue {
                result += String(Int(value))
            } else if let mark = marks[scalar] {
                result.unicodeScalars.append(mark)
            } else if properties.isWhitespace {
                result += " "
            } else if properties.generalCategory != .format {
                result += properties.lowercaseMapping
            }
        }
        return trimmed(result)
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    private static let marks: [Unicode.Scalar: Unicode.Scalar] = [
        "\u{66B}": ".", "\u{66C}": "'", "\u{60C}": ",", "\u{2E41}": ",", "\u{FF0E}": ".", "\u{FF61}": ".",
        "\u{3002}": ".",
        "\u{FF0C}": ",", "\u{3001}": ",", "\u{FF1A}": ":", "\u{2236}": ":", "\u{FF0F}": "/", "\u{2044}": "/",
        "\u{2215}": "/", "\u{2212}": "-", "\u{2010}": "-", "\u{2011}": "-", "\u{2012}": "-", "\u{2013}": "-",
        "\u{FF0D}": "-", "\u{FE63}": "-", "\u{FF0B}": "+", "\u{2019}": "'", "\u{2018}": "'", "\u{FF07}": "'",
        "\u{2BC}": "'", "\u{B4}": "'",
    ]
}

/// A text as numbers, words and what stands between them.
private struct Tokens {
    enum Token: Equatable {
        case number(Int, digits: Int)
        case word(String)
        case mark(Character)
        case space

        var isMark: Bool { if case .mark = self { true } else { false } }

        func isWord(_ condition: (String) -> Bool) -> Bool {
            if case .word(let word) = self { condition(word) } else { false }
        }
    }

    private(set) var all: [Token] = []

    init(_ text: String) {
        var rest = text[...]
        while let first = rest.first {
            if first.isASCII, first.isNumber {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                // More digits than any date has are none.
                all.append(digits.count <= 18 ? .number(Int(digits) ?? 0, digits: digits.count) : .word(String(digits)))
                rest = rest.dropFirst(digits.count)
            } else if first == " " {
                if all.last != .space { all.append(.space) }
                rest = rest.dropFirst()
            } else if Self.chinese.contains(first) {
                all.append(.mark(first))
                rest = rest.dropFirst()
            } else if first.isLetter {
                let letters = rest.prefix { $0.isLetter && !Self.chinese.contains($0) }
                all.append(.word(String(letters)))
                rest = rest.dropFirst(letters.count)
            } else {
                all.append(.mark(first))
                rest = rest.dropFirst()
            }
        }
    }

    /// Year, month, day; hour, minute, second.
    private static let chinese: Set<Character> = ["年", "月", "日", "号", "號", "时", "時", "分", "秒"]

    mutating func date(_ order: DateOrder?) throws(DateText.Fault) -> DateText {
        if all.last == .mark(")"), let start = all.lastIndex(of: .mark("(")) { all.removeSubrange(start...) }
        if let serial = try serial() { return serial }
        if let compact = try compact() { return compact }
        chineseTime()
        let time = try takeTime()
        var date = try takeDay(order)
        if let time {
            guard date.day != nil, date.year != nil else { throw .noDate }
            (date.time, date.unit, date.offset) = (time.time, time.unit, time.offset)
        }
        guard date.exists else { throw .noSuchDay }
        return date
    }

    /// A number of a spreadsheet: `45581`, `45581.75`.
    private func serial() throws(DateText.Fault) -> DateText? {
        guard case .number(let number, 5)? = all.first else { return nil }
        guard var date = DateText.serial(number) else { throw .noSuchDay }
        if all.count == 1 { return date }
        guard all.count == 3, all[1] == .mark(".") || all[1] == .mark(","), case .number(let part, let digits) = all[2],
            digits <= 15
        else { return nil }
        var (time, unit) = (Double(part), Double(DateText.day))
        for _ in 0..<digits { (time, unit) = (time / 10, unit / 10) }
        // The last place alone may be rounded up to a whole day.
        let microseconds = (time * Double(DateText.day)).rounded()
        date.time = min(Int64(microseconds), DateText.day - 1)
        date.unit = Int64(unit.rounded(.up))
        return date
    }

    // MARK: The time

    private struct Time {
        var time: Int64
        var unit: Int64
        var offset: Int?
    }

    /// Numbers in a row: `20261103`, `20261103T184512Z`, `202611031845`.
    private func compact() throws(DateText.Fault) -> DateText? {
        guard case .number(var number, let digits)? = all.first, [8, 12, 14].contains(digits) else { return nil }
        var rest = all.dropFirst()
        var clock: (number: Int, digits: Int)?
        if digits > 8 {
            let divider = digits == 12 ? 10_000 : 1_000_000
            clock = (number % divider, digits - 8)
            number /= divider
        } else if case .word("t")? = rest.first, case .number(let value, let count)? = rest.dropFirst().first,
            [4, 6].contains(count)
        {
            clock = (value, count)
            rest = rest.dropFirst(2)
        }
        var date = DateText(year: number / 10_000, month: number / 100 % 100, day: number % 100)
        guard date.exists, let year = date.year, (1000...2999).contains(year) else { throw .noSuchDay }
        guard let clock else {
            guard rest.isEmpty else { return nil }
            return date
        }
        let seconds = clock.digits == 6 ? clock.number % 100 : 0
        let minutes = clock.digits == 6 ? clock.number / 100 : clock.number
        guard let time = Self.time(minutes / 100, minutes % 100, seconds) else { throw .noSuchDay }
        (date.time, date.unit) = (time, clock.digits == 6 ? Self.second : Self.minute)
        var zone = Tokens(Array(rest))
        if clock.digits == 6 { (date.time, date.unit) = zone.takeFraction(time) }
        date.offset = try zone.takeZone()
        guard zone.all.isEmpty else { throw .noDate }
        return date
    }

    private init(_ tokens: [Token]) { all = tokens }

    private static let second: Int64 = 1_000_000
    private static let minute: Int64 = 60_000_000

    private static func time(_ hour: Int, _ minute: Int, _ second: Int) -> Int64? {
        // A leap second is the last one of its minute.
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<61).contains(second) else { return nil }
        return Int64(hour * 3600 + minute * 60 + min(second, 59)) * Self.second
    }

    /// Writes 18时45分12秒 as 18:45:12.
    private mutating func chineseTime() {
        let marks: [Token] = [.mark("时"), .mark("時"), .mark("分"), .mark("秒")]
        guard all.contains(where: marks.prefix(2).contains) else { return }
        while let last = all.last, last == .mark("秒") || last == .mark("分") || last == .space { all.removeLast() }
        all = all.map { marks.contains($0) ? .mark(":") : $0 }
    }

    /// Takes a time out of the tokens, with what belongs to it.
    private mutating func takeTime() throws(DateText.Fault) -> Time? {
        guard let colon = all.firstIndex(of: .mark(":")) else { return nil }
        guard colon > 0, colon + 1 < all.count, case .number(var hour, let hourDigits) = all[colon - 1],
            case .number(let minute, 2) = all[colon + 1], hourDigits <= 2
        else { throw .noDate }
        var rest = Tokens(Array(all[(colon + 2)...]))
        all.removeSubrange((colon - 1)...)
        var second = 0
        var unit = Self.minute
        var fraction: Int64 = 0
        if rest.all.first == .mark(":") {
            guard rest.all.count > 1, case .number(let value, 2) = rest.all[1] else { throw .noDate }
            second = value
            rest.all.removeFirst(2)
            (fraction, unit) = rest.takeFraction(0)
        }
        if let half = rest.takeHalfOfDay() ?? takeHalfOfDayBefore() {
            guard (1...12).contains(hour) else { throw .noSuchDay }
            hour = hour % 12 + (half ? 12 : 0)
        }
        let offset = try rest.takeZone()
        guard let time = Self.time(hour, minute, second) else { throw .noSuchDay }
        // What joins a day and a time.
        if all.last == .word("t") || all.last == .mark(",") { all.removeLast() }
        if case .word(let word)? = all.last(where: { $0 != .space }), ["at", "um", "الساعة"].contains(word) {
            while all.popLast() != .word(word) {}
        }
        while all.last == .space || all.last == .mark(",") { all.removeLast() }
        all += rest.all
        return Time(time: time + fraction, unit: unit, offset: offset)
    }

    /// A fraction of a second at the beginning, on top of a time.
    mutating func takeFraction(_ time: Int64) -> (Int64, Int64) {
        guard all.count > 1, all[0] == .mark(".") || all[0] == .mark(","), case .number(var value, let digits) = all[1]
        else { return (time, Self.second) }
        all.removeFirst(2)
        var unit = Self.second
        for _ in 0..<min(digits, 6) { unit /= 10 }
        for _ in 6..<max(digits, 6) { value /= 10 }
        return (time + Int64(value) * unit, unit)
    }

    /// Whether it is after noon, where that is written first.
    private mutating func takeHalfOfDay() -> Bool? {
        let start = all.first == .space ? 1 : 0
        guard start < all.count, case .word(let word) = all[start] else { return nil }
        if let half = Self.halves[word] {
            all.removeFirst(start + 1)
            return half
        }
        // a.m., p. m.
        guard word == "a" || word == "p" else { return nil }
        let rest = all[(start + 1)...].filter { $0 != .space && $0 != .mark(".") }
        guard rest.first == .word("m") else { return nil }
        all = Array(rest.dropFirst())
        return word == "p"
    }

    private mutating func takeHalfOfDayBefore() -> Bool? {
        guard let index = all.lastIndex(where: { $0 != .space }), case .word(let word) = all[index],
            let half = Self.halves[word], word.utf8.first ?? 0 >= 0x80
        else { return nil }
        all.removeSubrange(index...)
        return half
    }

    private static let halves: [String: Bool] = [
        "am": false, "pm": true, "上午": false, "下午": true, "ص": false, "م": true, "صباحا": false, "مساء": true,
    ]

    /// Minutes of the zones of RFC 822 and those of the same certainty.
    private static let zones: [String: Int] = [
        "z": 0, "utc": 0, "gmt": 0, "ut": 0, "est": -300, "edt": -240, "mst": -420,
        "mdt": -360,
        "pst": -480, "pdt": -420, "cet": 60, "cest": 120, "mez": 60, "mesz": 120, "wet": 0, "west": 60, "eet": 120,
        "eest": 180,
    ]

    /// Seconds east of UTC, where they come next: `Z`, `GMT`, `+02:00`, `+0200`, `UTC+2`.
    mutating func takeZone() throws(DateText.Fault) -> Int? {
        var at = 0
        func token() -> Token? { at < all.count ? all[at] : nil }
        while token() == .space { at += 1 }
        if token() == .word("uhr") || token() == .word("h") { at += 1 }
        while token() == .space { at += 1 }
        var minutes: Int?
        if case .word(let word)? = token(), let zone = Self.zones[word] {
            minutes = zone
            at += 1
        }
        if token() == .mark("+") || token() == .mark("-"), minutes ?? 0 == 0, at + 1 < all.count,
            case .number(let number, let digits) = all[at + 1]
        {
            let sign = all[at] == .mark("-") ? -1 : 1
            at += 2
            var (hours, rest) = digits <= 2 ? (number, 0) : (number / 100, number % 100)
            if digits <= 2, token() == .mark(":"), at + 1 < all.count, case .number(let more, 2) = all[at + 1] {
                rest = more
                at += 2
            }
            guard digits <= 4, hours <= 14, rest < 60 else { throw .noDate }
            hours *= 60
            minutes = sign * (hours + rest)
        }
        all.removeFirst(at)
        return minutes.map { $0 * 60 }
    }

    // MARK: The day

    /// What is left as a day.
    private mutating func takeDay(_ order: DateOrder?) throws(DateText.Fault) -> DateText {
        // --05-17 and --0517, of vCard and Google.
        if all.count > 2, all[0] == .mark("-"), all[1] == .mark("-") {
            all.removeFirst(2)
            let numbers = all.compactMap { if case .number(let value, _) = $0 { value } else { nil } }
            switch all {
            case [.number(numbers.first ?? 0, digits: 2), .mark("-"), .number(numbers.last ?? 0, digits: 2)]:
                return DateText(year: nil, month: numbers[0], day: numbers[1])
            case [.number(numbers.first ?? 0, digits: 4)]:
                return DateText(year: nil, month: numbers[0] / 100, day: numbers[0] % 100)
            default: throw .noDate
            }
        }
        var numbers: [(value: Int, digits: Int)] = []
        var marks: [Character] = []
        var month: Int?
        // How many numbers stand before the month's name.
        var before = 0
        dropWeekdays()
        guard let first = all.first(where: { $0 != .space }), !first.isMark else { throw .noDate }
        var wasMark = false
        for token in all where token != .space {
            guard !(wasMark && token.isMark) else { throw .noDate }
            wasMark = token.isMark
            switch token {
            case .number(let value, let digits): numbers.append((value, digits))
            case .space: break
            case .mark(let mark):
                guard "./-,年月日号號".contains(mark) else { throw .noDate }
                marks.append(mark)
            case .word(let word):
                if let named = Self.month(word) {
                    guard month == nil else { throw .noDate }
                    (month, before) = (named, numbers.count)
                } else if !Self.fillers.contains(word) {
                    throw .noDate
                }
            }
        }
        // A full stop may follow a day or an abbreviation.
        guard !wasMark || marks.last.map(".年月日号號".contains) == true else { throw .noDate }
        if let month { return try Self.day(numbers, month, before: before) }
        return try Self.day(numbers, marks, order)
    }

    /// Takes the days of the week out, with what divides them from the rest: what they state is in the date.
    private mutating func dropWeekdays() {
        while let index = all.firstIndex(where: { $0.isWord(Self.isWeekday) }) {
            all.remove(at: index)
            while index < all.count, all[index] == .space || all[index] == .mark(".") || all[index] == .mark(",") {
                all.remove(at: index)
            }
            // In front of the next, or behind the date.
            while index == all.count, let last = all.last, last == .space || last == .mark(",") { all.removeLast() }
        }
    }

    private static func isWeekday(_ word: String) -> Bool {
        weekdays.contains { $0 == word || word.count > 1 && $0.hasPrefix(word) && month(word) == nil }
    }

    /// A day with the name of its month: `17 May 2026`, `May 17, 2026`, `2026 May 17`, `17 May`.
    private static func day(
        _ numbers: [(value: Int, digits: Int)],
        _ month: Int,
        before: Int
    ) throws(DateText.Fault) -> DateText {
        switch numbers.count {
        case 1 where numbers[0].digits <= 2: return DateText(year: nil, month: month, day: numbers[0].value)
        case 1 where numbers[0].digits == 4: return DateText(year: numbers[0].value, month: month, day: nil)
        case 2:
            let isYearFirst = numbers[0].digits == 4
            let (year, day) = isYearFirst ? (numbers[0], numbers[1]) : (numbers[1], numbers[0])
            guard day.digits <= 2 else { throw .noDate }
            return DateText(year: try self.year(year), month: month, day: day.value)
        default: throw .noDate
        }
    }

    /// A day in numbers alone.
    private static func day(
        _ numbers: [(value: Int, digits: Int)],
        _ marks: [Character],
        _ order: DateOrder?
    ) throws(DateText.Fault) -> DateText {
        let signs = Set(marks)
        let isChinese = signs.contains("年") || signs.contains("月")
        guard signs.count <= 1 || isChinese || signs == [".", ","] else { throw .noDate }
        guard numbers.allSatisfy({ [1, 2, 4].contains($0.digits) }) else { throw .noDate }
        switch numbers.count {
        case 1 where numbers[0].digits == 4 && (marks.isEmpty || marks == ["年"]):
            return DateText(year: numbers[0].value, month: nil, day: nil)
        case 2 where numbers[0].digits == 4 && (signs == ["-"] || isChinese):
            return DateText(year: numbers[0].value, month: numbers[1].value, day: nil)
        case 2 where isChinese: return DateText(year: nil, month: numbers[0].value, day: numbers[1].value)
        case 2 where numbers.allSatisfy({ $0.digits <= 2 }) && !marks.isEmpty:
            let (one, other) = (numbers[0].value, numbers[1].value)
            // With a dash it is this club's own form, whatever the rest of the file has.
            let own = DateText(year: nil, month: one, day: other)
            if signs == ["-"], own.exists { return own }
            let order = order ?? (signs == ["."] ? .dayMonthYear : nil)
            let dayFirst = DateText(year: nil, month: other, day: one)
            return try choose(order, [(.dayMonthYear, dayFirst), (.monthDayYear, own), (.yearMonthDay, own)])
        case 3:
            guard marks.count >= 2 else { throw .noDate }
            let (a, b, c) = (numbers[0], numbers[1], numbers[2])
            guard b.digits <= 2 else { throw .noDate }
            if a.digits == 4 || isChinese {
                guard c.digits <= 2 else { throw .noDate }
                return DateText(year: try year(a), month: b.value, day: c.value)
            }
            let dayFirst = DateText(year: try year(c), month: b.value, day: a.value)
            let monthFirst = DateText(year: try year(c), month: a.value, day: b.value)
            if c.digits == 4 {
                guard order != .yearMonthDay else { throw .otherOrder }
                return try choose(
                    order ?? (signs.contains(".") ? .dayMonthYear : nil),
                    [(.dayMonthYear, dayFirst), (.monthDayYear, monthFirst)]
                )
            }
            var days = [(DateOrder.dayMonthYear, dayFirst), (.monthDayYear, monthFirst)]
            if a.digits == 2 {
                days.append((.yearMonthDay, DateText(year: try year(a), month: b.value, day: c.value)))
            }
            return try choose(order ?? (signs.contains(".") ? .dayMonthYear : nil), days)
        default: throw .noDate
        }
    }

    /// The day of the order, or the only one that there is of those that could be meant.
    private static func choose(
        _ order: DateOrder?,
        _ days: [(order: DateOrder, date: DateText)]
    ) throws(DateText.Fault) -> DateText {
        if let order {
            guard let date = days.first(where: { $0.order == order })?.date, date.exists else {
                throw days.contains { $0.date.exists } ? .otherOrder : .noSuchDay
            }
            return date
        }
        let there = Set(days.map(\.date).filter(\.exists))
        guard let date = there.first else { throw .noSuchDay }
        guard there.count == 1 else { throw .ambiguous }
        return date
    }

    /// A year of four digits, or of two: those to 68 are of this century, as POSIX has it.
    private static func year(_ number: (value: Int, digits: Int)) throws(DateText.Fault) -> Int {
        switch number.digits {
        case 4: return number.value
        case 2: return number.value + (number.value < 69 ? 2000 : 1900)
        default: throw .noDate
        }
    }

    /// The month of which a word is the name or, from three letters on, the beginning of it, in the languages of the
    /// product.
    private static func month(_ word: String) -> Int? {
        let found = months.indices.filter { index in
            months[index].contains { $0 == word || word.count >= 3 && $0.hasPrefix(word) }
        }
        return found.count == 1 ? found[0] + 1 : nil
    }

    private static let months: [[String]] = [
        ["january", "januar", "jänner", "يناير", "一"],
        ["february", "februar", "feber", "فبراير", "شباط", "二"],
        ["march", "märz", "maerz", "mrz", "مارس", "آذار", "三"],
        ["april", "أبريل", "ابريل", "إبريل", "نيسان", "四"],
        ["may", "mai", "مايو", "أيار", "五"],
        ["june", "juni", "يونيو", "حزيران", "六"],
        ["july", "juli", "يوليو", "تموز", "七"],
        ["august", "أغسطس", "اغسطس", "آب", "八"],
        ["september", "sept", "سبتمبر", "أيلول", "九"],
        ["october", "oktober", "أكتوبر", "اكتوبر", "十"],
        ["november", "نوفمبر", "十一"],
        ["december", "dezember", "ديسمبر", "十二"],
    ]

    private static let weekdays: [String] = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag", "dienstag", "mittwoch",
        "donnerstag", "freitag", "samstag", "sonnabend", "sonntag", "الاثنين", "الإثنين", "الثلاثاء", "الأربعاء",
        "الخميس",
        "الجمعة", "السبت", "الأحد", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期天", "周一", "周二", "周三",
        "周四", "周五", "周六", "周日", "星期",
    ]

    private static let fillers: Set<String> = ["st", "nd", "rd", "th", "of", "the", "den", "der", "من"]
}
