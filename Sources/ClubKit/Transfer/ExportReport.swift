import Foundation
import ReaderKit

/// The result of an export.
public struct ExportReport: Sendable, Hashable, Encodable {
    /// The file.
    public var file: String

    /// The format of the file.
    public var format: TransferFormat

    /// The number of members in it.
    public var members: Int

    /// The number of rows: members, and the other records of a club's file.
    public var rows: Int

    /// The size of the file in bytes.
    public var bytes: Int

    /// The columns of a CSV file, the keys of a user list.
    public var columns: [String]

    /// The requested ``columns`` that no member has.
    public var emptyColumns: [String] = []

    /// The members whose records in a club's file exceed the maximum length, so that imports skip them.
    public var tooLong: [String] = []

    /// The reason why the export is not in the audit log, such as a full disk; `nil` if it is.
    public var auditFailure: String?

    /// Creates a report.
    public init(file: String, format: TransferFormat, members: Int, rows: Int, bytes: Int, columns: [String]) {
        self.file = file
        self.format = format
        self.members = members
        self.rows = rows
        self.bytes = bytes
        self.columns = columns
    }
}

/// The options of an export.
public struct ExportOptions: Sendable, Hashable {
    /// The format of the file.
    public var format: TransferFormat

    /// The columns of a CSV file, or the keys of a user list, in order. By default the five base values and every
    /// custom field that any member has, by name. A club's file always has everything.
    public var columns: [String]?

    /// Whether an existing file may be replaced.
    public var overwrite: Bool

    /// The delimiter of a CSV file for a spreadsheet, a character of ASCII; `nil` for the form of the original library.
    ///
    /// The file then begins with a byte order mark, and what a spreadsheet would change (zeros in front, long numbers,
    /// dates) has an apostrophe in front, which an import takes away again.
    public var spreadsheet: Character?

    /// Creates options.
    public init(
        format: TransferFormat,
        columns: [String]? = nil,
        overwrite: Bool = false,
        spreadsheet: Character? = nil
    ) {
        self.format = format
        self.columns = columns
        self.spreadsheet = spreadsheet
        self.overwrite = overwrite
    }
}

/// Names of exported files, as the original library forms them but with 24 hours and seconds.
enum ExportName {
    /// `exported_membership_users_September-01-2026-10-00-00.mucsv`: in English and of the Gregorian calendar wherever
    /// it is used, in the given time zone.
    static func name(at date: Date, in zone: TimeZone = .current, _ format: TransferFormat) -> String {
        let time = Date.VerbatimFormatStyle(
            format: """
                \(month: .wide)-\(day: .twoDigits)-\(year: .padded(4))\
                -\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))-\(minute: .twoDigits)-\(second: .twoDigits)
                """,
            locale: Locale(identifier: "en_US_POSIX"),
            timeZone: zone,
            calendar: Calendar(identifier: .gregorian)
        )
        return "exported_membership_users_\(date.formatted(time)).\(format.pathExtension)"
    }

    /// Where exports go by default: `$XDG_DOCUMENTS_DIR`, else `$XDG_DATA_HOME/clubkit/exports`, which is
    /// `~/.local/share/clubkit/exports` where that is not set either. Relative paths in variables do not count.
    static func directory(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        home: String = NSHomeDirectory()
    ) -> String {
        if let path = environment["XDG_DOCUMENTS_DIR"], path.hasPrefix("/") { return path }
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") { return path + "/clubkit/exports" }
        return home + "/.local/share/clubkit/exports"
    }

    /// Makes a directory, and those above it that are missing, with mode 0700.
    static func makeDirectory(_ path: String) throws(TransferError) {
        do throws(FileSteps.Failure) {
            try FileSteps.makeDirectories(path)
        } catch {
            throw TransferError(errno: error.code, file: path, writing: true)
        }
    }
}
