import Foundation
import TestSupport
import Testing

/// Members that come by standard input.
@Suite(.timeLimit(.minutes(10)))
struct ClubInputToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    private static let texts: [(String, String, [String])] = [
        ("csv", "userId,username\nA,Anna\nB,Bea\n", []),
        ("csv", "\u{FEFF}userId;username\r\nA;Anna\r\nB;Bea\r\n", []),
        ("csv", "Number,Name\nA,Anna\nB,Bea\n", ["--type", "csv", "--map", "Number=userId", "--map", "Name=username"]),
        ("userList", #"[{"userId":"A","username":"Anna"},{"userId":"B","username":"Bea"}]"#, []),
    ]

    @Test("The beginning tells the form, or --type does", arguments: texts)
    func forms(format: String, text: String, options: [String]) async throws {
        let arguments = ["import", "-", "--json", "--database", club.database] + options
        let outcome = try await Tool.clubctl.run(arguments, input: Array(text.utf8))
        #expect(outcome.status == 0, "\(outcome.messages)")
        let report = try #require(outcome.objects.last)
        #expect(report["format"] as? String == format)
        #expect(report["file"] as? String == "-")
        #expect(report["created"] as? Int == 2)
        let names = try await club.json("members", "list", "--sort", "userId").compactMap { $0["username"] as? String }
        #expect(names == ["Anna", "Bea"])
    }

    @Test("A club's file, which is read twice, comes through a pipe from another kiosk")
    func clubFile() async throws {
        let other = try ClubTool()
        _ = try await other.json("members", "add", "A", "--name", "Anna")
        _ = try await other.json("members", "visit", "A", "--reason", "test")
        let tool = Tool.clubctl.path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "'\(tool)' export --type clubkit - --database '\(other.database)' | "
                + "'\(tool)' import - --merge --database '\(club.database)'",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try await club.json("members", "list").first?["numVisits"] as? Int == 1)
    }

    @Test("What is no members' file is told, and no database is made for a dry run")
    func faults() async throws {
        for (text, options, status) in [
            ("", [], 65), ("nothing of use", [], 65), ("[{", ["--type", "userList"], 65),
            ("userId\nA\n", ["--type", "clubkit"], 65),
        ] as [(String, [String], Int32)] {
            let arguments = ["import", "-", "--dry-run", "--database", club.database] + options
            let outcome = try await Tool.clubctl.run(arguments, input: Array(text.utf8))
            #expect(outcome.status == status, "\(text)")
            let told = outcome.messages + outcome.output
            #expect(told.contains("standard input"), "\(told)")
            #expect(!told.contains("/dev/fd"), "\(told)")
        }
        #expect(!FileManager.default.fileExists(atPath: club.database))
    }

    @Test("A file that a shell opened is read from where it stands, and left as it was")
    func redirected() async throws {
        let text = "userId\nA\n"
        let file = try club.scratch.write("a line that somebody read\n" + text, to: "members")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "{ read line; '\(Tool.clubctl.path)' import - --database '\(club.database)'; } <'\(file)'",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try await club.json("members", "list").compactMap { $0["userId"] as? String } == ["A"])
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix(text))
    }

    @Test("Waiting for it is interrupted, and leaves nothing", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let folder = club.scratch.file("temporary")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let pipe = club.scratch.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // A writer that says nothing: the test itself.
        let writer = open(pipe, O_RDWR)
        defer { close(writer) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = "exec '\(Tool.clubctl.path)' import - --database '\(club.database)' <'\(pipe)'"
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        try await until("it takes the signal") { try takes(signal, process.processIdentifier) }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: club.database))
    }
}
