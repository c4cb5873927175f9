import Foundation
import GRDB
import GRDBSQLite
import SirenKit
import Synchronization

/// Keeps what clients know of entities in a file, for all processes that open it and of any number of APIs.
///
/// The file is a database of SQLite that only its owner can read. It is a cache: one that was damaged, also while it is
/// open, or made by another version, is begun anew. What is wiped does not stay behind in it.
public final class FileSirenStore: SirenStore {
    private let database: Mutex<DatabaseQueue>
    private let path: String
    private let capacity: Int
    private let bytes: Int

    /// The number by which SQLite identifies whose database it is: "Sirn".
    private static let application: Int32 = 0x5369_726E
    private static let version = 2

    /// Opens a cache, and creates it where there is none.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - capacity: how many entities are kept at most; those that are not trusted go first, and the oldest.
    ///   - bytes: how many bytes they may have at most.
    /// - Throws: ``NotACache`` if the file is something else, which is left as it is, or an error of the system.
    public init(path: String, capacity: Int = 10_000, bytes: Int = 64 << 20) throws {
        (self.path, self.capacity, self.bytes) = (path, capacity, bytes)
        database = Mutex(try Self.open(path))
    }

    /// A file that is no cache.
    public struct NotACache: Error, Sendable, Hashable, CustomStringConvertible {
        /// The file.
        public var path: String

        /// What was attempted, what happened, and what a person can do.
        public var description: String {
            "links and actions cannot be kept: '\(path)' is another file; name one that is not there yet"
        }
    }

    /// Opens the file, and begins it anew if it is damaged.
    ///
    /// - Parameter isOwn: whether it is known to be a cache, whatever has become of it.
    private static func open(_ path: String, isOwn: Bool = false) throws -> DatabaseQueue {
        try prepare(path, isOwn: isOwn)
        do {
            return try connect(path)
        } catch let error as DatabaseError where error.isDamage {
            for file in [path, path + "-wal", path + "-shm"] { unlink(file) }
            try prepare(path)
            return try connect(path)
        }
    }

