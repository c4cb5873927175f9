import Foundation
import Testing

@testable import ClubKit
@testable import ClubRecords

/// Rows of one file that are of one member, who may be two people.
@Suite("Two rows of one member")
struct TwoRowsTests {
    struct Case: Sendable {
        /// The second identifier besides 770001.
        var other: String
        /// What the note of row 4 has besides the number of row 2, by mode.
        var notes: [MergeMode: String]
        var card: String?
        var first = "770001"

        init(_ other: String, _ notes: [MergeMode: String], card: String? = nil, first: String = "770001") {
            (self.other, self.notes, self.card, self.first) = (other, notes, card, first)
        }
    }

    private static let same: [MergeMode: String] = [
        .addOnly: "counts instead of this one", .merge: "this one counts for username, phone",
        .overwrite: "counts where the two differ",
    ]
    private static let alike: [MergeMode: String] = [
        .addOnly: "two members", .merge: "two members", .overwrite: "two members",
    ]

    static let cases: [Case] = [
        Case("770001", same), Case(" 770001\t", same), Case("0770001", alike), Case("77 0001", alike),
        Case("u-1", alike, first: "U1"), Case("U 01", alike, first: "U1"),
        Case("04:a1:b2:c3", alike, first: "04A1B2C3"),
        Case("04a1b2c3", alike, first: "04A1B2C3"), Case("04.A1.B2.C3", alike, first: "04A1B2C3"),
        Case("04a1-b2c3", alike, first: "04A1B2C3"), Case("0X04A1B2C3", alike, first: "04A1B2C3"),
        Case("ÄB1", alike, first: "äb1"), Case("ＡＢ１", alike, first: "AB1"),
        Case("７７", alike, first: "77"),
        Case("U2", [:], first: "U1"),
        Case("1-11", [:], first: "11-1"), Case("00A0B0CD", [:], first: "0A00B0CD"), Case("7", [:], first: "007A"),
        Case(
            "C1",
            [.addOnly: "neither counts", .merge: "by another of their cards", .overwrite: "by another of their cards"],
            card: "C1"
        ),
    ]

    @Test("Both rows are named, and which counts", arguments: cases, MergeMode.allCases)
    func named(one: Case, mode: MergeMode) async throws {
        for isDry in [true, false] {
            let directory = try TemporaryDirectory()
            let club = try await openClub(.test(.memory))
            if let card = one.card {
                _ = try await club.add(Member(userId: one.first))
                try await club.addCard(card, to: one.first)
            }
            let text = "userId,username,phone\n\(one.first),Ann Berg,111\n770002,Bo,222\n\(one.other),Tom Berg,333\n"
            let path = try directory.write(text, to: "two.csv")
            let report = try await club.importMembers(from: path, options: ImportOptions(mode: mode, dryRun: isDry))
            let notes = report.rows.flatMap { row in row.notes.map { "\(row.row): \($0)" } }
            if let note = one.notes[mode] {
                #expect(notes.count == 1 && report.noted == 1, "\(notes)")
                let isAsExpected = notes.first.map { $0.hasPrefix("4: row 2 ") && $0.contains(note) }
                #expect(isAsExpected == true, "\(notes)")
            } else {
                #expect(notes == [])
            }
        }
    }

    @Test("Also where the rows are in two batches, and in a user list")
    func apart() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.memory))
        var text = "userId,username\nU1,Ann\n"
        for number in 0..<RowBatch.sizes.upperBound { text += "M\(number),\n" }
        text += "U1,Tom\n"
        let report = try await club.importMembers(from: directory.write(text, to: "long.csv"))
        #expect(report.rows.map(\.row) == [RowBatch.sizes.upperBound + 3] && report.noted == 1)
        let list = #"[{"userId":"V1","username":"Ann"},{"userId":"V1","username":"Tom"}]"#
        let other = try await club.importMembers(from: directory.write(list, to: "two.musrl"))
        #expect(other.rows.map(\.row) == [2] && other.rows.first?.notes.first?.hasPrefix("row 1 ") == true)
    }
}
