import Foundation
import GRDB
import Synchronization
import Testing

@testable import ClubKit

@Suite("Snapshots", .timeLimit(.minutes(10)))
struct SnapshotTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }
    private var folder: SnapshotFolder { SnapshotFolder(ofDatabase: path) }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func closedClub(day: Int = 1) -> Club {
        let date = start.addingTimeInterval(Double(day) * 86_400)
        return Club(configuration: .test(.file(path: path), clock: { date }))
    }

    private func open(day: Int = 0) async throws -> Club {
        let club = closedClub(day: day)
        try await club.open()
        return club
    }

    private func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]) as? Int
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    /// Taps of members from one number to another.
    private func tap(_ numbers: Range<Int>, _ club: Club) async throws {
        for number in numbers {
            _ = try await club.receive(ClubKitTests.tap("member \(number)", at: Double(number), name: "N \(number)"))
        }
    }

    /// Destroys a page that has this text.
    private func destroyPage(of text: String, in file: String) throws {
        try DamagedFile.change(file) { bytes in
            let place = try #require(bytes.range(of: Data(text.utf8))).lowerBound
            DamagedFile.destroy(place / 4096 + 1, in: &bytes)
        }
    }

    @Test("The latest are kept, private and sound, and what else is in the folder is left alone")
    func rotation() async throws {
        for day in 0..<5 {
            let club = try await open(day: day)
            try await tap(day * 10..<day * 10 + 10, club)
            let made = try await club.makeSnapshot(in: folder, keeping: 3)
            #expect(made == folder.snapshots(now: .distantFuture).first)
            #expect(made.madeAt == start.addingTimeInterval(Double(day) * 86_400))
            #expect(mode(made.url.path) == 0o600)
            try await club.close()
            if day == 0 {
                for name in ["letter.txt", "club-2026.sqlite", "other-20260901T100000Z.sqlite"] {
                    try Data("letter".utf8).write(to: folder.url.appendingPathComponent(name))
                }
            }
        }
        #expect(mode(folder.url.path) == 0o700)
        #expect(
            try names() == [
                "club-2026.sqlite", "club-20260903T100000Z.sqlite", "club-20260904T100000Z.sqlite",
                "club-20260905T100000Z.sqlite", "letter.txt", "other-20260901T100000Z.sqlite",
            ]
        )
        for (index, snapshot) in folder.snapshots(now: .distantFuture).enumerated() {
            let copy = try await openClub(.test(.file(path: snapshot.url.path)))
            #expect(try await copy.memberCount() == 50 - 10 * index)
            #expect(try await copy.check() == [])
            try await copy.close()
        }
    }

    @Test("A snapshot of a day that is yet to come counts as the oldest")
    func future() async throws {
        var club = try await open(day: 1000)
        try await tap(0..<3, club)
        try await club.makeSnapshot(in: folder, keeping: 2)
        try await club.close()
        for day in 0..<2 {
            club = try await open(day: day)
            try await club.makeSnapshot(in: folder, keeping: 2)
            try await club.close()
        }
        #expect(try names() == ["club-20260901T100000Z.sqlite", "club-20260902T100000Z.sqlite"])
    }

    @Test("Of a damaged database none is made, and those that are there stay")
    func damaged() async throws {
        var club = try await open()
        try await tap(0..<300, club)
        try await club.makeSnapshot(in: folder, keeping: 1)
        try await club.close()
        try destroyPage(of: "member 150", in: path)
        club = try await open(day: 1)
        let error = await #expect(throws: ClubError.self) { try await club.makeSnapshot(in: folder, keeping: 1) }
        #expect(error?.kind == .corrupt)
        #expect(try names() == ["club-20260901T100000Z.sqlite"])
        try await club.close()
    }

    @Test("Where there is no room left, none is made, and those that are there stay")
    func room() async throws {
        let club = try await open()
        try await tap(0..<3, club)
        let store = try club.openStore("test")
        let error = await #expect(throws: ClubError.self) {
            try await store.copy(to: directory.file("copy"), "test", verifying: true, leaving: .max / 2)
        }
        #expect(error?.kind == .diskFull)
        #expect(try directory.names().allSatisfy { $0.hasPrefix("club.sqlite") })
        let none = await #expect(throws: ClubError.self) { try await club.makeSnapshot(in: folder, keeping: 0) }
        #expect(none?.kind == .invalidValue)
        try await club.close()
    }

    @Test("The thread that makes them is one that waits for all others")
    func idle() async throws {
        // SCHED_IDLE and SCHED_OTHER.
        #expect(try await StoreThread.run(name: "test", isIdle: true) { sched_getscheduler(0) } == 5)
        #expect(try await StoreThread.run(name: "test", isIdle: false) { sched_getscheduler(0) } == 0)
    }

    @Test("Taps go on while one is made, and whoever gives up leaves nothing behind")
    func meanwhile() async throws {
        let club = try await open()
        for number in 0..<300 {
            let notes = String(repeating: "x", count: 8000)
            try await club.add(Member(userId: "member \(number)", fields: ["notes": .string(notes)]))
        }
        let isDone = Atomic(false)
        async let taps: Int = {
            var count = 0
            while !isDone.load(ordering: .relaxed) || count < 50 {
                _ = try await club.receive(ClubKitTests.tap("member \(count % 300)", at: Double(count) * 31))
                count += 1
            }
            return count
        }()
        let snapshot = try await club.makeSnapshot(in: folder, keeping: 7)
        let task = Task { try await club.makeSnapshot(in: SnapshotFolder(ofDatabase: directory.file("x")), keeping: 7) }
        task.cancel()
        let error = await #expect(throws: ClubError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        isDone.store(true, ordering: .relaxed)
        #expect(try await taps >= 50)
        let copy = try await openClub(.test(.file(path: snapshot.url.path)))
        #expect(try await copy.memberCount() == 300)
        #expect(try await copy.check() == [])
        try await copy.close()
        try await club.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("x.snapshots")) == [])
    }

    // MARK: Repair

    /// A club of 300 members with a snapshot, 20 more members and 5 more visits since, one erased and one deleted; closed.
    private func fill() async throws {
        var club = try await open()
        try await tap(0..<300, club)
        try await club.makeSnapshot(in: folder, keeping: 7)
        try await club.close()
        club = try await open(day: 1)
        try await tap(300..<320, club)
        for number in 0..<5 { _ = try await club.receive(ClubKitTests.tap("member \(number)", at: 90_000)) }
        try await club.erase("member 7")
        _ = try await club.delete("member 8")
        try await club.close()
    }

    private final class Offers: Sendable {
        let all = Mutex<[RepairOffer]>([])
    }

    @Test("What each way would lose is counted, and the one that is chosen is taken")
    func choice() async throws {
        try await fill()
        try destroyPage(of: "N 150", in: path)
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        let offers = Offers()

        let error = await #expect(throws: ClubError.self) {
            try await closedClub().repair(from: folder) { offer in
                offers.all.withLock { $0.append(offer) }
                return .neither
            }
        }
        #expect(error?.kind == .cancelled)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
        #expect(
            try directory.names().filter { !$0.hasPrefix("club.sqlite-") }.sorted() == [
                "club.sqlite", "club.sqlite.snapshots",
            ]
        )
        let offer = try #require(offers.all.withLock { $0.first })
        #expect(offer.isFileReadable)
        #expect(offer.madeAt == start)
        #expect(offer.membersOnlyInFile == 20)
        #expect(offer.visitsOnlyInFile == 25)
        // The member who was deleted since; the one who was erased does not come back.
        #expect(offer.membersOnlyInSnapshot == 1)
        #expect(offer.visitsOnlyInSnapshot == 0)

        let report = try await closedClub().repair(from: folder) { _ in .snapshot }
        #expect(report.isNewFile)
        #expect(report.restoredFrom == offer.snapshot.path)
        #expect(report.remaining == [])
        #expect(report.lost == offer.lostWithSnapshot)
        #expect(report.lost.first == "20 members who came since 2026-09-01T10:00:00Z")
        let kept = try #require(report.keptFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == damaged)
        #expect(try names() == ["club-20260901T100000Z.sqlite"])
        let club = try await open(day: 2)
        #expect(try await club.memberCount() == 299)
        #expect(try await club.member(withUserID: "member 7") == nil)
        #expect(try await club.member(withUserID: "member 150")?.username == "N 150")
        #expect(try await club.auditLog(limit: 1).map(\.action) == [.repaired])
        #expect(try await club.receive(ClubKitTests.tap("member 150", at: 200_000)).member?.numVisits == 2)
        #expect(try await club.check() == [])
        try await club.close()
    }

    @Test("Without a choice what can be read is taken, and of snapshots the latest that is whole")
    func byDefault() async throws {
        try await fill()
        var club = try await open(day: 2)
        try await club.makeSnapshot(in: folder, keeping: 7)
        try await club.close()
        try destroyPage(of: "N 150", in: path)
        let latest = try #require(folder.snapshots(now: .distantFuture).first)
        try destroyPage(of: "N 170", in: latest.url.path)
        let offers = Offers()
        let report = try await closedClub().repair(from: folder) { offer in
            offers.all.withLock { $0.append(offer) }
            return .rescue
        }
        #expect(offers.all.withLock { $0.map(\.madeAt) } == [start])
        #expect(report.isNewFile)
        #expect(report.restoredFrom == nil)
        club = try await open(day: 2)
        #expect(try await club.memberCount() == 318)
        try await club.close()
    }

    @Test("Where nothing can be read of the file, the snapshot is all there is")
    func unreadable() async throws {
        try await fill()
        try DamagedFile.change(path) { bytes in
            for page in 1...bytes.count / 4096 { DamagedFile.destroy(page, in: &bytes) }
        }
        let error = await #expect(throws: ClubError.self) { try await closedClub().repair(from: folder) }
        #expect(error?.kind == .corrupt)
        let report = try await closedClub().repair(from: folder) { offer in
            offer.isFileReadable || offer.membersOnlyInSnapshot != 300 || offer.visitsOnlyInSnapshot != 300
                ? .neither : .snapshot
        }
        #expect(report.restoredFrom != nil)
        #expect(report.lost == ["what else was changed since 2026-09-01T10:00:00Z, and who came"])
        let club = try await open(day: 2)
        #expect(try await club.memberCount() == 300)
        #expect(try await club.check() == [])
        try await club.close()
    }
}
