import Foundation
import GRDB
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

typealias ListRandom = SeededNumbers

extension SeededNumbers {
    /// A number from 0 to one below the limit.
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// A UUID of this generator.
    mutating func uuid() -> UUID { UUIDSource.uuid(next()) }
}

/// A clock that tests set.
final class SetClock: Sendable {
    private let time = Mutex(start)

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: Double) { time.withLock { $0 += seconds } }
}

extension ListChanges {
    /// The list after, made of the list before and those rows of the list after that were inserted.
    func apply<Row>(to old: [Row], inserting new: [Row]) throws -> [Row] {
        try #require(deletions == deletions.sorted() && Set(deletions).count == deletions.count)
        try #require(insertions == insertions.sorted() && Set(insertions).count == insertions.count)
        try #require(modifications == modifications.sorted() && Set(modifications).count == modifications.count)
        try #require(deletions.allSatisfy(old.indices.contains))
        try #require(modifications.allSatisfy(old.indices.contains))
        try #require(insertions.allSatisfy(new.indices.contains))
        try #require(Set(deletions).isDisjoint(with: modifications))
        var rows = old
        for index in deletions.reversed() { rows.remove(at: index) }
        for index in insertions {
            try #require(index <= rows.count)
            rows.insert(new[index], at: index)
        }
        return rows
    }
}

/// A club on a file, and what can happen in it by chance.
struct ListBench {
    static let filters: [MemberFilter] = [
        .all,
        MemberFilter(text: "an"),
        MemberFilter(text: "É"),
        MemberFilter(text: "C1"),
        MemberFilter(text: "[*]"),
        MemberFilter(isBlocked: true),
        MemberFilter(isBlocked: false, isExpired: false),
        MemberFilter(isExpired: true),
        MemberFilter(hasNoVisitsLeft: true),
        MemberFilter(hasNoVisitsLeft: false),
        MemberFilter(visitedSince: start.addingTimeInterval(20_000)),
        MemberFilter(tag: "vip"),
        MemberFilter(text: "e", isBlocked: false, tag: "vip"),
    ]

    static let names = [
        "Anna", "anna", "ANTON", "Zoë", "zoé", "ÉMILE", "émile", "Ёлка", "a", "", "Ann [*] x", "E\u{301}mile", "Éa",
        "ß",
    ]

    let directory: TemporaryDirectory
    let clock: SetClock
    let club: Club
    var random: ListRandom
    /// Whether members are erased, of whom nothing is left to be shown afterwards.
    var mayErase = true
    private var nextCard = 0

    init(seed: UInt64, members: Int = 0) async throws {
        directory = try TemporaryDirectory()
        let clock = SetClock()
        self.clock = clock
        club = try await openClub(
            .test(.file(path: directory.file()), cooldown: .zero, clock: { clock.now })
        )
        random = ListRandom(seed: seed)
        for _ in 0..<members { try await addMember() }
    }

    var store: MemberStore {
        get throws { try club.openStore("test") }
    }

    /// Another club on the same file, as another process would have it.
    func other() async throws -> Club {
        let clock = clock
        return try await openClub(.test(.file(path: directory.file()), cooldown: .zero, clock: { clock.now }))
    }

    private mutating func newKey() -> String {
        nextCard += 1
        // Not in the order of creation.
        return "\(random.pick(["C", "c", "D"]))\(random.below(90) + 10)-\(nextCard)"
    }

    mutating func addMember() async throws {
        try await club.add(Member(userId: newKey(), username: random.pick(Self.names)))
    }

    private mutating func anybody() async throws -> String? {
        let members = try await club.members(sortedBy: .userId)
        return members.isEmpty ? nil : random.pick(members).userId
    }

    /// Does something, on that club if one is given.
    mutating func change(on club: Club? = nil) async throws {
        let club = club ?? self.club
        clock.advance(by: Double(random.below(1000)))
        let now = clock.now.timeIntervalSince(start)
        guard let key = try await anybody(), !random.chance(12) else { return try await addMember() }
        let reason = ActionContext(actor: "test", reason: "chance")
        switch random.below(16) {
        case 0...3: _ = try await club.receive(tap(key, at: now, id: random.uuid()))
        case 4: _ = try await club.receive(tap(newKey(), at: now, id: random.uuid(), name: random.pick(Self.names)))
        case 5:
            let name = random.pick(Self.names)
            try await club.update(key) { $0.username = name }
        case 6:
            let values: [FieldValue] = [.string("Jean"), .string("étang"), .array([.string("An")]), .int(4), .null]
            let value = random.pick(values)
            try await club.update(key) { $0.fields["level"] = value }
        case 7: try await club.delete(key)
        case 8: try await bulk(club, count: random.below(6))
        case 9:
            let visits = try await club.visits(of: key).filter(\.counts)
            if !visits.isEmpty { try await club.undoVisit(random.pick(visits).id, by: reason) }
        case 10:
            if random.chance(50) { try await club.block(key, by: reason) } else { try await club.unblock(key) }
        case 11:
            let end = random.chance(20) ? nil : clock.now.addingTimeInterval(Double(random.below(4000) - 500))
            try await club.setExpiry(of: key, to: end)
        case 12:
            if random.chance(70) {
                try await club.sellVisits(1, to: key)
            } else {
                try await club.removeVisitLimit(of: key)
            }
        case 13: if mayErase, random.chance(30) { try await club.erase(key) }
        case 14: try await club.setTags(random.pick([[], ["vip"], ["VIP", "x"], ["vip", "x"]]), of: key)
        default:
            if let other = try await anybody(), other != key { try await club.mergeMember(key, into: other) }
        }
    }

