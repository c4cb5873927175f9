import ArgumentParser
import Foundation
import KioskKit
import KioskTerminal
import ToolSupport

struct ScreenCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "Shows what visitors see.",
        subcommands: [ScreenPreview.self]
    )
}

struct ScreenPreview: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Shows every state of the visitor's screen.",
        discussion: """
            On a terminal each state takes the whole screen: the space bar and the arrows lead to the next and the one \
            before, 'l' to the next language, 'q' ends it. Elsewhere, and with --plain, all are printed one below the \
            other. A theme that changes meanwhile is shown at once.

            JSON: a line for each state with kind, tone, language, clubName, title, lines, stamps (filled, total), \
            rewards and note.

            EXAMPLES
              clubctl screen preview --theme club.yaml
              clubctl screen preview --language de --size 100x30 --plain
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var theme: ThemeOptions

    @Flag(help: "Print the states one below the other.")
    var plain = false

    @Option(help: ArgumentHelp("The size of the printed states.", valueName: "columns x rows"))
    var size = "80x24"

    @Option(help: ArgumentHelp("Show this state only, such as firstVisit.", valueName: "state"))
    var state: VisitorScene.Kind?

    private var canvasSize: TerminalCanvas.Size? {
        let parts = size.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let columns = parts[0], let rows = parts[1],
            (1...TerminalCanvas.Size.limit).contains(columns), (1...TerminalCanvas.Size.limit).contains(rows)
        else { return nil }
        return TerminalCanvas.Size(columns: columns, rows: rows)
    }

    func validate() throws {
        guard canvasSize != nil else {
            throw ValidationError(
                "--size takes columns and rows, such as 80x24, each from 1 to \(TerminalCanvas.Size.limit)."
            )
        }
    }

    func perform() async throws {
        let out = output.output
        var theme = Theme()
        try await out.tellingErrors { theme = try self.theme.load(out) }
        let environment = ProcessInfo.processInfo.environment
        if !plain, !output.json, TerminalSession.isPossible(environment: environment) {
            return try await ScreenWalk(theme, options: self.theme, start: state).run(reportingTo: out)
        }
        let scenes = VisitorScenes(theme)
        for scene in scenes.samples() where state == nil || scene.kind == state {
            try out.result(scene, text: text(of: scene, scenes))
        }
    }

    private func text(of scene: VisitorScene, _ scenes: VisitorScenes) -> String {
        let size = canvasSize ?? TerminalCanvas.Size(columns: 80, rows: 24)
        let canvas = TerminalView.canvas(scene, taps: scenes.sampleRows(), theme: scenes.theme, size: size)
        return (["== \(scene.kind.rawValue)"] + canvas.lines).joined(separator: "\n")
    }
}

extension VisitorScene.Kind: ExpressibleByArgument {}

/// A walk through the states on the whole terminal.
@MainActor
private final class ScreenWalk {
    private let session: TerminalSession
    private let view: TerminalVisitorView
    private let options: ThemeOptions
    private var theme: Theme
    private var index: Int

    init(_ theme: Theme, options: ThemeOptions, start: VisitorScene.Kind?) throws {
        session = try TerminalSession.ofTool()
        view = TerminalVisitorView(session)
        (self.theme, self.options) = (theme, options)
        index = start.flatMap { VisitorScene.Kind.allCases.firstIndex(of: $0) } ?? 0
    }

    /// - Parameter out: takes what is wrong with a theme that was changed; it is seen when the walk has ended.
    func run(reportingTo out: Output) async throws {
        defer { session.close() }
        show()
        let reloading = options.path.map { path in
            Task {
                for await result in ThemeFile(path).changes() {
                    switch result {
                    case .success(let changed):
                        var theme = options.with(changed)
                        theme.language = self.theme.language
                        self.theme = theme
                        show()
                    case .failure(let error): out.message("The theme stays as it was: \(error)")
                    }
                }
            }
        }
        defer { reloading?.cancel() }
        for await event in session.events {
            switch event {
            case .resized(let size): view.resize(to: size)
            case .key(.character("q")), .key(.escape): return
            case .key(.character(" ")), .key(.right), .key(.down), .key(.enter): move(by: 1)
            case .key(.left), .key(.up): move(by: -1)
            case .key(.character("l")):
                let all = Language.allCases
                theme.language = all[((all.firstIndex(of: theme.language) ?? 0) + 1) % all.count]
                show()
            case .key: break
            }
        }
        try Task.checkCancellation()
    }

    private func move(by step: Int) {
        let count = VisitorScene.Kind.allCases.count
        index = (index + step + count) % count
        show()
    }

    private func show() {
        let scenes = VisitorScenes(theme)
        view.show(scenes.samples()[index], taps: scenes.sampleRows(), theme: theme)
    }
}
