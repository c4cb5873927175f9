import ClubKit
import Foundation
import TestSupport
import Testing

@testable import KioskKit

/// `clubctl config`, and the kiosk with a file in place of options.
@Suite(.timeLimit(.minutes(10)))
struct ConfigToolTests {
    private let club: ClubTool
    private var scratch: ScratchFolder { club.scratch }

    init() throws { club = try ClubTool() }

    @Test("The example is what the package installs, and what the page shows")
    func example() async throws {
        let outcome = try await Tool.clubctl.run("config", "example")
        #expect(outcome.status == 0)
        #if NETWORK
        #expect(outcome.output == KioskFile.example())
        #endif
        TestReport.add(section: "configuration", lines: [KioskFile.table])
        #expect(try Page.text("Packaging/kiosk.conf") == KioskFile.example())
        #expect(try Page.text("Documentation/configuration.md").contains("\n" + KioskFile.table))
        let own = outcome.output.replacingOccurrences(of: "/var/lib/clubkit", with: scratch.path)
        let file = try scratch.write(own, to: "kiosk.conf")
        let check = try await Tool.clubctl.run("config", "check", file)
        #expect(check.status == 0 && check.output.isEmpty, "\(check)")
    }

    @Test("Every key's option is one of the kiosk")
    func options() async throws {
        let help = try await Tool.clubctl.run("kiosk", "--help").output
        for key in KioskFile.Key.all { #expect(help.contains("\(key.option)"), "\(key.option)") }
    }

    @Test("Faults are told with file, line and column, also those of named files; exit codes 65 and 66")
    func check() async throws {
        let file = try scratch.write("databse: a\nscenarios: s.yaml\n", to: "kiosk.conf")
        let wrong = try await Tool.clubctl.run("config", "check", file, "--json")
        #expect(wrong.status == 65)
        let finding = try #require(wrong.objects.first)
        #expect(finding["file"] as? String == file && finding["line"] as? Int == 1 && finding["column"] as? Int == 1)
        #expect(finding["hint"] as? String == "Did you mean 'database'?" && finding["severity"] as? String == "error")
        let people = try await Tool.clubctl.run("config", "check", file)
        #expect(people.output.hasPrefix("\(file):1:1: there is no key \"databse\" here. Did you mean 'database'?"))

        _ = try scratch.write("scenarios: s.yaml\n", to: "kiosk.conf")
        let absent = try await Tool.clubctl.run("config", "check", environment: ["CLUBKIT_CONFIG": file])
        #expect(absent.status == 66 && absent.output.contains("kiosk.conf:1:1: scenarios:"), "\(absent)")
        let faulty = try scratch.write("scenarios:\n- id: a\n  every: x\n", to: "s.yaml")
        let inner = try await Tool.clubctl.run("config", "check", file)
        #expect(inner.status == 65 && inner.output.contains("\(faulty):3:"), "\(inner)")
        #expect(try await Tool.clubctl.run("config", "check", scratch.file("none")).status == 66)
        _ = try scratch.write("a: ]\n", to: "file")
        _ = try scratch.write("database: file/club.sqlite\n", to: "kiosk.conf")
        let nowhere = try await Tool.clubctl.run("config", "check", file)
        #expect(nowhere.status == 66 && nowhere.output.contains("kiosk.conf:1:1: database: nothing can be made in"))
        let secret = try scratch.write("hunter2\n", to: "token")
        let token = try await Tool.clubctl.run("config", "check", secret)
        #expect(token.status == 65 && !token.output.contains("hunter2"), "\(token)")
        let kiosk = try await Tool.clubctl.run("kiosk", "--config", scratch.file("none"), "--once")
        #expect(kiosk.status == 66)
    }

    @Test("The kiosk reads its file, paths from the file's folder; options win")
    func kiosk() async throws {
        let text = """
            clubName: Boulder Hall
            database: data/club.sqlite
            readers: ["pcsc:"]
            cooldownSeconds: 0
            retentionDays: 40000
            scenarios: rewards.yaml
            messages:
              socket: socket
            """
        let file = try scratch.write(text, to: "kiosk.conf")
        try FileManager.default.copyItem(
            atPath: Fixtures.path + "/scenarios/day.yaml",
            toPath: scratch.file("rewards.yaml")
        )
        let wrong = try await Tool.clubctl.run("kiosk", "--config", file, "--once", "--json")
        #expect(wrong.status == 65 && wrong.messages.contains("kiosk.conf:5:16: retentionDays:"), "\(wrong)")
        let error = try #require(wrong.objects.first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "malformedConfiguration")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("data")))

        _ = try scratch.write(text.replacingOccurrences(of: "40000", with: "36500"), to: "kiosk.conf")
        let day = ["--replay", Fixtures.path + "/day", "--once", "--json", "--start", "2026-01-05T07:00:00Z"]
        let outcome = try await Tool.clubctl.start(["kiosk", "--config", file] + day).finish()
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(FileManager.default.fileExists(atPath: scratch.file("data/club.sqlite")))
        let events = outcome.objects.compactMap { $0["event"] as? String }
        #expect(!events.contains("repeat") && events.contains("scenario"))
        let database = scratch.file("other.sqlite")
        let winning = ["kiosk", "--config=\(file)", "--cooldown", "30", "--database", database] + day
        let other = try await Tool.clubctl.start(winning).finish()
        #expect(other.status == 0 && other.objects.contains { $0["event"] as? String == "repeat" })
        #expect(FileManager.default.fileExists(atPath: database))
    }

    @Test("What goes together is seen when the file has been read")
    func together() async throws {
        let file = try scratch.write("database: club.sqlite\n", to: "kiosk.conf")
        let outcome = try await Tool.clubctl.run("kiosk", "--config", file, "--http-token", "t", "--once")
        #expect(outcome.status == 64 && outcome.messages.contains("go with --http"), "\(outcome)")
    }

    @Test("Visits that are too old go when the kiosk opens")
    func retention() async throws {
        _ = try await club.json("members", "add", "A")
        _ = try await club.json("members", "visit", "A", "--reason", "test", "--at", "2020-01-04T07:00:00Z")
        // Of a club without a visit for a year the clock might be wrong.
        let lately = Date.now.addingTimeInterval(-30 * 86_400).formatted(.iso8601)
        _ = try await club.json("members", "visit", "A", "--reason", "test", "--at", lately)
        let file = try scratch.write("database: club.sqlite\nretentionDays: 365\n", to: "kiosk.conf")
        #expect(try await club.run("visits", "export", "-").output.contains("2020-01-04"))
        let kiosk = try Tool.clubctl.start(["kiosk", "--config", file, "--replay", Fixtures.path + "/day"])
        try await until("the visit of 2020 is gone", within: .seconds(60)) {
            try await !club.run("visits", "export", "-").output.contains("2020-01-04")
        }
        kiosk.kill(SIGINT)
        #expect(await kiosk.finish().status == 130)
        #expect(try await club.json("members", "show", "A").first?["numVisits"] as? Int == 2)
    }

    @Test("The doctor reads it too, and looks at the club and the files that it names")
    func doctor() async throws {
        let text = "database: data/club.sqlite\nscenarios: s.yaml\nscreen: { theme: t.yaml }\n"
        let file = try scratch.write(text, to: "kiosk.conf")
        _ = try scratch.write("scenarios: 1\n", to: "s.yaml")
        let environment = ["CLUBKIT_CONFIG": file]
        let outcome = try await Tool.readerctl.run("doctor", "--only", "club", "--json", environment: environment)
        #expect(outcome.status == 1)
        func message(_ id: String) -> String {
            let check = outcome.objects.first { $0["id"] as? String == id }
            return "\(check?["severity"] ?? ""): \(check?["message"] ?? "")"
        }
        #expect(
            message("club.configuration").contains(
                "broken: The kiosk's file cannot be used: \(file):3:11: screen.theme:"
            )
        )
        #expect(message("club.scenarios").hasPrefix("broken: "))
        #expect(message("club.database").contains(scratch.file("data/club.sqlite")), "\(message("club.database"))")
        // Of a file that cannot be read nobody knows where the club is.
        _ = try scratch.write("database\n", to: "kiosk.conf")
        let unknown = try await Tool.readerctl.run(
            "doctor",
            "--only",
            "club.database",
            "--json",
            environment: environment
        )
        let check = try #require(unknown.objects.first { $0["id"] as? String == "club.database" })
        #expect((check["message"] as? String)?.contains("see club.configuration") == true, "\(unknown)")
    }

