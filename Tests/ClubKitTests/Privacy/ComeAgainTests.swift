import Foundation
import GRDB
import Testing

@testable import ClubKit
@testable import ClubRecords

/// Identifiers of members who were erased or deleted, and are somebody's again.
@Suite("Who comes again")
struct ComeAgainTests {
    private func row(
        _ key: String,
        _ name: String? = nil,
        visits: Int? = nil,
        last: Double? = nil,
        added: Double? = nil
    ) -> ImportedMember {
        func time(_ second: Double?) -> Int64? {
            second.flatMap { Timestamp.microseconds(start.addingTimeInterval($0)) }
        }
        return ImportedMember(
            row: 2,
            userId: key,
            username: name.map { .string($0) },
            addedAt: time(added),
            numVisits: visits,
            lastVisitAt: time(last),
            fields: name == nil ? [:] : ["town": "of the sheet"]
        )
    }

    private func device(_ number: Int = 1, erased: Bool = true, name: String? = "New") async throws -> MergeDevice {
        let device = try MergeDevice(number)
        for second in [0.0, 60] { try await device.tap("U1", at: start.addingTimeInterval(second)) }
        _ = try await device.store.setCard("C1", of: "U1", blocked: nil, .addedCard, ActionContext()) { _ in }
        device.clock.advance(by: 100)
        if erased {
            _ = try await device.store.erase("U1", ActionContext()) { _ in }
        } else {
            _ = try await device.store.delete("U1", ActionContext()) { _ in }
        }
        device.clock.advance(by: 100)
        guard let name else { return device }
        _ = try await device.store.add(Member(userId: "U1", username: name), ActionContext()) { _ in }
        device.clock.advance(by: 100)
        return device
    }

    @Test("Who is there has what a file says; who is not stays away", arguments: [true, false], MergeMode.allCases)
    func again(erased: Bool, mode: MergeMode) async throws {
        let gone = try await device(erased: erased, name: nil)
        let reason = erased ? MergeBatch.erasedReason : MergeBatch.deletedReason
        #expect(reason.contains("'members add'"))
        for key in erased ? ["U1", "C1"] : ["U1"] {
            #expect(try gone.importRows([row(key, "From Sheet")], mode: mode) == [.skipped(reason)])
        }
        #expect(try await gone.member("U1") == nil)
        let there = try await device(erased: erased)
        let file = [row("U1", "From Sheet", visits: 7, last: 150)]
        let verdicts = try there.importRows(file, mode: mode)
        let member = try #require(await there.member("U1"))
        switch mode {
        case .addOnly:
            #expect(member.username == "New" && member.numVisits == 0 && member.fields == [:])
        case .merge:
            // The desk has said the name; the rest is as of any member.
            #expect(member.username == "New" && member.numVisits == 7 && member.fields == ["town": "of the sheet"])
        case .overwrite:
            #expect(member.username == "From Sheet" && member.numVisits == 7 && member.fields["town"] == "of the sheet")
        }
        #expect(!verdicts.contains { if case .skipped = $0 { true } else { false } })
        let facts = try await there.dump()
        let again = try there.importRows(file, mode: mode)
        #expect(again.allSatisfy { if case .merged(let changes, _) = $0 { changes.isEmpty } else { $0 == .kept } })
        #expect(try await there.dump() == facts)
        try await there.tap("U1", at: start.addingTimeInterval(400))
        #expect(try await there.member("U1")?.numVisits == (mode == .addOnly ? 1 : 8))
        #expect(try await there.store.check() == [])
    }

    @Test("A file without times is taken too", arguments: [true, false], [MergeMode.merge, .overwrite])
    func withoutTimes(erased: Bool, mode: MergeMode) async throws {
        let device = try await device(erased: erased, name: "")
        _ = try device.importRows([row("U1", "From Sheet")], mode: mode)
        #expect(try await device.member("U1")?.username == "From Sheet")
    }

    @Test("A row of the time before is of the one who was erased")
    func former() async throws {
        let device = try await device()
        for mode in [MergeMode.merge, .overwrite] {
            let verdicts = try device.importRows([row("U1", "Old", visits: 2, last: 60)], mode: mode)
            #expect(verdicts == [.skipped(MergeBatch.formerReason)])
            #expect(
                try device.importRows([row("U1", "Old", added: -5)], mode: mode) == [.skipped(MergeBatch.formerReason)]
            )
        }
        #expect(try await device.member("U1")?.username == "New")
        // Of who was deleted, only the total does not come back; the report says so.
        let deleted = try await self.device(erased: false, name: "")
        var batch = ImportBatch(isUntyped: false)
        batch.append(
            ImportBatch.Row(
                row: 2,
                userId: batch.text("U1".utf8),
                username: .absent,
                numVisits: 9,
                lastVisitAt: Moment(60_000_000)
            )
        )
        let sink = try StoreImportSink(deleted.store)
        #expect(try sink.apply(batch) == [.noted(.kept, [MergeBatch.formerTotalNote])])
        try sink.finish()
        #expect(try await deleted.member("U1")?.numVisits == 0)
    }

    @Test("A card of somebody who was erased leads to its new holder")
    func card() async throws {
        let device = try await device(name: nil)
        _ = try await device.store.add(Member(userId: "B", username: "Bo"), ActionContext()) { _ in }
        _ = try await device.store.setCard("C1", of: "B", blocked: nil, .addedCard, ActionContext()) { _ in }
        _ = try device.importRows([row("C1", "Bo Lind", visits: 3, last: 300)], mode: .overwrite)
        #expect(try await device.member("B")?.username == "Bo Lind")
        #expect(try await device.member("C1")?.numVisits == 3)
        #expect(
            try device.importRows([row("C1", "Old", last: 60)], mode: .overwrite) == [.skipped(MergeBatch.formerReason)]
        )
        #expect(try await device.member("U1") == nil)
    }

    @Test("The new holder's records come to a third kiosk, in either order, and the erased one's do not")
    func threeKiosks() async throws {
        for order in [false, true] {
            let (first, second, third) = (try await device(name: nil), try MergeDevice(2), try MergeDevice(3))
            // The second knew the one who was erased, heard of it, and has the new holder, with what a sheet says.
            second.clock.advance(by: 50)
            try await second.tap("U1", at: start.addingTimeInterval(40))
            let old = try await second.records()
            try second.merge(await first.records())
            #expect(try await second.member("U1") == nil)
            second.clock.advance(by: 500)
            _ = try await second.store.add(Member(userId: "U1", username: "New"), ActionContext()) { _ in }
            _ = try second.importRows([row("U1", "From Sheet", visits: 7, last: 300)])
            try await second.tap("U1", at: start.addingTimeInterval(600))
            let sources = [try await first.records(), try await second.records(), old]
            for records in order ? sources.reversed() : sources { try third.merge(records) }
            try first.merge(await second.records())
            try second.merge(await third.records())
            for device in [first, second, third] {
                let member = try #require(await device.member("U1"))
                #expect(member.username == "New" && member.numVisits == 8 && member.fields["town"] == "of the sheet")
                #expect(try await device.store.check() == [])
            }
        }
    }

    @Test("The log has what a file changed of the new holder, and nothing of the former")
    func log() async throws {
        let device = try await device()
        _ = try device.importRows([row("U1", "From Sheet", visits: 7, last: 150)], mode: .overwrite)
        let actions = try await device.store.read("test") { db in
            try String.fetchAll(db, sql: "SELECT action FROM audit WHERE subject = 'U1' ORDER BY hlc")
        }
        #expect(actions == ["added", "edited"])
    }
}
