import CardCore
import CardPasses
import Foundation

/// Birthdays as other programs and people write them, and as they are kept: `2001-05-17`, or `05-17` without a year.
package enum BirthdayText {
    /// Whether a custom field of that name holds a birthday, in one of the languages of the screen. A scenario may have
    /// it in any other.
    package static func isName(_ name: String) -> Bool {
        let letters = StandingColumn.letters(name)
        return names.contains(letters) || names.contains { $0.count > 6 && letters.hasSuffix($0) }
    }

    private static let names = [
        "birthday", "bday", "birth date", "birth day", "date of birth", "dob", "born", "born on", "Geburtstag",
        "Geburtsdatum", "Geburtstagsdatum", "geboren", "geboren am", "Geb", "Geb.-Datum", "生日", "出生日期", "出生年月日", "出生",
        "تاريخ الميلاد", "عيد الميلاد", "ميلاد", "تاريخ ميلاد",
    ].map(StandingColumn.letters)

    /// Reads a birthday in any form that can mean one day only, and returns it in the form in which it is kept.
    ///
    /// - Parameters:
    ///   - order: the order of the numbers of dates, for what could be two days.
    ///   - thisYear: nobody was born later; a year of two digits that would be is one of the last century.
    package static func normalised(
        _ text: String,
        order: DateOrder? = nil,
        thisYear: Int = BirthdayText.thisYear
    ) -> Result<String, DateText.Fault> {
        let plain = PlainDigits.text(text)
        let read = DateText.read(text, order: order)
        if isNone(read) { return .failure(.noSuchDay) }
        // Where a program has to write a year and knows none.
        for year in ["0000-", "0001-", "1604-"] where plain.hasPrefix(year) {
            return normalised(String(plain.prefix(10).dropFirst(5)))
        }
        return read.flatMap { date in
            var date = date
            guard date.month != nil, date.day != nil else { return .failure(.noDate) }
            if let year = date.year, year > thisYear,
                !plain.split(whereSeparator: { !$0.isNumber }).contains(where: { $0.count > 3 })
            {
                date.year = year - 100
            }
            guard 1900...thisYear ~= date.year ?? thisYear else { return .failure(.noSuchDay) }
            // Midnight here is another time of UTC, and perhaps another day.
            let noon = DateText.day / 2
            if date.offset != nil, let time = date.time, time != 0, time != noon { return .failure(.ambiguous) }
            return .success(written(date))
        }
    }

    /// The year; a clock that was never set makes nobody's birthday one to come.
    package static var thisYear: Int {
        max(2026, ISO8601.civil(days: Int(Date().timeIntervalSince1970 / 86_400)).year)
    }

    /// Whether it is a day that programs write for none: the first one that they know.
    private static func isNone(_ read: Result<DateText, DateText.Fault>) -> Bool {
        guard let date = try? read.get(), let year = date.year, year <= 1900 else { return false }
        return ["0001-01-01", "1601-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01"].contains(
            written(date)
        )
    }

    private static func written(_ date: DateText) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = digits(date.month ?? 0, 2) + "-" + digits(date.day ?? 0, 2)
        return date.year.map { digits($0, 4) + "-" + day } ?? day
    }

    /// What is wrong with a birthday that cannot be read, and what to do.
    package static func advice(_ fault: DateText.Fault) -> String {
        fault == .ambiguous
            ? "it could be more than one day, and is no birthday yet; write it as 2001-05-17 or 05-17, or say the order"
            : "it is no day that a birthday can be on; write it as 2001-05-17 or 05-17"
    }

    /// A value of a file as it is kept, or as it was, with what is wrong with it; `nil` for what is a program's none.
    static func kept(_ value: FieldValue, in name: String, order: DateOrder?) -> (value: FieldValue?, note: String?) {
        let text: String
        switch value {
        case .string(let string) where !string.allSatisfy(\.isWhitespace): text = string
        case .int, .double, .bool, .array, .object: text = value.cellText ?? ""
        case .null, .string: return (value, nil)
        }
        switch normalised(text, order: order) {
        case .success(let kept):
            let plain = PlainDigits.text(text)
            // Either the file has the day first, or it could be meant so.
            let isDayFirst = order == nil && plain.wholeMatch(of: /(?:1[3-9]|[23][0-9])-[0-9]+/) != nil
            let mayBe =
                order == .dayMonthYear && kept == plain && kept.utf8.count == 5 && kept.suffix(2) <= "12"
                && kept.suffix(2) != kept.prefix(2)
            let note = "05-06 and its like have the month first, as the club writes them; write the day first as 06.05."
            return (.string(kept), isDayFirst || mayBe ? "\(PlainText.line(name)): \(note)" : nil)
        case .failure where isNone(DateText.read(text, order: order)) || ["-", "0000-00-00"].contains(text.trimmed):
            return (nil, "\(PlainText.line(name)): it is what programs write for none, and is left out")
        case .failure(let fault): return (value, "\(PlainText.line(name)): \(advice(fault))")
        }
    }
}
