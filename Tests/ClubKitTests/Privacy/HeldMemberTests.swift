import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

/// What is left of members who were deleted.
@Suite("Members who are held", .timeLimit(.minutes(10)))
struct HeldMemberTests {
    /// Two members who were joined, and deleted then.
    private func club(_ path: String) async throws -> Club {
        let club = try await openClub(.test(.file(path: path)))
        _ = try await club.receive(tap("CARD-0001", name: "Annabel Quist"))
        _ = try await club.receive(tap("CARD-0002", at: 60, name: "A. Quist"))
        _ = try await club.receive(tap("OTHER", at: 70, name: "Somebody"))
        try await club.recordVisit(of: "CARD-0002", by: ActionContext(actor: "desk", reason: "Annabel forgot it"))
        try await club.setTags(["Annabel\u{2019}s"], of: "CARD-0002")
        try await club.addCard("CARD-0003", to: "CARD-0001")
        try await club.mergeMember("CARD-0002", into: "CARD-0001", by: ActionContext(reason: "one Annabel"))
        try await club.delete("CARD-0001", by: ActionContext(reason: "Annabel left"))
        return club
    }

    @Test("Of those who were joined and deleted nothing is left", arguments: ["CARD-0001", "CARD-0002", "CARD-0003"])
    func erase(key: String) async throws {
        let directory = try TemporaryDirectory()
        let club = try await club(directory.file())
        #expect(try await club.member(withUserID: key) == nil)
        #expect(try await club.heldMember(withUserID: key) != nil)
        try await club.erase(key)
        #expect(try await club.heldMember(withUserID: key) == nil)
        #expect(try await club.memberCount() == 1)
        #expect(try await club.member(withUserID: "OTHER")?.numVisits == 1)
        #expect(try await club.check().filter { $0.severity == .error } == [])
        try await club.close()
        for suffix in ["", "-wal"] {
            guard let bytes = FileManager.default.contents(atPath: directory.file() + suffix) else { continue }
            for word in ["Annabel", "Quist", "CARD-000"] {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) is in the file\(suffix)")
            }
        }
    }

    @Test("They are told what is held", arguments: ["CARD-0001", "CARD-0002", "CARD-0003"])
    func history(key: String) async throws {
        let directory = try TemporaryDirectory()
        let club = try await club(directory.file())
        #expect(try await club.heldVisits(of: key, limit: 9).count == 3)
        let actions = try await club.heldAuditLog(of: key, limit: 99).map(\.action)
        for action in [AuditEntry.Action.deleted, .joined, .recordedVisit] { #expect(actions.contains(action)) }
        _ = try await club.heldFormerValues(of: key, limit: 9)
        let files = try await club.disclose(key, to: URL(fileURLWithPath: directory.file("folder")))
        let json = try String(contentsOf: files[0], encoding: .utf8)
        for word in ["Annabel left", "Annabel forgot it", "CARD-0003"] { #expect(json.contains(word), "\(word)") }
        #expect(!json.contains("OTHER"))
        // Who is a member still has no visits of somebody who is none.
        await #expect(throws: ClubError.self) { try await club.visits(of: key) }
        try await club.close()
    }

    @Test("Who comes again takes those along who were joined before")
    func again() async throws {
        let directory = try TemporaryDirectory()
        let club = try await club(directory.file())
        _ = try await club.receive(tap("CARD-0001", at: 9000, name: "Annabel Quist"))
        try await club.erase("CARD-0001")
        try await club.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        for word in ["Annabel", "Quist", "CARD-000"] { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)") }
    }
}
