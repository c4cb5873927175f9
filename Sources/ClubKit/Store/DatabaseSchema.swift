import Foundation
import GRDB

/// The tables of a member database, and how older ones become today's.
///
/// - `meta`: this store's device identifier, and the windows in which scenarios count. `clock`: its hybrid logical clock, one row.
/// - `member`: one row a member, also of those who are gone (`status` 1) or were joined to another (2). `facts` holds
///   what was recorded of them (``MemberFacts``), or NULL where `origin_…` (the newest creation), `claim_…` and the
///   shown values contain all of it. `ended_hlc` is the latest deletion, -1 without one. The rest is computed from
///   facts and ledger, by ``MemberSaving/save(_:of:)`` and what comes to the same.
/// - `visit`: the ledger, append-only. A visit is known everywhere by its `event_id`; `device_id` and `hlc` order the
///   visits of one device, where two kiosks with one identifier (a copied disk) may have used a moment twice; `born` names
///   the creation of the member under which it was made and with which it ends.
/// - `undo`: visits that no longer count, append-only too.
/// - `receipt`: what became of every tap, counted or not, with the member's totals right after it. It is what a tap
///   that comes again is answered with.
/// - `card`: cards that are not just a member's `user_id`: further ones, replaced ones, blocked ones. Where another
///   device made a member of such a card without knowing, that member is joined to the card's.
/// - `erased`: whom nothing may bring back, as keyed hashes.
/// - `presented`: passes that count once, by their digests, until they are refused for their age (`until`), and tags that
///   count their taps, each with the greatest number so far (`counter`).
/// - `scenario_event`: what programs recorded for scenarios, and visits that count for a group or the kiosk (`visit`),
///   until they are `undone`.
///   `kind` and `subject` identify whose it is: a member by identifier, a group by its tag, a kiosk by its device.
/// - `scenario_execution`: what scenarios were charged with; `counts` is 0 once it was refunded or reset. `scenario_settlement`: what
///   became of each: delivered, refunded, redeemed. `scenario_undelivered`: those of this device that are yet to be
///   delivered, each with the process that has it in hand. `scenario_reset`: up to when a scenario's state does not count. `scenario_count` keeps numbers that follow from
///   `scenario_event` and `scenario_execution`, as far as they were needed (``KeptCount``); triggers keep them right.
/// - `message`: messages that arrived, with the process that works on them (`holder`), until they are done with, and for a while after that so that none is taken twice.
/// - `audit`: who did what, append-only.
/// - `change`: which members changed, in order, each with the values that were shown before; a row with `member_id` 0
///   stands for all rows of `member` with its `seq` as `change_seq`, who are new. Lists follow it, also in other
///   processes. Only the latest ``MemberSaving/keptChanges`` are kept.
/// - `ledger_permit`: triggers refuse to change or delete rows of `visit`, `undo` and `audit` unless this table has a
///   row. Erasing a member, the retention period, a repair and a merge that learns of two records of one tap need that:
///   they insert a row, do their work and delete the row, all in one transaction, so that no committed state ever has one.
///
/// Times are whole microseconds since 1970; `hlc` is ``Stamp/time``.
enum DatabaseSchema {
    /// Marks the file as a club's (`PRAGMA application_id`): "CLUB".
    static let applicationID: Int64 = 0x434C_5542

    private static let newestMigration = "5 numbers of what happened"

    static func migrator(deviceID: UUID) -> DatabaseMigrator {
        let beginning = """
            PRAGMA application_id = \(applicationID);
            \(version1)
            INSERT INTO meta (key, value) VALUES ('deviceID', '\(deviceID.uuidString)')
            """
        var migrator = DatabaseMigrator()
        for (name, sql) in [
            ("1 members and their visits", beginning), ("2 facts that merge", version2),
            ("3 passes that were presented", version3), ("4 scenarios and messages", version4),
            (newestMigration, version5),
        ] {
            migrator.registerMigration(name) { db in try db.execute(sql: sql) }
        }
        return migrator
    }

