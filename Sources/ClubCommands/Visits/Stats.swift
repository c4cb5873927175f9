import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct Stats: ClubCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows how the club is visited: today, by hour and by day.",
        discussion: """
            Without --from these are the last 30 days, today included. Days and hours are those of this machine's time \
            zone, or of TZ. Totals that were imported without single visits have no times and are not in it; visits \
            that were undone do not count.

            JSON: one object with from, to, timeZone, visits, manualVisits, uniqueVisitors, returningMembers (who came \
            on a day that was not their first), newMembers, repeats, ignored, rejected, reasons (taps ignored or \
            rejected, by reason code), peakHour (hour, visits; absent without visits), busiestDay, hours (24 numbers, \
            from midnight on), days (date, visits, uniqueVisitors, newMembers), members (how many the club has now), \
            and today, an object with the same keys but members and today.

            EXAMPLES
              clubctl stats
              clubctl stats --from 2026-11-01 --to 2026-11-30 --json
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var span: SpanOptions

    private static func check(_ from: Date, before end: Date) throws {
        if from >= end {
            throw ToolFailure("--from is in the future; choose a day that has begun.", exit: ToolExit.usage)
        }
        let days = MemberStore.mostDays
        if from.timeIntervalSince1970 < 0 || end.timeIntervalSince(from) > Double(days) * 86_400 {
            let message = "--from is too long ago: statistics begin in 1970 and are of \(days) days at most."
            throw ToolFailure(message, exit: ToolExit.usage)
        }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let now = Date()
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        let tomorrow = calendar.dateInterval(of: .day, for: now)?.end ?? now
        let to = span.to?.end ?? tomorrow
        if let from = span.from?.start { try Self.check(from, before: to) }
        let month = calendar.date(byAdding: .day, value: -30, to: to) ?? to
        let statistics = try await club.statistics(from: span.from?.start ?? month, to: to)
        let today = try await club.statistics(ofDayAt: now)
        let members = try await club.memberCount()
        try out.result(
            JSONObject(statistics, ["today": today, "members": members]),
            text: StatisticsText(width: min(Terminal.width, 100)).text(statistics, today: today, members: members)
        )
    }
}
