import ClubKit
import Foundation

/// Statistics for people, with bars as wide as the terminal allows.
struct StatisticsText {
    var width: Int

    func text(_ statistics: ClubStatistics, today: ClubStatistics, members: Int) -> String {
        var parts = ["Members  \(Count.grouped(members))", "", "Today", summary(today)]
        let last = statistics.days.last?.date ?? ""
        parts += ["", "\(statistics.days.first?.date ?? last) to \(last)", summary(statistics)]
        guard statistics.visits > 0 else { return parts.joined(separator: "\n") }
        parts += ["", "Visits by hour"] + hours(statistics.hours) + ["", "Visits by day"] + days(statistics.days)
        return parts.joined(separator: "\n")
    }

    private func summary(_ statistics: ClubStatistics) -> String {
        var rows = [
            ("visits", Count.grouped(statistics.visits)), ("unique visitors", Count.grouped(statistics.uniqueVisitors)),
            ("returning", Count.grouped(statistics.returningMembers)),
            ("new members", Count.grouped(statistics.newMembers)),
        ]
        if let peak = statistics.peakHour {
            let hour = "\(Self.hour(peak.hour)) to \(Self.hour(peak.hour + 1))"
            rows.append(("peak hour", "\(hour), \(Count.text(peak.visits, "visit"))"))
        }
        if statistics.days.count > 1, let day = statistics.busiestDay {
            rows.append(("busiest day", "\(day.date), \(Count.text(day.visits, "visit"))"))
        }
        if statistics.manualVisits > 0 { rows.append(("by hand", Count.grouped(statistics.manualVisits))) }
        let refused = [
            ("repeats", statistics.repeats), ("ignored", statistics.ignored), ("rejected", statistics.rejected),
        ]
        rows += refused.filter { $0.1 > 0 }.map { ($0.0, Count.grouped($0.1)) }
        return rows.map { "  \($0.0.padded(to: 15))  \($0.1)" }.joined(separator: "\n")
    }

    /// From the first hour with a visit to the last.
    private func hours(_ hours: [Int]) -> [String] {
        guard let first = hours.firstIndex(where: { $0 > 0 }), let last = hours.lastIndex(where: { $0 > 0 }) else {
            return []
        }
        return chart((first...last).map { (Self.hour($0), hours[$0]) })
    }

    /// The longest list of days that is shown day by day.
    private static let mostDays = 62

    /// From the first day with a visit on.
    private func days(_ all: [ClubStatistics.Day]) -> [String] {
        let days = all.drop { $0.visits == 0 }
        guard days.count > Self.mostDays else {
            return chart(days.map { ("\($0.date) \(Self.weekday($0.date))", $0.visits) })
        }
        // By months, or the bars would run off the screen.
        var months: [(String, Int)] = []
        for day in days {
            let month = String(day.date.prefix(7))
            if months.last?.0 != month { months.append((month, 0)) }
            months[months.count - 1].1 += day.visits
        }
        return chart(months)
    }

    /// One line a value, the longest bar as wide as there is room.
    private func chart(_ rows: [(String, Int)]) -> [String] {
        let most = max(1, rows.map(\.1).max() ?? 1)
        let label = rows.map(\.0.count).max() ?? 0
        let number = rows.map { Count.grouped($0.1).count }.max() ?? 0
        let room = max(8, width - label - number - 6)
        return rows.map { name, value in
            let bar = Self.bar(Double(value) / Double(most) * Double(room))
            return "  \(name.padded(to: label))  \(Count.grouped(value).padded(onTheLeftTo: number))  \(bar)".trimmedEnd
        }
    }

    private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// A bar of that many characters, to an eighth.
    static func bar(_ length: Double) -> String {
        let parts = Int((length * 8).rounded())
        let rest = parts % 8
        let bar = String(repeating: "█", count: parts / 8) + (rest > 0 ? String(eighths[rest - 1]) : "")
        // Something is more than nothing.
        return bar.isEmpty && length > 0 ? "▏" : bar
    }

    private static func hour(_ hour: Int) -> String { String(hour).padded(withZeroTo: 2) + ":00" }

    private static func weekday(_ date: String) -> String {
        let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
        guard let date = try? style.parse(date) else { return "" }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        return names[(calendar.component(.weekday, from: date) - 1) % 7]
    }
}

extension String {
    fileprivate func padded(withZeroTo width: Int) -> String {
        String(repeating: "0", count: max(0, width - count)) + self
    }
}
