import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    /// What a tap is answered with that another device has recorded: it counts once, wherever it is given.
    static func receiptOfMergedVisit(_ eventID: UUID, in db: Database) throws -> Receipt? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT at, reader, backend, member_id FROM visit WHERE event_id = ?"),
            arguments: [eventID]
        )
        guard let row, let owner = try Self.row(id: try row.value(3), in: db) else { return nil }
        return Receipt(
            eventID: eventID,
            at: Timestamp.date(try row.value(0)),
            reader: try row.value(1),
            backend: BackendKind(rawValue: try row.value(2)) ?? .simulated,
            outcome: .visit,
            member: try representative(of: owner, in: db).member
        )
    }
}
