import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    /// What a tap is answered with that another device has recorded: it counts once, wherever it is given.
    static func receiptOfMergedVisit(_ eventID: UUID, in db: Database) throws -> Receipt? {
        let visit = try db.first(
            "SELECT at, reader, backend, member_id FROM visit WHERE event_id = ?",
            [.uuid(eventID)]
        ) {
            (
                at: try $0.value(0) as Int64, reader: try $0.value(1) as String, backend: try $0.value(2) as String,
                memberID: try $0.value(3) as Int64
            )
        }
        guard let visit, let owner = try Self.row(id: visit.memberID, in: db) else { return nil }
        return Receipt(
            eventID: eventID,
            at: Timestamp.date(visit.at),
            reader: visit.reader,
            backend: BackendKind(rawValue: visit.backend) ?? .simulated,
            outcome: .visit,
            member: try representative(of: owner, in: db).member
        )
    }
}
