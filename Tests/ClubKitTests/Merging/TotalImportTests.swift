import Foundation
import ReaderKit
import Testing

@testable import ClubKit
@testable import ClubRecords

@Suite("Totals and times of files")
struct TotalImportTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let now = ISO8601.date("2026-11-28T12:00:00Z") ?? start

    private func club() async throws -> Club { try await openClub(.test(clock: { Self.now })) }

    private func take(_ text: String, _ club: Club, _ mode: MergeMode = .merge) async throws -> ImportReport {
        let path = try directory.write(text, to: UUID().uuidString + ".csv")
        return try await club.importMembers(from: path, options: ImportOptions(mode: mode))
    }

    private func visits(_ club: Club) async throws -> Int? { try await club.member(withUserID: "A1")?.numVisits }

    @Test(
        "A last visit that lies ahead is none: further visits add to the total, and the file again adds nothing",
        arguments: [
            "2026-11-30", "2028-11-03 10:00", "9999-12-31", "4070908800", "1890000000.5",
        ],
        MergeMode.allCases
    )
    func ahead(time: String, mode: MergeMode) async throws {
        for isThere in [false, true] where !(isThere && mode == .addOnly) {
            let club = try await club()
            if isThere { _ = try await club.add(Member(userId: "A1")) }
            let file = "userId,username,numVisits,timeStampOfLastVisit\nA1,Ann,50,\(time)\nB1,Ben,0,\n"
            let report = try await take(file, club, mode)
            #expect(report.rows.flatMap(\.notes).count { $0.contains("lies ahead") } == 1, "\(report.rows)")
            #expect(try await visits(club) == 50)
            for second in [60.0, 120, 180] {
                _ = try await club.receive(tap("A1", at: Self.now.timeIntervalSince(start) + second))
            }
            #expect(try await visits(club) == 53)
            _ = try await take(file, club, mode)
            #expect(try await visits(club) == 53)
            #expect(try await club.check() == [])
        }
    }

    @Test("A last visit of just now is what it is, and so is one that may be")
    func justNow() async throws {
        for time in ["2026-11-28T12:00:00Z", "2026-11-28", "2026-11-28T14:00:00Z"] {
            let club = try await club()
            let report = try await take("userId,numVisits,timeStampOfLastVisit\nA1,5,\(time)\n", club)
            #expect(report.noted == 0)
            #expect(try await visits(club) == 5)
        }
    }

    @Test("The club's own file changes nobody", arguments: [[], ["userId"]])
    func own(columns: [String]) async throws {
        let club = try await club()
        _ = try await club.add(Member(userId: "A1"))
        // Before it was added, as visits are that are entered by hand.
        _ = try await club.receive(tap("A1", at: Self.now.timeIntervalSince(start) - 3600.25))
        let path = directory.path + "/own.csv"
        var options = ExportOptions(format: .csv)
        if !columns.isEmpty { options.columns = columns }
        try await club.exportMembers(to: path, options: options)
        let before = try await club.details(of: "A1")
        for mode in MergeMode.allCases {
            let report = try await club.importMembers(from: path, options: ImportOptions(mode: mode))
            #expect((report.changed, report.conflicting, report.noted) == (0, 0, 0), "\(mode): \(report.rows)")
        }
        #expect(try await club.details(of: "A1") == before)
    }
}
