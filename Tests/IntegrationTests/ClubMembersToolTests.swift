import ClubKit
import Foundation
import Testing

/// The club's database of one test, and the tool on it.
struct ClubTool {
    let scratch: ScratchFolder
    let database: String

    init() throws {
        scratch = try ScratchFolder()
        database = scratch.file("club.sqlite")
    }

    func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Tool.Outcome {
        try await run(arguments, environment: environment)
    }

    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Tool.Outcome {
        try await Tool.clubctl.start(arguments + ["--database", database], environment: environment).finish()
    }

    /// Runs a command with `--json` that must succeed, and gives the objects that it prints.
    func json(_ arguments: String...) async throws -> [[String: Any]] { try await json(arguments) }

    func json(_ arguments: [String]) async throws -> [[String: Any]] {
        let outcome = try await run(arguments + ["--json"])
        #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
        #expect(outcome.objects.count == outcome.output.split(separator: "\n").count, "\(outcome.output)")
        return outcome.objects
    }

    /// Replays captures with taps of those identifiers, one each.
    func replayDay() async throws {
        let outcome = try await run("kiosk", "--replay", Fixtures.path + "/day", "--once", "--json")
        #expect(outcome.status == 0)
    }
}

/// A member's life at the desk, by the tool.
@Suite(.timeLimit(.minutes(10)))
struct ClubMembersToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    private func status(_ object: [String: Any]?) throws -> [String: Any] {
        try #require(object?["$status"] as? [String: Any])
    }

    @Test func fromAddedToErased() async throws {
        let added = try await club.json(
            "members",
            "add",
            "M-1",
            "--name",
            "Anna",
            "--field",
            "email=anna@club.example",
            "--field",
            "level:=3",
            "--by",
            "desk"
        )
        #expect(added.first?["userId"] as? String == "M-1")
        #expect(added.first?["email"] as? String == "anna@club.example")
        #expect(added.first?["level"] as? Int == 3)
        #expect(added.first?["numVisits"] as? Int == 0)

        let edited = try await club.json(
            "members",
            "edit",
            "M-1",
            "--name",
            "Anna Weber",
            "--field",
            "level=4",
            "--remove-field",
            "email"
        )
        #expect(edited.first?["username"] as? String == "Anna Weber")
        // A number stays a number.
        #expect(edited.first?["level"] as? Int == 4)
        #expect(edited.first?["email"] is String == false)

        _ = try await club.json("members", "notes", "M-1", "Likes tea\nand cake")
        _ = try await club.json("members", "tags", "M-1", "--add", "gold", "--add", "student")
        _ = try await club.json("members", "tags", "M-1", "--remove", "student")
        _ = try await club.json("members", "expiry", "M-1", "2030-12-31")
        _ = try await club.json("members", "pack", "M-1", "10")
        _ = try await club.json("members", "visit", "M-1", "--reason", "forgot the card", "--by", "Eva")
        _ = try await club.json("members", "cards", "add", "M-1", "04A1B2C3D4E580")
        let blocked = try await club.json("members", "block", "04A1B2C3D4E580", "--reason", "fees are due")
        let standing = try status(blocked.first)
        #expect(standing["blocked"] as? String == "fees are due")
        #expect(standing["visitsLeft"] as? Int == 9)
        #expect(standing["notes"] as? String == "Likes tea\nand cake")
        #expect(standing["tags"] as? [String] == ["gold"])
        #expect((standing["expires"] as? String)?.hasSuffix("Z") == true)
        let known = try #require(standing["cards"] as? [[String: Any]])
        #expect(known.compactMap { $0["id"] as? String } == ["M-1", "04A1B2C3D4E580"])

        let shown = try await club.run("members", "show", "M-1")
        let parts = ["Anna Weber", "9 are left", "fees are due", "gold", "Likes tea", "and cake", "04A1B2C3D4E580"]
        for part in parts {
            #expect(shown.output.contains(part), "\(part)")
        }

        let unblocked = try await club.json("members", "unblock", "M-1")
        #expect(try status(unblocked.first)["blocked"] == nil)
        let unlimited = try await club.json("members", "pack", "M-1", "unlimited")
        #expect(try status(unlimited.first)["visitsLeft"] == nil)
        let endless = try await club.json("members", "expiry", "M-1", "never")
        #expect(try status(endless.first)["expires"] == nil)
        let replaced = try await club.json("members", "cards", "replace", "04A1B2C3D4E580", "04FF", "--reason", "lost")
        let cards = try #require(try status(replaced.first)["cards"] as? [[String: Any]])
        #expect(cards.first { $0["id"] as? String == "04A1B2C3D4E580" }?["blocked"] as? String == "lost")
        #expect(cards.contains { $0["id"] as? String == "04FF" && $0["blocked"] == nil })
        _ = try await club.json("members", "cards", "block", "04FF", "--reason", "found")
        let usable = try await club.json("members", "cards", "unblock", "04FF")
        #expect(usable.first?["userId"] as? String == "M-1")

        let history = try await club.json("members", "history", "M-1")
        let visit = try #require(history.first { $0["event"] as? String == "visit" })
        #expect(visit["source"] as? String == "manual")
        #expect(visit["reason"] as? String == "forgot the card")
        #expect(visit["actor"] as? String == "Eva")
        #expect(visit["counted"] as? Bool == true)
        let actions = history.compactMap { $0["action"] as? String }
        #expect(actions.first == "added")
        for action in [
            "edited", "noted", "tagged", "setExpiry", "soldVisits", "addedCard", "blocked", "replacedCard",
        ] {
            #expect(actions.contains(action), "\(action)")
        }
        #expect(history.first?["actor"] as? String == "desk")
        let times = history.compactMap { $0["at"] as? String }
        #expect(times == times.sorted())
        let told = try await club.run("members", "history", "M-1")
        #expect(told.output.contains("by hand: forgot the card (Eva)"))
        let former = history.filter { $0["event"] as? String == "formerValue" }
        #expect(former.first { $0["name"] as? String == "level" }?["value"] as? Int == 3)
        #expect(former.allSatisfy { $0["device"] is String && $0["saidAt"] is String })
        #expect(told.output.contains("  was            level 3, said "))

        let id = try #require(visit["id"] as? String)
        let undone = try await club.json("members", "undo", id, "--reason", "wrong member")
        #expect(undone.first?["numVisits"] as? Int == 0)
        let twice = try await club.run("members", "undo", id, "--reason", "again")
        #expect(twice.status == 1)

        let erased = try await club.json("members", "erase", "M-1", "--yes", "--reason", "asked for it")
        #expect(erased.first?["erased"] as? String == "M-1")
        #expect(try await club.run("members", "show", "M-1").status == 1)
        #expect(try await club.run("members", "show", "04FF").status == 1)
        let log = try await club.json("audit")
        #expect(log.last?["action"] as? String == "erased")
        #expect(try await club.run("check").status == 0)
    }

    @Test func mergingTwoMembers() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        _ = try await club.json("members", "add", "B", "--name", "Anna W.")
        for member in ["A", "B", "B"] {
            _ = try await club.json("members", "visit", member, "--reason", "test")
        }
        // Nobody to ask: nothing happens.
        let refused = try await club.run("members", "merge", "A", "B")
        #expect(refused.status == 64)
        #expect(refused.messages.contains("--yes"))
        #expect(try await club.json("members", "list").count == 2)
        _ = try await club.json("members", "block", "B", "--reason", "unpaid")
        let merged = try await club.json("members", "merge", "A", "B", "--yes")
        #expect(merged.first?["userId"] as? String == "A")
        #expect(merged.first?["username"] as? String == "Anna")
        #expect(merged.first?["numVisits"] as? Int == 3)
        let joined = merged.first?["$joined"] as? [String: Any]
        #expect(joined?["carried"] as? [String] == ["blocked"])
        #expect((merged.first?["$status"] as? [String: Any])?["blocked"] as? String == "unpaid")
        let entry = try await club.json("audit").first { $0["action"] as? String == "joined" }
        #expect((entry?["detail"] as? [String: Any])?["carried"] as? [String] == ["blocked"])
        #expect(try await club.json("members", "show", "B").first?["userId"] as? String == "A")
        #expect(try await club.json("members", "list").count == 1)
        #expect(try await club.json("members", "history", "A").filter { $0["event"] as? String == "visit" }.count == 3)
        #expect(try await club.run("members", "merge", "A", "B", "--yes").status == 1)
    }

    @Test func deleting() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        let refused = try await club.run("members", "delete", "A", "--json")
        #expect(refused.status == 64)
        #expect((refused.objects.first?["error"] as? [String: Any])?["code"] as? String == "usage")
        let deleted = try await club.json("members", "delete", "A", "--yes")
        #expect(deleted.first?["username"] as? String == "Anna")
        #expect(try await club.json("members", "list").isEmpty)
        #expect(try await club.run("members", "delete", "A", "--yes").status == 1)
    }

    @Test func listsAndSearches() async throws {
        try await club.replayDay()
        _ = try await club.json("members", "add", "Z-1", "--name", "Łukasz Żak", "--field", "email=lz@club.example")
        _ = try await club.json("members", "add", "Z-2", "--name", "Bea")
        _ = try await club.json("members", "block", "Z-2", "--reason", "test")
        _ = try await club.json("members", "tags", "Z-1", "--add", "gold")
        _ = try await club.json("members", "cards", "add", "Z-2", "04CAFE")
        let all = try await club.json("members", "list")
        let ids = all.compactMap { $0["userId"] as? String }
        #expect(ids.suffix(2) == ["Z-1", "Z-2"])
        let visits = try await club.json("members", "list", "--sort", "visits").compactMap { $0["numVisits"] as? Int }
        #expect(visits == visits.sorted(by: >))
        #expect(visits.count == all.count)
        let page = try await club.json("members", "list", "--offset", "1", "--limit", "3")
        #expect(page.compactMap { $0["userId"] as? String } == Array(ids[1...3]))
        let kinds: [([String], [String])] = [
            (["--blocked"], ["Z-2"]), (["--tag", "gold"], ["Z-1"]), (["--blocked", "--tag", "gold"], []),
            (["--visited-since", "2100-01-01"], []),
        ]
        for (options, expected) in kinds {
            let found = try await club.run(["members", "list", "--json"] + options)
            #expect(found.status == 0)
            #expect(found.objects.compactMap { $0["userId"] as? String } == expected, "\(options)")
        }
        #expect(try await club.json("members", "list", "--no-blocked").count == all.count - 1)
        let texts = [("łUKASZ", ["Z-1"]), ("lz@CLUB", ["Z-1"]), ("z-", ["Z-1", "Z-2"]), ("04CAFE", ["Z-2"])]
        for (text, expected) in texts {
            let found = try await club.json("members", "search", text)
            #expect(found.compactMap { $0["userId"] as? String } == expected, "\(text)")
        }
        let nobody = try await club.run("members", "search", "nobody at all")
        #expect(nobody.status == 0)
        #expect(nobody.output.isEmpty)
        let table = try await club.run("members", "list", "--sort", "userId")
        #expect(table.output.split(separator: "\n").count == all.count + 1)
        #expect(table.output.contains("Łukasz Żak"))
    }

    private static let errors: [(arguments: [String], status: Int32)] = [
        (["members", "show", "nobody"], 1), (["members", "edit", "nobody", "--name", "x"], 1),
        (["members", "delete", "nobody", "--yes"], 1), (["members", "erase", "nobody", "--yes"], 1),
        (["members", "history", "nobody"], 1), (["members", "block", "nobody"], 1),
        (["members", "cards", "block", "nobody"], 1), (["members", "visit", "nobody", "--reason", "x"], 1),
        (["members", "merge", "nobody", "A", "--yes"], 1), (["members", "add", "A"], 1),
        (["members", "cards", "add", "B", "A"], 1),
        (["members", "edit", "A"], 64), (["members", "edit", "A", "--field", "userId=x"], 64),
        (["members", "edit", "A", "--field", "$blocked=x"], 64), (["members", "edit", "A", "--field", "x:=[1,"], 64),
        (["members", "add", " "], 64), (["members", "visit", "A"], 64), (["members", "undo", "12"], 64),
        (["members", "pack", "A", "0"], 64), (["members", "pack", "A", "many"], 64),
        (["members", "expiry", "A", "2026-02-30"], 64), (["members", "list", "--limit", "-1"], 64),
        (["members", "list", "--sort", "size"], 64), (["members", "tags", "A"], 64), (["members", "search", ""], 64),
        (["stats", "--from", "2026-01-02", "--to", "2026-01-01"], 64), (["export", "members.txt"], 64),
        (["stats", "--from", "2100-01-01"], 64), (["stats", "--from", "1900-01-01"], 64),
        (["import", "/nowhere/members.csv"], 66), (["visits", "prune", "--before", "2020-01-01"], 64),
    ]

    @Test func errorsAndTheirCodes() async throws {
        _ = try await club.json("members", "add", "A")
        _ = try await club.json("members", "add", "B")
        let before = try await club.run("members", "list", "--json").output
        for (arguments, status) in Self.errors {
            let outcome = try await club.run(arguments)
            #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
            #expect(outcome.output.isEmpty && !outcome.messages.isEmpty, "\(arguments): \(outcome.output)")
        }
        #expect(try await club.run("members", "list", "--json").output == before)
    }

    @Test(arguments: [
        (["members", "show", "nobody"], "noSuchMember"), (["members", "add", "A"], "memberExists"),
        (["members", "undo", "F1B0A6E2-1111-4222-8333-444455556666", "--reason", "x"], "noSuchVisit"),
        (["import", "/nowhere/members.csv"], "notFound"), (["backup", "/nowhere/club.sqlite"], "cannotCreate"),
        (["export", "/nowhere/members.mucsv"], "notWritable"),
    ])
    func errorsAreLinesToo(arguments: [String], code: String) async throws {
        _ = try await club.json("members", "add", "A")
        let outcome = try await club.run(arguments + ["--json"])
        #expect(outcome.objects.count == 1)
        let error = try #require(outcome.objects.first?["error"] as? [String: Any])
        #expect(error["code"] as? String == code)
        #expect((error["message"] as? String)?.isEmpty == false)
        #expect(!outcome.messages.isEmpty)
    }

    @Test func withoutADatabase() async throws {
        for arguments in [["members", "list"], ["stats"], ["check"], ["export", "--type", "csv", "-"], ["audit"]] {
            #expect(try await club.run(arguments).status == 66, "\(arguments)")
        }
        #expect(!FileManager.default.fileExists(atPath: club.database))
    }

    @Test func aCustomFieldCannotHideWhatTheClubKeeps() async throws {
        // From a time when a field could have such a name.
        let old = Club(configuration: ClubConfiguration(database: .file(path: club.database)))
        try await old.open()
        try await old.add(Member(userId: "A", fields: ["status": "gold", "cards": "none", "blocked": "yes"]))
        try await old.close()
        let shown = try await club.json("members", "show", "A")
        #expect(shown.first?["status"] as? String == "gold")
        #expect(shown.first?["cards"] as? String == "none")
        let standing = try status(shown.first)
        #expect(standing["tags"] as? [String] == [] && standing["blocked"] == nil)
        let text = try await club.run("members", "show", "A").output
        for name in ["status", "cards", "blocked"] { #expect(text.contains("own field '\(name)', without effect  ")) }
        _ = try await club.json("members", "edit", "A", "--remove-field", "blocked")
    }

    static let keptNames = [
        ("blocked=yes", "members block"), ("gesperrt=ja", "members block"), ("active=no", "members block"),
        ("expires=2025-01-31", "members expiry"), ("有效期=2025-01-31", "members expiry"),
        ("Valid until=x", "members expiry"),
        ("visitsLeft:=5", "members pack"), ("tags=a", "members tags"), ("وسوم=a", "members tags"),
        ("cards=04FF", "members cards add"), ("notes=x", "members notes"),
    ]

    @Test("A field that would look like what the club keeps is refused, with what does it", arguments: keptNames)
    func keptNameRefused(_ field: String, _ command: String) async throws {
        _ = try await club.json("members", "add", "A")
        for arguments in [["members", "add", "B", "--field", field], ["members", "edit", "A", "--field", field]] {
            let outcome = try await club.run(arguments)
            #expect(outcome.status == 64)
            #expect(outcome.messages.contains("'clubctl \(command)'"), "\(outcome.messages)")
        }
        #expect(try await club.run("members", "show", "B").status == 1)
    }

    @Test(
        "A birthday is kept as one day, or refused",
        arguments: [
            ("birthday=17.05.2001", "2001-05-17"), ("birthday=--05-17", "05-17"),
            ("Geburtstag=17. Mai 2001", "2001-05-17"),
            ("birthday:=37028", "2001-05-17"), ("birthday=", ""), ("birthday=05/06/2001", nil), ("birthday=soon", nil),
            ("birthday=2001-02-29", nil),
        ]
    )
    func birthday(_ field: String, _ kept: String?) async throws {
        let outcome = try await club.run("members", "add", "A", "--field", field, "--json")
        #expect(outcome.status == (kept == nil ? 64 : 0))
        let name = String(field.prefix { $0 != "=" && $0 != ":" })
        if let kept { #expect(outcome.objects.first?[name] as? String == kept) }
        _ = try await club.run("members", "add", "B")
        #expect(try await club.run("members", "edit", "B", "--field", field).status == (kept == nil ? 64 : 0))
    }

    @Test func notesFromStandardInput() async throws {
        _ = try await club.json("members", "add", "A")
        let outcome = try await Tool.clubctl.run(
            ["members", "notes", "A", "-", "--json", "--database", club.database],
            input: Array("first\nsecond\n".utf8)
        )
        #expect(outcome.status == 0)
        #expect(try status(outcome.objects.first)["notes"] as? String == "first\nsecond")
    }

    @Test func disclosing() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        _ = try await club.json("members", "visit", "A", "--reason", "test")
        let folder = club.scratch.file("for-anna")
        let files = try await club.json("members", "disclose", "A", folder).compactMap { $0["file"] as? String }
        #expect(files.map { URL(fileURLWithPath: $0).lastPathComponent }.sorted() == ["member.json", "visits.csv"])
        #expect(try String(contentsOfFile: folder + "/member.json", encoding: .utf8).contains("Anna"))
        #expect(try await club.run("members", "disclose", "A", folder).status == 74)
        #expect(try await club.run("members", "disclose", "nobody", folder + "2").status == 1)
        #expect(!FileManager.default.fileExists(atPath: folder + "2"))
    }

    @Test func duplicates() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna Weber", "--field", "email=a.w@club.example")
        _ = try await club.json("members", "add", "B", "--name", "Weber, Anna", "--field", "email=A.W@club.example")
        _ = try await club.json("members", "add", "C", "--name", "Cleo")
        let pairs = try await club.json("members", "duplicates")
        #expect(pairs.count == 1)
        #expect((pairs.first?["first"] as? [String: Any])?["userId"] as? String == "A")
        #expect((pairs.first?["reasons"] as? [String])?.contains("name") == true)
        #expect(try await club.run("members", "duplicates").output.contains("clubctl members merge A B"))
        _ = try await club.json("members", "distinct", "A", "B")
        #expect(try await club.json("members", "duplicates").isEmpty)
    }
}
