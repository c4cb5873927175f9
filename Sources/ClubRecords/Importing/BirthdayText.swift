import CardPasses

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
    /// - Parameter order: the order of the numbers of dates, for what could be two days.
    package static func normalised(_ text: String, order: DateOrder? = nil) -> Result<String, DateText.Fault> {
        let plain = PlainDigits.text(text)
        // Where a program has to write a year and knows none.
        for year in ["0000-", "0001-", "1604-"] where plain.hasPrefix(year) {
            return normalised(String(plain.prefix(10).dropFirst(5)), order: order)
        }
        return DateText.read(text, order: order).flatMap { date in
            // A number of five digits is a spreadsheet's day, and behind this year none that somebody was born on.
            guard date.month != nil, date.day != nil, date.year ?? 2000 <= 2100 else { return .failure(.noDate) }
            // Midnight here is another time of UTC, and perhaps another day.
            let noon = DateText.day / 2
            if date.offset != nil, let time = date.time, time != 0, time != noon { return .failure(.ambiguous) }
            return .success(written(date))
        }
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

    /// A value of a file as it is kept, or as it was, with what is wrong with it.
    static func kept(_ value: FieldValue, in name: String, order: DateOrder?) -> (value: FieldValue, note: String?) {
        let text: String
        switch value {
        case .string(let string) where !string.allSatisfy(\.isWhitespace): text = string
        case .int, .double, .bool, .array, .object: text = value.cellText ?? ""
        case .null, .string: return (value, nil)
        }
        switch normalised(text, order: order) {
        case .success(let text): return (.string(text), nil)
        case .failure(let fault): return (value, "\(PlainText.line(name)): \(advice(fault))")
        }
    }
}
