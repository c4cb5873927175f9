import Foundation
import RecordsTestSupport
import Testing

@testable import ClubRecords

@Suite struct CSVMemberReaderTests {
    static func read(
        _ bytes: [UInt8],
        piece: Int = .max,
        mappings: [ColumnMapping] = []
    ) throws -> (members: [ImportedMember], faults: [Int: RowFault], reader: CSVMemberReader) {
        var reader = try CSVMemberReader(MemorySource(bytes, piece: piece), mappings: mappings)
        var members: [ImportedMember] = []
        var faults: [Int: RowFault] = [:]
        var isMore = true
        while isMore {
            var batch = RowBatch(isUntyped: true)
            isMore = try reader.read(into: &batch)
            members += batch.batch.rows.map { batch.batch.member($0) }
            for (row, fault) in batch.faults { faults[row] = fault }
        }
        return (members, faults, reader)
    }

    static func read(_ text: String, mappings: [ColumnMapping] = []) throws -> [ImportedMember] {
        let result = try read(Array(text.utf8), mappings: mappings)
        #expect(result.faults == [:])
        return result.members
    }

    static let ann = ImportedMember(
        row: 2,
        userId: "U1",
        username: .string("Ann"),
        addedAt: 1_598_441_234_500_000,
        numVisits: 3,
        lastVisitAt: 1_598_441_299_000_000
    )

    static let base = "userId,username,timeStampAdded,numVisits,timeStampOfLastVisit"
    static let row = "U1,Ann,1598441234.5,3,1598441299"

    static func ann(_ change: (inout ImportedMember) -> Void) -> ImportedMember {
        var member = ann
        change(&member)
        return member
    }

