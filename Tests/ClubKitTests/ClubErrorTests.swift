import Foundation
import GRDB
import Testing

@testable import ClubKit

@Suite("Errors of the club")
struct ClubErrorTests {
    @Test(
        "SQLite's codes are kinds of errors",
        arguments: [
            (.SQLITE_FULL, .diskFull, "SQLITE_FULL"), (.SQLITE_BUSY, .busy, "SQLITE_BUSY"),
            (.SQLITE_LOCKED, .busy, "SQLITE_LOCKED"), (.SQLITE_READONLY, .readOnly, "SQLITE_READONLY"),
            (.SQLITE_READONLY_DIRECTORY, .readOnly, "SQLITE_READONLY"), (.SQLITE_CORRUPT, .corrupt, "SQLITE_CORRUPT"),
            (.SQLITE_NOTADB, .notADatabase, "SQLITE_NOTADB"), (.SQLITE_CANTOPEN, .cannotOpen, "SQLITE_CANTOPEN"),
            (.SQLITE_IOERR_FSYNC, .inputOutput, "SQLITE_IOERR"), (.SQLITE_INTERRUPT, .cancelled, "SQLITE_INTERRUPT"),
            (.SQLITE_CONSTRAINT, .other, "SQLITE_CONSTRAINT"), (ResultCode(rawValue: 99), .other, "SQLite result code"),
        ] as [(ResultCode, ClubError.Kind, String)]
    )
    func codes(code: ResultCode, kind: ClubError.Kind, name: String) {
        let error = ClubError(DatabaseError(resultCode: code, message: "words"), attempting: "x")
        #expect(error.kind == kind)
        #expect(error.code == ClubError.Code(rawValue: Int(code.rawValue), name: name))
        #expect(error.detail == (kind == .other ? "words" : nil))
    }

    @Test("Values of a statement are not in an error")
    func noValues() throws {
        let queue = try DatabaseQueue()
        let thrown = #expect(throws: (any Error).self) {
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t (a TEXT UNIQUE)")
                for _ in 0..<2 { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["04A1B2C3D4E5F6"]) }
            }
        }
        let error = ClubError(thrown ?? CancellationError(), attempting: "x")
        #expect(error.kind == .other)
        #expect(!error.description.contains("04A1B2C3D4E5F6"))
    }

    @Test("Errors say what was attempted, what happened and what to do", arguments: ClubError.Kind.allCases)
    func description(kind: ClubError.Kind) {
        let error = ClubError(kind, attempting: "do it", code: .init(rawValue: 7, name: "CODE"), detail: "so it is")
        #expect(error.description == "could not do it: \(kind.meaning), so it is (CODE 7). \(error.hint)")
        #expect(error.hint.hasSuffix("."))
    }

    @Test("Other errors keep their type, a club's error stays as it is")
    func others() {
        struct Odd: Error {}
        #expect(ClubError(Odd(), attempting: "x").detail == "Odd")
        #expect(ClubError(CancellationError(), attempting: "x").kind == .cancelled)
        let error = ClubError(.busy, attempting: "y")
        #expect(ClubError(error, attempting: "x") == error)
        #expect(ClubError(errno: EROFS, attempting: "x").kind == .readOnly)
        #expect(ClubError(errno: ENOSPC, attempting: "x").kind == .diskFull)
        #expect(ClubError(errno: 4095, attempting: "x").code == ClubError.Code(rawValue: 4095, name: "errno"))
    }

    @Test(
        "Identifiers are shortened for logs",
        arguments: [("", "…"), ("AB", "…"), ("04A1B2C3D4E5F6", "04A1…"), ("abcdef", "ab…")]
    )
    func shortened(identifier: String, text: String) {
        #expect(PlainText.shortened(identifier) == text)
    }
}
