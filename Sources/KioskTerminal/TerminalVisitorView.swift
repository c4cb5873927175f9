public import KioskKit

/// The visitor's screen as a `VisitorPresenter` drives it, in the terminal of a session.
///
/// ```swift
/// let session = try TerminalSession()
/// let view = TerminalVisitorView(session)
/// let screen = Screen(VisitorPresenter(model, theme: theme), view: view, shownAs: view)
/// screen.appear()
/// ```
///
/// It is drawn again when the terminal has another size; the application passes those events on to ``resize(to:)``.
@MainActor
public final class TerminalVisitorView: VisitorView {
    private let session: TerminalSession
    private var shown: (scene: VisitorScene, taps: [TapRow], theme: Theme)?

    /// Creates a view in a session, which it does not close.
    public init(_ session: TerminalSession) {
        self.session = session
    }

    /// Draws a scene, as ``TerminalView`` does.
    public func show(_ scene: VisitorScene, taps: [TapRow], theme: Theme) {
        shown = (scene, taps, theme)
        resize(to: session.size)
    }

    /// Draws the scene in another size.
    public func resize(to size: TerminalCanvas.Size) {
        guard let shown else { return }
        session.draw(TerminalView.canvas(shown.scene, taps: shown.taps, theme: shown.theme, size: size))
    }
}
