import ClubKit
import Foundation
import KioskKit
import KioskTerminal
import ReaderKit
import ToolSupport

/// The visitor's screen of `clubctl kiosk`, in the terminal.
@MainActor
struct KioskScreen {
    private let session: TerminalSession
    private let screen: Screen<TerminalVisitorView>
    private let tasks: [Task<Void, Never>]

    /// Does work while the screen is shown, and gives the terminal back.
    ///
    /// - Parameters:
    ///   - theme: the theme; `nil` shows no screen.
    ///   - model: what is shown.
    ///   - application: becomes idle when the theme says so.
    ///   - lines: what would be printed meanwhile, and is not.
    ///   - report: is called with what is wrong with a theme that was changed; the former one stays.
    /// - Throws: ``TerminalError``, and what the work throws.
    static func showing(
        _ options: ScreenOptions,
        _ theme: Theme?,
        _ model: KioskModel,
        _ application: KioskApplication,
        instead lines: LineQueue?,
        reportingTo report: @escaping @Sendable (String) -> Void,
        _ work: () async throws -> Void
    ) async throws {
        guard let theme else { return try await work() }
        let screen = try KioskScreen(options, theme, model, application, report)
        lines?.hideResults(true)
        defer {
            screen.close()
            lines?.hideResults(false)
        }
        try await work()
    }

    private init(
        _ options: ScreenOptions,
        _ theme: Theme,
        _ model: KioskModel,
        _ application: KioskApplication,
        _ report: @escaping @Sendable (String) -> Void
    ) throws {
        // What is written to standard error stands there again when the screen is closed.
        let session = try TerminalSession.ofTool()
        let presenter = VisitorPresenter(model, theme: theme, showsNames: options.desk)
        let view = TerminalVisitorView(session)
        let screen = Screen(presenter, view: view, shownAs: view)
        (self.session, self.screen) = (session, screen)
        let resizing = Task {
            for await case .resized(let size) in session.events { view.resize(to: size) }
        }
        application.idleAfter = .seconds(theme.idleSeconds)
        let reloading = options.theme.path.map { path in
            Task {
                for await result in ThemeFile(path).changes() {
                    switch result {
                    case .success(let changed):
                        let theme = options.theme.with(changed)
                        guard theme != presenter.theme else { continue }
                        for finding in theme.findings { report("Warning: \(finding)") }
                        presenter.theme = theme
                        application.idleAfter = .seconds(theme.idleSeconds)
                    case .failure(let error): report("The theme stays as it was: \(error)")
                    }
                }
            }
        }
        tasks = [resizing] + (reloading.map { [$0] } ?? [])
        screen.appear()
    }

    private func close() {
        for task in tasks { task.cancel() }
        screen.destroy()
        session.close()
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
