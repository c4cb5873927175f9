import Foundation
import GRDB

/// Rows of files of a member who stands for several.
extension MergeBatch {
    /// The row without the visits of others: of a member to whom others were joined a file tells the total of all, which
    /// as a claim of that one's alone would count the others twice.
    ///
    /// What is no more than is counted up to the row's last visit says nothing new. A file of a kiosk that has not heard
    /// of the joining tells of the member's own visits, and is read the same way, since nothing in it tells which it is:
    /// what it knows beyond this device's total of all is taken in, what is below it is not. Kiosks that exchange club
    /// files (``TransferFormat/clubkit``) lose and double nothing.
    func withoutVisitsOfOthers(_ row: ImportedMember, _ target: MemberRow) throws -> ImportedMember {
        guard hasJoined, target.exists, let total = row.numVisits, try isTarget(target) else { return row }
        let group = try db.members.joined(to: target).filter(\.exists)
        guard group.count > 1, try db.members.representative(of: target).id == target.id else { return row }
        let time = row.lastVisitAt ?? 0
        var others = 0
        var own = 0
        for one in group {
            let visits = try db.members.visits(of: one, upTo: time)
            if one.id == target.id { own = visits } else { others = Int.sum(others, visits) }
        }
        var row = row
        row.numVisits = total > Int.sum(others, own) ? total - others : nil
        return row
    }

    /// Whether somebody was joined to the member, or has one of their cards.
    private func isTarget(_ row: MemberRow) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM member WHERE merged_into = ?)"),
            arguments: [row.member.userId]
        ) ?? false
    }
}
