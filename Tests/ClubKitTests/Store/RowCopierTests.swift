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
        try DatabaseQueue(path: path).inDatabase { target in
            try target.execute(
                sql: """
                    CREATE TABLE note (text TEXT);
                    CREATE TRIGGER refusing BEFORE INSERT ON note WHEN new.text = 'no'
                    BEGIN SELECT RAISE(ABORT, 'no'); END;
                    PRAGMA max_page_count = 4
                    """
            )
            let copier = RowCopier("note", ["text"], target)
            func take(_ text: String) {
                copier.take(RescuePages.Row(number: nil, values: [text.databaseValue]))
            }
            take("yes")
            take("no")
            try copier.finish()
            #expect(copier.copied == 1)
            #expect(copier.refused == 1)
            for _ in 0..<10 { take(String(repeating: "0", count: 4000)) }
            let error = #expect(throws: DatabaseError.self) { try copier.finish() }
            #expect(error?.resultCode == .SQLITE_FULL)
            #expect(copier.refused == 1)
            #expect(copier.copied < 6)
        }
    }
}
