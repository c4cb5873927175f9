import CardPasses
import Foundation

/// All that was ever recorded of a member, apart from the ledger of visits, in a form that merges without loss.
///
/// ``join(_:)`` is commutative, associative and idempotent, so devices that have heard the same, in whatever order and
/// however often, hold the same facts.
package struct MemberFacts: Sendable, Hashable {
    /// The creations that no deletion has ended, oldest first. Without one the member does not exist.
    package private(set) var births: [Birth] = []

    /// The latest deletion. Whatever was stamped no later than it is dead.
    package private(set) var end: Stamp?

    /// The same as ``end`` if the member was ever erased. Then only a device with a clock can create the member again,
    /// not a file, and a later deletion is an erasure too.
    package private(set) var erasure: Stamp?

    /// The versions of each value, newest first: the first is the value, the others are kept for people to look at.
    package private(set) var values: [String: [Version]] = [:]

    /// The totals of files that know no single visits. None is dominated by another.
    package private(set) var claims: [Claim] = []

    /// The visits that were bought, oldest first.
    package private(set) var packs: [Pack] = []

    /// The visits that were removed from the ledger because they are old, by device and creation.
    package private(set) var removals: [Removal] = []

    /// How many versions of a value are kept, of each kind: by devices with a clock, by files, empty ones by files.
    package static let keptVersions = 4

    package init() {}

    package struct Birth: Sendable, Hashable, Comparable {
        package var stamp: Stamp
        /// Microseconds since 1970; 0 if it is not known.
        package var at: Int64

        package init(_ stamp: Stamp, at: Int64) {
            self.stamp = stamp
            self.at = at
        }

        package static func < (left: Birth, right: Birth) -> Bool {
            left.stamp == right.stamp ? left.at < right.at : left.stamp < right.stamp
        }
    }

    /// What was recorded as a value.
    package struct Version: Sendable {
        package var stamp: Stamp
        package var value: FieldValue

        /// A version; whole numbers are whole numbers, since JSON knows no difference.
        package init(_ stamp: Stamp, _ value: FieldValue) {
            self.stamp = stamp
            self.value = value.normalized
        }

        /// Those that are kept for themselves: none drives one of another kind out, since a deletion or an erasure may
        /// end one and leave the other.
        package enum Kind {
            case device, file, emptyInFile
        }

        package var kind: Kind {
            guard stamp.isLegacy else { return .device }
            return value == .null || value == .string("") ? .emptyInFile : .file
        }

        /// Newest first; what a file leaves empty comes last, so that it never hides what is known. Two that files
        /// contain for the same time are ordered by their values.
        static func precedes(_ left: Version, _ right: Version) -> Bool {
            let (leftIsEmpty, rightIsEmpty) = (left.kind == .emptyInFile, right.kind == .emptyInFile)
            if leftIsEmpty != rightIsEmpty { return rightIsEmpty }
            if left.stamp != right.stamp { return left.stamp > right.stamp }
            return FieldValue.isOrderedBefore(right.value, left.value)
        }
    }

    /// Visits that are in the ledger no more: all that one device recorded of the member under one creation, up to a
    /// moment. What stands here is not taken in again.
    ///
    /// Which visits they were is not kept, so that nothing is left of them. That has two limits. Of two kiosks with one
    /// identifier, such as a copied disk, one removes and counts what it has; a visit of the other's that is no later
    /// and was not learnt of is taken for one of these, and of two such removals only the one that goes further counts.
    /// And a tap that was submitted to two kiosks before they learnt of one another counts twice if one removes its
    /// record before it learns of the other's. Kiosks that merge before they remove lose and double nothing.
    package struct Removal: Sendable, Hashable, Comparable {
        /// The device, and the time of its latest visit that was removed.
        package var stamp: Stamp
        /// ``MemberFacts/Birth/stamp``'s time of the creation with which they end.
        package var born: Int64
        /// How many of them counted.
        package var visits: Int
        /// How many of these were taken off the visits that were bought.
        package var bought: Int
        /// When the latest of them was, in microseconds since 1970; 0 if none counted.
        package var latest: Int64
        /// How many of those that counted lie at or after the moments from which scenarios count, the earliest moment
        /// first. Of several removals each moment keeps its greatest number: of a longer prefix there are more.
        package var tallies: [Tally]

        package init(_ stamp: Stamp, born: Int64, visits: Int, bought: Int, latest: Int64, tallies: [Tally] = []) {
            self.stamp = stamp
            self.born = born
            self.visits = visits
            self.bought = bought
            self.latest = latest
            self.tallies = Tally.joined(tallies)
        }

        /// Visits that were removed, from a moment on.
        package struct Tally: Sendable, Hashable {
            /// The moment, which is included, in microseconds since 1970.
            package var from: Int64
            /// When nobody asks for it any more: the end of the period that begins then.
            package var until: Int64
            package var visits: Int

            package init(from: Int64, until: Int64, visits: Int) {
                self.from = from
                self.until = until
                self.visits = visits
            }
        }

        /// How many of those that counted lie at or after a moment. Where no number is kept for it, it is that of the next
        /// moment that has one: so many there are at least.
        package func visits(since moment: Int64) -> Int {
            moment <= 0 ? visits : tallies.lazy.filter { $0.from >= moment }.map(\.visits).max() ?? 0
        }

        package static func < (left: Removal, right: Removal) -> Bool {
            (left.born, left.stamp, left.visits, left.bought, left.latest)
                < (right.born, right.stamp, right.visits, right.bought, right.latest)
        }
    }

    /// A bare total: so many visits by then.
    package struct Claim: Sendable, Hashable, Comparable {
        package var visits: Int
        /// The latest visit, as exact as the file names it. One that names none was read at ``Moment/latest``.
        package var moment: Moment
        package var stamp: Stamp

        package init(visits: Int, moment: Moment, stamp: Stamp) {
            self.visits = visits
            self.moment = moment
            self.stamp = stamp
        }

        package init(visits: Int, at: Int64, stamp: Stamp) {
            self.init(visits: visits, moment: Moment(at), stamp: stamp)
        }

        /// The latest visit as it is written, in microseconds since 1970; 0 if none is.
        package var at: Int64 { moment.at }

        package static func < (left: Claim, right: Claim) -> Bool {
            (left.moment, left.visits, left.stamp) < (right.moment, right.visits, right.stamp)
        }
    }

    package struct Pack: Sendable, Hashable, Comparable {
        package var stamp: Stamp
        package var visits: Int

        package init(_ stamp: Stamp, visits: Int) {
            self.stamp = stamp
            self.visits = visits
        }

        package static func < (left: Pack, right: Pack) -> Bool {
            (left.stamp, left.visits) < (right.stamp, right.visits)
        }
    }

    /// Whether what is stamped so counts.
    package func isAlive(_ stamp: Stamp) -> Bool {
        if let end, stamp.time <= end.time { return false }
        if let erasure, stamp.isLegacy || stamp.time <= erasure.time { return false }
        return true
    }

    /// The same without what was recorded of one value.
    package func without(_ name: String) -> MemberFacts {
        var facts = self
        facts.values[name] = nil
        return facts
    }

    package var withoutValues: MemberFacts {
        var facts = self
        facts.values = [:]
        return facts
    }

    /// Whether what began with the creation of that time counts.
    package func isAlive(born: Int64) -> Bool {
        if let end, born <= end.time { return false }
        return erasure == nil || !Stamp.isLegacy(time: born)
    }

    /// Whether a visit was removed because it is old.
    package func hasRemoved(_ stamp: Stamp, born: Int64) -> Bool {
        removals.contains { $0.stamp.device == stamp.device && $0.born == born && $0.stamp.time >= stamp.time }
    }

    /// How many visits were removed that counted.
    package var removedVisits: Int { sumOfRemovals(\.visits) }

    /// How many of the visits that were removed lie after a moment, up to another.
    package func removedVisits(after: Int64, through: Int64) -> Int {
        guard after < through else { return 0 }
        return sumOfRemovals { removal in
            // Nothing lies behind the latest.
            let later = through < removal.latest ? removal.visits(since: through + 1) : 0
            return max(0, removal.visits(since: max(after, -1) + 1) - later)
        }
    }

    /// When the latest of the visits that were removed was.
    package var latestRemovedVisit: Int64? {
        removals.filter { isAlive(born: $0.born) && $0.latest > 0 }.map(\.latest).max()
    }

    /// How many of the visits that were removed are off those that were bought since then.
    package func removedVisits(boughtSince first: Pack) -> Int {
        sumOfRemovals { $0.stamp.time > first.stamp.time ? $0.bought : 0 }
    }

    private func sumOfRemovals(_ part: (Removal) -> Int) -> Int {
        removals.reduce(0) { sum, removal in
            guard isAlive(born: removal.born) else { return sum }
            let (total, overflow) = sum.addingReportingOverflow(part(removal))
            return overflow ? Int.max : total
        }
    }

    /// The latest moment that the facts contain; 0 if there is none.
    package var latestTime: Int64 {
        let stamps = births.map(\.stamp) + claims.map(\.stamp) + packs.map(\.stamp) + removals.map(\.stamp)
        let versions = values.values.joined().map(\.stamp)
        return max(end?.time ?? 0, (stamps + versions).map(\.time).max() ?? 0)
    }

    package var exists: Bool { !births.isEmpty }

    /// The newest creation, which a visit names so that it ends with it.
    package var born: Stamp? { births.last?.stamp }

    /// When the member was created first, in microseconds since 1970; 0 if it is not known.
    package var addedAt: Int64? { births.isEmpty ? nil : births.map(\.at).filter { $0 != 0 }.min() ?? 0 }

    /// The name to show: what was recorded last, else an empty one, or none if only files know the member.
    package var username: String? {
        switch value("username") {
        case .string(let name): name
        case .null: nil
        default: births.allSatisfy(\.stamp.isLegacy) ? nil : ""
        }
    }

    /// The custom fields to show.
    package var fields: [String: FieldValue] {
        var fields: [String: FieldValue] = [:]
        for (name, versions) in values where name != "username" && !name.hasPrefix("$") {
            fields[name] = versions.first?.value
        }
        return fields
    }

    package func value(_ name: String) -> FieldValue? { values[name]?.first?.value }

    package mutating func add(_ birth: Birth) { add([birth]) }

    package mutating func set(_ name: String, _ value: FieldValue, _ stamp: Stamp) {
        merge([Version(stamp, value)], into: name.normalized)
    }

    package mutating func add(_ claim: Claim) { add([claim]) }

    /// Leaves out the totals of what is yet to be joined that add nothing to what is known.
    package mutating func keepClaims(where isNews: (Claim) -> Bool) { claims = claims.filter(isNews) }

    package mutating func add(_ pack: Pack) { add([pack]) }

    package mutating func add(_ removal: Removal) { add([removal]) }

    /// What was removed of a device's visits, with the creation with which they end.
    package func removal(_ device: UUID, born: Int64) -> Removal? {
        removals.first { $0.stamp.device == device && $0.born == born }
    }

    /// Deletes the member, as of then.
    package mutating func delete(_ stamp: Stamp) {
        let latest = max(end ?? stamp, stamp)
        end = latest
        if erasure != nil { erasure = latest }
        prune()
    }

    /// Deletes the member, as of then, so that no file can bring them back.
    package mutating func erase(_ stamp: Stamp) {
        erasure = stamp
        delete(stamp)
    }

    /// Takes in what another device heard.
    package mutating func join(_ other: MemberFacts) {
        if let erasure = other.erasure { erase(erasure) }
        if let end = other.end { delete(end) }
        add(other.births)
        add(other.claims)
        add(other.packs)
        add(other.removals)
        for (name, versions) in other.values { merge(versions, into: name) }
    }

    mutating func merge(_ versions: [Version], into name: String) {
        let alive = versions.filter { isAlive($0.stamp) }
        guard !alive.isEmpty else { return }
        values[name] = Version.kept(of: (values[name] ?? []) + alive)
    }

    mutating func add(_ births: [Birth]) {
        let alive = births.filter { isAlive($0.stamp) }
        guard !alive.isEmpty else { return }
        self.births = Birth.undominated(of: self.births + alive)
    }

    mutating func add(_ claims: [Claim]) {
        let alive = claims.filter { isAlive($0.stamp) && $0.visits > 0 }
        guard !alive.isEmpty else { return }
        self.claims = Claim.undominated(of: self.claims + alive)
    }

    mutating func add(_ packs: [Pack]) {
        let alive = packs.filter { isAlive($0.stamp) }
        guard !alive.isEmpty else { return }
        self.packs = Set(self.packs + alive).sorted()
    }

    mutating func add(_ removals: [Removal]) {
        // Those of a creation that was ended stay, so that the visits do not come back.
        let usable = removals.filter {
            $0.visits >= 0 && $0.bought >= 0 && (erasure == nil || isAlive(born: $0.born))
        }
        guard !usable.isEmpty else { return }
        self.removals = Removal.latest(of: self.removals + usable)
    }

    /// Removes the numbers of removed visits that nobody asks for any more.
    package mutating func forgetTallies(until now: Int64) {
        removals = removals.map { removal in
            var removal = removal
            removal.tallies.removeAll { $0.until <= now }
            return removal
        }
    }

    private mutating func prune() {
        births = births.filter { isAlive($0.stamp) }
        claims = claims.filter { isAlive($0.stamp) }
        packs = packs.filter { isAlive($0.stamp) }
        removals = removals.filter { erasure == nil || isAlive(born: $0.born) }
        for (name, versions) in values {
            let alive = versions.filter { isAlive($0.stamp) }
            values[name] = alive.isEmpty ? nil : alive
        }
    }
}