    /// The migrations that a database has yet to get.
    ///
    /// - Throws: ``ClubError`` if it belongs to another program, or to a newer version of this one.
    static func pending(in db: Database, of migrator: DatabaseMigrator) throws -> [String] {
        let attempt = "open the member database"
        // The list of migrations is made in a transaction before that of the tables: a process that was killed in
        // between, or is just there, has made a club's database all the same.
        if try db.has("sqlite_master WHERE tbl_name <> 'grdb_migrations'") {
            guard try Int64.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
                throw ClubError(.notADatabase, attempting: attempt, detail: "it belongs to another program")
            }
            guard try !migrator.hasBeenSuperseded(db) else { throw ClubError(.newerSchema, attempting: attempt) }
        }
        let applied = try migrator.appliedIdentifiers(db)
        return migrator.migrations.filter { !applied.contains($0) }
    }

    struct Object: Hashable {
        var type: String
        var name: String
        var sql: String
    }

    /// What a new database has.
    private static let objects: [Object] = {
        guard let queue = try? DatabaseQueue(), (try? migrator(deviceID: UUID()).migrate(queue)) != nil else {
            return []
        }
        let sql = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        let rows = try? queue.read { try Row.fetchAll($0, sql: sql) }
        return (rows ?? []).map { Object(type: $0[0], name: $0[1], sql: $0[2]) }
    }()

    /// What a database of the newest schema lacks; nothing of an older one, to which it is yet to be added.
    static func missing(in db: Database) throws -> [Object] {
        guard try db.tableExists("grdb_migrations"),
            try db.has("grdb_migrations WHERE identifier = ?", [newestMigration])
        else { return [] }
        let found = try Set(String.fetchAll(db, sql: "SELECT type || ' ' || name FROM sqlite_master"))
        return objects.filter { !found.contains("\($0.type) \($0.name)") }
    }

    /// Refuses to change and delete rows of a table.
    private static func appendOnly(_ table: String, _ what: String) -> String {
        [("changed", "UPDATE"), ("deleted", "DELETE")].map { done, change in
            """
            CREATE TRIGGER \(table)_is_not_\(done) BEFORE \(change) ON \(table)
            WHEN NOT EXISTS (SELECT 1 FROM ledger_permit)
            BEGIN SELECT RAISE(ABORT, '\(what) is append-only'); END;
            """
        }.joined(separator: "\n")
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
        \(appendOnly("visit", "the ledger of visits"))
        """

    /// Before schema 2, a member was made by the first visit.
    static let originsOfMembers = """
        UPDATE member SET own_visits = num_visits, (origin_hlc, origin_device) =
            (SELECT hlc, device_id FROM visit WHERE member_id = member.id ORDER BY hlc, device_id LIMIT 1)
        WHERE EXISTS (SELECT 1 FROM visit WHERE member_id = member.id)
        """

    /// So all visits of a member have one origin. They may be missing in a damaged file.
    private static let originOfVisit = "coalesce((SELECT origin_hlc FROM member WHERE member.id = member_id), 0)"

    private static let version2 = """
        CREATE TABLE clock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            hlc INTEGER NOT NULL
        ) STRICT;
        INSERT INTO clock (id, hlc) SELECT 1, coalesce(max(hlc), 0) FROM visit;

        ALTER TABLE member ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE member ADD COLUMN merged_into TEXT;
        ALTER TABLE member ADD COLUMN blocked TEXT;
        ALTER TABLE member ADD COLUMN expires_at INTEGER;
        ALTER TABLE member ADD COLUMN visits_left INTEGER;
        ALTER TABLE member ADD COLUMN tags TEXT;
        ALTER TABLE member ADD COLUMN own_visits INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE member ADD COLUMN origin_hlc INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE member ADD COLUMN origin_device BLOB;
        ALTER TABLE member ADD COLUMN ended_hlc INTEGER NOT NULL DEFAULT -1;
        ALTER TABLE member ADD COLUMN claim_visits INTEGER;
        ALTER TABLE member ADD COLUMN claim_at INTEGER;
        ALTER TABLE member ADD COLUMN facts TEXT;
        ALTER TABLE member ADD COLUMN change_seq INTEGER NOT NULL DEFAULT 0;
        \(originsOfMembers);
        CREATE INDEX member_by_name ON member (username COLLATE NOCASE, user_id) WHERE status = 0;
        CREATE INDEX member_by_last_visit ON member (last_visit_at DESC, user_id) WHERE status = 0;
        CREATE INDEX member_by_merge ON member (merged_into) WHERE merged_into IS NOT NULL;
        -- So that counting the members needs no look at each.
        CREATE INDEX member_by_status ON member (status) WHERE status <> 0;

        -- Made anew, since the first schema allows a device no moment twice. The indexes come last: that of the random
        -- events takes several times as long to make row by row.
        CREATE TABLE new_visit (
            id INTEGER PRIMARY KEY,
            event_id BLOB NOT NULL,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            member_id INTEGER NOT NULL REFERENCES member (id),
            at INTEGER NOT NULL,
            reader TEXT NOT NULL,
            backend TEXT NOT NULL,
            born INTEGER NOT NULL DEFAULT 0,
            source TEXT NOT NULL DEFAULT 'card',
            reason TEXT,
            actor TEXT
        ) STRICT;
        INSERT INTO new_visit (id, event_id, device_id, hlc, member_id, at, reader, backend, born)
            SELECT id, event_id, device_id, hlc, member_id, at, reader, backend, \(originOfVisit)
            FROM visit ORDER BY id;
        DROP TABLE visit;
        ALTER TABLE new_visit RENAME TO visit;
        CREATE UNIQUE INDEX visit_by_event ON visit (event_id);
        CREATE INDEX visit_by_device ON visit (device_id, hlc, event_id);
        CREATE INDEX visit_by_member ON visit (member_id, at);
        CREATE INDEX visit_by_time ON visit (at);

        CREATE TABLE undo (
            event_id BLOB NOT NULL PRIMARY KEY,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            at INTEGER NOT NULL,
            reason TEXT,
            actor TEXT
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE receipt ADD COLUMN notices TEXT;
        CREATE INDEX receipt_by_member ON receipt (member_id) WHERE member_id IS NOT NULL;

        CREATE TABLE card (
            card_id TEXT NOT NULL PRIMARY KEY CHECK (card_id <> ''),
            member_key TEXT NOT NULL,
            blocked TEXT,
            hlc INTEGER NOT NULL,
            device_id BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX card_by_member ON card (member_key);

        CREATE TABLE erased (
            salt BLOB NOT NULL,
            hash BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            device_id BLOB NOT NULL,
            PRIMARY KEY (salt, hash)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE audit (
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            at INTEGER NOT NULL,
            actor TEXT,
            action TEXT NOT NULL,
            subject TEXT,
            detail TEXT,
            PRIMARY KEY (device_id, hlc, at, action)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX audit_by_subject ON audit (subject) WHERE subject IS NOT NULL;
        CREATE INDEX audit_by_time ON audit (at);

        CREATE TABLE change (
            seq INTEGER PRIMARY KEY,
            member_id INTEGER NOT NULL,
            before TEXT
        ) STRICT;

        \(appendOnly("visit", "the ledger of visits"))
        \(appendOnly("undo", "the ledger of visits"))
        \(appendOnly("audit", "the audit log"))
        """

    private static let version3 = """
        CREATE TABLE presented (
            name TEXT NOT NULL PRIMARY KEY,
            counter INTEGER,
            until INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX presented_by_end ON presented (until) WHERE until IS NOT NULL;
        """

    private static let version4 = """
        CREATE TABLE scenario_event (
            event_id BLOB NOT NULL PRIMARY KEY,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            name TEXT NOT NULL,
            at INTEGER NOT NULL,
            born INTEGER NOT NULL,
            visit BLOB,
            undone INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX scenario_event_by_subject ON scenario_event (kind, subject, name, at);
        CREATE INDEX scenario_event_by_visit ON scenario_event (visit) WHERE visit IS NOT NULL;

        CREATE TABLE scenario_count (
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            name TEXT NOT NULL,
            events INTEGER NOT NULL,
            first_at INTEGER,
            last_at INTEGER,
            PRIMARY KEY (kind, subject, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE scenario_execution (
            execution_id BLOB NOT NULL PRIMARY KEY,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            scenario TEXT NOT NULL,
            at INTEGER NOT NULL,
            born INTEGER NOT NULL,
            visit BLOB,
            number INTEGER NOT NULL,
            counts INTEGER NOT NULL DEFAULT 1
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX scenario_execution_by_subject ON scenario_execution (kind, subject, scenario, counts, at, born);
        CREATE INDEX scenario_execution_by_visit ON scenario_execution (visit) WHERE visit IS NOT NULL;
        CREATE INDEX scenario_execution_by_time ON scenario_execution (at);

        CREATE TABLE scenario_settlement (
            execution_id BLOB NOT NULL,
            state TEXT NOT NULL,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            at INTEGER NOT NULL,
            reason TEXT,
            actor TEXT,
            PRIMARY KEY (execution_id, state)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE scenario_undelivered (
            execution_id BLOB NOT NULL PRIMARY KEY,
            holder TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE scenario_reset (
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            scenario TEXT NOT NULL,
            device_id BLOB NOT NULL,
            hlc INTEGER NOT NULL,
            PRIMARY KEY (kind, subject, scenario)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE message (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            content TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending',
            attempts INTEGER NOT NULL DEFAULT 0,
            outcome TEXT,
            reason TEXT,
            received_at INTEGER NOT NULL,
            settled_at INTEGER,
            holder TEXT
        ) STRICT;
        CREATE INDEX message_by_state ON message (state, seq);
        """

    /// What counts in a number, and the names of numbers, are those of ``KeptCount``.
    private static let version5 = """
        DROP TABLE scenario_count;
        -- How many lie after a moment; after the least of all for all of them, then with the first and the last.
        CREATE TABLE scenario_count (
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            name TEXT NOT NULL,
            after INTEGER NOT NULL,
            number INTEGER NOT NULL,
            first_at INTEGER,
            last_at INTEGER,
            PRIMARY KEY (kind, subject, name, after)
        ) STRICT, WITHOUT ROWID;
        -- Has all that counting asks for.
        DROP INDEX scenario_event_by_subject;
        CREATE INDEX scenario_event_by_subject ON scenario_event (kind, subject, name, at, undone, hlc, born);

        """
        + counting("scenario_event", "name", of: "kind, subject, name, at, hlc, undone") { row, indent in
            """
            \(row).undone = 0 AND \(row).hlc > coalesce((SELECT r.hlc FROM scenario_reset AS r
            \(indent)            WHERE r.kind = \(row).kind AND r.subject = \(row).subject
            \(indent)                AND r.scenario = char(1) || 'events:' || \(row).name), -1)
            """
        }
        + counting(
            "scenario_execution",
            "scenario",
            of: "kind, subject, scenario, at, counts",
            under: "char(1) || 'executions:' || ",
            when: { "\nWHEN \($0).kind <> 'member'" },
            { row, _ in "\(row).counts = 1" }
        )

    /// Triggers that keep the numbers of a table right, whoever writes. The next to the first or the last is near it; none
    /// lies outside.
    ///
    /// - Parameters:
    ///   - column: the one with the name that is counted under.
    ///   - columns: those on which the numbers depend.
    ///   - prefix: what stands before the name in `scenario_count`.
    ///   - condition: of the triggers.
    ///   - counts: whether a row counts.
    private static func counting(
        _ table: String,
        _ column: String,
        of columns: String,
        under prefix: String = "",
        when condition: (_ row: String) -> String = { _ in "" },
        _ counts: (_ row: String, _ indent: String) -> String
    ) -> String {
        func chosen(_ row: String) -> String {
            "WHERE kind = \(row).kind AND subject = \(row).subject AND name = \(prefix)\(row).\(column)"
        }
        func outermost(_ order: String) -> String {
            """
            (SELECT e.at FROM \(table) AS e
                        WHERE e.kind = OLD.kind AND e.subject = OLD.subject AND e.\(column) = OLD.\(column)
                        AND \(counts("e", "    "))
                        AND e.at BETWEEN first_at AND last_at ORDER BY e.at\(order) LIMIT 1)
            """
        }
        let adding = """
                UPDATE scenario_count SET number = number + 1, first_at = min(coalesce(first_at, NEW.at), NEW.at),
                    last_at = max(coalesce(last_at, NEW.at), NEW.at)
                \(chosen("NEW"))
                    AND after < NEW.at
                    AND \(counts("NEW", ""));
            """
        let removing = """
                UPDATE scenario_count SET number = number - 1
                \(chosen("OLD"))
                    AND after < OLD.at
                    AND \(counts("OLD", ""));
                UPDATE scenario_count SET first_at = \(outermost("")),
                    last_at = \(outermost(" DESC"))
                \(chosen("OLD"))
                    AND after = -9223372036854775808
                    AND OLD.at IN (first_at, last_at);
            """
        return """
            CREATE TRIGGER \(table)_adds AFTER INSERT ON \(table)\(condition("NEW"))
            BEGIN
            \(adding)
            END;
            CREATE TRIGGER \(table)_removes AFTER DELETE ON \(table)\(condition("OLD"))
            BEGIN
            \(removing)
            END;
            CREATE TRIGGER \(table)_changes AFTER UPDATE OF \(columns) ON \(table)\(condition("NEW"))
            BEGIN
            \(removing)
            \(adding)
            END;
            """
    }
}

extension Database {
    /// What the store remembers of itself under a key.
    func setting(_ key: String) throws -> String? {
        try String.fetchOne(self, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
    }

    func set(_ key: String, to value: String) throws {
        try execute(sql: "REPLACE INTO meta (key, value) VALUES (?, ?)", arguments: [key, value])
    }

    /// Makes a device of its own of the database when it is opened next. Two files that go on under one device's name
    /// would record different things with one stamp.
    func markCopy() throws {
        let sql = "REPLACE INTO meta (key, value) SELECT ?, value FROM meta WHERE key = 'deviceID'"
        try execute(sql: sql, arguments: [MemberStore.copyMark])
    }
    /// Makes one file of a database and its log, which can be read from where nothing can be written.
    func endLog(_ attempt: String, _ what: String) throws {
        guard try String.fetchOne(self, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
            throw ClubError(.other, attempting: attempt, detail: "\(what) keeps a log")
        }
    }
}