    // MARK: - The service's club

    @Test("The other commands find the club of the file that the variable names")
    func variable() async throws {
        let file = try scratch.write("database: club.sqlite\n", to: "kiosk.conf")
        let environment = ["CLUBKIT_CONFIG": file, "XDG_DATA_HOME": scratch.file("own")]
        let added = try await Tool.clubctl.run("members", "add", "A", environment: environment)
        #expect(added.status == 0, "\(added)")
        #expect(FileManager.default.fileExists(atPath: club.database))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("own")))
        #expect(try await club.json("members", "list").count == 1)
        let malformed = try scratch.write("databse: club.sqlite\n", to: "wrong.conf")
        let refused = try await Tool.clubctl.run("members", "list", environment: ["CLUBKIT_CONFIG": malformed])
        #expect(refused.status == 65 && refused.messages.contains("wrong.conf:1:1"))
    }

    @Test(
        "Of another's club the command is named that uses it, and no second one is made",
        .enabled(if: geteuid() == 0)
    )
    func another() async throws {
        let file = try scratch.write("database: data/club.sqlite\n", to: "kiosk.conf")
        chmod(scratch.path, 0o755)
        chmod(file, 0o644)
        try FileManager.default.createDirectory(atPath: scratch.file("data"), withIntermediateDirectories: false)
        chown(scratch.file("data"), 1, 1)
        chmod(scratch.file("data"), 0o700)
        let name = String(cString: try #require(getpwuid(1)).pointee.pw_name)
        func run(_ arguments: [String]) async throws -> Tool.Outcome {
            // The tool itself may be in a folder of root's alone.
            let program = scratch.file("clubctl")
            if !FileManager.default.fileExists(atPath: program) {
                try writeProgram(to: program) {
                    try FileManager.default.copyItem(atPath: Tool.clubctl.path, toPath: program)
                }
            }
            let tool = try RunningTool(
                program: "/usr/bin/setpriv",
                ["--reuid=65534", "--regid=65534", "--clear-groups", program] + arguments,
                environment: ["CLUBKIT_CONFIG": file, "HOME": scratch.file("home")]
            )
            return await tool.finish()
        }
        let arguments = ["members", "add", "A", "--name", "Anna O'Hara"]
        let command =
            "sudo -u \(name) env CLUBKIT_CONFIG=\(file) \(scratch.file("clubctl")) members add A --name "
            + "'Anna O'\\''Hara'"
        // Before the club is there, when it is there, and where not even the file may be read.
        for step in 0..<3 {
            if step == 1 {
                let made = try await Tool.clubctl.run("members", "add", "B", environment: ["CLUBKIT_CONFIG": file])
                #expect(made.status == 0)
            }
            if step == 2 {
                chown(file, 0, 1)
                chmod(file, 0o640)
            }
            let outcome = try await run(arguments)
            #expect(outcome.status == 1 && outcome.messages.contains(command), "\(step): \(outcome)")
            #expect(!FileManager.default.fileExists(atPath: scratch.file("home")))
        }
        // The shell opens what that user does not see.
        let exported = try await run(["export", "members.csv"])
        #expect(exported.messages.contains(" export - --type csv > members.csv"), "\(exported)")
        let replaced = try await run(["export", "--force", "members.csv"])
        #expect(replaced.messages.contains("(umask 077; sudo "), "\(replaced)")
        let users = try scratch.write("[]", to: "all users.musrl")
        chmod(users, 0o644)
        let imported = try await run(["import", "--merge", users])
        #expect(imported.messages.contains(" import --merge - --type userList < '\(users)'"), "\(imported)")
        let backup = try await run(["backup", "copy.sqlite"])
        #expect(backup.messages.contains("root may:\n  sudo env CLUBKIT_CONFIG="), "\(backup)")
        let json = try await run(["stats", "--json"])
        #expect((json.objects.first?["error"] as? [String: Any])?["code"] as? String == "accessDenied")
        // What root made belongs to the owner of the folder.
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.file("data")) {
            #expect(try owner(scratch.file("data/" + name)) == 1, "\(name)")
        }
    }

