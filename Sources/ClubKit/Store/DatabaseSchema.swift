import Foundation
import GRDB

/// The tables of a member database, and how older ones become today's.
///
/// - `meta`: this store's device identifier.
/// - `member`: one row a member. `num_visits` and `last_visit_at` are a cache of the ledger, written by
///   ``MemberStore/refreshTotals(of:in:)`` in the transaction that changes the ledger.
/// - `visit`: the ledger, append-only. A visit is known everywhere by its `event_id`; `device_id` and `hlc` order the
///   visits of one device. Undoing a visit will be a row of its own that names it, never a change here.
/// - `receipt`: what became of every tap, counted or not, with the member's totals right after it. It is what a tap
///   that comes again is answered with.
/// - `ledger_permit`: triggers refuse to change or delete rows of `visit` unless this table has a row. Only erasing a
///   member and the retention period need that: they insert a row, do their work and delete the row, all in one
///   transaction, so that no committed state ever has one.
///
/// Times are whole microseconds since 1970.
enum DatabaseSchema {
    /// Marks the file as a club's (`PRAGMA application_id`): "CLUB".
    static let applicationID: Int64 = 0x434C_5542

    static func migrator(deviceID: UUID) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 members and their visits") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: version1)
            try db.execute(
                sql: "INSERT INTO meta (key, value) VALUES ('deviceID', ?)",
                arguments: [deviceID.uuidString]
            )
        }
        return migrator
    }

    private static let version1 = """
        CREATE TABLE meta (
            key TEXT NOT NULL PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE member (
            id INTEGER PRIMARY KEY,
            user_id TEXT NOT NULL UNIQUE CHECK (user_id <> ''),
            username TEXT,
            added_at INTEGER NOT NULL,
            num_visits INTEGER NOT NULL DEFAULT 0,
            last_visit_at INTEGER,
            fields TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(fields) AND json_type(fields) = 'object')
        ) STRICT;

        CREATE TABLE visit (
            id INTEGER PRIMARY KEY,
            event_id BLOB NOT NULL UNIQUE,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            member_id INTEGER NOT NULL REFERENCES member (id),
            at INTEGER NOT NULL,
            reader TEXT NOT NULL,
            backend TEXT NOT NULL,
            UNIQUE (device_id, hlc)
        ) STRICT;
        CREATE INDEX visit_by_member ON visit (member_id, at);

        CREATE TABLE receipt (
            event_id BLOB NOT NULL PRIMARY KEY,
            at INTEGER NOT NULL,
            reader TEXT NOT NULL,
            backend TEXT NOT NULL,
            outcome TEXT NOT NULL CHECK (outcome IN ('created', 'visit', 'repeat', 'ignored', 'rejected')),
            reason_code TEXT,
            reason TEXT,
            member_id INTEGER REFERENCES member (id),
            num_visits INTEGER,
            last_visit_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX receipt_by_time ON receipt (at);

        CREATE TABLE ledger_permit (
            purpose TEXT NOT NULL
        ) STRICT;
        CREATE TRIGGER visit_is_not_changed BEFORE UPDATE ON visit
        WHEN NOT EXISTS (SELECT 1 FROM ledger_permit)
        BEGIN SELECT RAISE(ABORT, 'the ledger of visits is append-only'); END;
        CREATE TRIGGER visit_is_not_deleted BEFORE DELETE ON visit
        WHEN NOT EXISTS (SELECT 1 FROM ledger_permit)
        BEGIN SELECT RAISE(ABORT, 'the ledger of visits is append-only'); END;
        """
}
