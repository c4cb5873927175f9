import Foundation
import GRDB
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// Readers in Smart Reader mode and how they are chosen, through the tools.
@Suite(.timeLimit(.minutes(10)))
struct ReaderChoiceToolTests {
    private let folder: ScratchFolder
    private let database: String

    init() throws {
        folder = try ScratchFolder()
        database = folder.file("club.sqlite")
    }

    private func members() async throws -> [[String: Any]] {
        try await Tool.clubctl.run("members", "list", "--json", "--database", database).objects
    }

    // MARK: How the readers are set

    @Test("A pass names its member where the tool is told what the template looks for", arguments: [true, false])
    func templates(_ isTold: Bool) async throws {
        let line = try SmartReaderTerminal(link: folder.file("line"))
        let options = isTold ? ["--smart-reader-template", "1=D1", "--smart-reader-template", "2=d2"] : []
        let kiosk = try Tool.clubctl.start(
            ["kiosk", "--json", "--once", "--database", database, "--reader", "smart-reader:" + folder.file("line")]
                + options
        )
        try await until("the kiosk listens") { line.isOpenedByProgram }
        try line.report(pass: "M-1042", template: 1)
        let outcome = await kiosk.finish()
        #expect(outcome.status == 0)
        let tap = try #require(outcome.objects.first { $0["event"] as? String == "scan" })
        #expect(tap["memberKey"] as? String == (isTold ? "M-1042" : nil))
        #expect(try await members().map { $0["userId"] as? String } == (isTold ? ["M-1042"] : []))
    }

