import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

/// What a repair makes of the creations of members, and of what visits say of them, whose rows are gone: a creation that
/// is none of a file without times must not become one, for a merge with a device that knows better.
@Suite("Creations in a damaged file")
struct SalvagedOriginTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func club() -> Club { Club(configuration: .test(.file(path: path))) }

    /// Members by taps, by hand, of another device, of a file, deleted and there again.
    private func fill() async throws {
        var configuration = ClubConfiguration.test()
        configuration.makeUUID = { UUID() }
        let other = try await openClub(configuration)
        for index in 20..<60 { _ = try await other.receive(tap("member \(index)", at: 90)) }
        let file = directory.file("other.clubkit")
        try await other.exportMembers(to: file, options: ExportOptions(format: .clubkit))
        let list = directory.file("list.csv")
        let lines = [
            "userId,username,numVisits,timeStampOfLastVisit", "old,Old,7,1788200000", "older,Older,2,1788100000", "",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: list))

        let club = club()
        try await club.open()
        for round in 0..<3 {
            for index in 0..<40 {
                let event = tap("member \(index)", at: Double(round * 1000 + index), name: "N \(index)")
                _ = try await club.receive(event)
            }
        }
        _ = try await club.importMembers(from: list, options: ImportOptions())
        _ = try await club.importMembers(from: file, options: ImportOptions())
        _ = try await club.receive(tap("old", at: 4000))
        try await club.add(Member(userId: "by hand", username: "Hand"))
        try await club.update("by hand") { $0.fields["mail"] = "hand@club.example" }
        _ = try await club.delete("member 3")
        _ = try await club.receive(tap("member 3", at: 5000))
        #expect(try await club.check() == [])
        try await club.close()
        for name in [file, list] { unlink(name) }
    }

    private struct Origins: Equatable {
        /// Time and device, by member.
        var members: [String: [String]] = [:]
        /// By event.
        var visits: [String: Int64] = [:]
        /// Events that a deletion ended.
        var ended: Set<String> = []
    }

    private func origins() throws -> Origins {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            var origins = Origins()
            for row in try Row.fetchAll(db, sql: "SELECT user_id, origin_hlc, hex(origin_device) FROM member") {
                origins.members[row[0]] = ["\(row[1] as Int64)", row[2]]
            }
            for row in try Row.fetchAll(db, sql: "SELECT hex(event_id), born FROM visit") {
                origins.visits[row[0]] = row[1]
            }
            let ended = "SELECT hex(event_id) FROM visit JOIN member ON member.id = member_id WHERE born <= ended_hlc"
            origins.ended = try String.fetchSet(db, sql: ended)
            return origins
        }
    }

    private func repaired() async throws -> RepairReport {
        let report = try await club().repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        return report
    }

    @Test("Without the root of the visits, each is under the creation under which it was made")
    func visits() async throws {
        try await fill()
        let before = try origins()
        try DamagedFile.destroyTrees(["visit"], of: path)
        _ = try await repaired()
        let after = try origins()
        #expect(after.members == before.members)
        for (event, born) in before.visits where !before.ended.contains(event) {
            #expect(after.visits[event] == born, "\(event)")
        }
        #expect(after.ended == before.ended)
    }

    @Test(
        "Without the root of the members, creations are those that the visits and the journal tell of",
        arguments: [["member"], ["member", "change"], ["member", "visit"], ["member", "visit", "change"]]
    )
    func members(tables: [String]) async throws {
        try await fill()
        let before = try origins()
        try DamagedFile.destroyTrees(tables, of: path)
        let report = try await repaired()
        let after = try origins()
        let onlyByTaps = (0..<20).filter { $0 != 3 }.map { "member \($0)" }
        #expect(Set(after.members.keys) == Set(before.members.keys), "\(report.lost)")
        for (member, origin) in before.members {
            let now = after.members[member] ?? ["", ""]
            if ["by hand", "older"].contains(member) {
                // No visit tells of it: nothing later than the truth, which would outlive a deletion, nor of a file.
                #expect(Int64(now[0]) ?? .max <= Int64(origin[0]) ?? 0, "\(member)")
                #expect(member == "older" || !now[1].isEmpty, "\(member)")
            } else if !tables.contains("visit") || onlyByTaps.contains(member) {
                #expect(now == origin, "\(member)")
            } else {
                #expect(now[0] != "0" && !now[1].isEmpty, "\(member)")
            }
        }
        #expect(after.visits.count == before.visits.count)
        for (event, born) in after.visits {
            #expect(born > 0)
            if !tables.contains("visit") { #expect(before.visits[event] == born) }
        }
    }

    @Test("In a file of the first schema without the root of the visits, members were made by their first visits")
    func firstSchema() async throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Fixtures/databases/version-1.sqlite").standardizedFileURL
        let bytes = try Data(contentsOf: fixture)
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        let club = club()
        try await club.open()
        try await club.close()
        let sound = try origins()
        unlink(path)
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        try DamagedFile.destroyTrees(["visit"], of: path)
        _ = try await repaired()
        #expect(try origins() == sound)
    }

    @Test(
        "A repaired device and one that knows all come to the same, whatever was lost",
        arguments: [["visit"], ["member"], ["member", "visit"], ["member", "visit", "change"]]
    )
    func merging(tables: [String]) async throws {
        try await fill()
        let first = club()
        try await first.open()
        let file = directory.file("all.clubkit")
        try await first.exportMembers(to: file, options: ExportOptions(format: .clubkit))
        let known = try await first.members(sortedBy: .userId)
        try await first.close()
        try DamagedFile.destroyTrees(tables, of: path)
        _ = try await repaired()
        let again = club()
        try await again.open()
        _ = try await again.importMembers(from: file, options: ImportOptions())
        let now = try await again.members(sortedBy: .userId)
        #expect(now.map(\.userId) == known.map(\.userId))
        #expect(now.map(\.numVisits) == known.map(\.numVisits))
        #expect(now.map(\.username) == known.map(\.username))
        #expect(try await again.check() == [])
        try await again.close()
    }
}