extension MemberFacts {
    /// The facts of a member whom one row describes completely: created once, every value recorded then. An empty name
    /// states nothing unless it is a file's.
    package static func plain(
        origin: Stamp,
        addedAt: Int64,
        username: String?,
        fields: [String: FieldValue],
        claim: (visits: Int, at: Int64)?
    ) -> MemberFacts {
        var facts = MemberFacts()
        facts.births = [Birth(origin, at: addedAt)]
        if origin.isLegacy || !(username ?? "").isEmpty {
            facts.values["username"] = [Version(origin, username.map { .string($0) } ?? .null)]
        }
        for (name, value) in fields { facts.values[name.normalized] = [Version(origin, value)] }
        if let claim, claim.visits > 0 { facts.claims = [Claim(visits: claim.visits, at: claim.at, stamp: origin)] }
        return facts
    }

    /// Whether ``plain(origin:addedAt:username:fields:claim:)`` makes the same of the shown values, so that they need
    /// not be kept twice.
    package var isPlain: Bool {
        guard births.count == 1, end == nil, erasure == nil, packs.isEmpty, removals.isEmpty, claims.count <= 1,
            values.allSatisfy({ $0.value.count == 1 && !$0.key.hasPrefix("$") })
        else { return false }
        let claim = claims.first
        return self
            == .plain(
                origin: births[0].stamp,
                addedAt: births[0].at,
                username: username,
                fields: fields,
                claim: claim.map { ($0.visits, $0.at) }
            )
    }
}

