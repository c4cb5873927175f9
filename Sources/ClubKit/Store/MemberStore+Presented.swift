import Foundation
import GRDB
import ReaderKit

/// What was presented before, by passes and tags of which a recording could be presented again.
extension MemberStore {
    private static let attempt = "remember a pass"

    /// Takes a pass that counts once.
    ///
    /// - Returns: whether it is new.
    func takeOnce(_ digest: [UInt8], until end: Date, now: Date) throws -> Bool {
        try remember { db in
            try db.execute(sql: "DELETE FROM presented WHERE until < ?", arguments: [Timestamp.microseconds(now)])
            try db.execute(
                sql: "INSERT OR IGNORE INTO presented (name, until) VALUES (?, ?)",
                arguments: [Hex.encode(digest), Timestamp.microseconds(end)]
            )
            return db.changesCount == 1
        }
    }

    /// Takes the number of a tap that a tag counts.
    ///
    /// - Returns: whether it is greater than all that were taken of that tag.
    func takeCounter(_ value: UInt32, of tag: [UInt8]) throws -> Bool {
        let name = identifier(read: Hex.encode(tag))
        return try remember { db in
            try db.execute(
                sql: """
                    INSERT INTO presented (name, counter) VALUES (?1, ?2)
                    ON CONFLICT (name) DO UPDATE SET counter = ?2 WHERE counter < ?2
                    """,
                arguments: [name, Int64(value)]
            )
            return db.changesCount == 1
        }
    }

    /// On the thread of the reader, which waits for the answer; committed when this returns.
    private func remember(_ body: (Database) throws -> Bool) throws -> Bool {
        do {
            return try database.writeWithoutTransaction { db in
                var isNew = false
                try db.inTransaction(.immediate) {
                    isNew = try body(db)
                    return .commit
                }
                try confirmPlace(Self.attempt)
                return isNew
            }
        } catch {
            throw ClubError(error, attempting: Self.attempt)
        }
    }
}
