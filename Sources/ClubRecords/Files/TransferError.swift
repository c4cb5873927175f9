/// An error of an import or export as a whole. Single rows that cannot be read are no errors; they are in the
/// ``ImportReport``.
///
/// It describes the file and the place, what was expected, and the remedy. It quotes nothing of the file but names of
/// columns.
public struct TransferError: Error, Sendable, Hashable {
    /// What happened.
    public var kind: Kind

    /// The path of the file.
    public var file: String

    /// The line, counted from 1, if the error has one.
    public var line: Int?

    /// The column: the number of the field in a CSV file, of the byte in others; counted from 1.
    public var column: Int?

    /// Details, such as what was expected.
    public var detail: String?

    /// The code of the system.
    public var code: ClubError.Code?

    /// The error of the club or its store, for ``Kind/club``.
    public var cause: ClubError?

    /// The kinds of errors of files.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The file does not exist.
        case notFound
        /// The file exists and cannot be read, or is a directory.
        case notReadable
        /// Neither the extension nor the content identifies the format of the file.
        case unknownFormat
        /// The file is of another program, such as a spreadsheet's own.
        case foreignFormat
        /// The text is in an encoding other than UTF-8.
        case wrongEncoding
        /// The file has no column names, or is empty.
        case noHeader
        /// No column has the members' identifiers.
        case noIdentifierColumn
        /// A column to be mapped is not in the file, or two are mapped to one value.
        case badMapping
        /// The file does not follow the rules of its format.
        case malformed
        /// The end of a club's file is missing.
        case truncated
        /// A club's file was changed after it was written: its checksum differs.
        case altered
        /// The file was written by a newer version of this software.
        case newerVersion
        /// The file is a pipe or device, and must be read twice.
        case notRepeatable
        /// The file exists already.
        case exists
        /// The file cannot be created or written.
        case notWritable
        /// The file system is full.
        case diskFull
        /// The system could not read or write.
        case inputOutput
        /// The task was cancelled. Rows imported so far stay; importing the file again imports the rest.
        case cancelled
        /// The club failed; see ``TransferError/cause``.
        case club
    }

    /// Creates an error.
    public init(
        _ kind: Kind,
        file: String,
        line: Int? = nil,
        column: Int? = nil,
        detail: String? = nil,
        code: ClubError.Code? = nil
    ) {
        self.kind = kind
        self.file = file
        self.line = line
        self.column = column
        self.detail = detail
        self.code = code
    }

    package init(_ cause: ClubError, file: String) {
        self.init(cause.kind == .cancelled ? .cancelled : .club, file: file)
        self.cause = cause
    }

    package init(errno number: Int32, file: String, writing: Bool) {
        let error = ClubError(errno: number, attempting: "")
        let kind: Kind =
            switch error.kind {
            case .diskFull: .diskFull
            case .inputOutput: .inputOutput
            default: writing ? .notWritable : error.code?.name == "ENOENT" ? .notFound : .notReadable
            }
        self.init(kind, file: file, detail: error.detail, code: error.code)
    }
}

extension TransferError: CustomStringConvertible {
    /// The whole message on one line.
    public var description: String {
        if let cause { return "\(file): \(cause)" }
        var text = file
        if let line {
            text += ":\(line)"
            if let column { text += ":\(column)" }
        }
        text += ": " + kind.meaning
        if let detail { text += ": " + detail }
        if let code { text += " (\(code.name) \(code.rawValue))" }
        return text + ". " + kind.hint
    }

    /// The remedy.
    public var hint: String { cause?.hint ?? kind.hint }
}

extension TransferError.Kind {
    /// What happened, in words.
    public var meaning: String {
        switch self {
        case .notFound: "there is no such file"
        case .notReadable: "the file could not be read"
        case .unknownFormat: "the form of the file is not known"
        case .foreignFormat: "the file is none of those that can be imported"
        case .wrongEncoding: "the file is not in UTF-8"
        case .noHeader: "the file has no line of column names"
        case .noIdentifierColumn: "no column holds the members' identifiers"
        case .badMapping: "the mapping of columns does not fit the file"
        case .malformed: "the file is malformed"
        case .truncated: "the end of the file is missing"
        case .altered: "the file was changed after it was written"
        case .newerVersion: "a newer version of this software has written the file"
        case .notRepeatable: "the file can be read only once"
        case .exists: "there is a file of that name"
        case .notWritable: "the file could not be written"
        case .diskFull: "the disk is full"
        case .inputOutput: "reading or writing failed"
        case .cancelled: "it was cancelled"
        case .club: "the club could not do its part"
        }
    }

    /// The remedy.
    public var hint: String {
        switch self {
        case .notFound: "Check the path."
        case .notReadable: "Check that the path names a file and that this user may read it."
        case .unknownFormat: "Say which form it has: --type userList|csv|clubkit."
        case .foreignFormat:
            "Open it where it was made, save or export it as CSV ('CSV UTF-8' in Excel), and import that."
        case .wrongEncoding:
            "Save it as UTF-8; in Excel that is 'CSV UTF-8'. Or say which it is, such as --encoding utf-16 or windows-1252."
        case .noHeader: "Begin the file with a line of column names, one of them 'userId'."
        case .noIdentifierColumn: "Name a column 'userId', or map one to it, such as by --map 'Card number=userId'."
        case .badMapping: "Check the names of the columns."
        case .malformed: "Mend that place, or export the file anew."
        case .truncated, .altered: "Copy or export the file anew; nothing of it was imported."
        case .newerVersion: "Update this software; nothing of the file was imported."
        case .notRepeatable: "Save it as a file first."
        case .exists: "Choose another name, or replace it (--force); the file was left as it is."
        case .notWritable: "Choose a place in which this user may create files."
        case .diskFull: "Make room on the file system and try again."
        case .inputOutput: "Check the disk and its connection ('dmesg' shows errors of the disk)."
        case .cancelled: "Start it again; what was done already is not done twice."
        case .club: "See the cause."
        }
    }
}

