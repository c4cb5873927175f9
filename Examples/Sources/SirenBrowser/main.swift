// Walks any Siren API in the terminal.
//
//   swift run --traits Network siren-browser https://club.example/api
//   swift run siren-browser --replay Tests/sessions/club.json
//   printf '%s\n' search 04A1B2 check-in | siren-browser https://club.example/api
//
// It asks for the server and the path of the API's first entity where they are not among the arguments. Over a pipe
// commands and answers are lines, and the exit code is 1 if anything could not be done.

import Foundation
import SirenTerminal

let console = TerminalConsole()
do {
    let words = CommandLine.arguments.dropFirst()
    if words.contains("--help") || words.contains("-h") {
        print("usage: siren-browser [SERVER [MANIFEST-PATH]]\n\(Options.help)")
        exit(0)
    }
    let options = try Options(words)
    var (server, path) = ("", options.arguments.dropFirst().first ?? "")
    if let argument = options.arguments.first {
        server = argument
    } else if !options.knowsServer {
        guard let answer = console.ask("Server:", isSecret: false) else { exit(1) }
        server = answer
        path = console.ask("Path of the first entity (empty for most):", isSecret: false) ?? ""
    }
    let connection = try options.connect(to: server, manifestPath: path)
    if console.isTerminal { console.say("help says what can be said; Tab completes it") }
    let isDone = await Browser(connection, console).run()
    exit(isDone ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("siren-browser: \(error)\n".utf8))
    exit(1)
}
