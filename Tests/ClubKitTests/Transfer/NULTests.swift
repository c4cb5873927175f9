import Foundation
import RecordsTestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

/// SQLite ends a text at a NUL, so devices that took one in would show something else than they merge.
@Suite("Texts with a NUL", .timeLimit(.minutes(10)))
struct NULTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: Records of a club's file

    private static let stamp = #"[131072,"00000000-0000-0000-0000-000000000007"]"#
    private static let visit = #""eventID":"00000000-0000-0000-0000-000000000009","stamp":\#(stamp),"at":5"#

    private static func member(_ name: String, _ value: String) -> String {
        #"{"member":{"userId":"U1","facts":{"births":[[\#(stamp),5]],"values":{"\#(name)":[[\#(stamp),\#(value)]]}}}}"#
    }

    private static func plain(_ parts: String) -> String {
        #"{"member":{"userId":"U1","origin":[131071],"addedAt":5,\#(parts)}}"#
    }

    private static func visit(_ name: String, _ text: String) -> String {
        var texts = ["userId": "U1", "reader": "R", "backend": "pcsc", "source": "manual", "reason": "r", "actor": "a"]
        texts[name] = text
        let parts = texts.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }
        return #"{"visit":{\#(visit),"born":65536,\#(parts.joined(separator: ","))}}"#
    }

    private static func card(_ name: String, _ text: String) -> String {
        var texts = ["cardId": "C1", "userId": "U1", "blocked": "lost"]
        texts[name] = text
        let parts = texts.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }
        return #"{"card":{\#(parts.joined(separator: ",")),"stamp":\#(stamp)}}"#
    }

    /// Lines with `#` where the NUL is, and the column that is named.
    private static let positions: [(line: String, column: String)] = [
        (plain(##""username":"An#na""##), "username"),
        (plain(##""fields":{"city":"Ul#m"}"##), "city"),
        (plain(##""fields":{"ci#ty":"Ulm"}"##), "ci ty"),
        (member("username", ##""An#na""##), "username"),
        (member("city", ##""#""##), "city"),
        (member("ci#ty", ##""Ulm""##), "ci ty"),
        (member("ci#ty", "null"), "ci ty"),
        (member("city", ##"["a",["#"]]"##), "city"),
        (member("city", ##"{"a":{"b":"c#"}}"##), "city"),
        (member("city", ##"[{"a#":1}]"##), "city"),
        (member("$blocked", ##""lo#st""##), "$blocked"),
        (member("$mergedInto", ##""U#2""##), "$mergedInto"),
        (member("$notes", ##""no#te""##), "$notes"),
        (member("$tag:#gold", "true"), "$tag: gold"),
        (card("blocked", "lo#st"), "blocked"),
        (visit("reader", "R#"), "reader"),
        (visit("backend", "#pcsc"), "backend"),
        (visit("reason", "r#r"), "reason"),
        (visit("actor", "a#a"), "actor"),
        (##"{"undo":{\##(visit),"reason":"r#"}}"##, "reason"),
        (##"{"undo":{\##(visit),"actor":"a#"}}"##, "actor"),
        (##"{"audit":{"stamp":\##(stamp),"at":5,"action":"edi#ted"}}"##, "action"),
        (##"{"audit":{"stamp":\##(stamp),"at":5,"action":"edited","actor":"de#sk"}}"##, "actor"),
        (##"{"audit":{"stamp":\##(stamp),"at":5,"action":"edited","subject":"U#1"}}"##, "subject"),
        (##"{"audit":{"stamp":\##(stamp),"at":5,"action":"edited","detail":{"a":"#"}}}"##, "detail"),
        (##"{"audit":{"stamp":\##(stamp),"at":5,"action":"edited","detail":{"#":1}}}"##, "detail"),
        (##"{"audit":{"stamp":\##(stamp),"at":5,"action":"edited","detail":{"a":[{"b":"#"}]}}}"##, "detail"),
    ]

    @Test("A record is skipped for a NUL in any of its texts, and taken without", arguments: positions)
    func records(line: String, column: String) throws {
        let hostile = line.replacing("#", with: #"\u0000"#)
        let (taken, faults) = try directory.readRecords([hostile, line.replacing("#", with: "-")])
        #expect(taken == [1])
        #expect(faults == [RowFault(column, "the text has a NUL character; remove it")])
    }

    @Test(
        "Identifiers have to be usable",
        arguments: [
            (#"{"member":{"userId":"U\u00001","origin":[131071],"addedAt":5}}"#, "userId"),
            (card("cardId", #"C\u0000"#), "userId"), (card("userId", #"U\u0000"#), "userId"),
            (visit("userId", #"U\u0000"#), "userId"),
            (member("$mergedInto", #""""#), "$mergedInto"), (member("$mergedInto", #""U\n2""#), "$mergedInto"),
            (member("$mergedInto", #""U\u200B2""#), "$mergedInto"),
            (member("$mergedInto", "\"\(String(repeating: "U", count: 257))\""), "$mergedInto"),
        ]
    )
    func identifiers(line: String, column: String) throws {
        let (taken, faults) = try directory.readRecords([line, Self.member("$mergedInto", "null")])
        #expect(taken == [1])
        #expect(faults == [RowFault(column, RowFault.badIdentifier.reason)])
    }

    @Test("A file of such records changes nothing, and its importer says why")
    func hostileFile() async throws {
        let club = try await openClub()
        let lines = Self.positions.map { $0.line.replacing("#", with: #"\u0000"#) }
        let report = try await club.importMembers(from: directory.writeRecords(lines))
        #expect(report.malformed == lines.count)
        #expect(try await club.memberCount() == 0)
        #expect(try await club.check().isEmpty)
    }

    // MARK: Lines that are no records

    @Test(
        "What is no record is said in words for people",
        arguments: [
            ("null", "the record has no value"), ("[]", "the record is no object"), ("5", "the record is no object"),
            (#""x""#, "the record is no object"), ("true", "the record is no object"),
            ("{", "the line is not valid JSON"), ("", "the line is not valid JSON"),
            ("{}", "expected one record of a kind that is known"),
            (#"{"other":{}}"#, "expected one record of a kind that is known"),
            (#"{"member":5}"#, "the field 'member' is no object"),
            (#"{"member":{}}"#, "the field 'member.userId' is missing"),
            (#"{"member":{"userId":5}}"#, "the field 'member.userId' is no text"),
            (#"{"member":{"userId":null}}"#, "the field 'member.userId' has no value"),
            (#"{"member":{"userId":"U","facts":{"births":5}}}"#, "the field 'member.facts.births' is no array"),
            (
                #"{"member":{"userId":"U","facts":{"births":[["x"]]}}}"#,
                "the field 'member.facts.births.0.0' is no array"
            ),
            (#"{"undo":{\#(visit.dropLast())"x"}}"#, "the field 'undo.at' is no whole number"),
            (
                #"{"undo":{"eventID":"x","stamp":[1],"at":5}}"#,
                "the field 'undo.eventID' is not valid"
            ),
        ]
    )
    func words(line: String, reason: String) throws {
        let (taken, faults) = try directory.readRecords([line])
        #expect(taken == [])
        #expect(faults == [RowFault(nil, reason)])
    }

    // MARK: Other ways

    private static let values: [(String, FieldValue)] = [
        ("city", "Ul\0m"), ("ci\0ty", "Ulm"), ("city", ["a", ["\0"]]), ("city", ["a": ["b\0": 1]]),
    ]

    @Test("Fields with a NUL are refused, by whoever sets them", arguments: values)
    func fields(name: String, value: FieldValue) async throws {
        let club = try await openClub()
        let added = await #expect(throws: ClubError.self) {
            try await club.add(Member(userId: "U1", fields: [name: value]))
        }
        #expect(added?.kind == .invalidValue)
        try await club.add(Member(userId: "U1", username: "An\0na"))
        #expect(try await club.member(withUserID: "U1")?.username == "An na")
        let updated = await #expect(throws: ClubError.self) { try await club.update("U1") { $0.fields[name] = value } }
        #expect(updated?.kind == .invalidValue)
        let report = try await club.merge([Member(userId: "U1", fields: [name: value]), Member(userId: "U2")])
        #expect(report.skipped == 1 && report.created == 1)
        #expect(report.rows.first?.reason == "the text has a NUL character; remove it")
        #expect(try await club.member(withUserID: "U1")?.fields == [:])
        #expect(try await club.check().isEmpty)
    }

    @Test("What else is said of a member has no NUL either")
    func others() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("U1", name: "An\0na"))
        #expect(try await club.update("U1") { $0.username = "Be\0a" }.username == "Be a")
        let noted = await #expect(throws: ClubError.self) { try await club.setNotes("no\0te", on: "U1") }
        #expect(noted?.kind == .invalidValue)
        let merged = try await club.merge([Member(userId: "U1", username: "Ce\0c")])
        #expect(merged.skipped == 1)
        let context = ActionContext(actor: "de\0sk", reason: "lo\0st")
        try await club.addCard("C1", to: "U1", by: context)
        try await club.blockCard("C1", by: context)
        try await club.setTags(["go\0ld"], of: "U1", by: context)
        try await club.block("U1", by: context)
        let path = directory.file("all.clubkit")
        try await club.exportMembers(to: path, options: ExportOptions(format: .clubkit))
        #expect(try !String(decoding: content(of: path), as: UTF8.self).contains(#"\u0000"#))
        #expect(try await openClub().importMembers(from: path).malformed == 0)
        #expect(try await club.check().isEmpty)
    }

    @Test("JSON in a cell of a CSV file can spell a NUL, too")
    func cells() throws {
        let text = "userId,username,city\nU1,A,\"[\"\"\\u0000\"\"]\"\nU2,B,\"[\"\"\\n\"\"]\"\nU3,C,\\u0000\n"
        var reader = try CSVMemberReader(MemorySource(Array(text.utf8)))
        var batch = RowBatch(isUntyped: true)
        _ = try reader.read(into: &batch)
        #expect(batch.batch.rows.map { batch.batch.string($0.userId) } == ["U2", "U3"])
        #expect(batch.faults.map(\.fault) == [.nul("city")])
    }
}
