import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    private static let checkKey = "identifierKey"

    /// Makes sure that the database was made with that key, or without one. A database without members takes the key.
    static func compare(_ key: IdentifierKey?, in database: any DatabaseWriter) throws {
        let known: Bool = try database.read { db in try isKnown(key, in: db) }
        guard !known, let key else { return }
        try database.write { db in
            // Another process may have been faster.
            guard try !isKnown(key, in: db) else { return }
            try db.execute(
                sql: "INSERT INTO meta (key, value) VALUES (?, ?)",
                arguments: [Self.checkKey, key.check]
            )
        }
    }

    private static func isKnown(_ key: IdentifierKey?, in db: Database) throws -> Bool {
        let attempt = "open the member database"
        let stored = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [checkKey])
        switch (stored, key) {
        case (nil, nil): return true
        case (let stored?, let key?) where stored == key.check: return true
        case (_?, _): throw ClubError(.wrongIdentifierKey, attempting: attempt)
        case (nil, _?):
            let isUsed = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM member)") ?? false
            guard !isUsed else { throw ClubError(.wrongIdentifierKey, attempting: attempt) }
            return false
        }
    }

    /// What stands for an identifier that was read from a card.
    func identifier(read identifier: String) -> String {
        identifierKey?.hidden(identifier) ?? identifier
    }

    /// What stands for an identifier that a person or a file gives.
    func identifier(_ identifier: String) -> String {
        identifierKey?.resolved(identifier) ?? identifier
    }

    /// What stands for an identifier of a file.
    ///
    /// - Returns: `nil` for one that was hidden under another key, from which nothing can be told.
    func identifier(imported identifier: String) -> String? {
        if let check = IdentifierKey.check(of: identifier) { return check == identifierKey?.check ? identifier : nil }
        return identifierKey?.hidden(identifier) ?? identifier
    }
}
