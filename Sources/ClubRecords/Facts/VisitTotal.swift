/// What a member's visits come to: those in the ledger, and what files state beyond them.
///
/// A total T whose latest visit was at t counts as T and the visits after t; the greatest such sum counts, if it is more
/// than the ledger's. A total that the visits and the other totals up to t account for adds nothing, also where a visit
/// among them was undone since: it is what this club has told.
package struct VisitTotal: Sendable {
    package private(set) var visits: Int
    /// When the latest visit was, in microseconds since 1970; 0 if a file states visits and no time, `nil` without any.
    package private(set) var latest: Int64?

    private let claims: [MemberFacts.Claim]
    /// When the visits in the ledger were, also those that were undone, earliest first.
    private let times: [Int64]
    /// Visits that were removed because they are old, and when the latest of them was.
    private let removed: Int
    private let latestRemoved: Int64?

    /// - Parameter ledger: the visits that are in the ledger, earliest first, and which of them count.
    package init(_ facts: MemberFacts, _ ledger: [(at: Int64, counts: Bool)]) {
        claims = facts.claims
        times = ledger.map(\.at)
        (removed, latestRemoved) = (facts.removedVisits, facts.latestRemovedVisit)
        let counted = ledger.filter(\.counts).map(\.at)
        visits = Self.sum(counted.count, removed)
        var known = Known()
        // What accounts for a total came by its time.
        for claim in claims.sorted(by: { ($0.moment.latest, $0) < ($1.moment.latest, $1) }) {
            if !isAccountedFor(claim.visits, claim.moment, known) {
                let later = counted.count - counted.count(through: claim.moment.latest)
                visits = max(visits, Self.sum(claim.visits, later))
            }
            known.add(claim, before: times.count(through: claim.moment.latest))
        }
        latest = latest(counted.last)
    }

    /// Whether a total that is read now is more than what is known, or its latest visit is none that is.
    package func isNews(_ visits: Int, _ moment: Moment) -> Bool {
        !isAccountedFor(visits, moment, known(through: moment.latest))
    }

    /// How many visits are known up to a moment, also those that were undone since.
    package func count(through time: Int64) -> Int { known(through: time).count(times, removed, through: time) }

    /// What is known without the ledger, by totals of which the latest visit may have been no later than a moment.
    private func known(through time: Int64) -> Known {
        var known = Known()
        for claim in claims where claim.moment.earliest <= time {
            known.add(claim, before: times.count(through: claim.moment.latest))
            known.most = max(known.most, claim.visits)
        }
        return known
    }

    private func isAccountedFor(_ visits: Int, _ moment: Moment, _ known: Known) -> Bool {
        guard visits <= known.count(times, removed, through: moment.latest) else { return false }
        return !moment.isKnown || isKnown(moment, known.moments)
    }

    /// Whether a moment is one at which there was a visit.
    private func isKnown(_ moment: Moment, _ others: [Int64]) -> Bool {
        if let latestRemoved, moment.earliest <= latestRemoved { return true }
        return times.contains(moment) || others.contains(moment)
    }

    /// What files state of the latest visit counts where it is none that is known: the more exact first.
    private func latest(_ counted: Int64?) -> Int64? {
        var latest = counted
        if let latestRemoved { latest = max(latest ?? 0, latestRemoved) }
        var moments: [Int64] = []
        let exact = claims.sorted { one, other in
            let (left, right) = (one.moment, other.moment)
            return (left.before + left.after, left) < (right.before + right.after, right)
        }
        for claim in exact {
            guard claim.moment.isKnown else {
                latest = latest ?? 0
                continue
            }
            guard !isKnown(claim.moment, moments) else { continue }
            latest = max(latest ?? 0, claim.at)
            moments.insert(claim.at, at: moments.count(through: claim.at))
        }
        return latest
    }

    fileprivate static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    /// What the totals of files account for.
    private struct Known {
        /// The greatest total of those that may be of a later time.
        var most = 0
        /// The most that one is beyond what the ledger has up to its moment.
        private var beyond = 0
        /// When their latest visits were, in their order.
        private(set) var moments: [Int64] = []

        mutating func add(_ claim: MemberFacts.Claim, before visits: Int) {
            beyond = max(beyond, claim.visits - visits)
            if claim.moment.isKnown { moments.insert(claim.at, at: moments.count(through: claim.at)) }
        }

        func count(_ times: [Int64], _ removed: Int, through time: Int64) -> Int {
            max(most, VisitTotal.sum(times.count(through: time), max(beyond, removed)))
        }
    }
}

extension [Int64] {
    /// How many of these, earliest first, are no later than a moment.
    fileprivate func count(through time: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether one of these, earliest first, may be that moment.
    fileprivate func contains(_ moment: Moment) -> Bool {
        let place = count(through: moment.latest)
        return place > 0 && self[place - 1] >= moment.earliest
    }
}
