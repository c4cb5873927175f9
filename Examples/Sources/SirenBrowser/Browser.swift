import Foundation
import SirenKit
import SirenTerminal

/// Walks an API: shows a page, does what is said, and shows the next one.
final class Browser {
    private let connection: Connection
    private let console: any Console
    private var client: SirenClient { connection.client }
    private var pages: [Page] = []
    private var latest: SirenAnswer?
    private var hasFailed = false

    private static let commands = ["back", "show", "reload", "home", "raw", "curl", "help", "quit"]
    private static let help = """
        NUMBER or NAME   follows a link, enters an entity, fills in an action's form and submits it
        back             the page before
        show             this page again
        reload           this page as it is now
        home             the API's first page
        raw              the answer as it came, with its faults
        curl NUMBER      a link or an action as a command for a shell, without the token
        Control-C        leaves a form, of which nothing is sent then
        quit             so does the end of the input
        """

    init(_ connection: Connection, _ console: any Console) {
        self.connection = connection
        self.console = console
    }

    /// - Returns: whether all that was said could be done.
    func run() async -> Bool {
        await open { try await $0.manifest() }
        // An answer that is no entity can be looked at.
        guard latest != nil else { return false }
        if pages.isEmpty { hasFailed = true }
        while let line = console.command(completions: completions) {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty else { continue }
            if line == "quit" { break }
            await perform(line)
        }
        return !hasFailed
    }

    private var completions: [String] {
        let names = pages.last?.targets.flatMap(\.names) ?? []
        return Self.commands + Set(names).subtracting(Self.commands).sorted()
    }

    private func perform(_ line: String) async {
        switch line {
        case "help": Self.help.split(separator: "\n").forEach { console.say(String($0)) }
        case "show": show()
        case "home": await open { try await $0.manifest() }
        case "raw": showRaw()
        case "back":
            guard pages.count > 1 else { return fail("this is the first page") }
            pages.removeLast()
            show()
        case "reload":
            guard let page = pages.last else { return }
            let count = pages.count
            await open { try await $0.follow(SirenLink(rel: ["self"], href: page.answer.url.absoluteString)) }
            if pages.count > count { pages.remove(at: count - 1) }
        case _ where line.hasPrefix("curl "):
            guard let target = target(line.dropFirst(5).trimmingCharacters(in: .whitespaces)) else { return }
            await showCurl(target)
        case "curl": fail("say of what: curl NUMBER")
        default:
            guard let target = target(line) else { return }
            await choose(target)
        }
    }

    private func target(_ word: String) -> Page.Target? {
        let targets = pages.last?.targets(word) ?? []
        if targets.count == 1 { return targets[0] }
        fail(
            targets.isEmpty
                ? "there is no '\(word)' here; help says what can be said" : "say the number: there are several"
        )
        return nil
    }

    private func choose(_ target: Page.Target) async {
        let dialogue = FormDialogue(console, secrets: connection.secrets)
        do {
            switch target {
            case .entity(let entity, _):
                guard let page = pages.last else { return }
                pages.append(Page(page.answer, entity))
                show()
            case .link(let link):
                let values = try dialogue.values(for: link)
                await open { try await $0.follow(link, parameters: values) }
            case .action(let action):
                let values = try dialogue.values(for: action)
                await open { try await $0.submit(action, parameters: values) }
            }
        } catch {
            fail("nothing was sent")
        }
    }

    // MARK: Answers

    private func open(_ request: (SirenClient) async throws -> SirenAnswer) async {
        do {
            receive(try await request(client))
        } catch {
            fail("\(error)")
        }
    }

    /// An entity is a page of its own; with anything else one stays where one is.
    private func receive(_ answer: SirenAnswer) {
        latest = answer
        let url = connection.secrets.hidden(inURL: answer.url.absoluteString)
        console.say("\(answer.status) \(answer.outcome.rawValue)  \(url)")
        if answer.outcome == .failed { hasFailed = true }
        switch answer.content {
        case .entity(let entity):
            pages.append(Page(answer, entity))
            addLocation(answer)
            show()
        case .problem(let problem):
            let texts = [problem.title, problem.detail].compactMap { $0 }
            console.say("  " + (texts.isEmpty ? problem.type : texts.joined(separator: ": ")))
        case .other(let bytes, let type):
            console.say("  \(bytes.count) bytes of \(type ?? "no type"), which is no Siren: raw")
        case .none: break
        }
        if answer.entity == nil, let place = addLocation(answer) { console.say("  \(place)") }
    }

    /// Gives the place to which an answer points a number.
    @discardableResult
    private func addLocation(_ answer: SirenAnswer) -> String? {
        guard let location = answer.location, let page = pages.last else { return nil }
        let link = SirenLink(rel: ["location"], href: location.absoluteString)
        guard !page.entity.links.contains(where: { $0.href == link.href }) else { return nil }
        pages[pages.count - 1].targets.removeAll { $0.names == link.rel }
        pages[pages.count - 1].targets.append(.link(link))
        return "\(pages[pages.count - 1].targets.count)  location  \(link.href)"
    }

    private func show() {
        guard let page = pages.last else { return }
        latest = page.answer
        page.lines(base: client.baseURL).forEach(console.say)
    }

    private func showRaw() {
        guard let latest else { return }
        switch latest.content {
        case .entity, .problem: DocumentLines.of(latest.bytes, latest.violations).forEach(console.say)
        case .other(let bytes, _):
            let text = String(validating: bytes, as: UTF8.self)
            text?.split(whereSeparator: \.isNewline).forEach { console.say(String($0)) }
            if text == nil { console.say("\(bytes.count) bytes that are no text") }
        case .none: console.say("nothing came with it")
        }
    }

    private func showCurl(_ target: Page.Target) async {
        // Nobody is to see a password in a command.
        let dialogue = FormDialogue(console, secrets: connection.secrets, password: "PASSWORD")
        do {
            switch target {
            case .entity: fail("the entity is here already: there is nothing to ask for")
            case .link(let link):
                let values = try dialogue.values(for: link)
                console.say(try await Curl.command(connection) { try await $0.follow(link, parameters: values) })
            case .action(var action):
                for index in action.fields.indices where action.fields[index].type == .password {
                    // What stands for it need not be like one.
                    action.fields[index].otherMembers = [:]
                }
                let values = try dialogue.values(for: action)
                let form = try action.form(values)
                console.say(
                    try await Curl.command(connection, form: form) { [action] in
                        try await $0.submit(action, parameters: values)
                    }
                )
            }
        } catch is GivenUp {
            fail("there is no command")
        } catch {
            fail("\(error)")
        }
    }

    private func fail(_ text: String) {
        hasFailed = true
        console.say(text)
    }
}
