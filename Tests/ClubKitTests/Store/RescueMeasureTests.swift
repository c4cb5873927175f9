import Foundation
import GRDB
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

/// How much a repair brings back of a database without a snapshot: damages with the seeds from 0 on, one of each kind and more
/// rounds for a closer look. The numbers are kept with the report of the tests.
@Suite("How much a repair brings back", .timeLimit(.minutes(20)))
struct RescueMeasureTests {
    private static let members = 300
    private static let visitsEach = 3
    private static let seeds = rounds(10).count

    enum Damage: Int, CaseIterable {
        /// One page of 50, or of 12, filled with noise.
        case fewPages, manyPages
        /// One page of 12 of nothing but zeros.
        case zeroedPages
        /// A tenth of the file in one piece, filled with noise.
        case stretch
        /// The end is gone, between a tenth and half of the file.
        case truncated
        /// The first 100 bytes, or the first page.
        case tornHeader
        /// The whole list of tables, and one page of 50.
        case listOfTables
        /// The root of the members, or that of the visits, and one page of 50.
        case members, visits
        /// Single bits all over the file.
        case bits
    }

    /// What was there, or is there again.
    private struct Content {
        var members: [String: [DatabaseValue]] = [:]
        var visits: Set<Data> = []
        var deliveries: Set<Data> = []

        init(_ path: String) throws {
            let queue = try DatabaseQueue(path: path)
            try queue.read { db in
                let sql = "SELECT user_id, username, fields, num_visits FROM member WHERE status = 0"
                for row in try Row.fetchAll(db, sql: sql) { members[row[0]] = Array(row.databaseValues) }
                visits = try Data.fetchSet(db, sql: "SELECT event_id FROM visit")
                deliveries = try Data.fetchSet(db, sql: "SELECT execution_id FROM scenario_execution")
            }
            try queue.close()
        }

        init() {}
    }

    /// How many of each are there again.
    private struct Found {
        var files = 0
        var named = 0
        var whole = 0
        var visits = 0
        var deliveries = 0

        init() {}

        init(_ now: Content, of all: Content) {
            files = now.members.isEmpty && now.visits.isEmpty ? 0 : 1
            named = all.members.keys.count { now.members[$0] != nil }
            whole = all.members.count { now.members[$0.key] == $0.value }
            visits = all.visits.intersection(now.visits).count
            deliveries = all.deliveries.intersection(now.deliveries).count
        }

        static func += (sum: inout Found, one: Found) {
            sum.files += one.files
            sum.named += one.named
            sum.whole += one.whole
            sum.visits += one.visits
            sum.deliveries += one.deliveries
        }

        func line(_ name: String, _ count: Int, _ all: Content) -> String {
            func part(_ number: Int, _ total: Int) -> String {
                "\(number) of \(count * total) (\((Double(number) / Double(count * total) * 100).formatted(.number.precision(.fractionLength(2)))) %)"
            }
            return "\(name) | \(files) of \(count) files | members \(part(named, all.members.count)), "
                + "as they were \(part(whole, all.members.count)) | visits \(part(visits, all.visits.count)) | "
                + "deliveries \(part(deliveries, all.deliveries.count))"
        }
    }

    private func makeDatabase(_ path: String) async throws -> [UInt8] {
        let club = Club(configuration: .test(.file(path: path), cooldown: .zero))
        club.setScenarios([Scenario("coffee") { $0.rules = [.every(2, since: nil)] }])
        try await club.open()
        for number in 0..<Self.members {
            let mail = "person.\(number)@club.example"
            try await club.add(
                Member(userId: "M-\(number)", username: "Name \(number)", fields: ["mail": .string(mail)])
            )
        }
        for number in 0..<Self.members * Self.visitsEach {
            _ = try await club.receive(tap("M-\(number % Self.members)", at: Double(number)))
        }
        try await club.close()
        return try content(of: path)
    }

