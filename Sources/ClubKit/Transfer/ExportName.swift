import Foundation
import ReaderKit

/// Names of exported files, as the original library gives them but with 24 hours and seconds.
enum ExportName {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// `exported_membership_users_September-01-2026-10-00-00.mucsv`: in English and of the Gregorian calendar wherever
    /// it is used, in the given time zone.
    static func name(at date: Date, in zone: TimeZone = .current, _ format: TransferFormat) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func digits(_ number: Int?, _ count: Int = 2) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let month = parts.month.flatMap { months.indices.contains($0 - 1) ? months[$0 - 1] : nil } ?? "month"
        let time = [
            month, digits(parts.day), digits(parts.year, 4), digits(parts.hour), digits(parts.minute),
            digits(parts.second),
        ]
        return "exported_membership_users_" + time.joined(separator: "-") + "." + format.pathExtension
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
