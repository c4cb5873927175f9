import Foundation
import GRDB
import Testing

@testable import ClubKit

@Suite("What follows from facts and ledger")
struct SavingTests {
    /// Says something of a member as another device would have, which a merge brings.
    private func say(
        _ store: MemberStore,
        of userID: String,
        _ body: @escaping @Sendable (inout MemberFacts, Stamp) -> Void
    ) async throws {
        try await store.write("test") { transaction in
            let row = try #require(try transaction.db.members.row(userID: userID))
            let stamp = try transaction.nextStamp()
            try transaction.members.change(row) { body(&$0, Stamp(time: stamp.time, device: UUIDSource.uuid(4711))) }
        }
    }

    private func club(_ members: [String]) async throws -> (Club, MemberStore) {
        let club = try await openClub()
        for (index, key) in members.enumerated() {
            for visit in 0...index { _ = try await club.receive(tap(key, at: Double(visit) * 60)) }
        }
        return (club, try club.openStore("test"))
    }

    private func visits(_ club: Club) async throws -> [String: Int] {
        Dictionary(uniqueKeysWithValues: try await club.members().map { ($0.userId, $0.numVisits) })
    }

    @Test("Members who were joined in a circle by two devices are the first of them")
    func circle() async throws {
        let (club, store) = try await club(["A", "B", "C"])
        try await say(store, of: "B") { $0.set("$mergedInto", .string("C"), $1) }
        try await say(store, of: "C") { $0.set("$mergedInto", .string("A"), $1) }
        #expect(try await visits(club) == ["A": 6])
        try await say(store, of: "A") { $0.set("$mergedInto", .string("B"), $1) }
        #expect(try await visits(club) == ["A": 6])
        for key in ["A", "B", "C"] { #expect(try await club.member(withUserID: key)?.userId == "A") }
        #expect(try await club.check() == [])
        #expect(try await club.receive(tap("C", at: 3600)).member?.numVisits == 7)
        #expect(try await club.check() == [])
    }

    @Test("Whom a member was joined to before loses the visits again")
    func joinedElsewhere() async throws {
        let (club, store) = try await club(["A", "B", "C"])
        try await club.mergeMember("A", into: "B")
        #expect(try await visits(club) == ["B": 3, "C": 3])
        try await say(store, of: "A") { $0.set("$mergedInto", .string("C"), $1) }
        #expect(try await visits(club) == ["B": 2, "C": 4])
        try await say(store, of: "A") { $0.set("$mergedInto", .null, $1) }
        #expect(try await visits(club) == ["A": 1, "B": 2, "C": 3])
        #expect(try await club.check() == [])
    }

    @Test("Who is deleted elsewhere leaves those they were joined with")
    func deletedElsewhere() async throws {
        let (club, store) = try await club(["A", "B", "C"])
        try await club.mergeMember("A", into: "B")
        try await club.mergeMember("B", into: "C")
        try await say(store, of: "B") { $0.delete($1) }
        #expect(try await visits(club) == ["A": 1, "C": 3])
        #expect(try await club.check() == [])
        try await say(store, of: "A") { $0.delete($1) }
        #expect(try await visits(club) == ["C": 3])
        #expect(try await club.check() == [])
    }

    @Test("A file's total counts with the visits after it, and a total of less says nothing")
    func claims() async throws {
        let (club, store) = try await club(["A", "B"])
        let at = Timestamp.microseconds(start.addingTimeInterval(30)) ?? 0
        try await say(store, of: "B") { $0.add(MemberFacts.Claim(visits: 10, at: at, stamp: $1)) }
        // One of its two visits is later.
        #expect(try await visits(club) == ["A": 1, "B": 11])
        try await say(store, of: "A") { $0.add(MemberFacts.Claim(visits: 1, at: at, stamp: $1)) }
        #expect(try await visits(club)["A"] == 1)
        #expect(try await club.member(withUserID: "A")?.timeStampOfLastVisit == start.timeIntervalSince1970 + 30)
        #expect(try await club.receive(tap("B", at: 600)).member?.numVisits == 12)
        #expect(try await club.check() == [])
    }

    @Test("The journal has what was shown of a member before each change")
    func journal() async throws {
        let (club, store) = try await club(["A"])
        try await club.update("A") { $0.username = "Ann" }
        try await club.block("A", by: ActionContext(reason: "fees"))
        try await club.delete("A")
        _ = try await club.receive(tap("A", at: 3600))
        let (images, sequences, last) = try await store.database.read { db in
            (
                try Optional<String>.fetchAll(db, sql: "SELECT before FROM change ORDER BY seq"),
                try Int64.fetchAll(db, sql: "SELECT seq FROM change ORDER BY seq"),
                try Int64.fetchOne(db, sql: "SELECT change_seq FROM member")
            )
        }
        let time = Timestamp.microseconds(start) ?? 0
        let shown = images.compactMap { $0 }
        #expect(images.first == .some(nil))
        #expect(
            shown == [
                #"["A","",\#(time),1,\#(time),{},null,null,null,null]"#,
                #"["A","Ann",\#(time),1,\#(time),{},null,null,null,null]"#,
                #"["A","Ann",\#(time),1,\#(time),{},"fees",null,null,null]"#,
            ]
        )
        // The one who came again was not there before.
        #expect(images.last == .some(nil))
        #expect(sequences == Array(1...Int64(sequences.count)))
        #expect(last == sequences.last)
    }

    @Test("The journal does not grow without end")
    func pruned() async throws {
        let (club, store) = try await club(["A"])
        try await store.write("test") { transaction in
            for _ in 0..<12_000 { _ = try transaction.members.noteChange(of: 1) }
        }
        let count = try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change") ?? 0 }
        #expect((10_000..<11_100).contains(count))
        #expect(try await club.check() == [])
    }
}
