import GRDB

/// What the audit log tells of a merge: an entry for each member who was there and of whom something else is said now,
/// and one for all (see ``StoreImportSink/finish()``).
///
/// Visits and undoings have none of their own, since the ledger says of each where and by whom it was made: otherwise
/// every visit would stand in the log of every other device.
extension MergeBatch {
    /// Takes note that values of a member are others now, unless this merge has created them.
    mutating func noteNews(of row: MemberRow, _ names: some Sequence<String>) {
        guard !progress.hasCreated(row.id) else { return }
        let names = Set(names)
        if !names.isEmpty { news[row.id, default: []].formUnion(names) }
    }

    /// Writes down whom this batch has changed, each of them once in a merge.
    mutating func auditNews() throws {
        for (id, names) in news.sorted(by: { $0.key < $1.key }) where progress.audited.insert(id).inserted {
            // The log must not name somebody again who was erased.
            guard let row = try db.members.row(id: id), try erasure(of: row.member.userId) == nil else {
                continue
            }
            var detail = detail
            detail["fields"] = .array(names.sorted().map { .string($0) })
            try transaction.audit(.merged, of: row.member.userId, context, detail: detail)
        }
    }
}
