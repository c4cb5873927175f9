import Foundation
import GRDB
import TestSupport
import Testing

@testable import ClubKit

@Suite("Orders and filters of lists")
struct MemberListingTests {
    /// What is looked for, in what, and whether it is found.
    private static let texts: [(String, String, Bool)] = [
        ("anna", "Joanna", true), ("ANNA", "joanna", true), ("anna", "ana", false), ("zoë", "ZOË", true),
        ("ёлк", "ЁЛКА", true), ("a*b", "xA*By", true), ("a*b", "aXb", false), ("a?b", "A?B", true),
        ("a?b", "aXb", false), ("[x]", "a[X]b", true), ("[x]", "x", false), ("]", "a]b", true), ("]", "ab", false),
        ("^", "a^b", true), ("^", "ab", false), ("-", "a-b", true), ("a-c", "b", false), ("'", "o'b", true),
        ("%", "50%", true), ("%", "50", false), ("_", "ab", false), ("É", "cafe\u{301}", true),
        ("e\u{301}", "CAFÉ", true), ("e", "É", true), ("ß", "STRASSE", true), ("ß", "Straße", true),
        (" ", "a b", true), ("\u{1F600}", "x\u{1F600}", true), ("\"", "a\"b", true), ("\\", "a\\b", true),
        ("/", "a/b", true), ("\"b", "a\"B", true), ("ǆ", "Ǆ", true), ("İ", "i", true), ("  ", "a", false),
        // Full case folding.
        ("ismail", "İsmail Işık", true), ("ismail", "ISMAIL IŞIK", true), ("ismail", "ismail ışık", true),
        ("ışık", "ISIK", true), ("IŞIK", "Işık", true), ("gross", "Groß", true), ("GROẞ", "gross", true),
        ("ΝΊΚΟΣ", "Νίκος Πέτρος", true), ("νικοσ", "ΝΊΚΟΣ", true), ("νίκος", "ΝΙΚΟΣ", true), ("ſ", "S", true),
        ("ﬁ", "FILM", true), ("office", "oﬃce", true), ("ŉ", "ʼN", true), ("ｱﾝ", "アン", true), ("ＡＢ", "ab", true),
        ("\u{212A}", "k", true), ("ᾳ", "ΑΙ", true), ("α", "ᾼ", true),
        // Accents, composed or apart, and letters that keyboards do not have.
        ("muller", "Müller", true), ("MU\u{308}LLER", "müller", true), ("mueller", "Müller", true),
        ("müller", "MUELLER", true),
        ("müller", "Muller", true), ("mueller", "Muller", false), ("uel", "Paul", false), ("el", "Samuel", true),
        ("soren", "Søren", true), ("soeren", "Søren", true), ("Søren", "Sören", true), ("aase", "Åse", true),
        ("lukasz", "Łukasz", true), ("ŁUKASZ", "łukasz", true), ("ægir", "AEGIR", true), ("thor", "Þór", true),
        ("đ", "D", true), ("nguyen", "Nguyễn", true), ("dvorak", "Dvořák", true), ("أحمد", "احمد", true),
        ("مُحَمَّد", "محمد", true), ("が", "か", false), ("か", "が", false), ("기", "김", false), ("김", "김수", true),
        // Blanks, hyphens, apostrophes, and the order of words.
        ("anna  maria", "Anna\u{A0}Maria", true), (" anna ", "Anna", true), ("annamaria", "Anna-Maria", true),
        ("anna-maria", "Anna Maria", true), ("anna‑maria", "Annamaria", true), ("obrien", "O’Brien", true),
        ("o'brien", "OBrien", true), ("O’BRIEN", "O'Brien", true), ("muller anna", "Anna Müller", true),
        ("Müller, Anna", "Anna Mueller", true), ("anna", "An na", true), ("7 haus", "Haus 7", false),
        ("04 A1", "04a1b2", true), ("04 A1", "A1 04", false), ("anna@x.org", "Roxanna Morgan", false),
        ("an\u{AD}na", "Anna", true), ("50%", "50 %", true), ("\u{301}", "a", false),
    ]

    @Test(
        "A telephone number is found in a field however it is written, and an identifier as it is",
        arguments: [
            ("0170 1234567", "+49 170 1234567", true), ("+49 (0)170/123-4567", "01701234567", true),
            ("01701234567", "0170 / 123 45 67", true), ("0170123", "+49 170 1234567", true),
            ("1234567", "+49 170 1234567", true), ("٠١٧٠١٢٣٤٥٦٧", "+49 170 1234567", true),
            ("0170 1234568", "+49 170 1234567", false), ("000000000", "0170 1234567", false),
        ]
    )
    func telephones(part: String, number: String, isFound: Bool) async throws {
        let club = try await openClub()
        try await club.add(Member(userId: "1000000001", username: "A", fields: ["phone": .string(number)]))
        try await club.add(Member(userId: "2000000001", username: "B"))
        func found(_ text: String) async throws -> [String] {
            let listing = MemberListing(order: .creation, filter: MemberFilter(text: text))
            return try await club.openStore("test").read("test") { db in
                try listing.page(offset: 0, limit: 9, at: 0, in: db).map(\.userID)
            }
        }
        #expect(try await found(part) == (isFound ? ["1000000001"] : []))
        if let number = Int(number) {
            try await club.update("1000000001") { $0.fields["phone"] = .int(number) }
            #expect(try await found(part) == (isFound ? ["1000000001"] : []))
        }
        #expect(try await found("2000000001") == ["2000000001"])
    }

