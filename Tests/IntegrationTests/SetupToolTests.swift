import ClubKit
import Foundation
import ReaderKitTesting
import TestSupport
import Testing

@testable import KioskKit

/// `clubctl setup` in a terminal.
@Suite(.timeLimit(.minutes(10)))
struct SetupToolTests {
    private let club: ClubTool
    private let path: String
    private var scratch: ScratchFolder { club.scratch }

    init() throws {
        club = try ClubTool()
        path = club.scratch.file("kiosk.conf")
    }

    /// - Parameters:
    ///   - timeout: how long a card is waited for, in seconds.
    ///   - served: the file that the service reads; by default that which is written.
    private func setup(timeout: Int = 60, served: String? = nil) throws -> TerminalTool {
        let served = served ?? path
        // One that reports what it was asked for, runs nothing, and fails to enable the first time.
        let log = scratch.file("systemctl.log")
        let script = """
            #!/bin/sh
            [ "$1" = is-active ] && exit 3
            [ "$1" = is-enabled ] && exit 0
            [ "$1" = show ] && echo '{ path=/usr/bin/clubctl ; argv[]=/usr/bin/clubctl kiosk --config \(served) ; }' && exit
            echo "$*" >> '\(log)'
            if [ "$1" = enable ] && [ ! -e '\(log).failed' ]; then
                touch '\(log).failed'; echo 'Failed to enable: no such unit' >&2; exit 1
            fi
            """
        try FileManager.default.createDirectory(atPath: scratch.file("bin"), withIntermediateDirectories: true)
        _ = try scratch.program(script, to: "bin/systemctl")
        let arguments = ["--config", path, "--database", club.database, "--card-timeout", "\(timeout)"]
        return try TerminalTool(
            .clubctl,
            ["setup"] + arguments,
            environment: ["PATH": "\(scratch.file("bin")):/usr/bin:/bin"]
        )
    }

