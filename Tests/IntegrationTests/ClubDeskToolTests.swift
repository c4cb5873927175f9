import Foundation
import TestSupport
import Testing

/// What the desk is told of cards, visits and values.
@Suite(.timeLimit(.minutes(10)))
struct ClubDeskToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    @Test("A card that was tapped before the desk entered its holder: whose it is, and what puts it right")
    func tappedBefore() async throws {
        _ = try await club.json("members", "add", "it's A", "--name", "Anna")
        _ = try await club.json("members", "add", "04FF")
        for _ in 0..<2 { _ = try await club.json("members", "visit", "04FF", "--reason", "test") }
        _ = try await club.json("members", "cards", "add", "it's A", "04AA")
        for command in [["add", "it's A", "04FF"], ["replace", "04AA", "04FF"]] {
            let refused = try await club.run(["members", "cards"] + command + ["--json"])
            #expect(refused.status == 1)
            let error = try #require(refused.objects.first?["error"] as? [String: Any])
            #expect(error["code"] as? String == "memberExists")
            let text = try #require(error["message"] as? String)
            for part in ["that of 04FF, who has 2 visits", "same person as Anna (it's A)"] {
                #expect(text.contains(part), "\(text)")
            }
            #expect(text.contains("'clubctl members cards block 04AA'") == (command[0] == "replace"))
            #expect(refused.messages.contains(text))
        }
        let told = try await club.run("members", "cards", "add", "it's A", "04FF").messages
        let merge = try #require(told.firstMatch(of: /'(clubctl members merge .* 04FF)' makes/))
        // What it names is what it takes.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let script = "clubctl() { '\(Tool.clubctl.path)' \"$@\" --yes --database '\(club.database)'; }; \(merge.1)"
        process.arguments = ["-c", script]
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let shown = try await club.json("members", "show", "04FF").first
        #expect(shown?["userId"] as? String == "it's A")
        #expect(shown?["numVisits"] as? Int == 2)
    }

    @Test("Why a total stays when a visit is undone")
    func undoingWhatAFileCounts() async throws {
        func undo() async throws -> Tool.Outcome {
            let history = try await club.json("members", "history", "A")
            let visit = history.last { $0["event"] as? String == "visit" && $0["undone"] == nil }
            let id = try #require(visit?["id"] as? String)
            return try await club.run("members", "undo", id, "--reason", "wrong member")
        }
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        for _ in 0..<2 { _ = try await club.json("members", "visit", "A", "--reason", "test") }
        let first = try await undo()
        #expect(first.output.contains("Anna (A) has 1 visit now."))
        #expect(!first.messages.contains("total"))
        // The club's own file adds nothing to what is known; another one does.
        let file = club.scratch.file("own.csv")
        _ = try await club.json("export", "--type", "csv", file)
        _ = try await club.json("import", file, "--overwrite")
        let other = try club.scratch.write("userId,numVisits\nA,5\n", to: "other.csv")
        let report = try await club.json("import", other, "--merge").last
        #expect(report?["raised"] as? Int == 1)
        let second = try await undo()
        #expect(second.status == 0)
        #expect(second.output.contains("Anna (A) has 5 visits now."))
        #expect(second.messages.contains("The total stays as it was: it comes from an imported file"))
        #expect(second.messages.split(separator: "\n").count == 1)
    }

    @Test("A history has one time zone and no JSON for people")
    func history() async throws {
        let zone = ["TZ": "Asia/Tokyo"]
        func run(_ arguments: String...) async throws -> Tool.Outcome {
            let outcome = try await club.run(arguments, environment: zone)
            #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
            return outcome
        }
        _ = try await run(
            "members",
            "add",
            "A",
            "--name",
            "Anna",
            "--field",
            #"langs:=["de","fr"]"#,
            "--field",
            #"home:={"town":"Ulm","zip":["89073",1]}"#,
            "--field",
            "vip:=true"
        )
        _ = try await run("members", "add", "B", "--name", "Bea")
        _ = try await run(
            "members",
            "edit",
            "A",
            "--field",
            "langs:=[]",
            "--field",
            "home:={}",
            "--field",
            "vip:=false"
        )
        _ = try await run("members", "edit", "A", "--name", "Ann", "--field", "langs=en")
        _ = try await run("members", "tags", "A", "--add", "gold", "--add", "new")
        _ = try await run("members", "tags", "A", "--clear")
        _ = try await run("members", "expiry", "A", "2030-06-30")
        _ = try await run("members", "expiry", "A", "never")
        _ = try await run("members", "block", "B", "--reason", "unpaid")
        _ = try await run("members", "merge", "A", "B", "--yes")
        _ = try await run("members", "unblock", "A")
        _ = try await run("members", "cards", "replace", "A", "04FF", "--reason", "lost")
        let text = try await run("members", "history", "A").output
        for part in [
            "was            langs de, fr, said ", "was            home town Ulm, zip (89073, 1), said ",
            "was            vip yes, said ", "was            name Anna, said ", "was            langs -, said ",
            "edited         home, langs, vip  (", "edited         langs, name  (", "tagged         gold, new  (",
            "tagged         none  (", "set expiry     2030-06-30 23:59:59  (", "set expiry     no end  (",
            "joined         carried over: the block, into A, not carried over: the name  (",
            "replaced card  04FF in place of A: lost  (",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(!text.contains { "[]{}\"".contains($0) }, "\(text)")
        #expect(try text.firstMatch(of: Regex(#"\d{2}T\d{2}"#)) == nil)
        // JSON has what it had: UTC, and values as they are.
        let lines = try await run("members", "history", "A", "--json").objects
        let former = lines.first { $0["event"] as? String == "formerValue" && $0["name"] as? String == "langs" }
        #expect(former?["value"] as? [String] == ["de", "fr"])
        let expiry = lines.compactMap { ($0["detail"] as? [String: Any])?["expires"] as? String }
        #expect(expiry == ["2030-06-30T14:59:59.000Z"])
    }
}