    @Test("A text is found in any case, whatever it consists of", arguments: texts)
    func text(part: String, text: String, isFound: Bool) async throws {
        let club = try await openClub()
        try await club.add(Member(userId: "1", username: text))
        try await club.add(Member(userId: "2", username: "", fields: ["email": .array([.string(text)])]))
        let listing = MemberListing(order: .creation, filter: MemberFilter(text: part))
        let found = try await club.openStore("test").read("test") { db in
            try listing.page(offset: 0, limit: 9, at: 0, in: db).map(\.userID)
        }
        #expect(found == (isFound ? ["1", "2"] : []))
    }

    @Test("A part of the identifier is found, an empty text finds everybody, an overlong one nobody")
    func lengths() async throws {
        let club = try await openClub()
        try await club.add(Member(userId: "04AB", username: "x"))
        func count(_ text: String) async throws -> Int {
            let listing = MemberListing(order: .creation, filter: MemberFilter(text: text))
            return try await club.openStore("test").read("test") { db in try listing.count(at: 0, in: db) }
        }
        #expect(try await count("4a") == 1)
        #expect(try await count("") == 1)
        #expect(try await count("5") == 0)
        #expect(try await count(String(repeating: "é", count: MemberListing.longestText)) == 0)
        #expect(try await count(String(repeating: "é", count: 100_000)) == 0)
        #expect(try await count("x\0y") == 0)
    }

    @Test("The names of custom fields are no texts, numbers in them are")
    func fields() async throws {
        let club = try await openClub()
        try await club.add(
            Member(userId: "1", username: "", fields: ["level": .int(4711), "x": .object(["k": "deep"])])
        )
        func count(_ text: String) async throws -> Int {
            let listing = MemberListing(order: .creation, filter: MemberFilter(text: text))
            return try await club.openStore("test").read("test") { db in try listing.count(at: 0, in: db) }
        }
        #expect(try await count("level") == 0)
        #expect(try await count("471") == 1)
        #expect(try await count("DEEP") == 1)
    }

    @Test("Times that the store cannot hold are before or after everything")
    func times() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        for (date, expected) in [(Date.distantPast, 1), (Date(timeIntervalSince1970: 1e15), 0), (start, 1)] {
            let listing = MemberListing(order: .creation, filter: MemberFilter(visitedSince: date))
            let count = try await club.openStore("test").read("test") { db in try listing.count(at: 0, in: db) }
            #expect(count == expected)
        }
    }

    @Test("Keys, pages and what is beyond an edge agree with a plain sort", arguments: [UInt64](1...6).oneIn(3))
    func orders(seed: UInt64) async throws {
        var bench = try await ListBench(seed: seed, members: 5)
        for _ in 0..<60 { try await bench.change() }
        let now = bench.clock.now
        let time = Timestamp.microseconds(now) ?? 0
        // Names that are missing come from files only.
        let store = try bench.store
        _ = try await store.write("test") { transaction in
            try transaction.db.execute(sql: "UPDATE member SET username = NULL WHERE id % 5 = 0")
        }
        try await store.read("test") { db in
            for order in MemberOrder.allCases {
                for filter in ListBench.filters {
                    let listing = MemberListing(order: order, filter: filter)
                    let expected = try ListOracle.images(MemberQuery(order: order, filter: filter), at: now, in: db)
                    let keys = try listing.keys(at: time, in: db)
                    #expect(keys.map(\.id) == expected.map(\.id), "\(order) \(filter)")
                    #expect(keys == expected.map { MemberKey($0, order: order) })
                    #expect(try listing.count(at: time, in: db) == expected.count)
                    for (index, image) in expected.enumerated() where index % 3 == 0 {
                        let before = try listing.page(before: image, limit: 4, at: time, in: db)
                        #expect(before == Array(expected[..<index].suffix(4)), "\(order) \(filter)")
                        let after = try listing.page(after: image, limit: 4, at: time, in: db)
                        #expect(after == Array(expected[(index + 1)...].prefix(4)), "\(order) \(filter)")
                        let page = try listing.page(offset: index, limit: 2, at: time, in: db)
                        #expect(page == Array(expected[index...].prefix(2)))
                    }
                }
            }
        }
    }

    @Test(
        "Windows at an edge are found by the index, without sorting",
        arguments: [MemberOrder.creation, .userId, .username, .lastVisit]
    )
    func indexes(order: MemberOrder) async throws {
        let club = try await openClub()
        for key in ["A", "B", "C"] { _ = try await club.receive(tap(key, name: key)) }
        let listing = MemberListing(order: order, filter: .all)
        let store = try club.openStore("test")
        let plans = try await store.read("test") { db in
            let image = try #require(try listing.page(offset: 1, limit: 1, at: 0, in: db).first)
            var statements: [String] = []
            db.trace { event in
                if case .statement(let statement) = event { statements.append(statement.expandedSQL) }
            }
            defer { db.trace(options: []) }
            _ = try listing.page(offset: 0, limit: 1, at: 0, in: db)
            _ = try listing.page(before: image, limit: 5, at: 0, in: db)
            _ = try listing.page(after: image, limit: 5, at: 0, in: db)
            db.trace(options: [])
            return try statements.filter { $0.hasPrefix("SELECT") }.map { statement in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + statement).map { $0["detail"] ?? "" }
                    .joined(separator: "; ")
            }
        }
        #expect(plans.count >= 3)
        for plan in plans {
            #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
            #expect(plan.contains("USING") || (order == .creation && plan == "SCAN member"), "\(plan)")
        }
    }
}
