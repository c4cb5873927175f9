import BenchmarkSupport
import ClubKit
import Foundation

/// Imports a file into a club, or exports a club to a file, and prints what that took: `seconds`, with opening and
/// closing the club, `rows`, and `peak`, the most memory that the process ever had, in bytes.
///
/// `--database PATH` is made if it is missing; with neither `--import` nor `--export` that is all that happens.
@main struct MemberTransfer {
    static func main() async {
        do {
            let arguments = try Arguments(options: ["--database", "--import", "--export", "--format"])
            guard let database = arguments.text("--database") else {
                throw Arguments.Failure(description: "--database is missing")
            }
            let clock = ContinuousClock()
            let start = clock.now
            let club = Club(configuration: ClubConfiguration(database: .file(path: database)))
            try await club.open()
            var rows = 0
            if let path = arguments.text("--import") {
                let report = try await club.importMembers(from: path)
                guard report.malformed == 0, report.skipped == 0 else {
                    throw Arguments.Failure(description: "\(report.malformed + report.skipped) rows were not taken")
                }
                rows = report.total
            }
            if let path = arguments.text("--export") {
                guard let format = TransferFormat(rawValue: arguments.text("--format") ?? "csv") else {
                    throw Arguments.Failure(description: "--format takes csv, userList or clubkit")
                }
                let options = ExportOptions(format: format, overwrite: true)
                rows = try await club.exportMembers(to: path, options: options).rows
            }
            try await club.close()
            let duration = clock.now - start
            let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
            print("seconds", seconds)
            print("rows", rows)
            print("peak", peak())
        } catch {
            FileHandle.standardError.write(Data("member-transfer: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }

    /// The process's greatest resident set (`VmHWM` in `/proc/self/status`), in bytes; 0 where that is not known.
    private static func peak() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
