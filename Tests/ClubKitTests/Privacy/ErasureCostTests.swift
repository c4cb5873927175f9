import Foundation
import GRDB
import Synchronization
import Testing

@testable import ClubKit

@Suite("What erasing costs, and what it takes out of the audit log", .timeLimit(.minutes(10)))
struct ErasureCostTests {
    private static let salt = Data([1, 2, 3])

    private static func time(_ seconds: Double) -> Int64 {
        Int64((start.timeIntervalSince1970 + seconds) * 1000) << 16
    }

    private static func erasure(of key: String, at seconds: Double) -> TransferRecord {
        let stamp = Stamp(time: time(seconds), device: UUIDSource.uuid(9))
        return .erasure(.init(salt: salt, hash: Erasure.hash(key, salt: salt), stamp: stamp))
    }

    private static func entry(
        _ seconds: Double,
        _ subject: String?,
        _ detail: [String: FieldValue]? = nil
    ) -> TransferRecord {
        .audit(
            .init(
                stamp: Stamp(time: time(seconds), device: UUIDSource.uuid(8)),
                at: Int64(start.timeIntervalSince1970 + seconds) * 1_000_000,
                actor: nil,
                action: AuditEntry.Action.edited.rawValue,
                subject: subject,
                detail: detail
            )
        )
    }

    @Test("Each is taken out of the entries up to their own erasure, wherever they are named")
    func entries() async throws {
        let device = try MergeDevice(1)
        for key in ["A", "B", "C"] { try await device.tap(key, at: start) }
        try device.merge([
            Self.entry(-90, "A"), Self.entry(-89, "B"), Self.entry(-88, "C"),
            Self.entry(-87, "C", ["into": .string("A")]), Self.entry(-86, "C", ["note": .string("A B")]),
            Self.entry(-85, nil, ["from": .string("B"), "count": .int(1)]),
            Self.entry(-40, "A"), Self.entry(-39, "B"), Self.entry(-38, "C", ["into": .string("A")]),
        ])
        // B was erased before some of what the log tells.
        try device.merge([Self.erasure(of: "A", at: -10), Self.erasure(of: "B", at: -60)])
        let left = try await device.store.read("test") { db in
            try Row.fetchAll(
                db,
                sql: "SELECT subject, detail FROM audit WHERE device_id = ? ORDER BY hlc",
                arguments: [UUIDSource.uuid(8)]
            ).map { row in [row[0] as String?, row[1] as String?].map { $0 ?? "-" }.joined(separator: " ") }
        }
        #expect(
            left == [
                "- -", "- -", "C -", "- -", #"C {"note":"A B"}"#, "- -", "- -", "B -", "- -",
            ]
        )
        #expect(try await device.store.check() == [])
    }

    @Test("The audit log is read once, however many are erased by a batch")
    func batch() async throws {
        var costs: [Int] = []
        for count in [4, 40] {
            let device = try MergeDevice(1)
            for number in 0..<40 { try await device.tap("M\(number)", at: start) }
            try device.merge(
                (0..<4000).map { Self.entry(Double($0 - 9000), "X\($0)", ["into": .string("Y\($0)")]) }
            )
            let erasures = (0..<count).map { Self.erasure(of: "M\($0)", at: 10) }
            costs.append(try await steps(in: device.store) { try device.merge(erasures) })
            let left = try await device.store.read("test") { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM member")
            }
            #expect(left == 40 - count)
        }
        #expect(costs[1] < 3 * costs[0], "\(costs)")
    }

    @Test("The salts of erasures are looked up once for a batch, not for each record")
    func salts() async throws {
        let device = try MergeDevice(1)
        let erasures = (0..<ClubFile.mostSalts).map { number in
            TransferRecord.erasure(
                .init(
                    salt: Data([UInt8(number)]),
                    hash: Data(repeating: 7, count: 32),
                    stamp: Stamp(time: Self.time(-60), device: UUIDSource.uuid(9))
                )
            )
        }
        try device.merge(erasures)
        var facts = MemberFacts()
        facts.add(MemberFacts.Birth(Stamp(time: Self.time(-90), device: UUIDSource.uuid(9)), at: 5))
        let members = (0..<50).map { [facts] in TransferRecord.member(.init(userId: "M\($0)", facts: facts)) }
        let told = Mutex(0)
        try await device.store.database.writeWithoutTransaction { db in
            db.trace { event in
                guard case .statement(let statement) = event, statement.sql.contains("RECURSIVE known") else { return }
                told.withLock { $0 += 1 }
            }
        }
        #expect(try device.merge(members).allSatisfy { $0 == .created })
        try await device.store.database.writeWithoutTransaction { $0.trace(options: []) }
        #expect(told.withLock(\.self) == 1)
    }

    @Test("Whom a batch erases itself, none of its later records brings back")
    func withinOneBatch() async throws {
        let (device, other) = (try MergeDevice(1), try MergeDevice(2))
        try await other.tap("A", at: start)
        let old = try await other.records()
        try device.merge(old)
        try await device.tap("B", at: start)
        _ = try await device.store.erase("A", ActionContext()) { _ in }
        // A is here again, and deleted elsewhere: which is an erasure too, by this device's own salt.
        try await device.tap("A", at: start.addingTimeInterval(60))
        try other.merge(await device.records())
        other.clock.advance(by: 100)
        _ = try await other.store.delete("A", ActionContext()) { _ in }
        try device.merge(await other.records() + old)
        #expect(try await device.member("A") == nil)
        #expect(try await device.store.check() == [])
    }
}