/// What is left of many parts that were recorded: each in the time of sorting them, since a file may hold thousands.

extension MemberFacts.Birth {
    /// The creations that add something to all others, whatever deletion may come, oldest first: one that is as early
    /// and ``Stamp/outlives(_:)`` another contains all of it.
    static func undominated(of births: [Self]) -> [Self] {
        Stamp.undominated(of: births, stamp: \.stamp, among: { _ in 0 }, by: { Rank(at: $0.at) })
    }

    /// The earlier, the lower; a time that is not known is the highest.
    private struct Rank: Comparable {
        var at: Int64

        static func < (left: Self, right: Self) -> Bool { left.at != 0 && (right.at == 0 || left.at < right.at) }
    }
}

extension MemberFacts.Claim {
    /// Whether it is of a row of a file whose time was not believed where it was imported (see
    /// ``Stamp/legacy(at:believedUpTo:)``): its total counts all the same, there and wherever that is reported.
    package var isOfUnknownTime: Bool { stamp == .legacy(at: 0) }

    /// The claims that add something to all others, whatever deletion may come, in order. One of another time always
    /// does: at least when the latest visit was.
    static func undominated(of claims: [Self]) -> [Self] {
        Stamp.undominated(of: claims, stamp: \.stamp, among: \.moment, by: { -$0.visits })
    }
}

extension Stamp {
    /// The parts that add something to all others of one group, in order: one that is ranked as low and
    /// ``outlives(_:)`` another contains all of it.
    fileprivate static func undominated<Part: Comparable, Group: Comparable, Rank: Comparable>(
        of parts: [Part],
        stamp: (Part) -> Stamp,
        among group: (Part) -> Group,
        by rank: (Part) -> Rank
    ) -> [Part] {
        guard parts.count > 1 else { return parts }
        // No part makes one that stands before it superfluous.
        let sorted = parts.sorted { left, right in
            if group(left) != group(right) { return group(left) < group(right) }
            return stamp(left) == stamp(right) ? rank(left) < rank(right) : stamp(left) > stamp(right)
        }
        var kept: [Part] = []
        // The lowest so far from a device, and from anybody.
        var (device, any): (Rank?, Rank?) = (nil, nil)
        var last: Group?
        for part in sorted {
            let (rank, isLegacy) = (rank(part), stamp(part).isLegacy)
            if group(part) != last { (device, any, last) = (nil, nil, group(part)) }
            if let lowest = isLegacy ? any : device, lowest <= rank { continue }
            kept.append(part)
            any = min(any ?? rank, rank)
            if !isLegacy { device = min(device ?? rank, rank) }
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
