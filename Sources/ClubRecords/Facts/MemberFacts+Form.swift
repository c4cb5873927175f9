import Foundation

extension MemberFacts: Codable {
    private enum CodingKeys: String, CodingKey {
        case births, end, erasure, values, claims, packs, removals
    }

    /// Reads the facts, in whatever order they stand, and takes in only what is consistent.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let erasure = try container.decodeIfPresent(Stamp.self, forKey: .erasure) { erase(erasure) }
        if let end = try container.decodeIfPresent(Stamp.self, forKey: .end) { delete(end) }
        add(try container.decodeIfPresent([Birth].self, forKey: .births) ?? [])
        add(try container.decodeIfPresent([Claim].self, forKey: .claims) ?? [])
        add(try container.decodeIfPresent([Pack].self, forKey: .packs) ?? [])
        for (name, versions) in try container.decodeIfPresent([String: [Version]].self, forKey: .values) ?? [:] {
            merge(versions, into: name.normalized)
        }
        add(try container.decodeIfPresent([Removal].self, forKey: .removals) ?? [])
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
        if !removals.isEmpty { try container.encode(removals, forKey: .removals) }
    }
}

extension MemberFacts.Birth: Codable {
    package init(from decoder: any Decoder) throws {
        let (stamp, at) = try decoder.list(of: Stamp.self, Int64.self)
        self.init(stamp, at: at)
    }

    package func encode(to encoder: any Encoder) throws { try encoder.encodeList(stamp, at) }
}

extension MemberFacts.Version: Codable {
    package init(from decoder: any Decoder) throws {
        let (stamp, value) = try decoder.list(of: Stamp.self, FieldValue.self)
        self.init(stamp, value)
    }

    package func encode(to encoder: any Encoder) throws { try encoder.encodeList(stamp, value) }
}

extension MemberFacts.Claim: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        stamp = try container.decode(Stamp.self)
        visits = try container.decode(Int.self)
        let at = try container.decode(Int64.self)
        moment =
            try container.isAtEnd
            ? Moment(at) : Moment(at, before: container.decode(Int64.self), after: container.decode(Int64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        if moment.isPlain { return try encoder.encodeList(stamp, visits, at) }
        try encoder.encodeList(stamp, visits, at, moment.before, moment.after)
    }
}

extension MemberFacts.Pack: Codable {
    package init(from decoder: any Decoder) throws {
        (stamp, visits) = try decoder.list(of: Stamp.self, Int.self)
    }

    package func encode(to encoder: any Encoder) throws { try encoder.encodeList(stamp, visits) }
}

extension MemberFacts.Removal: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let stamp = try container.decode(Stamp.self)
        self.init(
            stamp,
            born: try container.decode(Int64.self),
            visits: try container.decode(Int.self),
            bought: try container.decode(Int.self),
            latest: try container.decode(Int64.self),
            tallies: try container.isAtEnd ? [] : container.decode([Tally].self)
        )
    }

    package func encode(to encoder: any Encoder) throws {
        guard !tallies.isEmpty else { return try encoder.encodeList(stamp, born, visits, bought, latest) }
        try encoder.encodeList(stamp, born, visits, bought, latest, tallies)
    }
}

extension MemberFacts.Removal.Tally: Codable {
    package init(from decoder: any Decoder) throws {
        (from, until, visits) = try decoder.list(of: Int64.self, Int64.self, Int.self)
    }

    package func encode(to encoder: any Encoder) throws { try encoder.encodeList(from, until, visits) }
}

extension Decoder {
    /// The first values of an array.
    func list<each Value: Decodable>(of types: repeat (each Value).Type) throws -> (repeat each Value) {
        var container = try unkeyedContainer()
        return (repeat try container.decode(each types))
    }
}

extension Encoder {
    /// Writes an array.
    func encodeList<each Value: Encodable>(_ values: repeat each Value) throws {
        var container = unkeyedContainer()
        repeat try container.encode(each values)
    }
}

extension MemberFacts.Version: Hashable {
    /// Texts are the same if their bytes are: two spellings of one letter are two versions, so that all devices keep
    /// the same bytes.
    package static func == (left: Self, right: Self) -> Bool {
        left.stamp == right.stamp && left.value.orderKey == right.value.orderKey
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(stamp)
        hasher.combine(value)
    }
}

extension String {
    /// Names that Swift takes as equal are the same bytes everywhere.
    var normalized: String { utf8.allSatisfy { $0 < 0x80 } ? self : precomposedStringWithCanonicalMapping }
}

extension FieldValue {
    /// The value as it comes back from JSON.
    package var normalized: FieldValue {
        switch self {
        case .null, .bool, .int, .string: return self
        case .double(let value):
            guard value.isFinite else { return .null }
            return Int(exactly: value).map { .int($0) } ?? self
        case .array(let values): return .array(values.map(\.normalized))
        case .object(let values):
            return .object(
                Dictionary(
                    values.map { ($0.key.normalized, $0.value.normalized) },
                    uniquingKeysWith: { first, _ in first }
                )
            )
        }
    }

    /// An order of all values, the same everywhere. It has no meaning but to choose one of two.
    static func isOrderedBefore(_ left: FieldValue, _ right: FieldValue) -> Bool {
        left.orderKey.lexicographicallyPrecedes(right.orderKey)
    }

    /// Bytes that are distinct for distinct values.
    fileprivate var orderKey: [UInt8] {
        let kind: UInt8 =
            switch self {
            case .null: 0
            case .bool: 1
            case .int: 2
            case .double: 3
            case .string: 4
            case .array: 5
            case .object: 6
            }
        var bytes = [kind]
        JSONText.append(self, to: &bytes)
        return bytes
    }
}
