import Crypto
import Foundation
import GRDB
import ReaderKit

/// How the club remembers whom it has erased without knowing who they were.
enum Erasure {
    /// The keyed hash of an identifier.
    static func hash(_ identifier: String, salt: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(identifier.utf8), using: SymmetricKey(data: salt)))
    }

    /// The same for people, in the audit log.
    static func text(_ identifier: String, salt: Data) -> String {
        "erased:" + hash(identifier, salt: salt).prefix(16).hex.lowercased()
    }
}

extension MemberStore {
    /// When the member with that identifier was erased last, or `nil`.
    static func erasure(of userID: String, in db: Database) throws -> Stamp? {
        var latest: Stamp?
        for salt in try Data.fetchAll(db.cachedStatement(sql: "SELECT DISTINCT salt FROM erased")) {
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
