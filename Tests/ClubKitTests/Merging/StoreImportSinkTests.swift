import Foundation
import GRDB
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

@Suite("Merging files into the store")
struct StoreImportSinkTests {
    private static let second: Int64 = 1_000_000
    /// ``start`` in microseconds.
    private static let base: Int64 = 1_788_256_800 * second

    private func row(
        _ userId: String,
        name: FieldValue? = nil,
        added: Int64? = nil,
        visits: Int? = nil,
        last: Int64? = nil,
        fields: [String: FieldValue] = [:]
    ) -> ImportedMember {
        ImportedMember(
            row: 1,
            userId: userId,
            username: name,
            addedAt: added.map { Self.base + $0 * Self.second },
            numVisits: visits,
            lastVisitAt: last.map { Self.base + $0 * Self.second },
            fields: fields
        )
    }

    /// The same row as the bytes that a reader hands over.
    private func batch(_ members: [ImportedMember], isUntyped: Bool = false) throws -> ImportBatch {
        var batch = ImportBatch(isUntyped: isUntyped)
        for member in members {
            let userId = batch.text(member.userId.utf8)
            let name: ImportBatch.OptionalText =
                switch member.username {
                case nil: .absent
                case .string(let name): .text(batch.text(name.utf8))
                default: .null
                }
            let fields = try member.fields.isEmpty ? nil : batch.text(MemberRow.json(member.fields).utf8)
            batch.append(
                ImportBatch.Row(
                    row: member.row,
                    userId: userId,
                    username: name,
                    addedAt: member.addedAt,
                    numVisits: member.numVisits,
                    lastVisitAt: member.lastVisitAt,
                    fields: fields
                )
            )
        }
        return batch
    }

    private func expectClean(_ store: MemberStore) async throws {
        let findings = try await store.check()
        #expect(findings.isEmpty, "\(findings)")
    }

    // MARK: Rows

    @Test("The fast way writes what the careful one writes, to the byte", arguments: 1...10 as ClosedRange<UInt64>)
    func fastAndCareful(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let (fast, careful) = (try MergeDevice(1), try MergeDevice(1))
        var rows: [ImportedMember] = []
        for number in 0..<60 {
            // Some come twice, with other values.
            let userId = "M\(random.chance(20) ? number / 2 : number)"
            rows.append(
                ImportedMember(
                    row: number + 1,
                    userId: userId,
                    username: random.pick([nil, .null, "", "Ann", "e\u{301}", "\u{E9}"]),
                    addedAt: random.pick([nil, 0, 5, Self.base]),
                    numVisits: random.pick([nil, 0, 1, 7]),
                    lastVisitAt: random.pick([nil, 0, Self.base + 5, 2 * Self.base]),
                    fields: random.chance(50) ? [:] : ["a": random.pick([.null, 1, "x", .double(0.5)]), "B": "y"]
                )
            )
        }
        let quick = try StoreImportSink(fast.store)
        // That two rows are of one member is said besides.
        let verdicts = try quick.apply(batch(rows)).map { if case .noted(let verdict, _) = $0 { verdict } else { $0 } }
        try quick.finish()
        #expect(try careful.importRows(rows) == verdicts)
        #expect(try await fast.dump() == careful.dump())
        try await expectClean(fast.store)
        try await expectClean(careful.store)
        // The same file again, in another order and another way, is nothing new.
        let before = try await fast.dump()
        try fast.importRows(rows.shuffled(using: &random))
        #expect(try await fast.dump() == before)
    }