    /// Makes an empty file where there is none.
    ///
    /// - Throws: ``NotACache`` if there is another file. SQLite looks, since its locks end where anybody else in the process
    ///   closes the file.
    private static func prepare(_ path: String, isOwn: Bool = false) throws {
        // SQLite gives its further files the mode of this one.
        let file = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file < 0 else {
            _ = close(file)
            return
        }
        guard errno == EEXIST else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        if isOwn { return }
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)))
        }
        sqlite3_busy_timeout(connection, 5000)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        // A process may have been killed before it made the table, but after GRDB made and removed one of its own.
        let isEmpty = size == 0 || size >= 512 && number("SELECT count(*) FROM sqlite_master", connection) == 0
        guard isEmpty || number("PRAGMA application_id", connection) == application || mark(connection) == application
        else { throw NotACache(path: path) }
        // It may have been made by something else, or copied.
        for file in [path, path + "-wal", path + "-shm"] { chmod(file, 0o600) }
    }

    /// The application's number where it stands in the file, for one whose first page is damaged elsewhere.
    private static func mark(_ connection: OpaquePointer?) -> Int32? {
        var (file, mark): (UnsafeMutablePointer<sqlite3_file>?, Int32) = (nil, 0)
        guard sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            file.pointee.pMethods?.pointee.xRead(file, &mark, 4, 68) == SQLITE_OK
        else { return nil }
        return Int32(bigEndian: mark)
    }

    private static func number(_ sql: String, _ connection: OpaquePointer?) -> Int32? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return nil }
        return sqlite3_column_int(statement, 0)
    }

    private static func connect(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "siren"
        configuration.busyMode = .timeout(5)
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { db in
            guard try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok" else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
            guard try Int.fetchOne(db, sql: "PRAGMA user_version") != version else { return }
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS record;
                    CREATE TABLE record (
                        guid BLOB NOT NULL, api TEXT NOT NULL, url TEXT NOT NULL, origin TEXT, trusted INTEGER NOT NULL,
                        extent INTEGER NOT NULL, entity BLOB NOT NULL, tag TEXT, modified TEXT,
                        at REAL NOT NULL, expires REAL NOT NULL, size INTEGER NOT NULL,
                        PRIMARY KEY (guid, api)
                    ) STRICT;
                    CREATE INDEX record_url ON record (url);
                    CREATE INDEX record_age ON record (trusted, at, size);
                    PRAGMA application_id = \(application);
                    PRAGMA user_version = \(version);
                    """
            )
        }
        return database
    }

    /// Uses the database; if it turns out to be damaged, once more after it was opened again.
    private func use<Value: Sendable>(_ body: @Sendable (DatabaseQueue) async throws -> Value) async throws -> Value {
        let used = database.withLock { $0 }
        do {
            return try await body(used)
        } catch let error as DatabaseError where error.isDamage {
            let opened = try database.withLock { database in
                if database === used { database = try Self.open(path, isOwn: true) }
                return database
            }
            return try await body(opened)
        }
    }

    private func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        try await use { try await $0.write(body) }
    }

    /// Keeps records, as far as each replaces the one of its GUID and API.
    public func keep(_ records: [SirenRecord]) async throws {
        let (capacity, bytes) = (capacity, bytes)
        try await write { db in
            for record in records {
                let entity = record.entity.json
                try db.execute(
                    sql: """
                        INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        ON CONFLICT (guid, api) DO UPDATE SET url = excluded.url, origin = excluded.origin,
                            trusted = excluded.trusted, extent = excluded.extent, entity = excluded.entity,
                            tag = excluded.tag, modified = excluded.modified, at = excluded.at, expires = excluded.expires,
                            size = excluded.size
                        WHERE excluded.trusted > trusted
                            OR excluded.trusted = trusted AND (excluded.extent >= extent OR expires < excluded.at)
                        """,
                    arguments: [
                        Data(record.guid.utf8), record.api.absoluteString, record.url.absoluteString,
                        record.url.origin, record.isTrusted, record.extent.rawValue, Data(entity),
                        record.entityTag, record.lastModified, record.at.timeIntervalSince1970,
                        record.expires.timeIntervalSince1970,
                        record.size(ofEntity: entity.count),
                    ]
                )
            }
            let held = try Row.fetchOne(
                db,
                sql: "SELECT count(*) AS count, total(size) AS size FROM record"
            )
            guard let held, held["count"] > capacity || held["size"] > Double(bytes) else { return }
            // More than necessary, so that not every further record makes room.
            try db.execute(
                sql: """
                    DELETE FROM record WHERE rowid IN (SELECT rowid FROM (
                        SELECT rowid, row_number() OVER newest AS number, sum(size) OVER newest AS size FROM record
                        WINDOW newest AS (ORDER BY trusted DESC, at DESC, rowid)
                    ) WHERE number > ? OR size > ?)
                    """,
                arguments: [capacity - capacity / 10, bytes / 10 * 9]
            )
        }
    }

    /// What is kept of an entity.
    public func record(guid: String, api: URL) async throws -> SirenRecord? {
        try await use { database in
            try await database.read { db in
                let row = try Row.fetchOne(
                    db,
                    sql: "SELECT * FROM record WHERE guid = ? AND api = ?",
                    arguments: [Data(guid.utf8), api.absoluteString]
                )
                // What was damaged within a page, of which SQLite takes no notice, is as good as not there.
                return try? row.flatMap { try SirenRecord($0, guid: guid, api: api) }
            }
        }
    }

    /// The server reports that a document still holds.
    public func renew(url: URL, api: URL, at: Date, expires: Date) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE record SET at = ?, expires = ? WHERE url = ? AND api = ?",
                arguments: [
                    at.timeIntervalSince1970, expires.timeIntervalSince1970, url.absoluteString, api.absoluteString,
                ]
            )
        }
    }

    /// Forgets what is from a document.
    public func forget(url: URL, api: URL) async throws {
        try await write { db in
            try db.execute(
                sql: "DELETE FROM record WHERE url = ? AND api = ?",
                arguments: [url.absoluteString, api.absoluteString]
            )
        }
    }

    /// Forgets everything, or, if specified, only what is from one origin, and of one API. Nothing of it stays behind
    /// in the file.
    ///
    /// - Throws: an error of SQLite. After one that reports a busy database, everything is forgotten, but its text is
    ///   still in the log, since another process has read for longer than five seconds: wipe once more.
    public func wipe(origin: URL? = nil, api: URL? = nil) async throws {
        let name = origin.map { $0.origin ?? "" }
        try await write { db in
            try db.execute(
                sql: "DELETE FROM record WHERE (?1 IS NULL OR origin = ?1) AND (?2 IS NULL OR api = ?2)",
                arguments: [name, api?.absoluteString]
            )
        }
        try await use { try await $0.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    }
}

extension DatabaseError {
    fileprivate var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }
}

extension SirenRecord {
    fileprivate init?(_ row: Row, guid: String, api: URL) throws {
        guard let url = URL(string: try row.decode(forColumn: "url")),
            let extent = Extent(rawValue: try row.decode(forColumn: "extent"))
        else { return nil }
        self.init(
            guid: guid,
            api: api,
            url: url,
            isTrusted: try row.decode(forColumn: "trusted"),
            extent: extent,
            entity: try SirenDocument(decoding: Array(row.decode(Data.self, forColumn: "entity"))).entity,
            entityTag: try row.decode(forColumn: "tag"),
            lastModified: try row.decode(forColumn: "modified"),
            at: Date(timeIntervalSince1970: try row.decode(forColumn: "at")),
            expires: Date(timeIntervalSince1970: try row.decode(forColumn: "expires"))
        )
    }
}
