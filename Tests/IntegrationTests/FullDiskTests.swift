import ClubKit
import Foundation
import ReaderKitTesting
import TestSupport
import Testing

/// A file system that is really full, and one that cannot be written: small ones of their own, in the memory.
@Suite(
    "Full disks",
    .enabled(if: PCSCDaemon.isIsolated, "run the tests with 'Scripts/isolated'"),
    .timeLimit(.minutes(10))
)
struct FullDiskTests {
    private let scratch: ScratchFolder
    private var disk: String { scratch.file("disk") }
    private var database: String { disk + "/club.sqlite" }

    init() throws {
        scratch = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    }

    private func mount(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", arguments.joined(separator: " ")]
        try process.start()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func replay(_ number: Int) -> [String] {
        [
            "kiosk", "--replay", Fixtures.path + "/day", "--once", "--json", "--database", database, "--seed",
            "\(number)",
        ]
    }

    private func acknowledged(_ outcome: Tool.Outcome) -> Set<UUID> {
        Set(
            outcome.objects.filter { ["created", "visit"].contains($0["event"] as? String) }
                .compactMap { ($0["id"] as? String).flatMap { UUID(uuidString: $0) } }
        )
    }

    /// The visits that are in the database.
    private func ledger() async throws -> Set<UUID> {
        let club = Club(configuration: ClubConfiguration(database: .file(path: database)))
        try await club.open()
        #expect(try await club.check() == [])
        var visits: Set<UUID> = []
        for member in try await club.members() {
            visits.formUnion(try await club.visits(of: member.userId).map(\.id))
        }
        try await club.close()
        return visits
    }

    @Test("The numbers of closed standard streams are given to no file, and what cannot be printed is an error")
    func closedStreams() async throws {
        let tool = Tool.clubctl.process(replay(1))
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", Tool.clubctl.path] + (tool.arguments ?? [])
        try shell.start()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 74)
        // What was acknowledged before the first line could not be printed is whole.
        _ = try await ledger()
    }

    @Test("A full disk is said, keeps what was acknowledged, and is no obstacle once there is room")
    func full() async throws {
        try mount("mount -t tmpfs -o size=900k tmpfs '\(disk)'")
        defer { try? mount("umount -l '\(disk)'") }
        var acknowledged: Set<UUID> = []
        var failure: String?
        for number in 0..<60 where failure == nil {
            let outcome = try await Tool.clubctl.start(replay(number)).finish()
            acknowledged.formUnion(self.acknowledged(outcome))
            let text = outcome.output + outcome.messages
            if text.contains("the disk is full") { failure = text }
        }
        #expect(failure?.contains("Make room on the file system; nothing that was acknowledged is lost.") == true)
        #expect(!acknowledged.isEmpty)
        // A copy that does not fit is not there.
        let copy = try await Tool.clubctl.run("backup", disk + "/copy.sqlite", "--database", database)
        #expect(copy.status != 0)
        #expect(copy.messages.contains("the disk is full"), "\(copy.messages)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk).allSatisfy { $0.hasPrefix("club.sqlite") })

        try mount("mount -o remount,size=16m '\(disk)'")
        #expect(acknowledged.isSubset(of: try await ledger()))
        let more = try await Tool.clubctl.start(replay(1000)).finish()
        #expect(more.status == 0, "\(more.messages)")
        #expect(!self.acknowledged(more).isEmpty)
    }

    @Test("Where a snapshot would take the last room, none is made, that is a warning, and taps go on")
    func snapshot() async throws {
        try mount("mount -t tmpfs -o size=12m tmpfs '\(disk)'")
        defer { try? mount("umount -l '\(disk)'") }
        #expect(try await Tool.clubctl.start(replay(1)).finish().status == 0)
        let kiosk = try Tool.clubctl.start([
            "kiosk", "--database", database, "--json", "--first-snapshot-after", "0.1",
            "--reader", "smart-reader:" + disk + "/no-line",
        ])
        var code: String?
        while code != "diskFull", let line = await kiosk.next("error") {
            code = (line["error"] as? [String: Any])?["code"] as? String
        }
        #expect(code == "diskFull")
        let more = try await Tool.clubctl.start(replay(2)).finish()
        #expect(!acknowledged(more).isEmpty)
        kiosk.kill(SIGINT)
        let outcome = await kiosk.finish()
        #expect(
            outcome.messages.contains("Warning: could not make a snapshot of the member database: the disk is full")
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: database + ".snapshots") == [])
    }

    @Test("A file system that cannot be written is said")
    func readOnly() async throws {
        try mount("mount -t tmpfs -o size=16m tmpfs '\(disk)'")
        defer { try? mount("umount -l '\(disk)'") }
        let before = acknowledged(try await Tool.clubctl.start(replay(1)).finish())
        try mount("mount -o remount,ro '\(disk)'")
        let outcome = try await Tool.clubctl.start(replay(2)).finish()
        #expect(outcome.status != 0)
        #expect(acknowledged(outcome) == [])
        let text = outcome.output + outcome.messages
        #expect(text.contains("cannot be written") || text.contains("could not be opened"), "\(text)")
        try mount("mount -o remount,rw '\(disk)'")
        #expect(before.isSubset(of: try await ledger()))
    }
}
