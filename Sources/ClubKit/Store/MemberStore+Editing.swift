import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    /// Adds a member, with a visit of that identifier if one is given, else without visits.
    package func add(
        _ member: Member,
        firstVisit: UUID? = nil,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "add a member"
        guard MemberID.isUsable(member.userId), !member.userId.allSatisfy(\.isWhitespace) else {
            let detail = "the identifier is empty, too long or not plain"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        try member.fields.filter { FieldKey.isCustom($0.key) }.refuseNUL(attempting: attempt)
        let userIDs = identifiers(member.userId)
        return try await write(attempt, committed: committed) { db in
            let former: MemberRow?
            let userID = try Self.cardKey(userIDs, in: db)
            switch try Self.holder(of: userID, in: db) {
            case .member: throw ClubError(.memberExists, attempting: attempt)
            case .nobody(let row): former = row
            }
            let stamp = try self.nextStamp(in: db)
            let now = Timestamp.microseconds(self.clock()) ?? 0
            var facts = try former?.facts() ?? self.newFacts(of: userID, in: db)
            facts.add(MemberFacts.Birth(stamp, at: now))
            if let name = member.username, !name.isEmpty { facts.set("username", .string(PlainText.line(name)), stamp) }
            for (name, value) in member.fields where FieldKey.isCustom(name) { facts.set(name, value, stamp) }
            let id: Int64
            if let former {
                try self.save(facts, of: former.id, in: db)
                id = former.id
            } else {
                id = try self.insert(userID, facts, in: db)
            }
            if let firstVisit {
                let visit = VisitRow(
                    eventID: firstVisit,
                    stamp: try self.nextStamp(in: db),
                    at: now,
                    reader: "",
                    backend: "",
                    born: stamp.time,
                    source: .manual,
                    reason: context.reason.map(PlainText.line),
                    actor: context.actor.map(PlainText.line)
                )
                try self.insertVisit(visit, of: id, in: db)
                try self.refreshTotals(of: id, in: db)
            }
            try self.audit(.added, of: userID, context, in: db)
            return try self.changed(id, attempt, in: db)
        }.member
    }

    /// How often the closure of a change is called anew since somebody else was faster.
    private static let mostUpdateAttempts = 20

    /// Changes a member's name and custom fields.
    ///
    /// - Parameter body: called outside any transaction, and again if the member was changed meanwhile.
    package func update(
        _ key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void,
        _ body: @escaping @Sendable (inout Member) throws -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a member"
        let key = identifiers(key)
        for _ in 0..<Self.mostUpdateAttempts {
            let before = try await read(attempt) { db in try Self.member(key, attempt, in: db).member }
            var after = before
            do {
                try body(&after)
            } catch {
                throw ClubError(error, attempting: attempt)
            }
            if let member = try await apply(after, insteadOf: before, key, context, committed) { return member }
        }
        throw ClubError(.busy, attempting: attempt, detail: "others change the same member all the time")
    }

    /// - Returns: `nil` if the member is not as it was read any more, so that nothing was changed.
    private func apply(
        _ member: Member,
        insteadOf before: Member,
        _ key: [String],
        _ context: ActionContext,
        _ committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member? {
        let attempt = "change a member"
        let told: @Sendable ((Member?, Changed?)) -> Void = { if let changed = $0.1 { committed(changed) } }
        return try await write(attempt, committed: told) { db -> (Member?, Changed?) in
            let row = try Self.member(key, attempt, in: db)
            // Visits that came meanwhile do not matter.
            let isSame =
                row.member.userId == before.userId && row.member.username == before.username
                && row.member.fields == before.fields && row.member.timeStampAdded == before.timeStampAdded
            guard isSame else { return (nil, nil) }
            let changed = try self.edit(row, to: member, context, attempt, in: db)
            return (changed?.member ?? row.member, changed)
        }.0
    }

    /// Makes a member's name and custom fields those of another record.
    ///
    /// - Returns: `nil` if they were so already.
    func edit(
        _ row: MemberRow,
        to member: Member,
        _ context: ActionContext,
        _ attempt: String,
        in db: Database
    ) throws -> Changed? {
        let said = Self.changes(from: row.member, to: member)
        try said.refuseNUL(attempting: attempt)
        guard !said.isEmpty else { return nil }
        let stamp = try nextStamp(in: db)
        try change(row, in: db) { facts in
            for (name, value) in said { facts.set(name, value, stamp) }
        }
        let names = said.keys.sorted().map { FieldValue.string($0) }
        try audit(.edited, of: row.member.userId, context, detail: ["fields": .array(names)], in: db)
        return try changed(row.id, attempt, in: db)
    }

    /// The name and the custom fields that are others than they were, as they are kept.
    private static func changes(from before: Member, to after: Member) -> [String: FieldValue] {
        var said: [String: FieldValue] = [:]
        let name = after.username.map(PlainText.line)
        if name != before.username { said["username"] = name.map { .string($0) } ?? .null }
        for name in Set(after.fields.keys).union(before.fields.keys) where FieldKey.isCustom(name) {
            let value = (after.fields[name] ?? .null).normalized
            if value != (before.fields[name] ?? .null).normalized { said[name] = value }
        }
        return said
    }

    /// Deletes a member and whoever was joined to them.
    ///
    /// - Returns: the member as they were.
    package func delete(
        _ key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "delete a member"
        let key = identifiers(key)
        return try await write(attempt, committed: committed) { db in
            let row = try Self.member(key, attempt, in: db)
            let stamp = try self.nextStamp(in: db)
            var joined: Set<Int64> = []
            for one in try Self.joined(to: row, in: db) {
                var facts = try one.facts()
                facts.delete(stamp)
                try self.save(facts, of: one.id, in: db, joined: &joined)
            }
            try self.refreshJoined(joined, in: db)
            try self.audit(.deleted, of: row.member.userId, context, in: db)
            return Changed(member: row.member, at: self.clock())
        }.member
    }

    /// Sets one of the values that the club itself keeps of a member. Where all are so already nothing is written: who
    /// lets somebody in who is not blocked has heard of no block, and must not overrule another kiosk's. A block is said
    /// anew.
    package func set(
        _ values: [String: FieldValue],
        of key: String,
        _ action: AuditEntry.Action,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a member"
        let key = identifiers(key)
        if let name = values.nameWithNUL {
            let detail = "the text of '\(name.drop { $0 == "$" })' has a NUL character; remove it"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        return try await writeNews(attempt, committed: committed) { db in
            let row = try Self.member(key, attempt, in: db)
            let facts = try row.facts()
            let isNews = values.contains { name, value in
                if name == SystemValues.Name.blocked, value != .null { return true }
                let stored = facts.value(name) ?? .null
                // Notes that were emptied are none.
                if name == SystemValues.Name.notes, stored.isNothing, value.isNothing { return false }
                return stored != value.normalized
            }
            guard isNews else { return (row, isNews: false) }
            let stamp = try self.nextStamp(in: db)
            try self.change(row, in: db) { facts in
                for (name, value) in values {
                    // Who blocks without saying why does not know better than who said it.
                    if name == SystemValues.Name.blocked, value == .string(""), row.blocked != nil { continue }
                    facts.set(name, value, stamp)
                }
            }
            // Notes are kept once; the log says only that they were changed.
            let detail = values.filter { $0.key != SystemValues.Name.notes }
                .reduce(into: [:]) { $0[String($1.key.dropFirst())] = $1.value }
            try self.audit(action, of: row.member.userId, context, detail: detail, in: db)
            return (row, isNews: true)
        }
    }

    /// Adds visits that were bought, or ends the limit.
    package func addVisits(
        _ visits: Int?,
        to key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "sell visits"
        let key = identifiers(key)
        if let visits, !(1...1_000_000).contains(visits) {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the number is not 1 to 1 000 000")
        }
        return try await write(attempt, committed: committed) { db in
            let row = try Self.member(key, attempt, in: db)
            let stamp = try self.nextStamp(in: db)
            try self.change(row, in: db) { facts in
                if let visits {
                    facts.add(MemberFacts.Pack(stamp, visits: visits))
                } else {
                    facts.set(SystemValues.Name.packsFrom, .int(Int(stamp.time)), stamp)
                }
            }
            let detail: [String: FieldValue] = visits.map { ["visits": .int($0)] } ?? [:]
            let action: AuditEntry.Action = visits == nil ? .unlimited : .soldVisits
            try self.audit(action, of: row.member.userId, context, detail: detail, in: db)
            return try self.changed(row.id, attempt, in: db)
        }.member
    }
}