    /// A socket that listens on a port of its own, until it is closed.
    private func listener() throws -> (socket: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int in
                guard bind(descriptor, address, length) == 0, listen(descriptor, 1) == 0 else { return 0 }
                getsockname(descriptor, address, &length)
                return 1
            }
        }
        try #require(port == 1)
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    @Test("Each question is answered wrongly once, and then rightly")
    func wholeInterview() async throws {
        let line = try SmartReaderTerminal(link: scratch.file("line"))
        // Long enough for a busy machine to hold a card there.
        let tool = try setup(timeout: 15)
        await tool.expect("1 of 5")
        tool.type("\n")
        await tool.expect("A club needs a name.")
        tool.type("Boulder \"Hall\": #1\n")

        await tool.expect("2 of 5")
        tool.type("smart-reader:\(scratch.file("nowhere"))\n")
        await tool.expect("Once more")
        tool.type("-9223372036854775808\n")
        await tool.expect("There is no reader -9223372036854775808.")
        tool.type("smart-reader:\(scratch.file("line"))\n")
        await tool.expect("Opened ")

        await tool.expect("3 of 5")
        tool.type("Anna\n")
        await tool.expect("No card was read within 15 s")
        tool.type("Anna\n")
        await tool.expect("Hold the card")
        try await until("the line is open") { line.isOpenedByProgram }
        try line.report(SimulatedNTAG(.ntag213, uid: [4, 1, 2, 3, 0xD4, 0xE5, 0x80]))
        await tool.expect("It is to become that of Anna.")

        await tool.expect("4 of 5")
        #if NETWORK
        tool.type("5\n")
        await tool.expect("Write 1, 2 or 3")
        let busy = try listener()
        tool.type("127.0.0.1:\(busy.port)\n")
        await tool.expect("Nothing can listen on 127.0.0.1:\(busy.port)")
        close(busy.socket)
        tool.type("127.0.0.1:\(busy.port)\n")
        await tool.expect("The screen will be at http://127.0.0.1:\(busy.port)/")
        #else
        tool.type("127.0.0.1:8080\n")
        await tool.expect("built without the network")
        tool.type("2\n")
        #endif

        await tool.expect("5 of 5")
        tool.type("perhaps\n")
        await tool.expect("Write yes or no.")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: club.database))
        tool.type("yes\n")
        if geteuid() == 0 {
            await tool.expect("Failed to enable: no such unit")
            tool.type("yes\n")
            await tool.expect("starts with the machine")
        } else {
            await tool.expect("Only root may do that.")
            tool.type("no\n")
        }
        #expect(await tool.finish() == 0, "\(tool.screen)")

        let file = try KioskFile(path: path)
        #expect(file["clubName"] == "Boulder \"Hall\": #1")
        #expect(file["database"] == club.database)
        #expect(file.settings["readers"]?.values == ["smart-reader:" + scratch.file("line")])
        #if NETWORK
        #expect(file["http.address"] == "127.0.0.1:\(busy.port)")
        #endif
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        let members = try await club.json("members", "list")
        #expect(members.compactMap { $0["username"] as? String } == ["Anna"])
        #expect(members.first?["numVisits"] as? Int == 1)
        #expect(try await Tool.clubctl.run("config", "check", path).status == 0)
        // Nothing is left beside them.
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(names.allSatisfy { !$0.hasPrefix(".") }, "\(names)")
        if geteuid() == 0 {
            let calls = try String(contentsOfFile: scratch.file("systemctl.log"), encoding: .utf8).split(
                separator: "\n"
            )
            #expect(calls.suffix(2) == ["enable clubkit.service", "restart clubkit.service"])
        }
    }

    /// The answers, and what comes before each.
    private static let answers = [
        ("1 of 5", "\n"), ("2 of 5", "all\n"), ("3 of 5", "\n"), ("4 of 5", "2\n"), ("5 of 5", "no\n"),
    ]

    private static let former = """
        # Ours, with care.
        clubName: Old Hall     # since 1990
        cooldownSeconds: 5
        screen:
          plain: true
          language: de   # of course
        http: { address: 8080 }

        """

    @Test("Control-C ends it at every question, and all is as it was", arguments: 0..<5)
    func interrupted(question: Int) async throws {
        _ = try scratch.write(Self.former, to: "kiosk.conf")
        let tool = try setup()
        for (title, answer) in Self.answers[..<question] {
            await tool.expect(title)
            tool.type(answer)
        }
        await tool.expect(Self.answers[question].0)
        tool.type("\u{3}")
        #expect(await tool.finish() == 130, "\(tool.screen)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.former)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["bin", "kiosk.conf"])
    }

    @Test("An existing file keeps what was not asked for, and is kept beside the new one")
    func existing() async throws {
        _ = try scratch.write(
            Self.former.replacingOccurrences(of: "http: { address: 8080 }\n", with: ""),
            to: "kiosk.conf"
        )
        let tool = try setup()
        for (title, answer) in Self.answers {
            await tool.expect(title)
            tool.type(title == "1 of 5" ? "New Hall\n" : title == "4 of 5" ? "\n" : answer)
        }
        #expect(await tool.finish() == 0, "\(tool.screen)")
        #expect(tool.screen.contains("It starts with the machine until: sudo systemctl disable --now clubkit"))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("# Ours, with care.\nclubName: New Hall     # since 1990\n"), "\(text)")
        #expect(text.contains("language: de   # of course"))
        let file = try KioskFile(path: path)
        let keys: Set = ["clubName", "cooldownSeconds", "screen.plain", "screen.language", "database"]
        #expect(Set(file.settings.keys) == keys)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        let kept = try #require(names.first { $0.hasPrefix("kiosk.conf.") })
        #expect(try String(contentsOfFile: scratch.file(kept), encoding: .utf8).contains("Old Hall"))
    }

    @Test("One that cannot be changed line by line is begun anew with all its settings")
    func begunAnew() async throws {
        _ = try scratch.write(Self.former + "messages: { programs: { print: \"/bin/true\" } }\n", to: "kiosk.conf")
        let tool = try setup()
        for (title, answer) in Self.answers {
            await tool.expect(title)
            tool.type(answer)
        }
        #expect(await tool.finish() == 0, "\(tool.screen)")
        let file = try KioskFile(path: path)
        #expect(file["clubName"] == "Old Hall" && file["cooldownSeconds"] == "5" && file["http.address"] == nil)
        #expect(file.settings["messages.programs"]?.values == ["print=/bin/true"])
    }

    @Test("A service that reads another file is not started", .enabled(if: geteuid() == 0))
    func otherService() async throws {
        let tool = try setup(served: KioskFile.standardPath)
        for (title, answer) in Self.answers {
            await tool.expect(title)
            tool.type(title == "1 of 5" ? "Hall\n" : title == "5 of 5" ? "yes\n" : answer)
        }
        await tool.expect("does not read \(path)")
        #expect(!FileManager.default.fileExists(atPath: path))
        tool.type("no\n")
        #expect(await tool.finish() == 0, "\(tool.screen)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("systemctl.log")))
    }

    @Test("A link stays one, and its file keeps owner and mode; one that leads nowhere is refused")
    func links() async throws {
        let real = try scratch.write(Self.former, to: "real.conf")
        chmod(real, 0o604)
        if geteuid() == 0 { chown(real, 4711, 4712) }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "real.conf")
        let tool = try setup()
        for (title, answer) in Self.answers {
            await tool.expect(title)
            tool.type(title == "1 of 5" ? "New Hall\n" : answer)
        }
        #expect(await tool.finish() == 0, "\(tool.screen)")
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o604)
        if geteuid() == 0 { #expect(status.st_uid == 4711 && status.st_gid == 4712) }
        #expect(try KioskFile(path: real)["clubName"] == "New Hall")

        unlink(real)
        mkdir(real, 0o700)
        let folder = try setup()
        #expect(await folder.finish() == 66 && folder.screen.contains("is no file"))
        rmdir(real)
        let refused = try setup()
        #expect(await refused.finish() == 66 && refused.screen.contains("a link to a file that is not there"))
    }

    @Test("A file with a fault is mended first, and stays as it is")
    func faulty() async throws {
        let text = Self.former + "retentionDays: 1y\n"
        _ = try scratch.write(text, to: "kiosk.conf")
        let tool = try setup()
        #expect(await tool.finish() == 65, "\(tool.screen)")
        #expect(tool.screen.contains("retentionDays: expected a whole number"), "\(tool.screen)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test("Without a terminal it says what to do instead")
    func noTerminal() async throws {
        let outcome = try await Tool.clubctl.run("setup", "--config", path)
        #expect(outcome.status == 64 && outcome.messages.contains("clubctl config example"), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