    @Test("A tap that waits for the database is told with whose it is, when it goes on, and when it is not recorded")
    func waitingTap() async throws {
        let line = try SmartReaderTerminal(link: folder.file("line"))
        _ = try await Tool.clubctl.run("members", "add", "04112233445566", "--name", "Ann", "--database", database)
        let kiosk = try Tool.clubctl.start(
            ["kiosk", "--json", "--database", database, "--reader", "smart-reader:" + folder.file("line")]
        )
        _ = try #require(await kiosk.message(containing: "Serving"))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: database, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        try line.report(SimulatedNTAG(.ntag213, uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]))
        let waits = try #require(await kiosk.message(containing: "waits and is given again"))
        #expect(
            waits.hasPrefix("The tap of Ann (04112233445566) at ") && waits.contains("another program holds"),
            "\(waits)"
        )
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        // Not told once more in the log.
        let next = try #require(await kiosk.message(containing: "tap"))
        #expect(
            next.hasPrefix("The tap of Ann (04112233445566) at ") && next.hasSuffix("is recorded; taps go on."),
            "\(next)"
        )
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        try line.report(SimulatedNTAG(.ntag213, uid: [0x04, 0x21, 0x22, 0x33, 0x44, 0x55, 0x66]))
        _ = try #require(await kiosk.message(containing: "The tap of somebody new at "))
        kiosk.kill(SIGINT)
        let outcome = await kiosk.finish()
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        #expect(outcome.status == 130)
        #expect(
            outcome.messages.contains("was not recorded: the kiosk was ended while it waited. Tap again, or record")
        )
        #expect(outcome.messages.contains("Taps         1\n"), "\(outcome.messages)")
        #expect(!outcome.messages.contains("Nothing needs to be done"))
        let errors = outcome.objects.filter { $0["event"] as? String == "error" }
        #expect(errors.map { ($0["error"] as? [String: Any])?["code"] as? String } == ["busy", "busy", "cancelled"])
        #expect(errors.allSatisfy { $0["id"] is String && $0["reader"] as? String == folder.file("line") })
        #expect((errors.first?["member"] as? [String: Any])?["username"] as? String == "Ann")
    }

    @Test("Plain text with a prefix and a suffix, from standard input, which ends the kiosk with it")
    func plainText() async throws {
        let outcome = try await Tool.clubctl.run(
            [
                "kiosk", "--json", "--database", database, "--reader", "smart-reader:-", "--smart-reader-format",
                "plain",
                "--smart-reader-prefix", "id=", "--smart-reader-suffix", ";",
            ],
            input: Array("id=M-1;id=M-2;\nnoise\nid=M-3".utf8)
        )
        #expect(outcome.status == 0)
        #expect(try await members().compactMap { $0["userId"] as? String }.sorted() == ["M-1", "M-2", "M-3"])
    }

    @Test(
        "Settings that there are not",
        arguments: [
            ["--smart-reader-template", "5=D1"], ["--smart-reader-template", "1=XY"],
            ["--smart-reader-template", "D1"],
            ["--smart-reader-template", "1=D1", "--smart-reader-template", "1=D2"], ["--smart-reader-speed", "1234"],
            ["--smart-reader-format", "xml"],
        ]
    )
    func wrongSettings(_ options: [String]) async throws {
        let outcome = await (try Tool.readerctl.start(["list", "--json"] + options)).finish()
        #expect(outcome.status == 64)
        #expect(outcome.objects.first?["error"] != nil)
    }

    // MARK: Which readers

    @Test(
        "A chosen reader that cannot be used is 69, with the reason, for every command",
        arguments: ["list", "scan", "watch", "info"]
    )
    func unusable(_ command: String) async throws {
        let line = try SmartReaderTerminal()
        let path = try #require(line.path)
        let missing = folder.file("missing")
        for (choice, code) in [
            (["smart-reader:/dev/null"], "readerUnavailable"), (["smart-reader:" + missing], "readerUnavailable"),
            // One of several is enough.
            (["smart-reader:" + path, "smart-reader:" + missing], "readerUnavailable"),
        ] {
            let options = choice.flatMap { ["--reader", $0] }
            let outcome = await (try Tool.readerctl.start([command, "--json"] + options)).finish()
            #expect(outcome.status == 69, "\(choice)")
            let error = outcome.objects.last?["error"] as? [String: Any]
            #expect(error?["code"] as? String == code)
            if choice.count > 1 {
                #expect(outcome.messages.contains("'smart-reader:\(missing)'"))
                #expect(!outcome.messages.contains(path))
            }
        }
    }

    @Test("A line that another program holds is 69, and names it")
    func held() async throws {
        let line = try SmartReaderTerminal()
        let path = try #require(line.path)
        let holder = try Tool.clubctl.start(["kiosk", "--database", database, "--reader", "smart-reader:" + path])
        defer { holder.kill() }
        try await until("the kiosk listens") { line.isOpenedByProgram }
        let outcome = try await Tool.readerctl.run("scan", "--json", "--reader", "smart-reader:" + path)
        #expect(outcome.status == 69)
        let error = outcome.objects.last?["error"] as? [String: Any]
        #expect(error?["code"] as? String == "sharingViolation")
        #expect(outcome.messages.contains("clubctl (pid \(holder.identifier))"))
    }

    @Test("A line is open to others again when a tool has ended")
    func letGo() async throws {
        let line = try SmartReaderTerminal()
        let path = try #require(line.path)
        for _ in 0..<2 {
            let tool = try Tool.readerctl.start(["scan", "--once", "--json", "--reader", "smart-reader:" + path])
            try await until("it listens") { line.isOpenedByProgram }
            try line.report(pass: "1234567890", template: 0xD1)
            #expect(await tool.finish().status == 0)
            // A user who is not root could not open a line that is closed to others.
            var isExclusive: Int32 = -1
            let file = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            // `TIOCGEXCL`, `_IOR('T', 0x40, int)`
            #expect(ioctl(file, 0x8004_5440, &isExclusive) == 0)
            #expect(isExclusive == 0)
            close(file)
            try await until("nobody has it open") { !line.isOpenedByProgram }
        }
    }

    @Test(
        "When standard input ends there is nothing to wait for",
        arguments: [["scan", "--once"], ["scan"], ["watch"]]
    )
    func endOfInput(_ command: [String]) async throws {
        let outcome = try await Tool.readerctl.run(command + ["--json", "--reader", "smart-reader:-"], input: [])
        #expect(outcome.status == (command.contains("--once") ? 1 : 0))
    }

    // MARK: Emulated

    @Test("Each tap of an emulated line comes to a program that listens")
    func emulated() async throws {
        let link = folder.file("line")
        let emulation = try Tool.readerctl.start([
            "emulate", "--card", "ntag213", "--ndef-text", "4|U1|x|Ann; Bé", "--via", "smart-reader", "--line-format",
            "json",
            "--link", link, "--present", "0.05", "--absent", "0.05", "--json",
        ])
        defer { emulation.kill() }
        #expect(await emulation.next("reachable") != nil)
        // However long it takes to begin: nothing is presented to nobody.
        let scan = try Tool.readerctl.start(["scan", "--json", "--reader", "smart-reader:" + link])
        for _ in 0..<3 {
            #expect(await scan.next("scan")?["memberKey"] as? String == "U1")
        }
        // The terminal's number may have been that of another test's, whose program looks for it again: so not only three
        // taps are presented.
        emulation.kill(SIGTERM)
        #expect(await emulation.finish().status == 130)
        scan.kill(SIGINT)
        let rest = await scan.finish().objects.filter { $0["event"] as? String == "scan" }
        #expect(rest.allSatisfy { $0["memberKey"] as? String == "U1" })
    }

    @Test("What a line cannot say, and a link that is something else, are told for what they are")
    func emulatedMistakes() async throws {
        let line = try Tool.readerctl.start([
            "emulate", "--card", "ntag213", "--ndef-text", "a;b", "--via", "smart-reader", "--link",
            folder.file("line"),
            "--json",
        ])
        #expect(await line.next("reachable") != nil)
        let reader = open(folder.file("line"), O_RDONLY | O_NOCTTY | O_CLOEXEC)
        defer { close(reader) }
        let outcome = await line.finish()
        #expect(outcome.status == 1)
        #expect(outcome.messages.contains("--line-format"))
        let file = folder.file("taken")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
        let other = try await Tool.readerctl.run("emulate", "--card", "ntag213", "--via", "pn532", "--link", file)
        #expect(other.status == 74)
        #expect(other.messages.contains(file))
        #expect(FileManager.default.contents(atPath: file) == Data("mine".utf8))
    }

    // MARK: A screen that hangs

    @Test("Taps are recorded though nobody reads what the kiosk prints, and it ends when it is asked to")
    func stalledScreen() async throws {
        let line = try SmartReaderTerminal(link: folder.file("line"))
        let process = Tool.clubctl.process([
            "kiosk", "--json", "--database", database, "--reader", "smart-reader:" + folder.file("line"),
        ])
        let (output, messages) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = messages
        process.standardInput = FileHandle.nullDevice
        try process.start()
        defer { kill(process.processIdentifier, SIGKILL) }
        try await until("the kiosk listens") { line.isOpenedByProgram }
        // Some times what a pipe holds.
        let count = 400
        for number in 0..<count {
            try line.report(pass: "M-\(number)", template: 0xD1)
        }
        try await until("all are members", within: .seconds(120)) { try await members().count == count }
        kill(process.processIdentifier, SIGTERM)
        try await until("it has ended") { !process.isRunning }
        #expect(process.terminationStatus == 130)
    }

    @Test("A tool whose lines nobody reads ends when it is asked to", arguments: ["scan", "watch"], [SIGTERM, SIGINT])
    func stalledReader(command: String, signal: Int32) async throws {
        let line = try SmartReaderTerminal(link: folder.file("line"))
        let process = Tool.readerctl.process([command, "--json", "--reader", "smart-reader:" + folder.file("line")])
        let (output, messages) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = messages
        process.standardInput = FileHandle.nullDevice
        try process.start()
        defer { kill(process.processIdentifier, SIGKILL) }
        try await until("it listens") { line.isOpenedByProgram }
        var (number, held, unchanged) = (0, Int32(0), 0)
        try await until("the pipe holds no further line", within: .seconds(120)) {
            for _ in 0..<20 {
                try line.report(pass: "M-\(number)", template: 0xD1)
                number += 1
            }
            var waiting: Int32 = 0
            guard ioctl(output.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &waiting) == 0 else { return false }
            unchanged = waiting == held ? unchanged + 1 : 0
            held = waiting
            return held > 50_000 && unchanged > 20
        }
        kill(process.processIdentifier, signal)
        try await until("it has ended") { !process.isRunning }
        #expect(process.terminationStatus == 130)
    }

    @Test("A recording waits for whoever reads, and loses no line", arguments: ["scan", "watch"])
    func slowReader(command: String) async throws {
        let count = 3000
        let capture = folder.file("many.capture")
        let cards = (0..<count).map {
            "card at \($0).0 atr 3B8F8001804F0CA0000003060300030000000068\nremoved at \($0).5\n"
        }
        try Data("capture 1\ntitle: many\n\n\(cards.joined())".utf8).write(to: URL(fileURLWithPath: capture))
        let process = Tool.readerctl.process([command, "--json", "--reader", "replay:" + capture])
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.start()
        defer { kill(process.processIdentifier, SIGKILL) }
        var (held, unchanged) = (Int32(0), 0)
        try await until("the pipe holds no further line", within: .seconds(120)) {
            var waiting: Int32 = 0
            guard ioctl(output.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &waiting) == 0 else { return false }
            unchanged = waiting == held ? unchanged + 1 : 0
            held = waiting
            return held > 50_000 && unchanged > 20
        }
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let event = command == "scan" ? "\"scan\"" : "\"cardInserted\""
        #expect(text.components(separatedBy: "\"event\":\(event)").count - 1 == count)
    }

    @Test(
        "A replay whose reader goes away is a failure, since taps stay undone",
        arguments: [
            (Tool.clubctl, ["kiosk", "--once", "--json", "--replay"]), (Tool.clubctl, ["kiosk", "--once", "--replay"]),
            (Tool.readerctl, ["replay", "--json"]), (Tool.readerctl, ["replay"]),
        ]
    )
    func closedPipe(tool: Tool, arguments: [String]) async throws {
        let end = tool.name == "clubctl" ? ["--database", database] : []
        let process = tool.process(arguments + [Fixtures.path + "/day"] + end)
        let (output, messages) = (Pipe(), Pipe())
        try output.fileHandleForReading.close()
        process.standardOutput = output
        process.standardError = messages
        process.standardInput = FileHandle.nullDevice
        try process.start()
        try await until("it has ended") { !process.isRunning }
        #expect(process.terminationStatus == 74)
        let text = try messages.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(text.contains("could not write to standard output"), "\(text)")
    }
}
