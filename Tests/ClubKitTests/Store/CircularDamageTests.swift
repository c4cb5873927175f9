import Foundation
import GRDB
import TestSupport
import Testing

@testable import ClubKit

/// Pages of a damaged database that lead back to pages before them, so that rows seem to go on for ever.
@Suite("Damage that leads in circles", .timeLimit(.minutes(10)))
struct CircularDamageTests {
    private static let pageSize = 4096

    /// Where the pages of each kind are that lead to others: of tables, and of indexes and tables without row numbers.
    private func inner(_ kind: UInt8, _ bytes: [UInt8]) -> [Int] {
        stride(from: Self.pageSize, to: bytes.count, by: Self.pageSize).filter { bytes[$0] == kind }
    }

    /// A closed database of 1500 visits, five of each member, which is made once.
    private static let sound = Task { try await makeDatabase(TemporaryDirectory()) }

    private static func makeDatabase(_ directory: TemporaryDirectory) async throws -> [UInt8] {
        let club = Club(configuration: .test(.file(path: directory.file()), cooldown: .zero))
        try await club.open()
        for number in 0..<1500 {
            let id = UUIDSource.uuid(UInt64(7_000_000 + number))
            _ = try await club.receive(tap("member \(number % 300)", at: Double(number), id: id))
        }
        try await club.close()
        return try content(of: directory.file())
    }

    /// The club of a file with these bytes.
    private func club(_ bytes: [UInt8], _ directory: TemporaryDirectory) throws -> Club {
        let path = try directory.write(bytes, to: "club.sqlite")
        chmod(path, 0o600)
        return Club(configuration: .test(.file(path: path)))
    }

    @Test("A row number that was changed hides no visit", arguments: [[1], [2], [3], [1, 3], [1, 2, 3]].oneIn(4))
    func changedRowNumber(cells: [Int]) async throws {
        let directory = try TemporaryDirectory()
        var bytes = try await Self.sound.value
        // The leaf of `visit` with the visit in the middle.
        let event = withUnsafeBytes(of: UUIDSource.uuid(7_000_750).uuid) { [UInt8]($0) }
        let place = try #require(
            stride(from: 0, to: bytes.count, by: Self.pageSize).first { place in
                bytes[place] == 0x0D && bytes[place..<place + Self.pageSize].firstRange(of: event) != nil
            }
        )
        let count = Int(bytes[place + 3]) << 8 | Int(bytes[place + 4])
        for quarter in cells {
            let pointer = place + 8 + 2 * (count * quarter / 4)
            let cell = place + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
            // The length of the row, then its number of two bytes, the first of which is the high one.
            let number = cell + (bytes[cell] & 0x80 == 0 ? 1 : 2)
            try #require(bytes[number] >= 0x80 && bytes[number + 1] < 0x80)
            bytes[number] = quarter == 2 ? 0xFF : 0x80
        }
        let damaged = try club(bytes, directory)
        #expect(try await damaged.repair().isNewFile)
        try await damaged.open()
        let members = try await damaged.members(sortedBy: .userId)
        #expect(members.count == 300)
        #expect(members.allSatisfy { $0.numVisits == 5 })
        #expect(try await damaged.check() == [])
        try await damaged.close()
    }

    /// Where a page of that kind has these bytes, which begin a row there.
    private func place(of row: [UInt8], kind: UInt8, _ bytes: [UInt8]) throws -> Int {
        for place in stride(from: 0, to: bytes.count, by: Self.pageSize) where bytes[place] == kind {
            let page = bytes[place..<place + Self.pageSize]
            if let found = page.firstRange(of: row)?.lowerBound { return found }
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    @Test("A row number that was raised takes no other row with it", arguments: ["visit", "member"])
    func raisedRowNumber(table: String) async throws {
        let directory = try TemporaryDirectory()
        var bytes = try await Self.sound.value
        let uuid = withUnsafeBytes(of: UUIDSource.uuid(7_000_750).uuid) { [UInt8]($0) }
        let text = table == "visit" ? uuid : Array("member 150".utf8)
        let found = try place(of: text, kind: 0x0D, bytes)
        let page = found / Self.pageSize * Self.pageSize
        let count = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
        // The cell that begins last before it.
        let cells = (0..<count).map { cell in
            page + (Int(bytes[page + 8 + 2 * cell]) << 8 | Int(bytes[page + 9 + 2 * cell]))
        }
        let cell = try #require(cells.filter { $0 < found }.max())
        let number = cell + (bytes[cell] & 0x80 == 0 ? 1 : 2)
        try #require(bytes[number] & 0x80 != 0)
        bytes[number] = 0xFF
        let damaged = try club(bytes, directory)
        #expect(try await damaged.repair().isNewFile)
        try await damaged.open()
        let rows = try await damaged.openStore("test").read("test") { db in
            try Int.fetchAll(
                db,
                sql: """
                    SELECT count(*) FROM visit WHERE reader <> '' UNION ALL SELECT count(*) FROM receipt
                    UNION ALL SELECT count(*) FROM member WHERE last_visit_at IS NOT NULL
                    """
            )
        }
        #expect(rows == [1500, 1500, 300])
        #expect(try await damaged.check() == [])
        try await damaged.close()
    }

    @Test("A key that was changed takes no other row with it", arguments: [UInt8(0x00), 0x70, 0xFF])
    func changedKey(first: UInt8) async throws {
        let directory = try TemporaryDirectory()
        var bytes = try await Self.sound.value
        let event = withUnsafeBytes(of: UUIDSource.uuid(7_000_750).uuid) { [UInt8]($0) }
        let found = try place(of: event, kind: 0x0A, bytes)
        // Behind all others, or before them.
        bytes[found] = first
        if first == 0 { bytes[found + 13] = 0 }
        let damaged = try club(bytes, directory)
        _ = try await damaged.repair()
        try await damaged.open()
        let counts = try await damaged.openStore("test").read("test") { db in
            try Int.fetchAll(db, sql: "SELECT count(*) FROM receipt UNION ALL SELECT count(*) FROM visit")
        }
        #expect(counts[0] >= 1499 && counts[1] == 1500, "\(counts)")
        #expect(try await damaged.check() == [])
        try await damaged.close()
    }

    @Test("The repair comes to its end, and no visit is counted twice", arguments: [UInt8(0x02), 0x05])
    func ends(kind: UInt8) async throws {
        let directory = try TemporaryDirectory()
        let sound = try await Self.sound.value
        let places = inner(kind, sound)
        try #require(!places.isEmpty)
        for place in places.oneIn(5) {
            var bytes = sound
            // The last child of the page is its first one again, and the middle one the page itself.
            let count = Int(bytes[place + 3]) << 8 | Int(bytes[place + 4])
            func cell(_ number: Int) -> Int {
                let pointer = place + 12 + 2 * number
                return place + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
            }
            let page = place / Self.pageSize + 1
            bytes.replaceSubrange(place + 8..<place + 12, with: bytes[cell(0)..<cell(0) + 4])
            if count > 2 {
                let own = [UInt8(0), UInt8(page >> 16 & 0xFF), UInt8(page >> 8 & 0xFF), UInt8(page & 0xFF)]
                bytes.replaceSubrange(cell(count / 2)..<cell(count / 2) + 4, with: own)
            }
            let damaged = try club(bytes, directory)
            _ = try await damaged.repair()
            try await damaged.open()
            #expect(try await damaged.members(sortedBy: .userId).allSatisfy { $0.numVisits <= 5 }, "page \(page)")
            try await damaged.close()
            for name in try directory.names() where name != "club.sqlite" { unlink(directory.file(name)) }
        }
    }
}
