import Foundation
import GRDB

/// A database file that is nobody's at the moment, to be damaged.
enum DamagedFile {
    /// Fills all pages of each of these tables or indexes with nonsense.
    static func destroyTrees(_ names: [String], of path: String) throws {
        let queue = try DatabaseQueue(path: path)
        var pages = try queue.read { db in
            try names.compactMap {
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [$0])
            }
        }
        try queue.close()
        try change(path) { bytes in
            while let page = pages.popLast() {
                pages += children(of: page, [UInt8](bytes[(page - 1) * 4096..<page * 4096]))
                destroy(page, in: &bytes)
            }
        }
    }

    /// The pages to which a page of a tree leads.
    private static func children(of page: Int, _ bytes: [UInt8]) -> [Int] {
        let start = page == 1 ? 100 : 0
        guard bytes[start] == 2 || bytes[start] == 5 else { return [] }
        func number(_ place: Int, _ length: Int) -> Int {
            bytes[place..<place + length].reduce(0) { $0 << 8 | Int($1) }
        }
        return (0..<number(start + 3, 2)).map { number(number(start + 12 + 2 * $0, 2), 4) } + [number(start + 8, 4)]
    }

    /// The pages of the list of tables: the first of the file, and those that it leads to.
    static func pagesOfList(_ bytes: [UInt8]) -> [Int] { [1] + children(of: 1, Array(bytes[0..<4096])) }

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