    @Test("An older file neither lowers totals nor blanks names, and says on what both differ")
    func olderFile() async throws {
        let device = try MergeDevice(1)
        #expect(
            try device.importRows([row("A", name: "Ann", added: 0, visits: 9, last: 900, fields: ["city": "Bonn"])])
                == [.created]
        )
        let verdicts = try device.importRows([
            row("A", name: "Old", added: -5, visits: 4, last: 400, fields: ["city": ""])
        ])
        #expect(
            verdicts == [
                .merged(
                    changes: [
                        FieldDifference(
                            "timeStampAdded",
                            stored: .double(1_788_256_800),
                            imported: .double(1_788_256_795)
                        )
                    ],
                    conflicts: [FieldDifference("username", stored: "Ann", imported: "Old")]
                )
            ]
        )
        let member = try #require(try await device.member("A"))
        #expect(member.numVisits == 9)
        #expect(member.username == "Ann")
        #expect(member.fields == ["city": "Bonn"])
        #expect(member.timeStampOfLastVisit == 1_788_257_700)
        // Newer, and without a name.
        try device.importRows([row("A", name: .null, added: 0, visits: 12, last: 1200)])
        #expect(try await device.member("A")?.username == "Ann")
        #expect(try await device.member("A")?.numVisits == 12)
    }

    @Test("A total is raised by each later tap, and unchanged by the club's own export")
    func claims() async throws {
        let device = try MergeDevice(1)
        try device.importRows([row("A", visits: 40, last: 0)])
        try await device.tap("A", at: start.addingTimeInterval(100))
        try await device.tap("A", at: start.addingTimeInterval(200))
        let member = try #require(try await device.member("A"))
        #expect(member.numVisits == 42)
        #expect(try device.importRows([ImportedMember(member, row: 1)]) == [.kept])
        #expect(try await device.member("A") == member)
        try await device.tap("A", at: start.addingTimeInterval(300))
        #expect(try await device.member("A")?.numVisits == 43)
    }

    @Test("Who was deleted stays deleted, unless the row is newer")
    func deleted() async throws {
        let device = try MergeDevice(1)
        try device.importRows([row("A", added: -100, visits: 3, last: -50)])
        _ = try await device.store.delete("A", ActionContext()) { _ in }
        #expect(
            try device.importRows([row("A", added: -100, visits: 3, last: -50)])
                == [.skipped(MergeBatch.deletedReason)]
        )
        #expect(try await device.member("A") == nil)
        #expect(try device.importRows([row("A", added: -100, visits: 4, last: 50)]) == [.created])
        #expect(try await device.member("A")?.numVisits == 4)
    }

    @Test("A row of a card goes to the card's holder, also of a blocked one")
    func cards() async throws {
        let device = try MergeDevice(1)
        try await device.tap("A", at: start)
        _ = try await device.store.replaceCard("A", by: "B", ActionContext(reason: "lost")) { _ in }
        _ = try await device.store.setCard("C", of: "B", blocked: "lost", .blockedCard, ActionContext()) { _ in }
        let verdicts = try device.importRows([row("B", visits: 5, last: -9), row("C", visits: 8, last: -5), row("D")])
        #expect(verdicts.map { $0 == .created } == [false, false, true])
        #expect(try await device.member("A")?.numVisits == 9)
        #expect(try await device.store.memberCount() == 2)
    }

    @Test("A card from before a deletion does not lead to the member who is there again", arguments: 0...2)
    func oldCard(order: Int) async throws {
        let (device, other, third) = (try MergeDevice(1), try MergeDevice(2), try MergeDevice(3))
        // Who had not heard of the card made a member of it.
        try await other.tap("B", at: start.addingTimeInterval(100))
        try await device.tap("A", at: start)
        _ = try await device.store.replaceCard("A", by: "B", ActionContext(reason: "lost")) { _ in }
        if order == 0 { try third.merge(await device.records()) }
        _ = try await device.store.delete("A", ActionContext()) { _ in }
        device.clock.advance(by: 60)
        _ = try await device.store.add(Member(userId: "A", username: "Again"), ActionContext()) { _ in }
        for source in order == 2 ? [device, other] : [other, device] { try third.merge(await source.records()) }
        try device.merge(await other.records())
        for one in [device, third] {
            #expect(try await one.member("A")?.numVisits == 0)
            #expect(try await one.member("B")?.userId == "B")
            #expect(try await one.member("B")?.numVisits == 1)
            try await expectClean(one.store)
        }
        let isShared = { (line: String) in !line.hasPrefix(#"{"audit""#) }
        #expect(try await device.dump().filter(isShared) == third.dump().filter(isShared))
    }

    @Test("Only unknown members are taken if that is asked for")
    func addOnly() async throws {
        let device = try MergeDevice(1)
        try await device.tap("A", at: start)
        let before = try await device.member("A")
        let verdicts = try device.importRows([row("A", name: "Ann", visits: 9, last: 9), row("B")], mode: .addOnly)
        #expect(
            verdicts == [
                .merged(changes: [], conflicts: [FieldDifference("username", stored: "", imported: "Ann")]), .created,
            ]
        )
        #expect(try await device.member("A") == before)
        let other = try MergeDevice(2)
        try await other.tap("A", at: start.addingTimeInterval(500))
        try await other.tap("C", at: start.addingTimeInterval(500))
        try device.merge(await other.records(), batch: 1, mode: .addOnly)
        #expect(try await device.member("A") == before)
        #expect(try await device.member("C")?.numVisits == 1)
    }

    @Test("A corrected spreadsheet counts as said now, but an empty name says nothing")
    func overwrite() async throws {
        let device = try MergeDevice(1)
        try device.importRows([row("A", name: "Ann", visits: 9, last: 900, fields: ["city": "Bonn"])])
        let member = try await device.store.update("A", ActionContext(), committed: { _ in }, { $0.username = "Anne" })
        let corrected = row("A", name: "Anna", visits: member.numVisits, last: 900, fields: ["city": "Köln"])
        #expect(try device.importRows([corrected]) != [.kept])
        #expect(try await device.member("A")?.username == "Anne")
        try device.importRows([corrected], mode: .overwrite)
        #expect(try await device.member("A")?.username == "Anna")
        #expect(try await device.member("A")?.fields == ["city": "Köln"])
        try device.importRows([row("A", name: "")], mode: .overwrite)
        #expect(try await device.member("A")?.username == "Anna")
        #expect(try device.importRows([corrected], mode: .overwrite) == [.kept])
    }

    @Test("What CSV says without types is the same as what is stored")
    func untyped() async throws {
        let device = try MergeDevice(1)
        try device.importRows([row("A", visits: 1, last: 0, fields: ["level": 5, "on": true])])
        let sink = try StoreImportSink(device.store)
        let rows = try batch([row("A", visits: 1, last: 0, fields: ["level": "5", "on": "true"])], isUntyped: true)
        #expect(try sink.apply(rows) == [.kept])
        try sink.finish()
        #expect(try await device.member("A")?.fields == ["level": 5, "on": true])
    }

    @Test("What cannot be used is refused, and the others are taken")
    func unusable() async throws {
        let device = try MergeDevice(1)
        let hidden = try #require(IdentifierKey([UInt8](repeating: 1, count: 16))).hidden("A")
        let verdicts = try device.importRows([row(""), row("a\u{0}b"), row(hidden), row("A")])
        #expect(
            verdicts == [
                .skipped(MergeBatch.unusableReason), .skipped(MergeBatch.unusableReason),
                .skipped(MergeBatch.otherKeyReason), .created,
            ]
        )
        var facts = MemberFacts()
        facts.add(MemberFacts.Birth(Stamp(time: Int64.max, device: UUIDSource.uuid(5)), at: 1))
        #expect(try device.merge([.member(.init(userId: "B", facts: facts))]) == [.skipped(MergeBatch.timeReason)])
        try await device.tap("B", at: start)
        try await expectClean(device.store)
    }

    @Test("A time in the far future does not stop this device's clock")
    func farFuture() async throws {
        let device = try MergeDevice(1)
        try device.importRows([row("A", name: "Later", visits: 1)])
        try device.importRows([
            ImportedMember(row: 1, userId: "A", username: "Late", addedAt: 1, numVisits: 2, lastVisitAt: 2 * Self.base)
        ])
        _ = try await device.store.update("A", ActionContext(), committed: { _ in }, { $0.username = "Now" })
        #expect(try await device.member("A")?.username == "Now")
        try await device.tap("B", at: start)
        try await expectClean(device.store)
    }

    @Test(
        "Rows of the far future leave the clock where others believe it",
        arguments: [400 * 86_400, 200_000_000_000] as [Int64]
    )
    func rowsAhead(seconds: Int64) async throws {
        let (device, other) = (try MergeDevice(1), try MergeDevice(2))
        let late = row("A", name: "Late", visits: 2, last: seconds)
        let note = [MergeBatch.aheadNote]
        #expect(try device.importRows([late]) == [.created])
        let sink = try StoreImportSink(device.store)
        let verdicts = try sink.apply(batch([late, row("B", name: "Fast", visits: 1, last: seconds)]))
        #expect(verdicts == [.noted(.kept, note), .noted(.created, note)])
        try sink.finish()
        _ = try await device.store.update("A", ActionContext(), committed: { _ in }, { $0.username = "Now" })
        _ = try await device.store.update("B", ActionContext(), committed: { _ in }, { $0.username = "Too" })
        try device.importRows([late])
        #expect(try await device.member("A")?.username == "Now")
        try await device.tap("C", at: start)
        let taken = try other.merge(await device.records())
        #expect(taken.allSatisfy { $0 != .skipped(MergeBatch.aheadReason) })
        #expect(try await other.member("A")?.username == "Now")
        #expect(try await other.member("B")?.username == "Too")
        #expect(try await other.member("C")?.numVisits == 1)
        try await expectClean(device.store)
    }

    @Test("Records of a clock that is more than a day ahead are refused, and taken when it is that late")
    func recordsAhead() async throws {
        let (ahead, device) = (try MergeDevice(1, skew: 90_000), try MergeDevice(2))
        try await ahead.tap("A", at: start)
        _ = try await ahead.store.replaceCard("A", by: "B", ActionContext(reason: "lost")) { _ in }
        let records = try await ahead.records()
        #expect(try device.merge(records).allSatisfy { $0 == .skipped(MergeBatch.aheadReason) })
        #expect(try await device.member("A") == nil)
        // The clock has not moved.
        let stamp = try await device.store.write("test") { transaction in try transaction.nextStamp() }
        #expect(stamp.date == start)
        device.clock.advance(by: 7200)
        #expect(try device.merge(records).allSatisfy { $0 != .skipped(MergeBatch.aheadReason) })
        #expect(try await device.member("A")?.numVisits == 1)
        // Its own records it takes at any time.
        let restored = try MergeDevice(3, skew: 90_001)
        _ = try await restored.store.write("test") { transaction in try transaction.nextStamp() }
        restored.clock.advance(by: -90_001)
        #expect(try restored.merge(records).contains(.created))
    }

    @Test("A large import of a new club leaves indexes out for a while, also if it is cut off")
    func indexes() async throws {
        let directory = try TemporaryDirectory()
        func open() throws -> MemberStore {
            try MemberStore(.file(path: directory.file()), clock: { start }, makeUUID: { UUIDSource.uuid(1) })
        }
        func names(_ store: MemberStore) async throws -> [String] {
            try await store.read("test") { db in
                try String.fetchAll(
                    db,
                    sql:
                        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'member' AND sql IS NOT NULL ORDER BY name"
                )
            }
        }
        let many = (0..<1500).map { row("M\($0 * 7 % 1500)", name: .string("N\($0)"), visits: $0, last: Int64($0)) }
        var store = try open()
        let before = try await names(store)
        var sink = try StoreImportSink(store)
        #expect(try sink.apply(batch(many)).allSatisfy { $0 == .created })
        #expect(try await names(store).count == before.count - 2)
        // Cut off.
        try store.close()
        store = try open()
        #expect(Set(try await names(store)) == Set(before))
        #expect(try await store.memberCount() == 1500)
        try await expectClean(store)
        // Members are in the order of the file, also if they were written in another.
        #expect(try await store.members(sortedBy: .creation).map(\.userId) == many.map(\.userId))
        sink = try StoreImportSink(store)
        #expect(try sink.apply(batch(many)).allSatisfy { $0 == .kept })
        try sink.finish()
        try store.close()
        try FileManager.default.removeItem(atPath: directory.file())
        store = try open()
        sink = try StoreImportSink(store)
        _ = try sink.apply(batch(many))
        try sink.finish()
        #expect(Set(try await names(store)) == Set(before))
        try await expectClean(store)
        try store.close()
    }

    // MARK: Dry runs

    @Test("A dry run says the same, across batches, and changes nothing")
    func dryRun() async throws {
        let directory = try TemporaryDirectory()
        let store = try MemberStore(.file(path: directory.file()), clock: { start }, makeUUID: { UUIDSource.uuid(1) })
        let first = [row("A", name: "Ann", visits: 2, last: 5), row("B", visits: 1, last: 6)]
        let sink = try StoreImportSink(store)
        _ = try sink.apply(first)
        try sink.finish()
        let before = try await store.read("test") { db in try MergeDump.lines(in: db) }
        let parts = [
            [row("A", name: "Anna", visits: 3, last: 9), row("C", visits: 1, last: 1)],
            [row("C", name: "Carl", visits: 2, last: 7), row("A", name: "Old", visits: 1, last: 1)],
        ]
        let told = Mutex(0)
        let dry = try StoreImportSink(store, dryRun: true) { changed in told.withLock { $0 += changed.count } }
        var expected: [[ImportVerdict]] = []
        for part in parts {
            expected.append(try dry.apply(part))
            // Taps go on meanwhile.
            let event = tap("D", at: Double(expected.count) * 100)
            _ = try await store.receive(event, rules: TapRules(cooldown: 1), unknown: .create) { _ in }
        }
        try dry.finish()
        #expect(told.withLock { $0 } == 0)
        #expect(try await store.member(withUserID: "C") == nil)
        let after = try await store.read("test") { db in try MergeDump.lines(in: db) }
        #expect(Set(before).isSubset(of: Set(after)))
        let real = try StoreImportSink(store)
        #expect(try parts.map { try real.apply($0) } == expected)
        try real.finish()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy {
                $0.hasPrefix("club.sqlite")
            }
        )
        try store.close()
    }

    // MARK: Telling

    @Test("Members who were there and changed are told once, after the commit; created ones are not")
    func events() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        _ = try await club.receive(tap("B", at: 1))
        let events = club.events
        let report = try await club.merge([
            Member(userId: "A", username: "Ann", timeStampAdded: 1, numVisits: 7, timeStampOfLastVisit: 1_788_256_700),
            Member(userId: "A", username: "Anna", timeStampAdded: 1, numVisits: 8, timeStampOfLastVisit: 1_788_256_750),
            Member(userId: "C", username: "Carl", timeStampAdded: 1, numVisits: 1, timeStampOfLastVisit: 1),
        ])
        #expect(report.total == 3)
        #expect(report.created == 1)
        #expect(report.changed == 2)
        let told = await events.first(2)
        #expect(told.map(\.name) == ["updated", "merged"])
        #expect(told.first?.member?.userId == "A")
        #expect(told.first?.member?.numVisits == 9)
        #expect(told.first?.updateReason == .merge)
        let line = String(decoding: try JSONEncoder().encode(try #require(told.last)), as: UTF8.self)
        #expect(line.contains(#""created":1"#) && line.contains(#""event":"merged""#))
        #expect(try await club.auditLog().first?.action == .merged)
        // Nothing new: nothing is told but the report.
        let again = try await club.merge(try await club.members())
        #expect(again.kept == 3)
        let dry = try await club.merge([Member(userId: "Z")], dryRun: true)
        #expect(dry.created == 1)
        #expect(try await club.member(withUserID: "Z") == nil)
    }

    @Test("Whoever is changed by way of another is told, and who is deleted or erased elsewhere as they were")
    func toldByWayOfAnother() async throws {
        let (device, other) = (try MergeDevice(1), try MergeDevice(2))
        for key in ["A", "B", "C", "D", "E", "F"] { try await device.tap(key, at: start) }
        try other.merge(await device.records())
        other.clock.advance(by: 60)
        _ = try await other.store.mergeMember("B", into: "A", ActionContext()) { _ in }
        _ = try await other.store.delete("C", ActionContext()) { _ in }
        _ = try await other.store.erase("D", ActionContext()) { _ in }
        // A card under which a member was made here.
        _ = try await other.store.delete("F", ActionContext()) { _ in }
        _ = try await other.store.setCard("F", of: "E", blocked: nil, .addedCard, ActionContext()) { _ in }
        try await device.tap("F", at: start.addingTimeInterval(100))
        let told = Mutex<[MergedMember]>([])
        let sink = try StoreImportSink(device.store) { changed in told.withLock { $0 += changed } }
        _ = try sink.apply(await other.records())
        try sink.finish()
        let texts = told.withLock { $0.map { "\($0.member.userId) \($0.member.numVisits) \($0.isDeleted)" } }
        #expect(Set(texts).isSuperset(of: ["A 2 false", "C 1 true", "D 1 true"]))
        #expect(Set(texts).count == texts.count)
        #expect(!texts.contains { $0.hasPrefix("B") })
    }

    @Test("Adding only erases and deletes nobody, joins nobody, and tells of nothing that was not done")
    func addOnlyKeeps() async throws {
        let (device, other) = (try MergeDevice(1), try MergeDevice(2))
        for key in ["A", "B", "C"] { try await device.tap(key, at: start) }
        try other.merge(await device.records())
        let before = try await device.dump()
        other.clock.advance(by: 60)
        _ = try await other.store.erase("A", ActionContext()) { _ in }
        _ = try await other.store.delete("B", ActionContext()) { _ in }
        _ = try await other.store.add(Member(userId: "N", username: "New"), ActionContext()) { _ in }
        _ = try await other.store.setCard("B", of: "N", blocked: nil, .addedCard, ActionContext()) { _ in }
        let verdicts = try device.merge(await other.records(), batch: 1, mode: .addOnly)
        #expect(verdicts.contains(.skipped(MergeBatch.addOnlyReason)))
        for key in ["A", "B", "C"] { #expect(try await device.member(key)?.numVisits == 1) }
        #expect(try await device.member("N")?.username == "New")
        let added = try await device.dump().filter { !before.contains($0) }
        #expect(!added.contains { $0.contains(#""erased""#) || $0.contains(#""action":"deleted""#) })
        #expect(added.contains { $0.contains(#""action":"added""#) })
        try await expectClean(device.store)
    }

    // MARK: The club's own form

    @Test("A tap that reached two devices counts once, wherever it is given again")
    func sameTap() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        let id = UUID()
        try await first.tap("A", at: start, id: id)
        try second.merge(await first.records())
        let receipt = try #require(try await second.tap("A", at: start, id: id))
        #expect(receipt.outcome == .visit)
        #expect(receipt.member?.numVisits == 1)
        #expect(try await second.member("A")?.numVisits == 1)
        try await expectClean(second.store)
    }

    @Test("A device whose backup was put back gets its visits again, and knows their taps")
    func restored() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        let id = UUID()
        try await first.tap("A", at: start, id: id)
        try second.merge(await first.records())
        let restored = try MergeDevice(1)
        try restored.merge(await second.records())
        #expect(try await restored.member("A")?.numVisits == 1)
        try await expectClean(restored.store)
        #expect(try await restored.tap("A", at: start, id: id)?.member?.numVisits == 1)
        // What it says from now on is later than all that it said before.
        _ = try await restored.store.update("A", ActionContext(), committed: { _ in }, { $0.username = "Ann" })
        try second.merge(await restored.records())
        #expect(try await second.member("A")?.username == "Ann")
    }

    @Test("Two copies of one device lose no visit")
    func copiedDisk() async throws {
        let (first, copy, other) = (try MergeDevice(1), try MergeDevice(1), try MergeDevice(2))
        try await first.tap("A", at: start)
        try await copy.tap("B", at: start)
        try other.merge(await first.records())
        try other.merge(await copy.records())
        #expect(try await other.member("A")?.numVisits == 1)
        #expect(try await other.member("B")?.numVisits == 1)
        try await expectClean(other.store)
    }
}
