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
    ///   - lines: what would be printed meanwhile, and is not.
    /// - Throws: ``TerminalError``, and what the work throws.
    static func showing(
        _ options: ScreenOptions,
        _ theme: Theme?,
        _ model: KioskModel,
        instead lines: LineQueue?,
        _ work: () async throws -> Void
    ) async throws {
        guard let theme else { return try await work() }
        let screen = try KioskScreen(options, theme, model)
        lines?.hideResults(true)
        defer {
            screen.close()
            lines?.hideResults(false)
        }
        try await work()
    }

    private init(_ options: ScreenOptions, _ theme: Theme, _ model: KioskModel) throws {
        // What is written to standard error stands there again when the screen is closed.
        let session = try TerminalSession { _ in }
        let presenter = VisitorPresenter(model, theme: theme, showsNames: options.desk)
        let view = TerminalVisitorView(session)
        let screen = Screen(presenter, view: view, shownAs: view)
        (self.session, self.screen) = (session, screen)
        let resizing = Task {
            for await case .resized(let size) in session.events { view.resize(to: size) }
        }
        let reloading = options.theme.path.map { path in
            Task {
                for await case .success(let theme) in ThemeFile(path).changes() {
                    presenter.theme = options.theme.with(theme)
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
