/// All that was ever said of a member, apart from the ledger of visits, in a form that merges without losing anything.
///
/// ``join(_:)`` is commutative, associative and idempotent, so devices that have heard the same, in whatever order and
/// however often, hold the same facts.
package struct MemberFacts: Sendable, Hashable {
    /// The creations that no deletion has ended, oldest first. Without one the member does not exist.
    package private(set) var births: [Birth] = []

    /// The latest deletion. Whatever was stamped no later than it is dead.
    package private(set) var end: Stamp?

    /// Whether the latest erasure wants more than a later time: only a device with a clock can create the member again,
    /// not a file.
    package private(set) var erasure: Stamp?

    /// What was said of each value, newest first: the first is the value, the others are kept for people to look at.
    package private(set) var values: [String: [Version]] = [:]

    /// The totals of files that know no single visits. None is dominated by another.
    package private(set) var claims: [Claim] = []

    /// The visits that were bought, oldest first.
    package private(set) var packs: [Pack] = []

    /// How many versions of a value are kept, of each kind: by devices with a clock, by files, empty ones by files.
    package static let keptVersions = 4

    /// The facts of nobody.
    package init() {}

    // MARK: Parts

    /// A creation of the member.
    package struct Birth: Sendable, Hashable, Comparable {
        package var stamp: Stamp
        /// Microseconds since 1970.
        package var at: Int64

        /// Whether the other creation tells nothing on top of this one, whatever deletion may come.
        func dominates(_ other: Birth) -> Bool { stamp.outlives(other.stamp) && at <= other.at }

        package init(_ stamp: Stamp, at: Int64) {
            self.stamp = stamp
            self.at = at
        }

        package static func < (left: Birth, right: Birth) -> Bool {
            left.stamp == right.stamp ? left.at < right.at : left.stamp < right.stamp
        }
    }

    /// What a value was said to be.
    package struct Version: Sendable, Hashable {
        package var stamp: Stamp
        package var value: FieldValue

        package init(_ stamp: Stamp, _ value: FieldValue) {
            self.stamp = stamp
            self.value = value
        }

        /// Those that are kept for themselves: nothing that is said of one kind drives one of another out, since a
        /// deletion or an erasure may end one and leave the other.
        enum Kind {
            case device, file, emptyInFile
        }

        var kind: Kind {
            guard stamp.isLegacy else { return .device }
            return value == .null || value == .string("") ? .emptyInFile : .file
        }

        /// Newest first; what a file leaves empty comes last, so that it never hides what is known. Two that a file
        /// said for the same time are ordered by what they say.
        static func precedes(_ left: Version, _ right: Version) -> Bool {
            let (leftIsEmpty, rightIsEmpty) = (left.kind == .emptyInFile, right.kind == .emptyInFile)
            if leftIsEmpty != rightIsEmpty { return rightIsEmpty }
            if left.stamp != right.stamp { return left.stamp > right.stamp }
            return FieldValue.isOrderedBefore(right.value, left.value)
        }
    }

    /// A bare total: so many visits by then.
    package struct Claim: Sendable, Hashable, Comparable {
        package var visits: Int
        /// The latest visit, in microseconds since 1970.
        package var at: Int64
        package var stamp: Stamp

        package init(visits: Int, at: Int64, stamp: Stamp) {
            self.visits = visits
            self.at = at
            self.stamp = stamp
        }

        /// Whether the other claim cannot tell more than this one, whatever deletion may come: it counts no more, and
        /// nothing earlier on top.
        func dominates(_ other: Claim) -> Bool {
            visits >= other.visits && at <= other.at && stamp.outlives(other.stamp)
        }

        package static func < (left: Claim, right: Claim) -> Bool {
            (left.at, left.visits, left.stamp) < (right.at, right.visits, right.stamp)
        }
    }

    /// Visits that were bought.
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

    // MARK: Saying something

    /// Whether what is stamped so counts.
    package func isAlive(_ stamp: Stamp) -> Bool {
        if let end, stamp.time <= end.time { return false }
        if let erasure, stamp.isLegacy || stamp.time <= erasure.time { return false }
        return true
    }

    /// Whether the member exists.
    package var exists: Bool { !births.isEmpty }

    /// The newest creation, which a visit names so that it ends with it.
    package var born: Stamp? { births.last?.stamp }

    /// When the member was created first, in microseconds since 1970.
    package var addedAt: Int64? { births.map(\.at).min() }

    /// The name to show: what was said last, else an empty one, or none if only files know the member.
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

    /// The value of that name.
    package func value(_ name: String) -> FieldValue? { values[name]?.first?.value }

    package mutating func add(_ birth: Birth) {
        guard isAlive(birth.stamp), !births.contains(where: { $0.dominates(birth) }) else { return }
        births.removeAll { birth.dominates($0) }
        births.append(birth)
        births.sort()
    }

    package mutating func set(_ name: String, _ value: FieldValue, _ stamp: Stamp) {
        merge([Version(stamp, value)], into: name)
    }

    package mutating func add(_ claim: Claim) {
        guard isAlive(claim.stamp), claim.visits > 0, !claims.contains(where: { $0.dominates(claim) }) else { return }
        claims.removeAll { claim.dominates($0) }
        claims.append(claim)
        claims.sort()
    }

    package mutating func add(_ pack: Pack) {
        guard isAlive(pack.stamp), !packs.contains(pack) else { return }
        packs.append(pack)
        packs.sort()
    }

    /// Deletes the member, as of then.
    package mutating func delete(_ stamp: Stamp) {
        end = max(end ?? stamp, stamp)
        prune()
    }

    /// Deletes the member, as of then, so that no file can bring them back.
    package mutating func erase(_ stamp: Stamp) {
        erasure = max(erasure ?? stamp, stamp)
        delete(stamp)
    }

    // MARK: Merging

    /// Takes in what another device heard.
    package mutating func join(_ other: MemberFacts) {
        if let erasure = other.erasure { erase(erasure) }
        if let end = other.end { delete(end) }
        other.births.forEach { add($0) }
        other.claims.forEach { add($0) }
        other.packs.forEach { add($0) }
        for (name, versions) in other.values { merge(versions, into: name) }
    }

    /// What both together say.
    package func joined(with other: MemberFacts) -> MemberFacts {
        var result = self
        result.join(other)
        return result
    }

    private mutating func merge(_ versions: [Version], into name: String) {
        let alive = versions.filter { isAlive($0.stamp) }
        guard !alive.isEmpty else { return }
        var all = values[name] ?? []
        for version in alive where !all.contains(version) { all.append(version) }
        all.sort(by: Version.precedes)
        var counts: [Version.Kind: Int] = [:]
        values[name] = all.filter { version in
            counts[version.kind, default: 0] += 1
            return counts[version.kind, default: 0] <= Self.keptVersions
        }
    }

    private mutating func prune() {
        births = births.filter { isAlive($0.stamp) }
        claims = claims.filter { isAlive($0.stamp) }
        packs = packs.filter { isAlive($0.stamp) }
        for (name, versions) in values {
            let alive = versions.filter { isAlive($0.stamp) }
            values[name] = alive.isEmpty ? nil : alive
        }
    }
}