/// Why a row cannot be read. Of the row it quotes at most a number or a date that cannot be read.
package struct RowFault: Error, Sendable, Hashable {
    var column: String?
    package var reason: String
    /// Whether the row is passed over, and nothing is wrong with it.
    var isSkipped = false

    init(_ column: String?, _ reason: String) {
        self.column = column
        self.reason = reason
    }

    static func time(_ column: String, _ fault: NumberText.Fault) -> RowFault {
        switch fault {
        case .negative: RowFault(column, "expected seconds since 1970 or a date, not a time before")
        case .tooLarge: RowFault(column, "the time is behind the year 9999")
        case .noTime:
            RowFault(column, "the number is neither seconds since 1970 nor a day of a spreadsheet; write \(Self.dates)")
        default:
            fault.isOfForm(column)
                ?? RowFault(column, "expected seconds since 1970, such as 1788256800.25, or \(Self.dates)")
        }
    }

    fileprivate static let dates = "a date such as 2026-09-01 or 2026-09-01T10:00:00Z"

    static func visits(_ column: String, _ fault: NumberText.Fault) -> RowFault {
        switch fault {
        case .negative: RowFault(column, "expected a number of visits, which is not negative")
        case .tooLarge: RowFault(column, "expected a number of visits up to \(NumberText.mostVisits)")
        default: fault.isOfForm(column) ?? RowFault(column, "expected a whole number of visits, in digits alone")
        }
    }

    static func csv(_ problem: CSVReader.Problem, _ column: String?, _ limits: CSVReader.Limits) -> RowFault {
        let column = column ?? "\(problem.field)"
        switch problem.kind {
        case .notUTF8:
            return RowFault(
                column,
                "the text is not UTF-8 (perhaps Windows-1252); save the file as UTF-8, or say --encoding"
            )
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

    static let tooDeep = RowFault(nil, "expected values that are nested \(JSONReader.depth) levels deep at most")
    static let namesAgain = {
        var fault = RowFault(nil, "the line has the names of the columns once more; it was passed over")
        fault.isSkipped = true
        return fault
    }()
    static let noIdentifier = RowFault("userId", "expected an identifier; without one nobody can be found by it")
    static let badIdentifier = RowFault(
        "userId",
        "expected an identifier of 1 to 256 bytes without control or invisible characters"
    )
}

extension NumberText.Fault {
    /// What is wrong with how a number or a date is written, where that is known. What is quoted are digits and the
    /// marks between them, or names of months.
    fileprivate func isOfForm(_ column: String) -> RowFault? {
        let reason: String
        switch self {
        case .spreadsheetError: reason = "the cell has an error of the spreadsheet; correct it there"
        case .rounded:
            reason = "the last digits are missing, as a spreadsheet shows large numbers; format the column as numbers"
        case .ambiguousNumber(let text):
            let digits = text.filter(\.isNumber)
            reason = "\(Self.quoted(text)) is \(digits.dropLast(3)) or \(digits); write it without a mark in it"
        case .ambiguousDate(let text):
            reason = """
                \(Self.quoted(text)) could be more than one day; give the order of the file's dates (--date-order), or write \(RowFault.dates)
                """
        case .otherOrder(let text): reason = "\(Self.quoted(text)) is no date in the order that was given"
        case .noSuchDay(let text): reason = "\(Self.quoted(text)) is no day of the calendar"
        case .noNumber, .negative, .tooLarge, .noTime: return nil
        }
        return RowFault(column, reason)
    }

    private static func quoted(_ text: String) -> String { "'\(PlainText.line(String(text.prefix(40))))'" }
}

/// The progress of an import or export.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes read or written so far.
    public var bytes: Int

    /// The size of the file to read; `nil` if unknown, as for a pipe or a file being written.
    public var totalBytes: Int?

    /// The number of rows processed so far: lines below the header of a CSV file, elements of a user list, records of a
    /// club's file.
    public var rows: Int

    /// The total number of rows; `nil` if unknown.
    public var totalRows: Int?

    /// Creates a progress.
    public init(bytes: Int, totalBytes: Int? = nil, rows: Int, totalRows: Int? = nil) {
        self.bytes = bytes
        self.totalBytes = totalBytes
        self.rows = rows
        self.totalRows = totalRows
    }

    /// The completed fraction, from 0 to 1; `nil` if the total is unknown.
    public var fraction: Double? {
        if let totalRows, totalRows > 0 { return min(Double(rows) / Double(totalRows), 1) }
        if let totalBytes, totalBytes > 0 { return min(Double(bytes) / Double(totalBytes), 1) }
        return nil
    }
}
