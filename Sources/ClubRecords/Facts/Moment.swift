import CardPasses

/// A moment, and how much earlier and later it may be: from a clock it is exact, from a file it is as exact as it is
/// written there.
///
/// Two moments that may be the same are no news to one another: a spreadsheet that shows `2026-11-03 18:45` for
/// 18:45:12.918 tells of no other visit.
package struct Moment: Sendable, Hashable {
    /// The moment as it is written, in microseconds since 1970; 0 if none is.
    package var at: Int64
    /// How much earlier it may be, in microseconds.
    package private(set) var before: Int64
    /// How much later it may be, in microseconds.
    package private(set) var after: Int64

    /// A moment with as many digits behind the point of its seconds as it has: what rounded it there, up or down, left
    /// out less than one of the last. So a whole second is within a second, and a microsecond is exact.
    package init(_ at: Int64) {
        self.init(at, before: Self.margin(at), after: Self.margin(at))
    }

    package init(_ at: Int64, before: Int64, after: Int64) {
        self.at = at
        self.before = min(max(before, 0), Timestamp.latest)
        self.after = min(max(after, 0), Timestamp.latest)
    }

    /// A moment that is not named, up to one.
    package static func unknown(upTo latest: Int64) -> Moment { Moment(0, before: 0, after: latest) }

    package var isKnown: Bool { at != 0 }

    package var earliest: Int64 { at - min(before, max(at, 0)) }

    package var latest: Int64 {
        let (latest, overflow) = at.addingReportingOverflow(after)
        return overflow ? .max : latest
    }

    package func contains(_ time: Int64) -> Bool { earliest <= time && time <= latest }

    /// Whether ``at`` alone shows how exact it is.
    package var isPlain: Bool { self == Moment(at) }

    /// The moment, no later than it can have been written: nobody writes of visits to come.
    package func written(by now: Int64) -> Moment {
        latest > now && at <= now && !isPlain ? Moment(at, before: before, after: now - at) : self
    }

    private static func margin(_ at: Int64) -> Int64 {
        guard at > 0 else { return 0 }
        var unit: Int64 = 1
        while unit < Timestamp.second, at.isMultiple(of: unit * 10) { unit *= 10 }
        return unit - 1
    }
}

extension Moment: Comparable {
    /// Those that name no moment are as late as they were written.
    package static func < (left: Moment, right: Moment) -> Bool {
        (left.order, left.latest, left.before, left.at) < (right.order, right.latest, right.before, right.at)
    }

    private var order: Int64 { isKnown ? at : after }
}
