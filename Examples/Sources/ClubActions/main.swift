// A back office's own actions at the counter: a tap asks a Siren API for the member, and what can be done for the member
// becomes buttons with numbers.
//
//   swift run --traits Network ClubActions https://club.example/api                  the readers of this machine
//   swift run ClubActions --replay Tests/sessions/club.json Tests/captures/member.capture    recordings alone

import Foundation
import ReaderKit
import SirenKit
import SirenTerminal

/// - Returns: whether something was done for the member.
func serve(_ card: String, _ connection: Connection, _ console: TerminalConsole) async throws -> Bool {
    let client = connection.client
    guard let members = try await client.manifest().entity?.links.first(rel: "search") else {
        throw Fault("the server has no link to search for members")
    }
    let found = try await client.follow(members, parameters: ["card": .text(card)])
    guard let member = found.entity, found.outcome != .failed else { return show(found, console) }
    console.say(member.title ?? card)
    for (index, action) in member.actions.enumerated() {
        console.say("[\(index + 1)] \(action.title ?? action.name)")
    }
    guard let text = console.ask("Number:", isSecret: false), let number = Int(text), number > 0,
        number <= member.actions.count
    else {
        console.say("Nothing was done.")
        return false
    }
    let action = member.actions[number - 1]
    let values = try FormDialogue(console, secrets: connection.secrets).values(for: action)
    return show(try await client.submit(action, parameters: values), console)
}

func show(_ answer: SirenAnswer, _ console: TerminalConsole) -> Bool {
    switch answer.content {
    case .entity(let entity): console.say(entity.title ?? answer.outcome.rawValue)
    case .problem(let problem): console.say([problem.title, problem.detail].compactMap { $0 }.joined(separator: ": "))
    case .other, .none: console.say("\(answer.status) \(answer.outcome.rawValue)")
    }
    return answer.outcome != .failed
}

let console = TerminalConsole()
var hasFailed = false
do {
    let options = try Options(CommandLine.arguments.dropFirst())
    var arguments = options.arguments[...]
    let server = options.knowsServer ? "" : arguments.popFirst() ?? ""
    let connection = try options.connect(to: server)
    let backend: any ReaderBackend =
        if let file = arguments.first { ReplayBackend([try Capture(contentsOf: file)]) } else { PCSCBackend() }
    for await tap in CardScanner(backend).taps() {
        guard let card = tap.memberKey else { continue }
        do {
            if try await !serve(card, connection, console) { hasFailed = true }
        } catch {
            // The next tap may do better.
            hasFailed = true
            console.say("\(error)")
        }
    }
} catch {
    hasFailed = true
    console.say("\(error)")
}
exit(hasFailed ? 1 : 0)
