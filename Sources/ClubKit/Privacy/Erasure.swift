import Foundation
import GRDB

extension Erasure {
    /// The salts of all devices that have erased somebody, each looked for behind the one before: there are many more who
    /// were erased.
    static func salts(in db: Database) throws -> [Data] {
        try Data.fetchAll(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE known (salt) AS (
                        SELECT min(salt) FROM erased
                        UNION ALL SELECT (SELECT min(salt) FROM erased WHERE erased.salt > known.salt) FROM known
                            WHERE known.salt IS NOT NULL)
                    SELECT salt FROM known WHERE salt IS NOT NULL
                    """
            )
        )
    }
}

extension MemberStore {
    /// When the member with that identifier was erased last, or `nil`.
    static func erasure(of userID: String, in db: Database) throws -> Stamp? {
        try erasure(of: userID, salts: Erasure.salts(in: db), in: db)
    }

    /// The same, by salts that were looked up before.
    static func erasure(of userID: String, salts: some Sequence<Data>, in db: Database) throws -> Stamp? {
        var latest: Stamp?
        for salt in salts {
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT hlc, device_id FROM erased WHERE salt = ? AND hash = ?"),
                arguments: [salt, Erasure.hash(userID, salt: salt)]
            )
            guard let row else { continue }
            let stamp = Stamp(time: try row.value(0), device: try row.value(1))
            latest = max(latest ?? stamp, stamp)
        }
        return latest
    }

    /// The facts of somebody who is not there (any more).
    func newFacts(of userID: String, in db: Database) throws -> MemberFacts {
        var facts = MemberFacts()
        if let erasure = try Self.erasure(of: userID, in: db) { facts.erase(erasure) }
        return facts
    }
}
