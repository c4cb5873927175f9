import Foundation
import GRDB
import TestSupport
import Testing

@testable import ClubKit

@Suite("Moving commits into the database")
struct CheckpointerTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The rows in the database's own file, without the log.
    private func moved() throws -> Int {
        let copy = directory.file("copy.sqlite")
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: directory.file("log.sqlite"), toPath: copy)
        return try DatabaseQueue(path: copy).read { db in
            try db.tableExists("note") ? Int.fetchOne(db, sql: "SELECT count(*) FROM note") ?? 0 : 0
        }
    }

    private func pool(_ checkpointer: Checkpointer) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { checkpointer.attach(to: $0) }
        let pool = try DatabasePool(path: directory.file("log.sqlite"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE note (text TEXT)") }
        return pool
    }

    private func write(_ count: Int, to pool: DatabasePool) throws {
        for _ in 0..<count {
            try pool.write { try $0.execute(sql: "INSERT INTO note VALUES (hex(zeroblob(4000)))") }
        }
    }

    @Test("No commit waits for it: it happens on a queue of its own, and the log then begins anew")
    func beside() throws {
        let checkpointer = Checkpointer(path: directory.file("log.sqlite"), threshold: 50)
        let pool = try pool(checkpointer)
        checkpointer.queue.suspend()
        try write(100, to: pool)
        #expect(try moved() == 0)
        checkpointer.queue.resume()
        // Not when all is in the file: the log begins anew once that is on the disk too.
        checkpointer.queue.sync {}
        #expect(try moved() == 100)
        let size = try FileManager.default.attributesOfItem(atPath: directory.file("log.sqlite-wal"))[.size] as? Int
        try write(20, to: pool)
        let later = try FileManager.default.attributesOfItem(atPath: directory.file("log.sqlite-wal"))[.size] as? Int
        #expect(size == later)
        checkpointer.stop()
        try pool.close()
    }

    @Test("A commit moves them itself when the log has grown to its limit, and after the end nothing begins")
    func limit() throws {
        let checkpointer = Checkpointer(path: directory.file("log.sqlite"), threshold: 50, limit: 400)
        let pool = try pool(checkpointer)
        checkpointer.stop()
        try write(50, to: pool)
        checkpointer.queue.sync {}
        #expect(try moved() == 0)
        try write(200, to: pool)
        #expect(try moved() > 50)
        try pool.close()
    }

    @Test("A store's log is moved so")
    func store() async throws {
        let path = directory.file("club.sqlite")
        let store = try StoreBench().openStore(path)
        let checkpointer = try #require(store.checkpointer)
        func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 }
        checkpointer.queue.suspend()
        try await store.database.write { db in
            try db.execute(sql: "CREATE TABLE scratch (bytes BLOB); INSERT INTO scratch VALUES (zeroblob(8000000))")
        }
        #expect(try size() < 8_000_000)
        checkpointer.queue.resume()
        try await until("the log is moved") { try size() > 8_000_000 }
        try store.close()
    }
}
