import GRDB
import Testing

@testable import ClubKit

@Suite("Rows that are copied out of a damaged table", .timeLimit(.minutes(10)))
struct RowCopierTests {
    @Test("A disk that is full is no damage of the table")
    func full() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        try DatabaseFiles.create(path, "test")
        let target = try RawDatabase(path)
        try target.execute(
            """
            CREATE TABLE note (text TEXT);
            CREATE TRIGGER refusing BEFORE INSERT ON note WHEN new.text = 'no' BEGIN SELECT RAISE(ABORT, 'no'); END;
            PRAGMA max_page_count = 4
            """
        )
        let copier = try #require(RowCopier("note", ["text"], target))
        func take(_ select: String) throws {
            let rows = try #require(target.statement(select))
            _ = rows.step()
            copier.take(rows, from: 0)
        }
        try take("SELECT 'yes'")
        try take("SELECT 'no'")
        try copier.finish()
        #expect(copier.copied == 1)
        #expect(copier.refused == 1)
        for _ in 0..<10 { try take("SELECT hex(zeroblob(2000))") }
        let error = #expect(throws: DatabaseError.self) { try copier.finish() }
        #expect(error?.resultCode == .SQLITE_FULL)
        #expect(copier.refused == 1)
        #expect(copier.copied < 6)
    }
}
