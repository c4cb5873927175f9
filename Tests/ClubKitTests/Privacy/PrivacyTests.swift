import ClubKit
import Foundation
import GRDB
import Logging
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

@Suite("Privacy", .timeLimit(.minutes(10)))
struct PrivacyTests {
    private let desk = ActionContext(actor: "desk", reason: "asked for it")

    private func text(_ store: MemberStore) async throws -> String {
        try await store.read("test") { db in
            var text = ""
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            for table in tables {
                for row in try Row.fetchAll(db, sql: "SELECT * FROM \(table)") {
                    text += row.databaseValues.map { "\($0.storage.value ?? "")" }.joined(separator: "|") + "\n"
                }
            }
            return text
        }
    }

    // MARK: Erasure

    @Test("Nothing is left of who was erased, but that a tap was seen")
    func erase() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        let first = tap("CARD-0001", name: "Annabel Quist")
        _ = try await club.receive(first)
        _ = try await club.receive(tap("CARD-0001", at: 5))
        _ = try await club.receive(tap("OTHER", at: 6))
        try await club.update("CARD-0001") { $0.fields["mail"] = "annabel@example.org" }
        try await club.setNotes("Annabel likes tea", on: "CARD-0001")
        try await club.addCard("CARD-0002", to: "CARD-0001")
        try await club.replaceCard("CARD-0002", with: "CARD-0003", by: ActionContext(reason: "Annabel lost it"))
        let visit = try #require(try await club.visits(of: "CARD-0001").first)
        try await club.undoVisit(visit.id, by: ActionContext(reason: "Annabel was not here"))
        try await club.recordVisit(of: "CARD-0001", by: ActionContext(actor: "desk", reason: "Annabel forgot her card"))
        _ = try await club.add(Member(userId: "CARD-0004", username: "A. Quist"))
        try await club.mergeMember("CARD-0004", into: "CARD-0001")
        try await club.erase("CARD-0003", by: desk)

        let store = try club.openStore("test")
        let held = try await text(store)
        for word in ["Annabel", "annabel", "Quist", "CARD-000"] { #expect(!held.contains(word), "\(word)") }
        for key in ["CARD-0001", "CARD-0002", "CARD-0003", "CARD-0004"] {
            #expect(try await club.member(withUserID: key) == nil)
        }
        #expect(try await club.memberCount() == 1)
        #expect(try await club.member(withUserID: "OTHER")?.numVisits == 1)
        #expect(try await club.check().filter { $0.severity == .error } == [])

        // The same tap again adds nothing; the card that is presented later is that of somebody new.
        let again = try await club.receive(first)
        #expect(again.outcome.reason?.code == .erased)
        #expect(again.member == nil)
        #expect(try await club.memberCount() == 1)
        #expect(try await club.receive(tap("CARD-0001", at: 100)).outcome == .created)
        #expect(try await club.member(withUserID: "CARD-0001")?.numVisits == 1)

        try await club.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        for word in ["Annabel", "annabel@example.org", "CARD-0002", "CARD-0003"] {
            #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) is in the file")
        }
    }

