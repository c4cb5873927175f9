import Foundation
import GRDB
import Synchronization
import Testing

@testable import ClubKit

@Suite("Backups", .timeLimit(.minutes(10)))
struct BackupTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func url(_ name: String) -> URL { URL(fileURLWithPath: directory.file(name)) }

    private func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]) as? Int
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { !$0.hasPrefix("club.sqlite") }
            .sorted()
    }

    private func open(_ name: String = "club.sqlite") async throws -> Club {
        try await openClub(.test(.file(path: directory.file(name))))
    }

    @Test("A copy has all that was committed, is one private file, and goes on as a device of its own")
    func copy() async throws {
        let club = try await open()
        for index in 0..<50 { _ = try await club.receive(tap("member \(index % 20)", at: Double(index) * 31)) }
        try await club.block("member 3", by: ActionContext(reason: "fees"))
        let members = try await club.members()
        let steps = Mutex<[BackupProgress]>([])
        try await club.backup(to: url("copy"), by: ActionContext(actor: "night")) { step in
            steps.withLock { $0.append(step) }
        }
        #expect(try names() == ["copy"])
        #expect(mode(directory.file("copy")) == 0o600)
        let told = steps.withLock { $0 }
        #expect(told.last?.fraction == 1)
        #expect(told.map(\.pagesDone) == told.map(\.pagesDone).sorted())
        #expect(try await club.auditLog(limit: 1).map(\.action) == [.backedUp])
        #expect(try await club.auditLog(limit: 1).first?.actor == "night")

        let restored = try await open("copy")
        #expect(try await restored.members() == members)
        #expect(try await restored.details(of: "member 3")?.blocked == "fees")
        #expect(try await restored.check() == [])
        let (own, other) = (try club.openStore("test").deviceID, try restored.openStore("test").deviceID)
        #expect(own != other)
        #expect(try await restored.receive(tap("member 5", at: 5000)).outcome == .visit)
        // The tap before the copy was made is answered as it was.
        try await restored.close()
        let again = try await open("copy")
        #expect(try again.openStore("test").deviceID == other)
        #expect(try await again.check() == [])
        #expect(try await club.check() == [])
    }

    @Test("Nothing that is there is replaced, whatever it is")
    func exists() async throws {
        let club = try await open()
        try Data("letter".utf8).write(to: url("file"))
        try FileManager.default.createDirectory(at: url("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: url("link"), withDestinationURL: url("nowhere"))
        for name in ["file", "folder", "link", "club.sqlite"] {
            let error = await #expect(throws: ClubError.self) { try await club.backup(to: url(name)) }
            #expect(error?.kind == .fileExists, "\(name)")
        }
        #expect(try Data(contentsOf: url("file")) == Data("letter".utf8))
        #expect(try names() == ["file", "folder", "link"])
        #expect(try await club.auditLog() == [])
    }

    @Test("Where no file can be made, there is none", arguments: ["missing/copy", "/proc/copy"])
    func impossible(name: String) async throws {
        let club = try await open()
        let place = name.hasPrefix("/") ? URL(fileURLWithPath: name) : url(name)
        let error = await #expect(throws: ClubError.self) { try await club.backup(to: place) }
        #expect(error?.kind == .cannotCreate)
        #expect(try names() == [])
    }

    @Test("A cancelled copy leaves nothing behind")
    func cancelled() async throws {
        let club = try await open()
        for index in 0..<200 {
            try await club.add(
                Member(userId: "member \(index)", fields: ["notes": .string(String(repeating: "x", count: 9000))])
            )
        }
        let task = Mutex<Task<Void, any Error>?>(nil)
        let begun = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            for await _ in begun.stream { break }
            try await club.backup(to: url("copy")) { _ in task.withLock { $0 }?.cancel() }
        }
        task.withLock { $0 = work }
        begun.continuation.yield(())
        let error = await #expect(throws: ClubError.self) { try await work.value }
        #expect(error?.kind == .cancelled)
        #expect(try names() == [])
    }

    @Test("Taps go on while a copy is made, and it is of one moment")
    func meanwhile() async throws {
        let club = try await open()
        for index in 0..<300 {
            try await club.add(
                Member(userId: "member \(index)", fields: ["notes": .string(String(repeating: "x", count: 8000))])
            )
        }
        let isDone = Atomic(false)
        async let taps: Int = {
            var count = 0
            while !isDone.load(ordering: .relaxed) || count < 50 {
                _ = try await club.receive(tap("member \(count % 300)", at: Double(count) * 31))
                count += 1
            }
            return count
        }()
        for number in 0..<3 { try await club.backup(to: url("copy \(number)")) }
        isDone.store(true, ordering: .relaxed)
        #expect(try await taps >= 50)
        var last = 0
        for number in 0..<3 {
            let copy = try await open("copy \(number)")
            #expect(try await copy.check() == [])
            let visits = try await copy.members().map(\.numVisits).reduce(0, +)
            #expect(visits >= last)
            last = visits
            try await copy.close()
        }
        #expect(try await club.check() == [])
    }

    @Test("A damaged database is not copied as if it were sound")
    func damaged() async throws {
        var club = try await open()
        for index in 0..<300 { try await club.add(Member(userId: "member \(index)")) }
        try await club.close()
        let file = url("club.sqlite")
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("member 150".utf8))).lowerBound / 4096 * 4096
        for index in 0..<64 { bytes[place + index] = 0xA5 }
        try bytes.write(to: file)
        chmod(file.path, 0o600)
        club = try await open()
        let error = await #expect(throws: ClubError.self) { try await club.backup(to: url("copy")) }
        #expect(error?.kind == .corrupt)
        #expect(try names() == [])
    }

    @Test("A club in memory can be copied into a file")
    func memory() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        try await club.backup(to: url("copy"))
        #expect(try await open("copy").member(withUserID: "A")?.numVisits == 1)
    }
}
