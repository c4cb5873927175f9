import Foundation

/// What is left of many parts that were said: each in the time of sorting them, since a file may hold thousands.

extension MemberFacts.Birth {
    /// The creations that tell something on top of all others, whatever deletion may come, oldest first: one that is as
    /// early and ``Stamp/outlives(_:)`` another tells all of it.
    static func undominated(of births: [Self]) -> [Self] {
        guard births.count > 1 else { return births }
        // Nothing is told by what stands behind it.
        let sorted = births.sorted { left, right in
            left.stamp == right.stamp ? left.rank < right.rank : left.stamp > right.stamp
        }
        var kept: [Self] = []
        // The earliest creation so far that a device told of, and that anybody did.
        var (device, any): (Rank?, Rank?) = (nil, nil)
        for birth in sorted {
            let rank = birth.rank
            if let earliest = birth.stamp.isLegacy ? any : device, earliest <= rank { continue }
            kept.append(birth)
            any = min(any ?? rank, rank)
            if !birth.stamp.isLegacy { device = min(device ?? rank, rank) }
        }
        return kept.sorted()
    }

    /// The earlier, the lower; a time that is not known is the highest.
    private struct Rank: Comparable {
        var at: Int64

        static func < (left: Self, right: Self) -> Bool {
            left.at != 0 && (right.at == 0 || left.at < right.at)
        }
    }

    private var rank: Rank { Rank(at: at) }
}

extension MemberFacts.Claim {
    /// Whether it is of a row of a file whose time was not believed where it was imported (see
    /// ``Stamp/legacy(at:believedUpTo:)``): its total counts all the same, there and wherever that is told.
    package var isOfUnknownTime: Bool { stamp == .legacy(at: 0) }

    /// The claims that tell something on top of all others, whatever deletion may come, in order. One of another time
    /// always does: at least when the latest visit was.
    static func undominated(of claims: [Self]) -> [Self] {
        guard claims.count > 1 else { return claims }
        // Nothing is told by what stands behind it.
        let sorted = claims.sorted { left, right in
            if left.at != right.at { return left.at < right.at }
            return left.stamp == right.stamp ? left.visits > right.visits : left.stamp > right.stamp
        }
        var kept: [Self] = []
        // The most visits by that time that a device told of, and that anybody did.
        var (device, any): (Int?, Int?) = (nil, nil)
        var at: Int64?
        for claim in sorted {
            if claim.at != at { (device, any, at) = (nil, nil, claim.at) }
            if let most = claim.stamp.isLegacy ? any : device, most >= claim.visits { continue }
            kept.append(claim)
            any = max(any ?? claim.visits, claim.visits)
            if !claim.stamp.isLegacy { device = max(device ?? claim.visits, claim.visits) }
        }
        return kept.sorted()
    }
}

extension MemberFacts.Removal {
    private struct Key: Hashable {
        var device: UUID
        var born: Int64
    }

    /// The greatest of each device and creation, in order, with the tallies of all of them.
    static func latest(of removals: [Self]) -> [Self] {
        guard removals.count > 1 else { return removals }
        let greatest = Dictionary(removals.map { (Key(device: $0.stamp.device, born: $0.born), $0) }) { one, other in
            var greatest = max(one, other)
            if one.tallies != other.tallies { greatest.tallies = Tally.joined(one.tallies + other.tallies) }
            return greatest
        }
        return greatest.values.sorted()
    }
}

extension MemberFacts.Removal.Tally {
    /// The greatest number of each moment, in order. None is no number.
    static func joined(_ tallies: [Self]) -> [Self] {
        var joined: [Int64: Self] = [:]
        for tally in tallies where tally.visits > 0 {
            let former = joined[tally.from] ?? tally
            joined[tally.from] = Self(
                from: tally.from,
                until: max(former.until, tally.until),
                visits: max(former.visits, tally.visits)
            )
        }
        return joined.values.sorted { $0.from < $1.from }
    }
}

extension MemberFacts.Version {
    /// The versions that are kept of a value, newest first.
    static func kept(of versions: [Self]) -> [Self] {
        guard versions.count > 1 else { return versions }
        var counts: [Kind: Int] = [:]
        var kept: [Self] = []
        for version in versions.sorted(by: precedes) where version != kept.last {
            let count = counts[version.kind, default: 0] + 1
            guard count <= MemberFacts.keptVersions else { continue }
            counts[version.kind] = count
            kept.append(version)
        }
        return kept
    }
}
