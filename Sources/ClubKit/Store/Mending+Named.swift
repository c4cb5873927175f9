import Foundation
import GRDB
import ReaderKit

/// Members of whose rows a damaged file had only what is in the indexes.
extension Mending {
    /// Takes the rest from the journal of changes, where it has them, and reports what the others have lost.
    mutating func mendNamedMembers(_ ids: [Int64]) throws {
        guard !ids.isEmpty else { return }
        let images = try images(of: Set(ids))
        for id in ids {
            guard let row = try db.members.row(id: id) else { continue }
            switch row.status {
            case .present:
                guard let text = images[id], var shown = try image(text), shown.member.userId == row.member.userId
                else {
                    note(
                        """
                        members' fields, totals from files and what else was said of them; their identifiers, names and \
                        visits are kept
                        """,
                        1,
                        isLoss: true
                    )
                    let origin = try origin(of: row, nil, nil)
                    if origin != row.origin { try write(Shown(member: row.member, origin: origin), of: id) }
                    continue
                }
                note("members' latest changes, notes and former values", 1, isLoss: true)
                // The index of names is newer than the journal.
                shown.member.username = row.member.username ?? shown.member.username
                shown.claim = try claim(text, of: row)
                shown.origin = try origin(of: row, shown.member, shown.claim)
                try write(shown, of: id)
            case .gone:
                note("deleted members' former values; they stay deleted", 1, isLoss: true)
                try write(Shown(member: row.member, exists: false), of: id)
            case .merged:
                note(
                    "joined members' fields, totals from files and what else was said of them; they stay joined",
                    1,
                    isLoss: true
                )
                let origin = try origin(of: row, nil, nil)
                try write(Shown(member: row.member, origin: origin, mergedInto: row.mergedInto), of: id)
            }
        }
    }

    /// The creation of a member who is there, which the lost row contained: by the visits, if there are any.
    private func origin(of row: MemberRow, _ known: Member?, _ claim: (visits: Int, at: Int64)?) throws -> Stamp {
        var origin = row.origin
        let latest = try LogicalTimes.clock(in: db) ?? 0
        if origin.time == 0 {
            if let first = try Row.fetchOne(db, sql: Rescue.firstVisit(of: "?"), arguments: [row.id]) {
                // Only receipts contained these visits.
                origin = Stamp(time: try first.value(0), device: try first.value(1))
                try db.write("UPDATE visit SET born = ? WHERE member_id = ? AND born = 0", [origin.time, row.id])
            } else if let claim {
                // So many visits and none in the ledger: a file made the member.
                origin = .legacy(at: claim.at)
            } else if let known, known.timeStampAdded > 0,
                let added = Timestamp.microseconds(Date(timeIntervalSince1970: known.timeStampAdded)),
                Stamp.time(milliseconds: added / 1000, counter: .max) <= latest
            {
                origin = Stamp(
                    time: try freeTime(near: added, of: transaction.device.id, in: "visit"),
                    device: transaction.device.id
                )
            } else {
                // Before all else: any deletion of which others know holds. Not of a file, which an erasure keeps out.
                origin = Stamp(time: 0, device: transaction.device.id)
            }
        }
        // Who is there was created after an erasure.
        if let erasure = try db.erasures.latest(of: row.member.userId),
            origin.isLegacy || origin.time <= erasure.time
        {
            origin = Stamp(time: erasure.time &+ 1, device: origin.isLegacy ? transaction.device.id : origin.device)
        }
        return origin
    }

    /// The values before the latest change of each of these members who were there then.
    private func images(of ids: Set<Int64>) throws -> [Int64: String] {
        var images: [Int64: String] = [:]
        // SQLite takes the other columns from the row with the maximum.
        let rows = try Row.fetchCursor(db, sql: "SELECT member_id, before, max(seq) FROM change GROUP BY member_id")
        while let row = try rows.next() {
            let id: Int64 = try row.value(0)
            if ids.contains(id), let text: String = try row.optional(1) { images[id] = text }
        }
        return images
    }

    /// A total that was shown and that the visits in the ledger do not come to: so many were reported by files.
    private func claim(_ image: String, of row: MemberRow) throws -> (visits: Int, at: Int64)? {
        guard let values = try? JSONDecoder().decode([FieldValue].self, from: Data(image.utf8)), values.count >= 10,
            case .int(let total) = values[3], case .int(let at) = values[4], (0...Timestamp.latest).contains(Int64(at))
        else { return nil }
        // Of a member to whom others are joined their visits are in the total.
        let sql = """
            SELECT count(*) FROM visit WHERE at <= ?2 AND member_id IN (
                SELECT ?1 UNION SELECT id FROM member WHERE merged_into = ?3)
            """
        let ledger: Int? = try db.value(sql, [row.id, at, row.member.userId])
        return total > ledger ?? 0 ? (total, Int64(at)) : nil
    }
}