// MARK: - A member of whom nothing was ever changed

extension MemberFacts {
    /// The facts of a member whom one row tells whole: created once, every value said then. An empty name says nothing
    /// unless a file says it.
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
        for (name, value) in fields { facts.values[name] = [Version(origin, value)] }
        if let claim, claim.visits > 0 {
            facts.claims = [Claim(visits: claim.visits, at: claim.at, stamp: origin)]
        }
        return facts
    }

    /// Whether ``plain(origin:addedAt:username:fields:claim:)`` makes the same of the shown values, so that they need
    /// not be kept twice.
    var isPlain: Bool {
        guard births.count == 1, end == nil, erasure == nil, packs.isEmpty, claims.count <= 1 else { return false }
        let origin = births[0].stamp
        return claims.allSatisfy { $0.stamp == origin } && (!origin.isLegacy || values["username"] != nil)
            && values.allSatisfy { name, versions in
                versions.count == 1 && versions[0].stamp == origin && !name.hasPrefix("$")
            }
    }
}

// MARK: - Form

extension MemberFacts: Codable {
    private enum CodingKeys: String, CodingKey {
        case births, end, erasure, values, claims, packs
    }

    /// Reads the facts, in whatever order they stand, and takes in only what is consistent.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let erasure = try container.decodeIfPresent(Stamp.self, forKey: .erasure) { erase(erasure) }
        if let end = try container.decodeIfPresent(Stamp.self, forKey: .end) { delete(end) }
        for birth in try container.decodeIfPresent([Birth].self, forKey: .births) ?? [] { add(birth) }
        for claim in try container.decodeIfPresent([Claim].self, forKey: .claims) ?? [] { add(claim) }
        for pack in try container.decodeIfPresent([Pack].self, forKey: .packs) ?? [] { add(pack) }
        for (name, versions) in try container.decodeIfPresent([String: [Version]].self, forKey: .values) ?? [:] {
            merge(versions, into: name)
        }
    }

    /// Writes the facts. With sorted keys, equal facts are equal bytes.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(births, forKey: .births)
        try container.encodeIfPresent(end, forKey: .end)
        try container.encodeIfPresent(erasure, forKey: .erasure)
        try container.encode(values, forKey: .values)
        if !claims.isEmpty { try container.encode(claims, forKey: .claims) }
        if !packs.isEmpty { try container.encode(packs, forKey: .packs) }
    }
}

extension MemberFacts.Birth: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init(try container.decode(Stamp.self), at: try container.decode(Int64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(stamp)
        try container.encode(at)
    }
}

extension MemberFacts.Version: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init(try container.decode(Stamp.self), try container.decode(FieldValue.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(stamp)
        try container.encode(value)
    }
}

extension MemberFacts.Claim: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let stamp = try container.decode(Stamp.self)
        self.init(visits: try container.decode(Int.self), at: try container.decode(Int64.self), stamp: stamp)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(stamp)
        try container.encode(visits)
        try container.encode(at)
    }
}

extension MemberFacts.Pack: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init(try container.decode(Stamp.self), visits: try container.decode(Int.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(stamp)
        try container.encode(visits)
    }
}

extension FieldValue {
    /// An order of all values, the same everywhere. It has no meaning but to choose one of two.
    static func isOrderedBefore(_ left: FieldValue, _ right: FieldValue) -> Bool {
        left.orderKey < right.orderKey
    }

    /// Distinct for distinct values.
    private var orderKey: String {
        switch self {
        case .null: return "0"
        case .bool(let value): return value ? "11" : "10"
        case .int(let value): return "2" + String(value)
        case .double(let value): return "3" + String(value)
        case .string(let value): return "4" + value
        case .array(let values): return "5" + values.map { $0.orderKey.debugDescription }.joined(separator: ",")
        case .object(let values):
            return "6"
                + values.sorted { $0.key < $1.key }
                .map { $0.key.debugDescription + $0.value.orderKey.debugDescription }.joined(separator: ",")
        }
    }
}