    @Test("No file and no device brings back who was erased")
    func eraseAndMerge() async throws {
        let (first, second, third) = (try MergeDevice(1), try MergeDevice(2), try MergeDevice(3))
        for key in ["A", "B"] { try await first.tap(key, at: start) }
        try second.merge(await first.records())
        try third.merge(await first.records())
        try await second.tap("A", at: start.addingTimeInterval(100))
        let old = try await second.records()
        first.clock.advance(by: 50)
        _ = try await first.store.erase("A", desk) { _ in }
        // What another device knew, and what it saw since, does not come in.
        try first.merge(old)
        #expect(try await first.member("A") == nil)
        #expect(
            try first.importRows([ImportedMember(row: 1, userId: "A", numVisits: 5, lastVisitAt: 1)])
                == [.skipped(MergeBatch.erasedReason)]
        )
        #expect(try await first.member("A") == nil)
        // The erasure reaches the others, also by a detour.
        try third.merge(await first.records())
        try second.merge(await third.records())
        #expect(try await second.member("A") == nil)
        for device in [first, second, third] {
            #expect(try await device.member("B")?.numVisits == 1)
            #expect(try await device.store.check() == [])
            let held = try await device.store.read("test") { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM audit WHERE subject = 'A'")
            }
            #expect(held == 0)
        }
        // Somebody new with that card is welcome, and stays when old records come again.
        second.clock.advance(by: 5000)
        try await second.tap("A", at: start.addingTimeInterval(5000))
        try second.merge(old)
        #expect(try await second.member("A")?.numVisits == 1)
        try first.merge(await second.records())
        #expect(try await first.member("A")?.numVisits == 1)
    }

    @Test("Who was erased and comes back can be deleted, and is forgotten again")
    func deleteAfterErasure() async throws {
        let device = try MergeDevice(1)
        try await device.tap("A", at: start)
        _ = try await device.store.erase("A", desk) { _ in }
        try await device.tap("A", at: start.addingTimeInterval(60))
        _ = try await device.store.delete("A", desk) { _ in }
        #expect(try await device.member("A") == nil)
        let rows = try await device.store.read("test") { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM member")
        }
        #expect(rows == 0)
        #expect(try await device.store.check() == [])
    }

    @Test("Who was deleted can still see what is held, and have it erased", arguments: ["CARD-0001", "CARD-0002"])
    func eraseDeleted(key: String) async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        _ = try await club.receive(tap("CARD-0001", name: "Annabel Quist"))
        try await club.setNotes("Annabel likes tea", on: "CARD-0001")
        try await club.addCard("CARD-0002", to: "CARD-0001")
        try await club.delete("CARD-0001", by: ActionContext(reason: "Annabel left"))
        let files = try await club.disclose(key, to: URL(fileURLWithPath: directory.file("A")))
        let json = try String(contentsOf: files[0], encoding: .utf8)
        for word in ["Annabel left", "\"deleted\"", "Test reader"] { #expect(json.contains(word), "\(word)") }
        try await club.erase(key, by: desk)
        let held = try await text(try club.openStore("test"))
        for word in ["Annabel", "Quist", "CARD-000"] { #expect(!held.contains(word), "\(word)") }
        #expect(try await club.check().filter { $0.severity == .error } == [])
        let error = await #expect(throws: ClubError.self) { try await club.erase(key, by: desk) }
        #expect(error?.kind == .noSuchMember)
        try await club.close()
    }

    // MARK: Retention

    @Test("Old visits go, totals stay, and merging brings nothing back and doubles nothing")
    func retention() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        for day in 0..<10 {
            let device = day.isMultiple(of: 2) ? first : second
            device.clock.advance(by: 86_400 * (day == 0 ? 0 : 1))
            let seconds = device.clock.now.timeIntervalSince(start)
            try await device.tap("A", at: start.addingTimeInterval(seconds + Double(day)))
        }
        try first.merge(await second.records())
        try second.merge(await first.records())
        let total = try #require(try await first.member("A"))
        #expect(total.numVisits == 10)
        let limit = start.addingTimeInterval(2.5 * 86_400)
        let removed = try await first.store.pruneVisits(before: limit, desk)
        #expect(removed > 0)
        #expect(try await first.store.pruneVisits(before: limit, desk) == 0)
        #expect(try await first.member("A") == total)
        // The other one still has them.
        try first.merge(await second.records())
        #expect(try await first.member("A") == total)
        #expect(try await first.store.visits(of: "A", limit: 99).count == 10 - removed)
        try second.merge(await first.records())
        #expect(try await second.member("A") == total)
        _ = try await second.store.pruneVisits(before: limit, desk)
        try await second.tap("A", at: start.addingTimeInterval(20 * 86_400))
        try first.merge(await second.records())
        try second.merge(await first.records())
        #expect(try await first.member("A")?.numVisits == 11)
        #expect(try await first.dump() == second.dump())
        #expect(try await first.store.check() == [])
        #expect(try await second.store.check() == [])
    }

    @Test("Totals of files, visits that were bought and undone ones outlast the removal")
    func retentionOfClaims() async throws {
        let device = try MergeDevice(1)
        try device.importRows([
            ImportedMember(row: 1, userId: "A", addedAt: 1, numVisits: 40, lastVisitAt: 1_788_256_800_000_000)
        ])
        _ = try await device.store.sellVisits(10, to: "A", desk) { _ in }
        for day in 1...5 {
            device.clock.advance(by: 86_400)
            try await device.tap("A", at: start.addingTimeInterval(Double(day) * 86_400))
        }
        let visits = try await device.store.visits(of: "A", limit: 9)
        _ = try await device.store.undoVisit(visits[3].id, desk) { _ in }
        let before = try #require(try await device.store.details(of: "A"))
        #expect(before.member.numVisits == 44)
        #expect(before.visitsLeft == 6)
        #expect(try await device.store.pruneVisits(before: start.addingTimeInterval(4.5 * 86_400), desk) == 4)
        #expect(try await device.store.details(of: "A") == before)
        #expect(try await device.store.pruneVisits(before: start.addingTimeInterval(99 * 86_400), desk) == 1)
        #expect(try await device.store.details(of: "A") == before)
        #expect(try await device.store.check() == [])
        try await device.tap("A", at: start.addingTimeInterval(100 * 86_400))
        let after = try #require(try await device.store.details(of: "A"))
        #expect(after.member.numVisits == 45)
        #expect(after.visitsLeft == 5)
    }

    @Test("A tap whose visit was removed adds nothing when it is given again")
    func retentionOfReceipts() async throws {
        let device = try MergeDevice(1)
        let id = UUID()
        try await device.tap("A", at: start, id: id)
        try await device.tap("A", at: start.addingTimeInterval(1))
        _ = try await device.store.pruneVisits(before: start.addingTimeInterval(86_400), desk)
        let again = try await device.tap("A", at: start, id: id)
        #expect(again?.outcome.reason?.code == .erased)
        #expect(try await device.member("A")?.numVisits == 1)
        let linked = try await device.store.read("test") { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM receipt WHERE member_id IS NOT NULL")
        }
        #expect(linked == 0)
    }

    @Test("A club that keeps visits for a time removes older ones when it is opened")
    func retentionAtOpening() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        _ = try await club.receive(tap("A"))
        try await club.close()
        var configuration = ClubConfiguration.test(
            .file(path: directory.file()),
            clock: { start.addingTimeInterval(40 * 86_400) }
        )
        configuration.visitRetention = .seconds(30 * 86_400)
        let later = try await openClub(configuration)
        try await until("the visits are removed") { try await later.visits(of: "A").isEmpty }
        #expect(try await later.member(withUserID: "A")?.numVisits == 1)
        try await until("it is in the audit log") { try await later.auditLog().first?.action == .removedVisits }
        try await later.close()
    }

    @Test("A clock that leaps removes no visits for a week", arguments: [1, 8], [5 * 365, 400])
    func retentionAfterALeap(_ days: Int, _ leap: Int) async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        _ = try await club.receive(tap("A"))
        _ = try await club.receive(tap("A", at: Double(leap) * 86_400))
        try await club.close()
        let now = start.addingTimeInterval(Double(leap + days) * 86_400)
        var configuration = ClubConfiguration.test(.file(path: directory.file()), clock: { now })
        configuration.visitRetention = .seconds(30 * 86_400)
        let log = LogStore()
        configuration.logger = Logger(label: "club.test") { _ in LogCollector(store: log) }
        let later = try await openClub(configuration)
        try await until("it is decided") { log.lines.contains { $0.contains("Old visits") } }
        #expect(try await later.visits(of: "A").count == (days > 7 ? 1 : 2))
        try await later.close()
    }

    // MARK: Disclosure

    @Test("A member gets all that is held, in files that nobody else may read")
    func disclose() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub()
        _ = try await club.receive(tap("A", name: "Ann"))
        _ = try await club.receive(tap("A", at: 60))
        try await club.update("A") { $0.username = "=Ann, \"the\" first" }
        try await club.setNotes("Owes a coffee", on: "A")
        try await club.recordVisit(of: "A", by: ActionContext(actor: "desk", reason: "=1+1"))
        _ = try await club.receive(tap("B", at: 61, name: "Nobody Else"))
        let folder = URL(fileURLWithPath: directory.file("A"))
        let files = try await club.disclose("A", to: folder, by: desk)
        #expect(files.map(\.lastPathComponent) == ["member.json", "visits.csv"])
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: files[0])) as? [String: Any]
        let visits = try #require(object?["visits"] as? [Any])
        #expect(visits.count == 3)
        let json = try String(contentsOf: files[0], encoding: .utf8)
        for word in ["Ann", "Owes a coffee", "desk", "disclosed"] { #expect(json.contains(word), "\(word)") }
        #expect(!json.contains("Nobody Else"))
        let table = try String(contentsOf: files[1], encoding: .utf8)
        #expect(table.components(separatedBy: "\r\n").count == 5)
        #expect(table.contains("'=1+1"))
        for file in files {
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(try await club.auditLog(of: "A").first?.action == .disclosed)
        await #expect(throws: ClubError.self) { try await club.disclose("A", to: folder, by: desk) }
        await #expect(throws: ClubError.self) { try await club.disclose("X", to: folder, by: desk) }
        // Only what was disclosed is said to be.
        #expect(try await club.auditLog(of: "A").filter { $0.action == .disclosed }.count == 1)
    }

    // MARK: Hidden identifiers

    private static func key(_ byte: UInt8) -> IdentifierKey? { IdentifierKey([UInt8](repeating: byte, count: 32)) }

    @Test("A key is long enough, and shows nothing of itself")
    func keys() throws {
        #expect(IdentifierKey([UInt8](repeating: 1, count: 15)) == nil)
        let key = try #require(Self.key(1))
        #expect(key.hidden("04A1B2C3") == key.hidden("04A1B2C3"))
        #expect(key.hidden("04A1B2C3") != key.hidden("04A1B2C4"))
        #expect(key.hidden("04A1B2C3") != Self.key(2)?.hidden("04A1B2C3"))
        #expect(key.hidden("A").hasPrefix("id:" + key.check + "-"))
        #expect(key.resolved(key.hidden("A")) == key.hidden("A"))
        // What a card says is hidden whatever it looks like.
        #expect(key.hidden(key.hidden("A")) != key.hidden("A"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("[1") && !"\(key)".contains("1, 1"))
    }

    @Test("With a key no identifier is in the store, and everything is found by the plain one and by the hidden one")
    func hidden() async throws {
        let key = try #require(Self.key(7))
        let device = try MergeDevice(1, identifierKey: key)
        try await device.tap("CARD-0001", at: start)
        try await device.tap("CARD-0001", at: start.addingTimeInterval(60))
        _ = try await device.store.add(Member(userId: "CARD-0002", username: "Bob"), desk) { _ in }
        _ = try await device.store.setCard("CARD-0003", of: "CARD-0002", blocked: nil, .addedCard, desk) { _ in }
        _ = try await device.store.mergeMember("CARD-0003", into: "CARD-0001", desk) { _ in }
        try device.importRows([ImportedMember(row: 1, userId: "CARD-0004", numVisits: 3, lastVisitAt: 9)])
        let held = try await text(device.store)
        #expect(!held.contains("CARD-000"))
        #expect(try await device.member("CARD-0002")?.numVisits == 2)
        #expect(try await device.member(key.hidden("CARD-0001"))?.numVisits == 2)
        #expect(try await device.member("CARD-0004")?.numVisits == 3)
        // Its own export is recognised, and a plain one of another club is hidden.
        let again = try device.merge(await device.records())
        #expect(again.allSatisfy { $0 == .kept })
        let plain = try MergeDevice(2)
        try await plain.tap("CARD-0004", at: start)
        try device.merge(await plain.records())
        #expect(try await device.member("CARD-0004")?.numVisits == 4)
        // A club without the key cannot tell who that is.
        #expect(try plain.merge(await device.records()).contains(.skipped(MergeBatch.otherKeyReason)))
        #expect(try await device.store.check() == [])
    }

    @Test("A store opens with its key only")
    func wrongKey() async throws {
        let directory = try TemporaryDirectory()
        func open(_ key: IdentifierKey?) async throws(ClubError) -> Club {
            var configuration = ClubConfiguration.test(.file(path: directory.file()))
            configuration.identifierKey = key
            let club = Club(configuration: configuration)
            try await club.open()
            return club
        }
        func refuses(_ key: IdentifierKey?) async {
            do throws(ClubError) {
                _ = try await open(key)
                Issue.record("it opened")
            } catch {
                #expect(error.kind == .wrongIdentifierKey)
                #expect(!error.description.contains("01"))
            }
        }
        let club = try await open(Self.key(1))
        _ = try await club.receive(tap("A"))
        try await club.close()
        await refuses(Self.key(2))
        await refuses(nil)
        try await open(Self.key(1)).close()
        let plain = try TemporaryDirectory()
        let other = try await openClub(.test(.file(path: plain.file())))
        _ = try await other.receive(tap("A"))
        try await other.close()
        var configuration = ClubConfiguration.test(.file(path: plain.file()))
        configuration.identifierKey = Self.key(1)
        let keyed = Club(configuration: configuration)
        await #expect(throws: ClubError.self) { try await keyed.open() }
    }
}
