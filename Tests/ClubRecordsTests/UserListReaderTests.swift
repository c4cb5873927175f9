import Foundation
import RecordsTestSupport
import Testing

@testable import ClubRecords

@Suite struct UserListReaderTests {
    static func read(
        _ text: String,
        piece: Int = .max,
        mappings: [ColumnMapping] = []
    ) throws -> (members: [ImportedMember], faults: [Int: RowFault], reader: UserListReader) {
        var reader = try UserListReader(MemorySource(Array(text.utf8), piece: piece), mappings: mappings)
        var members: [ImportedMember] = []
        var faults: [Int: RowFault] = [:]
        var isMore = true
        while isMore {
            var batch = RowBatch(isUntyped: false)
            isMore = try reader.read(into: &batch)
            members += batch.batch.rows.map { batch.batch.member($0) }
            for (row, fault) in batch.faults { faults[row] = fault }
        }
        return (members, faults, reader)
    }

    static let meanings: [(String, ImportedMember)] = [
        // The generation of the README.
        (
            #"{"userId":"U1","username":"Ann","timeStampAdded":1598441234.5,"numVisits":3,"timeStampOfLastVisit":1598441299}"#,
            ImportedMember(
                row: 1,
                userId: "U1",
                username: .string("Ann"),
                addedAt: 1_598_441_234_500_000,
                numVisits: 3,
                lastVisitAt: 1_598_441_299_000_000
            )
        ),
        // The one that divided it into two.
        (
            #"{"memberId":"M","passId":"U1","username":"Ann","timeStampAdded":1,"numVisits":1,"timeStampOfLastVisit":2}"#,
            ImportedMember(
                row: 1,
                userId: "U1",
                username: .string("Ann"),
                addedAt: 1_000_000,
                numVisits: 1,
                lastVisitAt: 2_000_000,
                fields: ["memberId": .string("M")]
            )
        ),
        // No pass: the other identifier is all there is.
        (
            #"{"memberId":"M","passId":null,"username":null}"#,
            ImportedMember(row: 1, userId: "M", username: .null, fields: ["memberId": .string("M")])
        ),
        // Numbers as text, an empty one, and numbers for text.
        (
            #"{"userId":7,"username":8,"timeStampAdded":"1598441234.5","numVisits":"4","timeStampOfLastVisit":""}"#,
            ImportedMember(row: 1, userId: "7", username: .string("8"), addedAt: 1_598_441_234_500_000, numVisits: 4)
        ),
        (
            #"{"userId":"U1","level":3,"teams":["a",null],"o":{"x":1.5}}"#,
            ImportedMember(
                row: 1,
                userId: "U1",
                fields: [
                    "level": .int(3), "teams": .array([.string("a"), .null]), "o": .object(["x": .double(1.5)]),
                ]
            )
        ),
        (#"{"userId":" U1\t"}"#, ImportedMember(row: 1, userId: "U1")),
        (
            #"{"userId":"U1","passId":"P"}"#,
            ImportedMember(row: 1, userId: "U1", fields: ["passId": .string("P")])
        ),
        // Names that the club keeps for itself.
        (#"{"userId":"U1","$blocked":"x","":1}"#, ImportedMember(row: 1, userId: "U1")),
    ]

    @Test(arguments: meanings) func reads(_ element: String, _ member: ImportedMember) throws {
        for piece in CSVReaderTests.pieces {
            for text in ["[\(element)]", "\u{FEFF} [\r\n \(element) \n] \n"] {
                let result = try Self.read(text, piece: piece)
                #expect(result.members == [member])
                #expect(result.faults == [:])
            }
        }
    }

    @Test func readsNumbersOfCards() throws {
        let mappings = [ColumnMapping("card=userId:8H10D")].compactMap(\.self)
        let text = #"[{"card":3685287},{"card":"0003685288"},{"card":"155,16298"}]"#
        var reader = try UserListReader(MemorySource(Array(text.utf8)), mappings: mappings)
        var batch = RowBatch(isUntyped: false)
        _ = try reader.read(into: &batch)
        #expect(batch.batch.rows.map { batch.batch.member($0).userId } == ["00383BA7", "00383BA8"])
        #expect(batch.faults.map(\.row) == [3])
    }

    static let malformed: [(String, String?)] = [
        (#"{"username":"Ann"}"#, "userId"), (#"{"userId":""}"#, "userId"), (#"{"userId":null}"#, "userId"),
        (#"{"userId":"a\u0007b"}"#, "userId"), (#"{"userId":"\#(String(repeating: "x", count: 257))"}"#, "userId"),
        (#"{"userId":"U","timeStampAdded":-1}"#, "timeStampAdded"),
        (#"{"userId":"U","timeStampAdded":15984412340000}"#, "timeStampAdded"),
        (#"{"userId":"U","timeStampOfLastVisit":"soon"}"#, "timeStampOfLastVisit"),
        (#"{"userId":"U","timeStampOfLastVisit":[]}"#, "timeStampOfLastVisit"),
        (#"{"userId":"U","numVisits":-1}"#, "numVisits"), (#"{"userId":"U","numVisits":1.5}"#, "numVisits"),
        (#"{"userId":"U","numVisits":1e300}"#, "numVisits"), (#"{"userId":"U","numVisits":true}"#, "numVisits"),
        (#"{"userId":"U","username":[]}"#, "username"), (#"{"userId":"U","username":"a\u0000"}"#, "username"),
        (#"{"userId":"U","note":["a\u0000"]}"#, "note"),
        ("7", nil), ("[]", nil), ("null", nil), (#"{"userId":}"#, nil), (#"{"userId":"U",}"#, nil), ("{1}", nil),
        ("", nil),
    ]

    @Test(arguments: malformed) func oneBadElementKeepsNoOtherOut(_ element: String, _ column: String?) throws {
        for piece in CSVReaderTests.pieces {
            let result = try Self.read(#"[{"userId":"A"},\#(element),{"userId":"B"}]"#, piece: piece)
            #expect(result.members.map(\.userId) == ["A", "B"])
            #expect(result.members.map(\.row) == [1, 3])
            #expect(result.faults.keys.sorted() == [2])
            #expect(result.faults[2]?.column == column)
        }
    }

    static let cut: [(String, Int)] = [
        (#"[{"userId":"A"},{"userId":"#, 2), (#"[{"userId":"A"},"#, 2), (#"[{"userId":"A"}"#, 2), ("[", 1),
        (#"[{"userId":"A"}] x"#, 2), (#"[{"userId":"A"} {"userId":"B"}]"#, 2), (#"[{"userId":"A"},{"a":"]"#, 2),
    ]

    @Test(arguments: cut) func tellsWhereAListEndsTooEarly(_ text: String, _ row: Int) throws {
        for piece in CSVReaderTests.pieces {
            let result = try Self.read(text, piece: piece)
            #expect(result.members.count == (row == 1 ? 0 : 1))
            #expect(result.faults.keys.sorted() == [row])
        }
    }

    @Test func takesNoMemoryForAnElementWithoutEnd() throws {
        let long = #"[{"userId":"\#(String(repeating: "x", count: 3_000_000))"},{"userId":"B"}]"#
        let result = try Self.read(long)
        #expect(result.members.map(\.userId) == ["B"])
        #expect(result.faults[1] != nil)
    }

    @Test func refusesWhatIsNoList() {
        for text in ["", "{}", "userId,username", "\u{FEFF}"] {
            #expect(throws: TransferError.self) { try Self.read(text) }
        }
        #expect {
            _ = try UserListReader(MemorySource([0xFF, 0xFE, 0x5B, 0x00]))
        } throws: { error in
            (error as? TransferError)?.kind == .wrongEncoding
        }
    }

    @Test func mapsKeys() throws {
        let mappings = [
            ColumnMapping(column: "card", field: "userId"), ColumnMapping(column: "name", field: "username"),
            ColumnMapping(column: "secret", field: nil), ColumnMapping(column: "other", field: "x"),
        ]
        let result = try Self.read(
            #"[{"card":"U1","name":"Ann","secret":1,"userId":"no"},{"card":"U2","username":"Bob"}]"#,
            mappings: mappings
        )
        #expect(
            result.members == [
                ImportedMember(row: 1, userId: "U1", username: .string("Ann")),
                ImportedMember(row: 2, userId: "U2", username: .string("Bob")),
            ]
        )
        #expect(result.reader.notes == ["No element has the key that is mapped to 'x'."])
        #expect(result.reader.columns.contains(ImportReport.Column(column: "secret", field: nil)))
        #expect(result.reader.columns.contains(ImportReport.Column(column: "card", field: "userId")))
    }
}
