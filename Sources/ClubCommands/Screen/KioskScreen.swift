import ClubKit
import Foundation
import KioskKit
import KioskTerminal
import ReaderKit
import ToolSupport

/// The visitor's screen of `clubctl kiosk`: in the terminal, and as its theme changes also elsewhere.
@MainActor
struct KioskScreen {
    private let terminal: (session: TerminalSession, screen: Screen<TerminalVisitorView>)?
    private let tasks: [Task<Void, Never>]

    /// Does work while the screen is shown, and gives the terminal back.
    ///
    /// - Parameters:
    ///   - theme: the theme; `nil` shows no screen anywhere.
    ///   - showsNames: whether the list of the latest taps keeps their names.
    ///   - isInTerminal: whether the terminal shows the screen.
    ///   - model: what is shown.
    ///   - application: becomes idle when the theme specifies it.
    ///   - lines: what would be printed meanwhile, and is not in a terminal that shows the screen.
    ///   - show: is called with a theme that was changed.
    ///   - report: is called with what is wrong with a theme that was changed; the former one stays.
    /// - Throws: ``TerminalError``, and what the work throws.
    static func showing(
        _ options: ThemeOptions,
        _ theme: Theme?,
        showsNames: Bool,
        isInTerminal: Bool,
        _ model: KioskModel,
        _ application: KioskApplication,
        instead lines: LineQueue?,
        changing show: (@MainActor @Sendable (Theme) -> Void)?,
        reportingTo report: @escaping @Sendable (String) -> Void,
        _ work: () async throws -> Void
    ) async throws {
        guard let theme else { return try await work() }
        let screen = try KioskScreen(options, theme, showsNames, isInTerminal ? model : nil, application, show, report)
        if isInTerminal { lines?.hideResults(true) }
        defer {
            screen.close()
            if isInTerminal { lines?.hideResults(false) }
        }
        try await work()
    }

    private init(
        _ options: ThemeOptions,
        _ theme: Theme,
        _ showsNames: Bool,
        _ model: KioskModel?,
        _ application: KioskApplication,
        _ show: (@MainActor @Sendable (Theme) -> Void)?,
        _ report: @escaping @Sendable (String) -> Void
    ) throws {
        var presenter: VisitorPresenter?
        var tasks: [Task<Void, Never>] = []
        if let model {
            // What is written to standard error stands there again when the screen is closed.
            let session = try TerminalSession.ofTool()
            let visitor = VisitorPresenter(model, theme: theme, showsNames: showsNames)
            let view = TerminalVisitorView(session)
            let screen = Screen(visitor, view: view, shownAs: view)
            (terminal, presenter) = ((session, screen), visitor)
            tasks.append(Task { for await case .resized(let size) in session.events { view.resize(to: size) } })
            screen.appear()
        } else {
            terminal = nil
        }
        application.idleAfter = .seconds(theme.idleSeconds)
        if let path = options.path {
            let reloading = Task { [presenter] in
                var last = theme
                for await result in ThemeFile(path).changes() {
                    switch result {
                    case .success(let changed):
                        let theme = options.with(changed)
                        guard theme != last else { continue }
                        last = theme
                        for finding in theme.findings { report("Warning: \(finding)") }
                        presenter?.theme = theme
                        show?(theme)
                        application.idleAfter = .seconds(theme.idleSeconds)
                    case .failure(let error): report("The theme stays as it was: \(error)")
                    }
                }
            }
            tasks.append(reloading)
        }
        self.tasks = tasks
    }

    private func close() {
        for task in tasks { task.cancel() }
        terminal?.screen.destroy()
        terminal?.session.close()
    }
}

extension TerminalSession {
    /// A session that a second signal ends in good order too.
    static func ofTool() throws -> TerminalSession {
        let session = try TerminalSession()
        Interruption.lastAct.withLock { $0 = restoreNow }
        return session
    }
}
