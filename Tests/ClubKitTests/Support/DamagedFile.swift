import Foundation
import GRDB

/// A database file that is nobody's at the moment, to be damaged.
enum DamagedFile {
    /// Fills the root page of each of these tables or indexes with nonsense.
    static func destroyRoots(_ names: [String], of path: String) throws {
        let queue = try DatabaseQueue(path: path)
        let roots = try queue.read { db in
            try names.map {
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [$0]) ?? 0
            }
        }
        try queue.close()
        try change(path) { bytes in
            for root in roots where root > 0 { destroy(root, in: &bytes) }
        }
    }

    /// The pages of the list of tables: the first of the file, and those that it leads to.
    static func pagesOfList(_ bytes: [UInt8]) -> [Int] {
        guard bytes[100] == 5 else { return [1] }
        func number(_ place: Int, _ length: Int) -> Int {
            bytes[place..<place + length].reduce(0) { $0 << 8 | Int($1) }
        }
        return [1] + (0..<number(103, 2)).map { number(number(112 + 2 * $0, 2), 4) } + [number(108, 4)]
    }

    /// Fills a page, counted from 1, with nonsense.
    static func destroy(_ page: Int, in bytes: inout Data) {
        bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0xA5, count: 4096))
    }

    /// Changes the bytes of the file, which has no log then.
    static func change(_ path: String, _ body: (inout Data) throws -> Void) throws {
        for end in ["-wal", "-shm"] { unlink(path + end) }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try body(&bytes)
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
    }
}
