/// Why a row cannot be read, in words that quote nothing of it.
package struct RowFault: Error, Sendable, Hashable {
    /// The name of the column or value.
    var column: String?
    package var reason: String

    init(_ column: String?, _ reason: String) {
        self.column = column
        self.reason = reason
    }

    static func time(_ column: String, _ fault: NumberText.Fault) -> RowFault {
        switch fault {
        case .noNumber:
            RowFault(
                column,
                "expected seconds since 1970, such as 1788256800.25, or a date such as 2026-09-01 or 2026-09-01T10:00:00Z"
            )
        case .negative: RowFault(column, "expected seconds since 1970, not a time before")
        case .tooLarge: RowFault(column, "the time is behind the year 9999; milliseconds have to be divided by 1000")
        }
    }

    static func visits(_ column: String, _ fault: NumberText.Fault) -> RowFault {
        switch fault {
        case .noNumber: RowFault(column, "expected a whole number of visits")
        case .negative: RowFault(column, "expected a number of visits, which is not negative")
        case .tooLarge: RowFault(column, "expected a number of visits up to \(NumberText.mostVisits)")
        }
    }

    static func csv(_ problem: CSVReader.Problem, _ column: String?, _ limits: CSVReader.Limits) -> RowFault {
        let column = column ?? "\(problem.field)"
        switch problem.kind {
        case .notUTF8:
            return RowFault(column, "the text is not UTF-8 (perhaps Windows-1252); save the file as UTF-8")
        case .nul: return .nul(column)
        case .unterminatedQuote:
            return RowFault(column, "the quote is never closed; close it, or write a quote in quotes as two")
        case .textBehindQuote:
            return RowFault(column, "expected a delimiter behind the closing quote; write a quote in quotes as two")
        case .fieldTooLong: return RowFault(column, "the field is longer than \(limits.fieldBytes) bytes; shorten it")
        case .rowTooLong:
            return RowFault(column, "the row is longer than \(limits.rowBytes) bytes, or a quote is never closed")
        case .tooManyFields:
            return RowFault(column, "the row has more than \(limits.fields) fields; quote texts with delimiters")
        }
    }

    package static func nul(_ column: String?) -> RowFault {
        RowFault(column.map(PlainText.line), "the text has a NUL character; remove it")
    }

    static let tooLong = RowFault(nil, "expected a line of \(ClubFile.longestLine) bytes at most; shorten the values")
    static let tooDeep = RowFault(nil, "expected values that are nested \(JSONReader.depth) levels deep at most")
    static let noIdentifier = RowFault("userId", "expected an identifier; without one nobody can be found by it")
    static let badIdentifier = RowFault(
        "userId",
        "expected an identifier of 1 to 256 bytes without control or invisible characters"
    )
}