    private func damaged(_ sound: [UInt8], _ seed: Int, roots: [String: Int]) -> [UInt8] {
        var random = SeededNumbers(seed: UInt64(seed))
        var bytes = sound
        let pages = bytes.count / 4096
        func fill(_ range: Range<Int>) {
            for index in range { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
        }
        func fillPage(_ page: Int) { fill((page - 1) * 4096..<page * 4096) }
        func fillPages(oneOf count: Int) {
            for _ in 0..<max(1, pages / count) { fillPage(2 + Int.random(in: 0..<pages - 1, using: &random)) }
        }
        switch Damage.allCases[seed % Damage.allCases.count] {
        case .fewPages: fillPages(oneOf: 50)
        case .manyPages: fillPages(oneOf: 12)
        case .zeroedPages:
            for _ in 0..<pages / 12 {
                let page = Int.random(in: 1..<pages, using: &random) * 4096
                for index in page..<page + 4096 { bytes[index] = 0 }
            }
        case .stretch:
            let first = Int.random(in: 0..<pages * 9 / 10, using: &random) * 4096
            fill(first..<first + bytes.count / 10)
        case .truncated: bytes.removeLast(Int.random(in: bytes.count / 10..<bytes.count / 2, using: &random))
        case .tornHeader: fill(0..<(seed / 10 % 2 == 0 ? 100 : 4096))
        case .listOfTables:
            for page in DamagedFile.pagesOfList(sound) { fillPage(page) }
            fillPages(oneOf: 50)
        case .members:
            fillPage(roots["member"] ?? 1)
            fillPages(oneOf: 50)
        case .visits:
            fillPage(roots["visit"] ?? 1)
            fillPages(oneOf: 50)
        case .bits:
            for _ in 0..<200 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        return bytes
    }

    /// What is damaged, which is made once.
    private struct Sound {
        var bytes: [UInt8]
        var all: Content
        var roots: [String: Int]
    }

    private static let sound = Task { try await RescueMeasureTests().makeSound(TemporaryDirectory()) }

    private func makeSound(_ directory: TemporaryDirectory) async throws -> Sound {
        let path = directory.file()
        let bytes = try await makeDatabase(path)
        let queue = try DatabaseQueue(path: path)
        let roots = try await queue.read { db in
            try Row.fetchAll(db, sql: "SELECT name, rootpage FROM sqlite_master").map {
                ($0[0] as String, $0[1] as Int)
            }
        }
        try queue.close()
        return Sound(bytes: bytes, all: try Content(path), roots: Dictionary(roots) { first, _ in first })
    }

    /// What was found of each kind so far.
    private static let sums = Mutex<[Damage: Found]>([:])

    @Test(arguments: Damage.allCases) func seededDamages(_ damage: Damage) async throws {
        let directory = try TemporaryDirectory()
        let sound = try await Self.sound.value
        let all = sound.all
        #expect(all.members.count == Self.members && all.visits.count == Self.members * Self.visitsEach)
        #expect(all.deliveries.count == Self.members)

        let seeds = stride(from: damage.rawValue, to: Self.seeds, by: Damage.allCases.count)
        let count = Array(seeds).count
        var sum = Found()
        for seed in seeds {
            let path = try directory.write(damaged(sound.bytes, seed, roots: sound.roots), to: "\(seed).sqlite")
            chmod(path, 0o600)
            let club = Club(configuration: .test(.file(path: path), cooldown: .zero))
            let now: Content
            do throws(ClubError) {
                _ = try await club.repair()
                now = (try? Content(path)) ?? Content()
            } catch {
                #expect(error.kind == .corrupt, "seed \(seed): \(error)")
                now = Content()
            }
            sum += Found(now, of: all)
            for name in try directory.names() where name.hasPrefix("\(seed).sqlite") { unlink(directory.file(name)) }
        }
        #expect(sum.files == count)
        let sums = Self.sums.withLock { sums in
            sums[damage] = sum
            return sums
        }
        TestReport.add(section: "rescue", line: sum.line("\(damage)", count, all))
        guard sums.count == Damage.allCases.count else { return }
        let total = sums.values.reduce(into: Found()) { $0 += $1 }
        TestReport.add(section: "rescue", line: total.line("all", Self.seeds, all))
    }
}