    private func owner(_ path: String) throws -> uid_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_uid
    }

    @Test("What root repairs stays its owner's, with all that is kept beside it", .enabled(if: geteuid() == 0))
    func repairing() async throws {
        let folder = scratch.file("data")
        let database = folder + "/club.sqlite"
        let options = ["--database", database]
        let day = ["kiosk", "--replay", Fixtures.path + "/day", "--once", "--json"]
        _ = try await Tool.clubctl.start(day + options).finish()
        for name in [""] + (try FileManager.default.contentsOfDirectory(atPath: folder)) {
            chown(folder + "/" + name, 4711, 4711)
        }
        // A page in the middle, so that the file has to be read into a new one.
        let handle = try #require(FileHandle(forUpdatingAtPath: database))
        for page in [3, 5, 8] {
            try handle.seek(toOffset: UInt64(page * 4096))
            try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        }
        try handle.close()
        let outcome = try await Tool.clubctl.start(["check", "--repair"] + options).finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.count >= 2 && names.contains { $0.contains(".damaged-") }, "\(names): \(outcome)")
        for name in names { #expect(try owner(folder + "/" + name) == 4711, "\(name)") }
        _ = try await Tool.clubctl.start(["members", "list"] + options).finish()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            #expect(try owner(folder + "/" + name) == 4711, "\(name)")
        }
    }
}
