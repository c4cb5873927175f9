import Foundation
import Testing

@testable import ClubKit

/// A club's own files over members of whom some are one.
@Suite(.timeLimit(.minutes(10))) struct JoinedRoundTripTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func export(_ club: Club, _ format: TransferFormat, _ name: String) async throws -> String {
        let path = directory.file("\(name).\(format.pathExtension)")
        try await club.exportMembers(to: path, options: ExportOptions(format: format, overwrite: true))
        return path
    }

    /// Three who are one, A, and one who is alone; B has a total of a file and C more visits than A.
    private func club(_ name: String = "club.sqlite") async throws -> Club {
        let club = try await openClub(.test(.file(path: directory.file(name)), clock: { start + 86_400 }))
        let row = "userId,username,timeStampAdded,numVisits,timeStampOfLastVisit\nB,Bea,1000000000,7,1500000000\n"
        try await club.importMembers(from: try directory.write(row, to: "old.csv"))
        for (key, seconds) in [("A", 0), ("A", 100.25), ("B", 200), ("C", 50), ("C", 150), ("C", 300), ("D", 400)] {
            _ = try await club.receive(tap(key, at: seconds))
        }
        try await club.mergeMember("C", into: "B")
        try await club.mergeMember("B", into: "A")
        return club
    }

    private func isClean(_ club: Club) async throws {
        let findings = try await club.check()
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test("Own files change nothing, however often and however old", arguments: [TransferFormat.csv, .userList])
    func rounds(_ format: TransferFormat) async throws {
        let club = try await club()
        #expect(try await club.member(withUserID: "C")?.numVisits == 13)
        var files: [String] = []
        for round in 0..<4 {
            let before = try await club.members(sortedBy: .userId)
            #expect(before.map(\.numVisits) == [13 + round, 1])
            files.append(try await export(club, format, "round\(round)"))
            for path in files + files.reversed() {
                let report = try await club.importMembers(from: path)
                #expect((report.created, report.malformed, report.skipped) == (0, 0, 0))
                #expect(try await club.members(sortedBy: .userId) == before, "\(path)")
            }
            try await isClean(club)
            _ = try await club.receive(tap(["A", "B", "C", "A"][round], at: Double(1000 * (round + 1)) + 0.125))
        }
        #expect(try await club.member(withUserID: "A")?.numVisits == 17)
        try await isClean(club)
    }

    @Test("What a file tells beyond the total of all counts once", arguments: [TransferFormat.csv, .userList])
    func more(_ format: TransferFormat) async throws {
        let club = try await club()
        // The file of a copy of the club where C's card was tapped twice more.
        let copy = try await self.club("copy.sqlite")
        for seconds in [500.0, 600] { _ = try await copy.receive(tap("C", at: seconds)) }
        let path = try await export(copy, format, "copy")
        _ = try await club.receive(tap("B", at: 700))
        for _ in 0..<3 {
            try await club.importMembers(from: path)
            #expect(try await club.member(withUserID: "A")?.numVisits == 16)
            #expect(try await club.member(withUserID: "D")?.numVisits == 1)
            try await isClean(club)
        }
        // And its own file after that.
        let own = try await export(club, format, "own")
        for file in [own, path, own] {
            try await club.importMembers(from: file)
            #expect(try await club.member(withUserID: "A")?.numVisits == 16)
        }
        try await isClean(club)
    }

    @Test("A file from before the joining, and totals of no known time")
    func others() async throws {
        let club = try await club()
        let rows = [
            // A had as many visits alone by then.
            "userId,numVisits,timeStampOfLastVisit\nA,2,\(start.timeIntervalSince1970 + 100.25)\n",
            // And C, which is not in a file of this club any more.
            "userId,numVisits,timeStampOfLastVisit\nC,3,\(start.timeIntervalSince1970 + 300)\n",
            "userId,numVisits\nA,0\n", "userId,username\nA,Ann\n",
        ]
        for (number, row) in rows.enumerated() {
            try await club.importMembers(from: try directory.write(row, to: "\(number).csv"))
            #expect(try await club.members(sortedBy: .userId).map(\.numVisits) == [13, 1], "\(row)")
        }
        try await isClean(club)
    }
}
