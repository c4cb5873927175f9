import Foundation
import ReaderKit

/// How a club was visited in a stretch of time.
///
/// It counts visits of the ledger: those of cards and those recorded by hand, without what was undone and without the
/// visits of members who are gone. Bare totals of imported files have no times, so they are in no number here, though
/// they tell who had been here before.
public struct ClubStatistics: Sendable, Hashable {
    /// The beginning; what happened then is included.
    public var from: Date

    /// The end; what happened then is not included.
    public var to: Date

    /// The name of the time zone of ``hours`` and ``days``, such as `Europe/Berlin`.
    public var timeZone: String

    /// Visits.
    public var visits = 0

    /// Those of them that were recorded by hand.
    public var manualVisits = 0

    /// Members who came at least once.
    public var uniqueVisitors = 0

    /// Those of them who came on a day on which it was not their first day here.
    public var returningMembers = 0

    /// Members who joined, whether they came or not.
    public var newMembers = 0

    /// Taps inside the cooldown, which are acknowledged and not counted.
    public var repeats = 0

    /// Taps that were ignored by configuration.
    public var ignored = 0

    /// Taps that were rejected.
    public var rejected = 0

    /// How often taps were ignored or rejected for each reason, by the name of ``Receipt/Reason/Code``.
    public var reasons: [String: Int] = [:]

    /// The visits in each hour of the day, over all days: 24 numbers, the first from midnight on. On a day on which an
    /// hour comes twice, both count as that hour.
    public var hours = [Int](repeating: 0, count: 24)

    /// Each day from ``from`` to ``to``, in order, those without visits too.
    public var days: [Day] = []

    /// One day.
    public struct Day: Sendable, Hashable, Encodable {
        /// The date in the time zone, as in `2026-11-21`.
        public var date: String
        /// Visits.
        public var visits = 0
        /// Members who came.
        public var uniqueVisitors = 0
        /// Members who joined.
        public var newMembers = 0
    }

    /// An hour of the day.
    public struct PeakHour: Sendable, Hashable, Encodable {
        /// The hour in which it begins, 0 to 23.
        public var hour: Int
        /// The visits in it.
        public var visits: Int
    }

    /// The hour of the day with the most visits, the earliest of several; `nil` without visits.
    public var peakHour: PeakHour? {
        guard let most = hours.max(), most > 0, let hour = hours.firstIndex(of: most) else { return nil }
        return PeakHour(hour: hour, visits: most)
    }

    /// The day with the most visits, the earliest of several; `nil` without visits.
    public var busiestDay: Day? {
        guard let most = days.map(\.visits).max(), most > 0 else { return nil }
        return days.first { $0.visits == most }
    }
}

extension ClubStatistics: Encodable {
    private enum CodingKeys: String, CodingKey {
        case from, to, timeZone, visits, manualVisits, uniqueVisitors, returningMembers, newMembers, repeats, ignored
        case rejected, reasons, peakHour, busiestDay, hours, days
    }

    /// Writes all values, times in ISO 8601; `peakHour` and `busiestDay` are left out without visits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ISO8601.text(from), forKey: .from)
        try container.encode(ISO8601.text(to), forKey: .to)
        try container.encode(timeZone, forKey: .timeZone)
        try container.encode(visits, forKey: .visits)
        try container.encode(manualVisits, forKey: .manualVisits)
        try container.encode(uniqueVisitors, forKey: .uniqueVisitors)
        try container.encode(returningMembers, forKey: .returningMembers)
        try container.encode(newMembers, forKey: .newMembers)
        try container.encode(repeats, forKey: .repeats)
        try container.encode(ignored, forKey: .ignored)
        try container.encode(rejected, forKey: .rejected)
        try container.encode(reasons, forKey: .reasons)
        try container.encodeIfPresent(peakHour, forKey: .peakHour)
        try container.encodeIfPresent(busiestDay, forKey: .busiestDay)
        try container.encode(hours, forKey: .hours)
        try container.encode(days, forKey: .days)
    }
}
