import ClubKit
import Foundation
import GRDB
import TestSupport
import Testing

/// Files of members, by the tool.
@Suite(.timeLimit(.minutes(10)))
struct ClubTransferToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    private static let csv = """
        userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,phone
        M-1,Anna,1788256800,3,1788260400,'+49 30 1234
        M-2,"Weber, Ben",1788256800.5,1,1788256800.5,
        """

    private func report(_ objects: [[String: Any]]) throws -> [String: Any] {
        try #require(objects.last { $0["event"] as? String == "report" })
    }

    @Test func importingAndAgain() async throws {
        let file = try club.scratch.write(Self.csv, to: "members.csv")
        // A dry run touches nothing.
        let dry = try await club.json("import", file, "--dry-run")
        #expect(
            dry.filter { $0["event"] as? String == "row" }.compactMap { $0["outcome"] as? String } == [
                "created", "created",
            ]
        )
        #expect(try report(dry)["dryRun"] as? Bool == true)
        #expect(!FileManager.default.fileExists(atPath: club.database))

        let first = try await club.json("import", file)
        #expect(try report(first)["created"] as? Int == 2)
        #expect(first.first?["userId"] as? String == "M-1")
        #expect(first.first?["row"] as? Int == 2)
        let members = try await club.json("members", "list", "--sort", "userId")
        #expect(members.compactMap { $0["username"] as? String } == ["Anna", "Weber, Ben"])
        #expect(members.first?["phone"] as? String == "+49 30 1234")
        #expect(members.first?["numVisits"] as? Int == 3)
        for options in [[], ["--merge"]] {
            let again = try await club.run(["import", file, "--json"] + options)
            #expect(again.status == 0)
            let report = try report(again.objects)
            #expect(report["created"] as? Int == 0 && report["changed"] as? Int == 0 && report["kept"] as? Int == 2)
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.csv)
        #expect(try await club.run("check").status == 0)
    }

    @Test func whatBecomesOfMembersWhoAreThere() async throws {
        _ = try await club.json("import", try club.scratch.write(Self.csv, to: "old.csv"))
        let new = try club.scratch.write(
            """
            userId,username,timeStampAdded,numVisits,timeStampOfLastVisit
            M-1,Anna Weber,1788256800,5,1788264000
            M-3,Cleo,1788264000,1,1788264000
            """,
            to: "new.csv"
        )
        let added = try await club.json("import", new)
        #expect(try report(added)["created"] as? Int == 1)
        #expect(try await club.json("members", "show", "M-1").first?["numVisits"] as? Int == 3)
        let dry = try await club.json("import", new, "--merge", "--dry-run")
        #expect(try report(dry)["changed"] as? Int == 1)
        #expect(try await club.json("members", "show", "M-1").first?["numVisits"] as? Int == 3)
        let merged = try await club.json("import", new, "--merge")
        #expect(try report(merged)["changed"] as? Int == 1)
        let anna = try await club.json("members", "show", "M-1").first
        #expect(anna?["numVisits"] as? Int == 5)
        #expect(anna?["username"] as? String == "Anna Weber")
        // Corrected by hand in a spreadsheet, and older by its times.
        let corrected = try club.scratch.write("userId,username\nM-1,Anna W. Weber\n", to: "corrected.csv")
        _ = try await club.json("import", corrected, "--merge")
        #expect(try await club.json("members", "show", "M-1").first?["username"] as? String == "Anna Weber")
        _ = try await club.json("import", corrected, "--overwrite")
        #expect(try await club.json("members", "show", "M-1").first?["username"] as? String == "Anna W. Weber")
    }

    @Test func columnsAndMalformedRows() async throws {
        let file = try club.scratch.write(
            "Card,Name,Visits,Remarks\nM-1,Anna,3,x\nM-2,Ben,many,y\n,Cleo,1,z\nM-4,Dora,2,\n",
            to: "list.csv"
        )
        let maps = ["--map", "Card=userId", "--map", "Name=username", "--map", "Visits=numVisits", "--map", "Remarks="]
        let outcome = try await club.run(["import", file, "--json"] + maps)
        // The others are taken all the same.
        #expect(outcome.status == 65)
        let rows = outcome.objects.filter { $0["event"] as? String == "row" }
        #expect(rows.compactMap { $0["outcome"] as? String } == ["created", "malformed", "malformed", "created"])
        #expect(rows[1]["row"] as? Int == 3)
        #expect((rows[1]["reason"] as? String)?.contains("number") == true)
        #expect(try report(outcome.objects)["malformed"] as? Int == 2)
        let members = try await club.json("members", "list")
        #expect(members.compactMap { $0["username"] as? String } == ["Anna", "Dora"])
        #expect(members.allSatisfy { $0["Remarks"] == nil })
        let text = try await club.run(["import", file] + maps)
        #expect(text.status == 65)
        #expect(text.output.contains("row 3: malformed"))
        #expect(text.output.contains("malformed    2"))
        let wrong = try await club.run("import", file, "--map", "Number=userId")
        #expect(wrong.status == 64)
        #expect(try await club.run("import", file, "--map", "Card").status == 64)
        let empty = try club.scratch.write("", to: "empty.csv")
        #expect(try await club.run("import", empty).status == 65)
    }

    @Test("What a list says of who is let in is so, and the report says which columns that were")
    func standing() async throws {
        let file = try club.scratch.write(
            """
            userId,username,expires,visitsLeft,blocked,tags,cards,status,birthday
            U1,Ann Berg,2025-01-31,0,yes,"students,gold",04A1B2C3D4E580,gold,2001-02-29
            U2,Bo Lind,soon,,,,,,
            """,
            to: "membership.csv"
        )
        let outcome = try await club.run("import", file)
        #expect(outcome.status == 65)
        for line in [
            "column 'expires' is the end of the membership, as of 'members expiry'",
            "column 'visitsLeft' is the visits left, as of 'members pack'", "custom fields: birthday\n",
            "with a note  1", "row 3: malformed: expires: expected the last day",
            "row 2: created U1; note: status: it is no word", "; note: birthday: it is no day",
        ] { #expect(outcome.output.contains(line), "\(line)\n\(outcome.output)") }
        let shown = try #require(await club.json("members", "show", "U1").first)
        let status = try #require(shown["$status"] as? [String: Any])
        #expect(status["blocked"] as? String == "" && status["visitsLeft"] as? Int == 0)
        #expect(status["tags"] as? [String] == ["gold", "students"])
        #expect((status["cards"] as? [[String: Any]])?.count == 2)
        #expect(shown["blocked"] == nil && shown["expires"] == nil && shown["status"] == nil)
        let mapped = try await club.run("import", file, "--map", "status=level", "--overwrite")
        #expect(mapped.status == 65)
        #expect(try await club.json("members", "show", "U1").first?["level"] as? String == "gold")
    }

    @Test(
        "Two people under one number are named with both rows",
        arguments: [
            ([], "and counts instead of this one"), (["--merge"], "this one counts for username, phone"),
            (["--overwrite"], "and counts where the two differ"), (["--dry-run"], "and counts instead of this one"),
        ]
    )
    func twoPeople(_ options: [String], _ counts: String) async throws {
        let text = "userId,username,phone\n770001,Ann Berg,1\n770002,Bo Lind,2\n770001,Tom Berg,3\n"
        let file = try club.scratch.write(text, to: "two.csv")
        let outcome = try await club.run(["import", file] + options)
        #expect(outcome.status == 0)
        let line = outcome.output.split(separator: "\n").first { $0.contains("row 4: ") } ?? ""
        #expect(line.contains("note: row 2 has the same identifier") && line.contains(counts), "\(outcome.output)")
        let other = try ClubTool()
        let rows = try await other.run(["import", file, "--json"] + options).objects
        let notes = rows.filter { $0["row"] as? Int == 4 }.compactMap { $0["notes"] as? [String] }
        #expect(notes.first?.first?.contains(counts) == true)
        #expect(try report(rows)["noted"] as? Int == 1)
    }

    @Test("Who was erased stays away, and whoever has the identifier then is taken")
    func erasedOnce() async throws {
        let file = try club.scratch.write("userId,username\nU1,From Sheet\n", to: "reuse.csv")
        for remove in ["erase", "delete"] {
            let club = try ClubTool()
            _ = try await club.json("members", "add", "U1")
            _ = try await club.run("members", remove, "U1", "--yes")
            let away = try await club.json("import", file, "--merge", "--overwrite")
            #expect(away.first?["outcome"] as? String == "skipped")
            #expect((away.first?["reason"] as? String)?.contains("'members add'") == true)
            _ = try await club.json("members", "add", "U1", "--name", "New")
            let taken = try await club.json("import", file, "--merge", "--overwrite")
            #expect(taken.first?["outcome"] as? String == "changed")
            #expect(try await club.json("members", "show", "U1").first?["username"] as? String == "From Sheet")
        }
    }

    @Test func whatBecomesOfColumnsIsTold() async throws {
        let file = try club.scratch.write("Card,Whole name,Town\nM-1,Anna,Ulm\n", to: "list.csv")
        let note = "no column is the member's name"
        let unnamed = try await club.run("import", file, "--dry-run", "--map", "Card=userId")
        #expect(unnamed.output.contains("custom fields: Whole name, Town"))
        #expect(unnamed.output.contains("\(note); --map 'Whole name=username' says which one is"))
        let maps = ["--map", "Card=userId", "--map", "Whole name=username"]
        let named = try await club.run(["import", file, "--dry-run"] + maps)
        #expect(named.output.contains("custom fields: Town\n"))
        #expect(!named.output.contains(note))
    }

    @Test(arguments: ["userList", "csv", "clubkit"])
    func roundTrip(_ type: String) async throws {
        try await club.replayDay()
        _ = try await club.json(
            "members",
            "add",
            "A",
            "--name",
            "=Anna, \"A\"\nB",
            "--field",
            "phone=+49 30",
            "--field",
            "n:=3"
        )
        _ = try await club.json("members", "visit", "A", "--reason", "test")
        let file = club.scratch.file("out.\(type == "userList" ? "musrl" : type == "csv" ? "mucsv" : "clubkit")")
        let written = try await club.json("export", "--type", type, file)
        let before = try await club.run("members", "list", "--sort", "userId", "--json")
        #expect(written.first?["members"] as? Int == before.objects.count)
        #expect(written.first?["format"] as? String == type)
        let again = try await club.run("export", file)
        #expect(again.status == 74)
        #expect(try await club.run("export", "--force", file).status == 0)
        // Into itself nothing is new, and into an empty club comes all of it.
        let own = try await club.json("import", "--merge", file)
        #expect(try report(own)["changed"] as? Int == 0)
        #expect(try report(own)["created"] as? Int == 0)
        #expect(try await club.run("members", "list", "--sort", "userId", "--json").output == before.output)
        let other = try ClubTool()
        _ = try await other.json("import", file)
        let copied = try await other.run("members", "list", "--sort", "userId", "--json")
        if type == "csv" {
            // A cell knows no types.
            #expect(copied.objects.count == before.objects.count)
            #expect(copied.output.replacing("\"n\":\"3\"", with: "\"n\":3") == before.output)
        } else {
            #expect(copied.output == before.output)
        }
        #expect(try await other.run("check").status == 0)
    }

    @Test func toStandardOutput() async throws {
        _ = try await club.json("import", try club.scratch.write(Self.csv, to: "members.csv"))
        let list = try await club.run("export", "--type", "userList", "-")
        #expect(list.status == 0)
        let members = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]]
        #expect(members?.compactMap { $0["userId"] as? String } == ["M-1", "M-2"])
        // Also where standard output is a file, which is not replaced.
        let file = club.scratch.file("out.csv")
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c", "echo before > \"$1\"; \"$0\" export --type csv - --database \"$2\" >> \"$1\" 2> /dev/null",
            Tool.clubctl.path, file, club.database,
        ]
        try shell.start()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("before\nuserId,"))
        #expect(text.split(separator: "\n").count == 4)
    }

    /// Whoever reads may have seen enough, which is no failure; a full disk is one.
    @Test func readersThatGoAway() async throws {
        var csv = "userId\n"
        for number in 0..<5000 { csv += "M-\(number)\n" }
        _ = try await club.json("import", try club.scratch.write(csv, to: "members.csv"))
        for (command, end, expected) in [
            ("members list --json", "| head -n 1", "0"), ("export --type csv -", "| head -n 1", "0"),
            ("members list --json", "> /dev/full", "74"), ("export --type csv -", "> /dev/full", "74"),
        ] {
            let file = club.scratch.file("status")
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c", "{ \"$0\" \(command) --database \"$1\" 2> /dev/null; echo $? > \"$2\"; } \(end)",
                Tool.clubctl.path, club.database, file,
            ]
            shell.standardOutput = FileHandle.nullDevice
            try shell.start()
            shell.waitUntilExit()
            #expect(try String(contentsOfFile: file, encoding: .utf8) == expected + "\n", "\(command) \(end)")
        }
    }

    /// Also what is no value of a member is a change: being blocked, a pack, a card, a deletion.
    @Test func changesThatAreNoValues() async throws {
        let other = try ClubTool()
        for id in ["A", "B", "C", "D"] { _ = try await club.json("members", "add", id) }
        let file = club.scratch.file("first.clubkit")
        _ = try await club.json("export", file)
        _ = try await other.json("import", file)
        _ = try await club.json("members", "block", "A", "--reason", "unpaid")
        _ = try await club.json("members", "pack", "B", "10")
        _ = try await club.json("members", "cards", "add", "C", "04FF")
        _ = try await club.json("members", "delete", "D", "--yes")
        let second = club.scratch.file("second.clubkit")
        _ = try await club.json("export", second)
        let text = try await other.run("import", second, "--merge", "--dry-run").output
        #expect(text.contains("$blocked '-' becomes 'unpaid'"))
        let merged = try await other.json("import", second, "--merge")
        #expect(try report(merged)["changed"] as? Int == 4)
        #expect(try report(merged)["kept"] as? Int == 0)
        #expect(try report(merged)["created"] as? Int == 0)
        let rows = merged.filter { $0["event"] as? String == "row" }
        #expect(!rows.contains { $0["outcome"] as? String == "created" })
        let changed = rows.filter { $0["outcome"] as? String == "changed" }.compactMap { $0["userId"] as? String }
        #expect(Set(changed) == ["A", "B", "C", "D"])
    }

    @Test func backups() async throws {
        try await club.replayDay()
        let file = club.scratch.file("backup.sqlite")
        let written = try await club.json("backup", file)
        #expect((written.first?["bytes"] as? Int ?? 0) > 4096)
        let copy = try await Tool.clubctl.run("members", "list", "--json", "--database", file)
        #expect(try await club.run("members", "list", "--json").output == copy.output)
        #expect(try await Tool.clubctl.run("check", "--database", file).status == 0)
        #expect(try await club.run("backup", file).status == 74)
        #expect(try await club.run("backup", club.scratch.file("no/such/folder.sqlite")).status == 74)
    }

    @Test func repairing() async throws {
        try await club.replayDay()
        #expect(try await club.run("check", "--repair").output.contains("nothing to repair"))
        // A total that does not follow from the visits, as damage would leave it.
        try await DatabaseQueue(path: club.database).write { db in
            try db.execute(sql: "UPDATE member SET num_visits = num_visits + 7 WHERE id = 1")
        }
        let found = try await club.run("check", "--json")
        #expect(found.status == 1)
        #expect(found.objects.contains { $0["code"] as? String == "totalsDiffer" })
        let repaired = try await club.json("check", "--repair")
        #expect((repaired.first?["mended"] as? [String])?.isEmpty == false)
        #expect(repaired.first?["keptFile"] is String)
        #expect(try await club.run("check").status == 0)
    }

    /// Lets the kiosk make a snapshot. It names a reader that is not there, or it would serve those of other tests.
    private func snapshot() async throws -> String {
        let kiosk = try Tool.clubctl.start([
            "kiosk", "--database", club.database, "--first-snapshot-after", "0.1",
            "--reader", "smart-reader:" + club.scratch.file("no-line"),
        ])
        let words = "Made a snapshot of the database: "
        let line = try #require(await kiosk.message(containing: words))
        kiosk.kill(SIGINT)
        _ = await kiosk.finish()
        return String(line.dropFirst(words.count))
    }

    @Test("The kiosk makes a snapshot, and a repair offers it and takes it when it is told to")
    func snapshots() async throws {
        let rows = (0..<200).map { "M-\($0),Name \($0)\n" }.joined()
        _ = try await club.json("import", club.scratch.write("userId,username\n" + rows, to: "members.csv"))
        let snapshot = try await snapshot()
        #expect(try await club.run("members", "add", "later").status == 0)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: club.database))
        let page = try #require(bytes.range(of: Data("Name 100".utf8))).lowerBound / 4096 * 4096
        bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xA5, count: 4096))
        try bytes.write(to: URL(fileURLWithPath: club.database))
        chmod(club.database, 0o600)

        #expect(try await club.run("check", "--take", "snapshot").status == 64)
        let repaired = try await club.run("check", "--repair", "--take", "snapshot", "--json")
        #expect(repaired.status == 1)
        #expect(repaired.messages.contains("Lost with the snapshot: 1 members who came since"), "\(repaired.messages)")
        #expect(repaired.objects.first?["restoredFrom"] as? String == snapshot)
        #expect(try await club.json("members", "list").count == 200)
        #expect(try await club.run("check").status == 0)

        // Nothing to be read: whoever gives no choice changes nothing.
        let nothing = Data(repeating: 0xA5, count: bytes.count)
        try nothing.write(to: URL(fileURLWithPath: club.database))
        let refused = try await club.run("check", "--repair")
        #expect(refused.status == 1)
        #expect(refused.messages.contains("--take snapshot"), "\(refused.messages)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: club.database)) == nothing)
        let elsewhere = try await club.run("check", "--repair", "--snapshot-folder", club.scratch.file("none"))
        #expect(elsewhere.status == 65)
        #expect(try await club.run("check", "--repair", "--take", "snapshot").status == 1)
        #expect(try await club.json("members", "list").count == 200)
    }

    /// Interrupted by a person: whole rows are there, as many as it says, and the same command does the rest.
    @Test func interrupted() async throws {
        let count = 30_000
        var csv = "userId,username,timeStampAdded,numVisits,timeStampOfLastVisit\n"
        for number in 0..<count { csv += "M-\(number),Member \(number),1788256800,2,1788256900\n" }
        let file = try club.scratch.write(csv, to: "many.csv")
        // On a machine that is busy the signal may come when all is done; then once more, with another club.
        var (club, outcome) = (club, Tool.Outcome?.none)
        for _ in 0..<10 {
            let tool = try Tool.clubctl.start(["import", file, "--json", "--database", club.database])
            #expect(await tool.next("row") != nil)
            tool.kill(SIGINT)
            outcome = await tool.finish()
            if outcome?.objects.last?["event"] as? String == "interrupted" { break }
            club = try ClubTool()
        }
        let ended = try #require(outcome)
        #expect(ended.status == 130)
        let line = try #require(ended.objects.last)
        #expect(line["event"] as? String == "interrupted")
        let taken = try #require(line["rows"] as? Int)
        #expect(ended.messages.contains("Interrupted: the first"))
        #expect((1..<count).contains(taken))
        #expect(try await club.run("check").status == 0)
        let ids = try await club.json("members", "list").compactMap { $0["userId"] as? String }
        #expect(ids == (0..<taken).map { "M-\($0)" })
        let rest = try await club.run("import", file)
        #expect(rest.status == 0)
        #expect(try await club.json("members", "list").count == count)
    }
}
