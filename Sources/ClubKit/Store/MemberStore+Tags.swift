import Foundation
import GRDB

/// What is said of a member's tags.
enum TagChange: Sendable {
    /// The member has these and no others.
    case all([String])
    case some(added: [String], removed: [String])
}

extension MemberStore {
    /// Changes a member's tags.
    func setTags(
        _ tags: TagChange,
        of key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a member"
        let key = identifiers(key)
        func clean(_ tags: [String]) -> Set<String> { Set(tags.map(PlainText.line)).subtracting([""]) }
        let (added, removed, isWhole) =
            switch tags {
            case .all(let tags): (clean(tags), Set<String>(), true)
            case .some(let added, let removed): (clean(added), clean(removed).subtracting(clean(added)), false)
            }
        return try await writeNews(attempt, committed: committed) { db in
            let row = try Self.member(key, attempt, in: db)
            let former = Set(SystemValues(try row.facts()).tags)
            // Whoever replaces the list says nothing new of what stays, and nobody takes away what is not there; whoever
            // names a tag that is there says it anew, also if another device says otherwise meanwhile.
            let gone = isWhole ? former.subtracting(added) : removed.intersection(former)
            let new = isWhole ? added.subtracting(former) : added
            guard !gone.isEmpty || !new.isEmpty else { return (row, isNews: false) }
            let stamp = try self.nextStamp(in: db)
            var now: [String] = []
            try self.change(row, in: db) { facts in
                for tag in gone { facts.setTag(tag, false, stamp) }
                for tag in new { facts.setTag(tag, true, stamp) }
                now = SystemValues(facts).tags
            }
            let detail: [String: FieldValue] = ["tags": .array(now.map { .string($0) })]
            try self.audit(.tagged, of: row.member.userId, context, detail: detail, in: db)
            return (row, isNews: true)
        }
    }
}