    /// Many members at once, as a file brings them, of whom the journal has one row.
    private mutating func bulk(_ club: Club, count: Int) async throws {
        let rows = (0..<count).map { _ in (newKey(), random.pick(Self.names), random.below(9), random.below(50_000)) }
        let store = try club.openStore("test")
        _ = try await store.write("import") { transaction in
            let number = try transaction.members.noteCreations()
            for (key, name, visits, seconds) in rows {
                let at = Timestamp.microseconds(start.addingTimeInterval(Double(seconds)))
                try transaction.db.execute(
                    sql: """
                        INSERT INTO member (user_id, username, added_at, num_visits, own_visits, last_visit_at,
                            claim_visits, claim_at, change_seq)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        key, name, at, visits, visits, visits == 0 ? nil : at, visits == 0 ? nil : visits,
                        visits == 0 ? nil : at, number,
                    ]
                )
            }
        }
    }

    /// Forgets all changes but the latest few, as happens after thousands.
    func prune(keeping count: Int) async throws {
        _ = try await store.write("prune") { transaction in
            try transaction.db.execute(
                sql: "DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?",
                arguments: [count]
            )
        }
    }
}

/// What a list should be, found without the code under test: by going through all members.
enum ListOracle {
    static func images(_ query: MemberQuery, at now: Date, in db: Database) throws -> [MemberImage] {
        let rows = try Row.fetchAll(db, sql: "SELECT \(MemberImage.columns) FROM member WHERE status = 0")
        let time = Timestamp.microseconds(now) ?? 0
        return try rows.map { row in try MemberImage(row) }.filter { contains($0, query.filter, at: time) }
            .sorted { left, right in isBefore(left, right, query.order) }
    }

    static func contains(_ image: MemberImage, _ filter: MemberFilter, at now: Int64) -> Bool {
        if let text = filter.text {
            let fields = MemberRow.fields(image.fields).values.flatMap(texts)
            guard ([image.userID, image.username ?? ""] + fields).contains(where: { has($0, text) }) else {
                return false
            }
        }
        if let isBlocked = filter.isBlocked, isBlocked != (image.blocked != nil) { return false }
        if let isExpired = filter.isExpired, isExpired != (image.expiresAt.map { $0 <= now } ?? false) { return false }
        if let none = filter.hasNoVisitsLeft, none != (image.visitsLeft == 0) { return false }
        if let since = filter.visitedSince {
            guard let last = image.lastVisitAt, Timestamp.date(last) >= since else { return false }
        }
        if let tag = filter.tag {
            let tags = image.tags.flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) } ?? []
            guard tags.contains(tag) else { return false }
        }
        return true
    }

    private static func texts(_ value: FieldValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let values): values.flatMap(texts)
        case .object(let values): values.values.flatMap(texts)
        default: []
        }
    }

    /// As Foundation folds, with neither blanks nor hyphens.
    private static func has(_ text: String, _ part: String) -> Bool {
        let (text, part) = (folded(text), folded(part))
        return part.isEmpty || text.contains(part)
    }

    private static func folded(_ text: String) -> String {
        text.uppercased().folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).filter {
            !" -".contains($0)
        }
    }

    private static func isBefore(_ left: MemberImage, _ right: MemberImage, _ order: MemberOrder) -> Bool {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        func byID() -> Bool { bytes(left.userID).lexicographicallyPrecedes(bytes(right.userID)) }
        switch order {
        case .creation: return left.id < right.id
        case .userId: return byID()
        case .insertion: return left.addedAt == right.addedAt ? byID() : left.addedAt < right.addedAt
        case .visits: return left.visits == right.visits ? byID() : left.visits > right.visits
        case .lastVisit:
            let (one, other) = (left.lastVisitAt ?? -1, right.lastVisitAt ?? -1)
            return one == other ? byID() : one > other
        case .username:
            func lower(_ name: String) -> [UInt8] {
                name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
            }
            switch (left.username, right.username) {
            case (nil, nil): return byID()
            case (nil, _): return true
            case (_, nil): return false
            case (let one?, let other?):
                return lower(one) == lower(other) ? byID() : lower(one).lexicographicallyPrecedes(lower(other))
            }
        }
    }
}
