import Foundation
import GRDB
import ReaderKit

enum TagChange: Sendable {
    /// The member has these and no others.
    case all([String])
    case some(added: [String], removed: [String])
}

extension MemberStore {
    /// A member's changed state, with what is needed to report it.
    package struct Changed: Sendable {
        package var member: Member
        package var at: Date
    }

    /// Changes a member in one transaction. Nobody is notified if the body reports that it wrote nothing.
    func writeNews(
        _ attempt: String,
        committed: @escaping @Sendable (Changed) -> Void,
        _ body: @escaping @Sendable (StoreTransaction) throws -> (member: MemberRow, isNews: Bool)
    ) async throws(ClubError) -> Member {
        let told: @Sendable ((changed: Changed, isNews: Bool)) -> Void = { if $0.isNews { committed($0.changed) } }
        return try await write(attempt, committed: told) { transaction -> (changed: Changed, isNews: Bool) in
            let (member, isNews) = try body(transaction)
            return (try transaction.changed(member.id, attempt), isNews)
        }.changed.member
    }

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
        let userIDs = device.identifiers(member.userId)
        return try await write(attempt, committed: committed) { transaction in
            let former: MemberRow?
            let userID = try transaction.db.members.cardKey(userIDs)
            switch try transaction.db.members.holder(of: userID) {
            case .member: throw ClubError(.memberExists, attempting: attempt)
            case .nobody(let row): former = row
            }
            let stamp = try transaction.nextStamp()
            let now = transaction.device.now
            var facts = try former?.facts() ?? transaction.db.erasures.newFacts(of: userID)
            facts.add(MemberFacts.Birth(stamp, at: now))
            if let name = member.username, !name.isEmpty { facts.set("username", .string(PlainText.line(name)), stamp) }
            for (name, value) in member.fields where FieldKey.isCustom(name) { facts.set(name, value, stamp) }
            let id: Int64
            if let former {
                try transaction.members.save(facts, of: former.id)
                id = former.id
            } else {
                id = try transaction.members.insert(userID, facts)
            }
            if let firstVisit {
                let visit = VisitRow(firstVisit, try transaction.nextStamp(), at: now, born: stamp.time, by: context)
                try transaction.ledger.insertVisit(visit, of: id)
                try transaction.members.refreshTotals(of: id)
            }
            try transaction.audit(.added, of: userID, context)
            return try transaction.changed(id, attempt)
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
        let key = device.identifiers(key)
        for _ in 0..<Self.mostUpdateAttempts {
            let before = try await read(attempt) { db in try db.members.member(key, attempt).member }
            var after = before
            try ClubError.wrapping(attempt) { try body(&after) }
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
        return try await write(attempt, committed: told) { transaction -> (Member?, Changed?) in
            let row = try transaction.db.members.member(key, attempt)
            // Visits that came meanwhile do not matter.
            let isSame =
                row.member.userId == before.userId && row.member.username == before.username
                && row.member.fields == before.fields && row.member.timeStampAdded == before.timeStampAdded
            guard isSame else { return (nil, nil) }
            let changed = try transaction.members.edit(row, to: member, context, attempt)
            return (changed?.member ?? row.member, changed)
        }.0
    }

    /// Deletes a member and whoever was joined to them; returns the member as they were.
    package func delete(
        _ key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "delete a member"
        let key = device.identifiers(key)
        return try await write(attempt, committed: committed) { transaction in
            let row = try transaction.db.members.member(key, attempt)
            let stamp = try transaction.nextStamp()
            var joined: Set<Int64> = []
            for one in try transaction.db.members.joined(to: row) {
                var facts = try one.facts()
                facts.delete(stamp)
                try transaction.members.save(facts, of: one.id, joined: &joined)
            }
            try transaction.members.refreshJoined(joined)
            try transaction.audit(.deleted, of: row.member.userId, context)
            return Changed(member: row.member, at: self.clock())
        }.member
    }

    /// Sets values that the club keeps of a member. Nothing is written if all are so already: whoever unblocks a member
    /// who is not blocked has learnt of no block, and must not overrule another kiosk's. A block is recorded anew.
    package func set(
        _ values: [String: FieldValue],
        of key: String,
        _ action: AuditEntry.Action,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a member"
        let key = device.identifiers(key)
        if let name = values.nameWithNUL {
            let detail = "the text of '\(name.drop { $0 == "$" })' has a NUL character; remove it"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        return try await writeNews(attempt, committed: committed) { transaction in
            let row = try transaction.db.members.member(key, attempt)
            let facts = try row.facts()
            let isNews = values.contains { name, value in
                if name == SystemValues.Name.blocked, value != .null { return true }
                let stored = facts.value(name) ?? .null
                // Notes that were emptied are none.
                if name == SystemValues.Name.notes, stored.isNothing, value.isNothing { return false }
                return stored != value.normalized
            }
            guard isNews else { return (row, isNews: false) }
            let stamp = try transaction.nextStamp()
            try transaction.members.change(row) { facts in
                for (name, value) in values {
                    // A block without a reason does not overrule the reason of an earlier one.
                    if name == SystemValues.Name.blocked, value == .string(""), row.blocked != nil { continue }
                    facts.set(name, value, stamp)
                }
            }
            // Notes are kept once; the log records only that they were changed.
            let detail = values.filter { $0.key != SystemValues.Name.notes }
                .reduce(into: [:]) { $0[String($1.key.dropFirst())] = $1.value }
            try transaction.audit(action, of: row.member.userId, context, detail: detail)
            return (row, isNews: true)
        }
    }

    /// Adds visits that were bought, or ends the limit.
    package func sellVisits(
        _ visits: Int?,
        to key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "sell visits"
        let key = device.identifiers(key)
        if let visits, !(1...1_000_000).contains(visits) {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the number is not 1 to 1 000 000")
        }
        return try await write(attempt, committed: committed) { transaction in
            let row = try transaction.db.members.member(key, attempt)
            let stamp = try transaction.nextStamp()
            try transaction.members.change(row) { facts in
                if let visits {
                    facts.add(MemberFacts.Pack(stamp, visits: visits))
                } else {
                    facts.set(SystemValues.Name.packsFrom, .int(Int(stamp.time)), stamp)
                }
            }
            let detail: [String: FieldValue] = visits.map { ["visits": .int($0)] } ?? [:]
            let action: AuditEntry.Action = visits == nil ? .unlimited : .soldVisits
            try transaction.audit(action, of: row.member.userId, context, detail: detail)
            return try transaction.changed(row.id, attempt)
        }.member
    }

    func setTags(
        _ tags: TagChange,
        of key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a member"
        let key = device.identifiers(key)
        func clean(_ tags: [String]) -> Set<String> { Set(tags.map(PlainText.line)).subtracting([""]) }
        let (added, removed, isWhole) =
            switch tags {
            case .all(let tags): (clean(tags), Set<String>(), true)
            case .some(let added, let removed): (clean(added), clean(removed).subtracting(clean(added)), false)
            }
        return try await writeNews(attempt, committed: committed) { transaction in
            let row = try transaction.db.members.member(key, attempt)
            let former = Set(SystemValues(try row.facts()).tags)
            // Whoever replaces the list states nothing new of what stays, and nobody takes away what is not there;
            // whoever names a tag that is there states it anew, also if another device states otherwise meanwhile.
            let gone = isWhole ? former.subtracting(added) : removed.intersection(former)
            let new = isWhole ? added.subtracting(former) : added
            guard !gone.isEmpty || !new.isEmpty else { return (row, isNews: false) }
            let stamp = try transaction.nextStamp()
            var now: [String] = []
            try transaction.members.change(row) { facts in
                for tag in gone { facts.setTag(tag, false, stamp) }
                for tag in new { facts.setTag(tag, true, stamp) }
                now = SystemValues(facts).tags
            }
            let detail: [String: FieldValue] = ["tags": .array(now.map { .string($0) })]
            try transaction.audit(.tagged, of: row.member.userId, context, detail: detail)
            return (row, isNews: true)
        }
    }

    // MARK: Cards

    /// Sets to whom a card belongs and whether it is blocked.
    package func setCard(
        _ card: String,
        of key: String,
        blocked: String?,
        _ action: AuditEntry.Action,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a card"
        guard MemberID.isUsable(card), !card.allSatisfy(\.isWhitespace) else {
            let detail = "the card's identifier is empty, too long or not plain"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        let (cards, key) = (device.identifiers(card), device.identifiers(key))
        return try await writeNews(attempt, committed: committed) { transaction in
            let card = try transaction.db.members.cardKey(cards)
            let row = try transaction.db.members.member(key, attempt)
            if case .member(let holder, _) = try transaction.db.members.holder(of: card) {
                guard holder.id == row.id else {
                    throw ClubError(.memberExists, attempting: attempt, detail: "the card belongs to another member")
                }
                let stored = try transaction.db.members.blocked(card)
                // A block without a reason does not overrule the reason of an earlier one.
                let isSame = stored == blocked.map(PlainText.line) || blocked == "" && stored != nil
                guard !isSame else { return (row, isNews: false) }
            }
            try transaction.members.setCard(card, of: row.member.userId, blocked: blocked)
            try transaction.audit(action, of: row.member.userId, context, detail: ["card": .string(card)])
            return (row, isNews: true)
        }
    }

    /// Replaces a member's card, which is blocked from now on, by another.
    package func replaceCard(
        _ old: String,
        by new: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "replace a card"
        let unusable = ClubError(.invalidValue, attempting: attempt, detail: "the new card's identifier cannot be used")
        guard MemberID.isUsable(new), !new.allSatisfy(\.isWhitespace) else { throw unusable }
        let (olds, news) = (device.identifiers(old), device.identifiers(new))
        return try await writeNews(attempt, committed: committed) { transaction in
            let (old, new) = (try transaction.db.members.cardKey(olds), try transaction.db.members.cardKey(news))
            guard old != new else { throw unusable }
            let row = try transaction.db.members.member([old], attempt)
            if case .member(let holder, let isBlocked) = try transaction.db.members.holder(of: new) {
                guard holder.id == row.id else {
                    let detail = "the new card belongs to another member"
                    throw ClubError(.memberExists, attempting: attempt, detail: detail)
                }
                let stored = try transaction.db.members.blocked(old)
                let isSame = stored != nil && (context.reason.map { PlainText.line($0) == stored } ?? true)
                guard isBlocked || !isSame else { return (row, isNews: false) }
            }
            try transaction.members.setCard(old, of: row.member.userId, blocked: context.reason ?? "replaced")
            try transaction.members.setCard(new, of: row.member.userId, blocked: nil)
            let detail: [String: FieldValue] = ["old": .string(old), "new": .string(new)]
            try transaction.audit(.replacedCard, of: row.member.userId, context, detail: detail)
            return (row, isNews: true)
        }
    }

    // MARK: Making one member of two

    /// Makes one member of two: everything that the second is known by leads to the first, whose visits are those of
    /// both, and who is held to what was recorded of either.
    package func mergeMember(
        _ key: String,
        into target: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> JoinReport {
        let attempt = "merge two members"
        let (key, target) = (device.identifiers(key), device.identifiers(target))
        let told: @Sendable ((Changed, JoinReport)) -> Void = { committed($0.0) }
        return try await write(attempt, committed: told) { transaction -> (Changed, JoinReport) in
            let row = try transaction.db.members.member(key, attempt)
            let target = try transaction.db.members.member(target, attempt)
            guard row.id != target.id else {
                throw ClubError(.invalidValue, attempting: attempt, detail: "both are the same member")
            }
            let taken = try row.takenOver(by: target) { try transaction.nextStamp() }
            try transaction.members.change(target) { $0 = taken.facts }
            let stamp = try transaction.nextStamp()
            try transaction.members.change(row) {
                $0.set(SystemValues.Name.mergedInto, .string(target.member.userId), stamp)
            }
            var report = taken.report
            try transaction.audit(.joined, of: row.member.userId, context, detail: report.detail)
            let changed = try transaction.changed(target.id, attempt)
            report.member = changed.member
            return (changed, report)
        }.1
    }
}

extension MemberRow {
    /// What another member takes over from this one, who joins them.
    ///
    /// - Parameter stamp: the next moment; each value is recorded at one of its own.
    fileprivate func takenOver(
        by target: MemberRow,
        _ stamp: () throws -> Stamp
    ) throws -> (facts: MemberFacts, report: JoinReport) {
        var facts = try target.facts()
        let (own, others) = (SystemValues(facts), SystemValues(try self.facts()))
        let names = member.fields.filter { name, value in
            FieldKey.isCustom(name) && !value.isNothing && value != target.member.fields[name]
        }.keys.sorted()
        var report = JoinReport(member: target.member, carried: [], notCarried: [], fieldsNotCarried: names)
        if let reason = others.blocked {
            if own.blocked == nil {
                facts.set(SystemValues.Name.blocked, .string(reason), try stamp())
                report.carried.append(.blocked)
            } else if own.blocked != reason, !reason.isEmpty {
                report.notCarried.append(.blocked)
            }
        }
        if let end = others.expiresAt {
            if own.expiresAt == nil {
                facts.set(SystemValues.Name.expires, .int(Int(end)), try stamp())
                report.carried.append(.expires)
            } else if own.expiresAt != end {
                report.notCarried.append(.expires)
            }
        }
        if let left = visitsLeft {
            if target.visitsLeft == nil {
                report.notCarried.append(.visitsLeft)
            } else if left > 0 {
                // No file may contain more.
                let name = SystemValues.Name.carried(from: member.userId)
                facts.set(name, .int(min(left, NumberText.mostVisits)), try stamp())
                report.carried.append(.visitsLeft)
            }
        }
        let tags = others.tags.filter { !own.tags.contains($0) }
        for tag in tags { facts.setTag(tag, true, try stamp()) }
        if !tags.isEmpty { report.carried.append(.tags) }
        if let notes = others.notes, notes != own.notes {
            let all = own.notes.map { "\($0)\n\(notes)" } ?? notes
            facts.set(SystemValues.Name.notes, .string(all), try stamp())
            report.carried.append(.notes)
        }
        if let name = member.username, !name.isEmpty, name != target.member.username {
            report.notCarried.append(.username)
        }
        return (facts, report)
    }
}

extension JoinReport {
    /// For the audit log: which values it concerns, not their contents.
    fileprivate var detail: [String: FieldValue] {
        var detail: [String: FieldValue] = ["into": .string(member.userId)]
        if !carried.isEmpty { detail["carried"] = .array(carried.map { .string($0.rawValue) }) }
        if !notCarried.isEmpty { detail["notCarried"] = .array(notCarried.map { .string($0.rawValue) }) }
        if !fieldsNotCarried.isEmpty { detail["fieldsNotCarried"] = .array(fieldsNotCarried.map { .string($0) }) }
        return detail
    }
}
