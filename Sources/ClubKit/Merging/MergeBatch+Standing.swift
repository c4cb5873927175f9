import GRDB
import ReaderKit

/// What rows of files state of a member besides values: whether they are let in, until when, for how many visits, tags,
/// cards and notes. Stated again, it is nothing new.
extension MergeBatch {
    /// Sets what a row states and nobody here has overruled, as of the time of the row.
    mutating func join(_ standing: Standing, of row: ImportedMember, into facts: inout MemberFacts) throws {
        var told = MemberFacts()
        let stamp = row.stamp(believedUpTo: limit)
        for (name, value) in standing.values(besides: facts) where value != .null { told.set(name, value, stamp) }
        facts.join(told.told(again: facts))
    }

    /// Sets what a row states as of now, where it is something else. Of tags, those that it names are all there are.
    mutating func overwrite(_ standing: Standing, _ facts: inout MemberFacts) throws {
        for (name, value) in standing.values(besides: facts) where (facts.value(name) ?? .null) != value {
            facts.set(name, value, try overwriteStamp())
        }
        let tags = standing.tags
        for tag in tags.isEmpty ? [] : SystemValues(facts).tags where !tags.contains(tag) {
            facts.setTag(tag, false, try overwriteStamp())
        }
    }

    /// Adds the visits that are left by a row, as a pack that counts from the last visit that the file knows, or from
    /// now. Of somebody with a limit, the club knows better; a row adds none twice, also not on two kiosks.
    mutating func sell(_ standing: Standing, of row: ImportedMember, _ facts: inout MemberFacts, isNew: Bool) throws {
        guard let visits = standing.visitsLeft, facts.allPacks.isEmpty else { return }
        let last = row.lastVisitAt?.at ?? 0
        let ofFile = isNew ? row.stamp(believedUpTo: limit) : .legacy(at: last, believedUpTo: limit)
        let stamp = (isNew || last > 0) && facts.isAlive(ofFile) ? ofFile : try overwriteStamp()
        facts.set(Standing.visitsOfFile, .int(visits), stamp)
    }

    /// What a row states, and is something else here.
    func conflicts(of standing: Standing, with target: MemberRow, _ facts: MemberFacts) throws -> [FieldDifference] {
        var said = MemberFacts()
        let stamp = Stamp.legacy(at: 0)
        for (name, value) in standing.values(besides: facts) { said.set(name, value, stamp) }
        var conflicts = Self.conflicts(of: said, with: facts)
        func texts(_ texts: [String]) -> FieldValue? { texts.isEmpty ? nil : .array(texts.map { .string($0) }) }
        let tags = SystemValues(facts).tags
        if !Set(standing.tags).isSubset(of: tags) {
            conflicts.append(FieldDifference("$tags", stored: texts(tags), imported: texts(standing.tags.sorted())))
        }
        if let visits = standing.visitsLeft, facts.value(Standing.visitsOfFile) != .int(visits),
            target.visitsLeft != visits
        {
            let left = target.visitsLeft.map { FieldValue.int($0) }
            conflicts.append(FieldDifference("$visitsLeft", stored: left, imported: .int(visits)))
        }
        return conflicts
    }

    /// Gives a member the cards that a row names; returns whether any of them is new.
    ///
    /// - Parameter isTried: to take note only of those that are not the member's.
    mutating func give(_ cards: [String], to target: MemberRow, isTried: Bool = false) throws -> Bool {
        let holder = try db.members.representative(of: target)
        var isNews = false
        for card in cards {
            guard MemberID.isUsable(card), transaction.device.identifier(imported: card) != nil else {
                notes.append("a card: \(Self.otherKeyReason)")
                continue
            }
            let key = try db.members.cardKey(transaction.device.identifiers(card))
            if case .member(let other, _) = try db.members.holder(of: key) {
                if other.id != holder.id { notes.append(Self.heldCardNote) }
                continue
            }
            guard !isTried else {
                notes.append(Self.untakenCardNote)
                continue
            }
            guard try !isTooMany(key, joinedTo: holder.member.userId) else {
                notes.append("a card: \(Self.joinedReason)")
                continue
            }
            let stamp = try overwriteStamp()
            let sql = "REPLACE INTO card (card_id, member_key, blocked, hlc, device_id) VALUES (?, ?, NULL, ?, ?)"
            try db.execute(sql: sql, arguments: [key, holder.member.userId, stamp.time, stamp.device])
            hasCards = true
            isNews = true
            if let same = try db.members.row(userID: key) {
                try transaction.members.save(same.facts(), of: same.id, joined: &joined)
            }
        }
        return isNews
    }

    static let heldCardNote = """
        a card of this row is another member's, and stays theirs; 'members cards add' says whose, 'members merge' makes \
        one member of two
        """
    static let untakenCardNote = "a card of this row is not the member's here; --merge takes it"
}
