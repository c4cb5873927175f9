import Foundation
import ReaderKit

/// What a merge changes of a member besides the values that lists show.
extension MergeBatch {
    /// What has changed in whether somebody is a member, is let in, and in what the desk keeps of them. The names are
    /// those under which no custom field can be.
    static func standing(from before: MemberFacts, to after: MemberFacts) -> [FieldDifference] {
        let (old, new) = (SystemValues(before), SystemValues(after))
        var changes: [FieldDifference] = []
        func compare(_ name: String, _ stored: FieldValue?, _ imported: FieldValue?) {
            if stored != imported { changes.append(FieldDifference(name, stored: stored, imported: imported)) }
        }
        compare("$state", .string(state(of: before)), .string(state(of: after)))
        compare(SystemValues.Name.blocked, old.blocked.map { .string($0) }, new.blocked.map { .string($0) })
        compare(SystemValues.Name.expires, old.expires, new.expires)
        compare("$visitsBought", old.bought, new.bought)
        compare(SystemValues.Name.notes, old.notes.map { .string($0) }, new.notes.map { .string($0) })
        compare("$tags", old.tagList, new.tagList)
        compare(SystemValues.Name.mergedInto, old.mergedInto.map { .string($0) }, new.mergedInto.map { .string($0) })
        return changes
    }

    /// What the club keeps of a member on which others say something else than what counts after all. What they do not
    /// speak of is no conflict, nor that they have no notes.
    static func conflicts(of said: MemberFacts, with facts: MemberFacts) -> [FieldDifference] {
        let (imported, stored) = (SystemValues(said), SystemValues(facts))
        var conflicts: [FieldDifference] = []
        func compare(_ name: String, _ stored: FieldValue?, _ imported: FieldValue?) {
            guard said.value(name) != nil, stored != imported else { return }
            conflicts.append(FieldDifference(name, stored: stored, imported: imported))
        }
        compare(SystemValues.Name.blocked, stored.blocked.map { .string($0) }, imported.blocked.map { .string($0) })
        compare(SystemValues.Name.expires, stored.expires, imported.expires)
        if let notes = imported.notes {
            compare(SystemValues.Name.notes, stored.notes.map { .string($0) }, .string(notes))
        }
        return conflicts
    }

    private static func state(of facts: MemberFacts) -> String {
        facts.exists ? "member" : facts.erasure != nil ? "erased" : "deleted"
    }
}

extension SystemValues {
    fileprivate var expires: FieldValue? {
        expiresAt.map { .string(ISO8601.text(Timestamp.date($0))) }
    }

    fileprivate var bought: FieldValue? {
        packs.isEmpty ? nil : .int(packs.reduce(0) { $0 &+ $1.visits })
    }

    fileprivate var tagList: FieldValue? {
        tags.isEmpty ? nil : .array(tags.map { .string($0) })
    }
}
