import Foundation
import GRDB

/// Making one member of two.
extension MemberStore {
    /// Makes one member of two: everything that the second is known by leads to the first, whose visits are those of
    /// both, and who is held to what was said of either.
    package func join(
        _ key: String,
        to target: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> JoinReport {
        let attempt = "join two members"
        let (key, target) = (identifiers(key), identifiers(target))
        let told: @Sendable ((Changed, JoinReport)) -> Void = { committed($0.0) }
        return try await write(attempt, committed: told) { db -> (Changed, JoinReport) in
            let row = try Self.member(key, attempt, in: db)
            let target = try Self.member(target, attempt, in: db)
            guard row.id != target.id else {
                throw ClubError(.invalidValue, attempting: attempt, detail: "both are the same member")
            }
            var taking = TakingOver(from: row, to: target, of: try target.facts(), and: try row.facts())
            try taking.all { try self.nextStamp(in: db) }
            try self.change(target, in: db) { $0 = taking.facts }
            let stamp = try self.nextStamp(in: db)
            try self.change(row, in: db) {
                $0.set(SystemValues.Name.mergedInto, .string(target.member.userId), stamp)
            }
            var report = taking.report
            try self.audit(.joined, of: row.member.userId, context, detail: report.detail, in: db)
            let changed = try self.changed(target.id, attempt, in: db)
            report.member = changed.member
            return (changed, report)
        }.1
    }

    /// What the member who remains is told of the one who joins.
    private struct TakingOver {
        private let row: MemberRow
        private let target: MemberRow
        /// What is kept of the one who joins.
        private let others: SystemValues
        /// What is said of the one who remains.
        private(set) var facts: MemberFacts
        private(set) var report: JoinReport

        init(from row: MemberRow, to target: MemberRow, of facts: MemberFacts, and others: MemberFacts) {
            self.row = row
            self.target = target
            self.others = SystemValues(others)
            self.facts = facts
            let names = row.member.fields.filter { name, value in
                FieldKey.isCustom(name) && !value.isNothing && value != target.member.fields[name]
            }.keys.sorted()
            report = JoinReport(member: target.member, carried: [], notCarried: [], fieldsNotCarried: names)
        }

        /// - Parameter stamp: the next moment; each thing is said at one of its own.
        mutating func all(_ stamp: () throws -> Stamp) throws {
            let own = SystemValues(facts)
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
            if let left = row.visitsLeft {
                if target.visitsLeft == nil {
                    report.notCarried.append(.visitsLeft)
                } else if left > 0 {
                    // No file may tell of more.
                    let name = SystemValues.Name.carried(from: row.member.userId)
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
            if let name = row.member.username, !name.isEmpty, name != target.member.username {
                report.notCarried.append(.username)
            }
        }
    }
}

extension JoinReport {
    /// For the audit log: what it was about, not what it said.
    fileprivate var detail: [String: FieldValue] {
        var detail: [String: FieldValue] = ["into": .string(member.userId)]
        if !carried.isEmpty { detail["carried"] = .array(carried.map { .string($0.rawValue) }) }
        if !notCarried.isEmpty { detail["notCarried"] = .array(notCarried.map { .string($0.rawValue) }) }
        if !fieldsNotCarried.isEmpty { detail["fieldsNotCarried"] = .array(fieldsNotCarried.map { .string($0) }) }
        return detail
    }
}