    static let meanings: [(String, ImportedMember)] = [
        ("\(base)\n\(row)", ann),
        ("\(base)\r\n\(row)\r\n", ann),
        ("\u{FEFF}\(base)\n\(row)\n\n\n", ann),
        ("\"\(base.replacing(",", with: "\",\""))\"\n\"\(row.replacing(",", with: "\",\""))\"", ann),
        ("\(base.replacing(",", with: ";"))\nU1;Ann;1598441234,5;3;1598441299", ann),
        ("\(base.replacing(",", with: "\t"))\n\(row.replacing(",", with: "\t"))", ann),
        ("sep=;\r\n\(base.replacing(",", with: ";"))\r\n\(row.replacing(",", with: ";"))", ann { $0.row = 3 }),
        // Another order, the second generation, empty columns that spreadsheets leave at the end.
        ("numVisits,userId,timeStampOfLastVisit,username,timeStampAdded\n3,U1,1598441299,Ann,1598441234.5", ann),
        (
            "memberId,passId,username,timeStampAdded,numVisits,timeStampOfLastVisit\nM,\(row)",
            ann { $0.fields = ["memberId": .string("M")] }
        ),
        (
            "memberId,passId,username,timeStampAdded,numVisits,timeStampOfLastVisit\nM,<null>,Ann,1598441234.5,3,1598441299",
            ann {
                $0.userId = "M"
                $0.fields = ["memberId": .string("M")]
            }
        ),
        ("\(base)\n\(row),,,", ann),
        ("\(base)\n,,,,\n\(row)", ann { $0.row = 3 }),
        ("\(base),emailAddress\n\(row)", ann),
        ("\(base),emailAddress\n\(row),", ann),
        ("\(base),emailAddress\n\(row),a@b.example", ann { $0.fields = ["emailAddress": .string("a@b.example")] }),
        ("\(base),emailAddress\n\(row),\"\"", ann { $0.fields = ["emailAddress": .string("")] }),
        ("\(base),emailAddress\n\(row),<null>", ann { $0.fields = ["emailAddress": .null] }),
        ("\(base),b,a\n\(row),2,1", ann { $0.fields = ["a": .string("1"), "b": .string("2")] }),
        ("\(base)\nU1,<null>,1598441234.5,3,1598441299", ann { $0.username = .null }),
        ("\(base)\nU1,,1598441234.5,3,1598441299", ann { $0.username = .string("") }),
        ("\(base)\nU1,\"Ann, \"\"A\"\"\",1598441234.5,3,1598441299", ann { $0.username = .string("Ann, \"A\"") }),
        ("\(base)\nU1,Ann,,,", ImportedMember(row: 2, userId: "U1", username: .string("Ann"))),
        ("\(base)\nU1,Ann,<null>,<null>,<null>", ImportedMember(row: 2, userId: "U1", username: .string("Ann"))),
        (" userId , username\n U1 ,Ann", ImportedMember(row: 2, userId: "U1", username: .string("Ann"))),
        ("userId\nU1", ImportedMember(row: 2, userId: "U1")),
        ("userId\n'+49", ImportedMember(row: 2, userId: "+49")),
        ("userId\nZoë", ImportedMember(row: 2, userId: "Zoë")),
        ("userId,\"'=f\"\nU1,x", ImportedMember(row: 2, userId: "U1", fields: ["=f": .string("x")])),
    ]

    @Test(arguments: meanings) func reads(_ text: String, _ member: ImportedMember) throws {
        for piece in CSVReaderTests.pieces {
            let result = try Self.read(Array(text.utf8), piece: piece)
            #expect(result.members == [member], "\(text.debugDescription)")
            #expect(result.faults == [:])
        }
    }

    static let malformed: [(String, String)] = [
        ("U2,Bob", "timeStampAdded"), ("U2,Bob, the second,1,2,3", "6"), ("U2,Bob,1,1,1500000000", "timeStampAdded"),
        ("U2,Bob,x,1,1", "timeStampAdded"),
        ("U2,Bob,1400000000,1,15984412340000", "timeStampOfLastVisit"),
        ("U2,Bob,1400000000,-1,1500000000", "numVisits"),
        ("U2,Bob,1400000000,many,1500000000", "numVisits"), (",Bob,1400000000,1,1500000000", "userId"),
        ("<null>,Bob,1400000000,1,1500000000", "userId"),
        ("a\u{7}b,Bob,1400000000,1,1500000000", "userId"),
        ("\(String(repeating: "x", count: 257)),Bob,1400000000,1,1500000000", "userId"),
        ("U2,\"Bob\" B,1400000000,1,1500000000", "username"), ("U2,B\u{0}b,1400000000,1,1500000000", "username"),
        ("U2,\"Bob,1400000000,1,1500000000", "username"),
        ("U\u{202E}2,Bob,1400000000,1,1500000000", "userId"),
    ]

    @Test(arguments: malformed) func oneBadRowKeepsNoOtherOut(_ row: String, _ column: String) throws {
        for piece in CSVReaderTests.pieces {
            let result = try Self.read(
                Array("\(Self.base)\n\(Self.row)\n\(row)\nU3,Eve,1400000000,1,1500000000".utf8),
                piece: piece
            )
            #expect(result.members.map(\.userId) == ["U1", "U3"])
            #expect(result.members.map(\.row) == [2, 4])
            #expect(result.faults.keys.sorted() == [3])
            #expect(result.faults[3]?.column == column, "\(row)")
        }
    }

    @Test func tellsOfARowInAnotherEncoding() throws {
        let bytes =
            Array("\(Self.base)\nU1,Zo".utf8) + [0xEB]
            + Array(",1400000000,1,1500000000\nU3,Eve,1400000000,1,1500000000".utf8)
        let result = try Self.read(bytes)
        #expect(result.members.map(\.userId) == ["U3"])
        #expect(result.faults[2]?.column == "username")
        #expect(result.faults[2]?.reason.contains("UTF-8") == true)
    }

    @Test func quotesNothingOfARowInAFault() throws {
        for (row, _) in Self.malformed {
            let result = try Self.read(Array("\(Self.base)\n\(row)\n".utf8))
            for fault in result.faults.values {
                #expect(!fault.reason.contains("Bob") && !fault.reason.contains("U2"))
            }
        }
    }

    static let headers: [(String, TransferError.Kind)] = [
        ("", .noHeader), ("\n\n", .noHeader), ("username,numVisits\nAnn,1", .noIdentifierColumn),
        ("Ann,3\nBob,4", .noIdentifierColumn), ("\"userId", .malformed), ("User,username", .noIdentifierColumn),
    ]

    @Test func knowsNamesInUpperAndLowerCase() throws {
        let plan = try ColumnPlan(
            header: ["USERID", "Username", "Card No", "Level"],
            mappings: [ColumnMapping(column: "card no", field: "shelf")],
            file: "file"
        )
        #expect(plan.columns.map(\.field) == ["userId", "username", "shelf", "Level"])
        // What is spelled right is meant.
        let both = try ColumnPlan(header: ["userid", "userId"], mappings: [], file: "file")
        #expect(both.columns.map(\.field) == ["userid", "userId"])
    }

    @Test func tellsTheColumnsThatWereFound() throws {
        #expect {
            _ = try ColumnPlan(header: ["Number", "Name"], mappings: [], file: "file")
        } throws: { error in
            (error as? TransferError)?.detail == "its columns are 'Number', 'Name'"
        }
    }

    @Test(arguments: headers) func refusesFilesWithoutIdentifiers(_ text: String, _ kind: TransferError.Kind) {
        #expect {
            _ = try CSVMemberReader(MemorySource(Array(text.utf8)))
        } throws: { error in
            (error as? TransferError)?.kind == kind
        }
    }

    @Test func refusesAHeaderInAnotherEncoding() {
        #expect {
            _ = try CSVMemberReader(MemorySource(Array("userId,Stra".utf8) + [0xDF, 0x65, 0x0A]))
        } throws: { error in
            let error = error as? TransferError
            return error?.kind == .wrongEncoding && error?.line == 1 && error?.column == 2
        }
    }

    @Test func mapsColumns() throws {
        let text = "Card,Name,Secret,Club\nU1,Ann,x,North"
        let mappings = ["Card=userId", "Name=username", "Secret=", "Club=branch"].compactMap { ColumnMapping($0) }
        #expect(
            try Self.read(text, mappings: mappings) == [
                ImportedMember(row: 2, userId: "U1", username: .string("Ann"), fields: ["branch": .string("North")])
            ]
        )
    }

    /// The numbers of an old reader become what a tap of the card shows.
    @Test(
        arguments: [
            ("8H10D", "0003685287", "00383BA7"), ("8H10D", "3685287", "00383BA7"),
            ("8h10d-reversed", "1904649758", "1EA68671"),
            ("14H17D-reversed", "36281498998055172", "04A1B2C3D4E580"), ("hex-reversed", "71:86:a6:1e", "1EA68671"),
            ("10H13D", "0731211569684", "AA3F9B1A"),
        ] as [(String, String, String)]
    ) func readsNumbersOfCards(_ form: String, _ number: String, _ userId: String) throws {
        let mappings = ["card=UserID:\(form)", "Name=username"].compactMap { ColumnMapping($0) }
        let members = try Self.read("Card,Name\n \(number) ,Ann", mappings: mappings)
        #expect(members == [ImportedMember(row: 2, userId: userId, username: .string("Ann"))])
    }

    /// A part of an identifier, another form, an identifier that names nobody: each row for itself, and without its number.
    @Test(arguments: ["3685287048", "155,16298", "3.68E+09", "12345678901", "U1", "0000000008", "0000000015"])
    func refusesOtherNumbersOfCards(_ number: String) throws {
        let text = "Card,Name\n0003685287,Ann\n\"\(number)\",Bob\n0003685289,Cy"
        let result = try Self.read(
            Array(text.utf8),
            mappings: [ColumnMapping("Card=userId:8H10D-reversed")].compactMap(\.self)
        )
        #expect(result.members.map(\.row) == [2, 4])
        #expect(result.faults.keys.sorted() == [3])
        #expect(result.faults[3]?.column == "userId")
        #expect(result.faults[3]?.reason.contains(number) == false)
    }

    /// A row without a number has its memberId still.
    @Test func numbersOfCardsAndMemberIds() throws {
        let mappings = [ColumnMapping("Card=userId:8H10D")].compactMap(\.self)
        let members = try Self.read("Card,memberId\n,M-7\n0003685287,M-8", mappings: mappings)
        #expect(members.map(\.userId) == ["M-7", "00383BA7"])
    }

    static let badMappings: [[ColumnMapping]] = [
        [ColumnMapping("b=userId:2H4D"), ColumnMapping("userId=x")].compactMap(\.self),
        [ColumnMapping("b=userId:8H10D-cascade"), ColumnMapping("userId=x")].compactMap(\.self),
        [ColumnMapping("b=userId:9H9D"), ColumnMapping("userId=x")].compactMap(\.self),
        [ColumnMapping("b=userId:"), ColumnMapping("userId=x")].compactMap(\.self),
        [ColumnMapping("b=cards:8H10D")].compactMap(\.self), [ColumnMapping("b=x:y:hex-reversed")].compactMap(\.self),
        [ColumnMapping("b=:8H10D")].compactMap(\.self), [ColumnMapping("b=username:2H4D")].compactMap(\.self),
        [ColumnMapping(column: "nothing", field: "userId")],
        [ColumnMapping(column: "userId", field: "username"), ColumnMapping(column: "b", field: "username")],
        [ColumnMapping(column: "b", field: "x"), ColumnMapping(column: "b", field: "y")],
        [ColumnMapping(column: "b", field: "$blocked")], [ColumnMapping(column: "b", field: "a\nb")],
    ]

    @Test(arguments: badMappings) func refusesMappingsThatDoNotFit(_ mappings: [ColumnMapping]) {
        #expect {
            _ = try Self.read("userId,b\nU1,x", mappings: mappings)
        } throws: { error in
            (error as? TransferError)?.kind == .badMapping
        }
    }

    static let mappingTexts: [(String, ColumnMapping?)] = [
        ("a=b", ColumnMapping(column: "a", field: "b")), ("a=", ColumnMapping(column: "a", field: nil)),
        ("a=b:c", ColumnMapping(column: "a", field: "b:c")),
        ("a=cards:8H10D", ColumnMapping(column: "a", field: "cards", form: "8H10D")),
        ("a=USERID:8H10D", ColumnMapping(column: "a", field: "userId", form: "8H10D")),
        ("a=b=c", ColumnMapping(column: "a=b", field: "c")), ("=b", nil), ("a", nil), ("", nil),
    ]

    @Test(arguments: mappingTexts) func readsMappings(_ text: String, _ mapping: ColumnMapping?) {
        #expect(ColumnMapping(text) == mapping)
    }

    @Test func theFirstOfTwoColumnsCountsAndIsReported() throws {
        let result = try Self.read(Array("userId,a,username,a,,$x\nU1,1,Ann,2,3,4".utf8))
        #expect(
            result.members == [
                ImportedMember(row: 2, userId: "U1", username: .string("Ann"), fields: ["a": .string("1")])
            ]
        )
        #expect(result.reader.notes.count == 3)
        #expect(result.reader.columns.map(\.field) == ["userId", "a", "username", nil, nil, nil])
    }

    @Test func writesFieldsAsTheStoreKeepsThem() throws {
        var reader = try CSVMemberReader(MemorySource(Array("userId,b,a\nU1,\"x/\"\"\t\",<null>".utf8)))
        var batch = RowBatch(isUntyped: true)
        while try reader.read(into: &batch) {}
        let row = try #require(batch.batch.rows.first)
        #expect(try batch.batch.string(#require(row.fields)) == #"{"a":null,"b":"x/\"\t"}"#)
    }
}
