import Foundation
import Testing

/// What the tool says of itself: every command has help, a manual page and completions.
@Suite(.timeLimit(.minutes(10)))
struct ClubHelpToolTests {
    private struct Help: Decodable {
        struct Command: Decodable {
            var commandName: String
            var abstract: String?
            var subcommands: [Command]?
            var arguments: [Argument]?
        }

        struct Argument: Decodable {
            var kind: String
            var valueName: String?
            var abstract: String?
            var shouldDisplay: Bool
        }

        var command: Command
    }

    /// Every command with the words that lead to it, without `help` itself.
    private func commands(_ command: Help.Command, _ path: [String] = []) -> [([String], Help.Command)] {
        [(path, command)]
            + (command.subcommands ?? []).filter { $0.commandName != "help" }.flatMap {
                commands($0, path + [$0.commandName])
            }
    }

    @Test func everyCommandIsExplained() async throws {
        let outcome = try await Tool.clubctl.run("--experimental-dump-help")
        let help = try JSONDecoder().decode(Help.self, from: Data(outcome.output.utf8))
        let all = commands(help.command)
        let names = Set(all.map { $0.0.joined(separator: " ") })
        // Those of the contract.
        for name in [
            "kiosk", "members list", "members show", "members add", "members edit", "members delete", "members erase",
            "members merge", "members history", "members search", "export", "import", "stats", "check", "backup",
            "scenarios list", "scenarios check", "scenarios test", "scenarios explain", "scenarios history",
            "scenarios redeem", "scenarios refund", "inbox list", "inbox replay", "inbox prune", "route",
            "config check", "config example", "setup",
        ] {
            #expect(names.contains(name), "\(name)")
        }
        for (path, command) in all {
            let name = path.joined(separator: " ")
            #expect(command.abstract?.isEmpty == false, "\(name)")
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                #expect(argument.abstract?.isEmpty == false, "\(name) \(argument.valueName ?? "")")
            }
            // Commands that do something say which keys their JSON has.
            guard command.subcommands?.contains(where: { $0.commandName != "help" }) != true else { continue }
            let text = try await Tool.clubctl.start(path + ["--help"]).finish()
            #expect(text.status == 0, "\(name)")
            #expect(text.output.contains("JSON"), "\(name)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let outcome = try await Tool.clubctl.run("--generate-completion-script", shell)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("duplicates"))
    }
}
