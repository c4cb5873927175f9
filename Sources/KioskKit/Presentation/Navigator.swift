/// What screens are shown on: a terminal, a window, a page.
@MainActor
public protocol ScreenHost: AnyObject {
    /// What the host can show.
    associatedtype View

    /// Shows a view in place of the one before.
    func show(_ view: View)

    /// Shows an alert over the view, until somebody chooses or ``dismiss(_:)`` is called.
    ///
    /// - Parameter answer: takes the index of the choice. Only its first call counts; an index that is no choice does not.
    func show(_ alert: Alert, answer: @escaping @MainActor (Int) -> Void)

    /// Removes an alert that nobody waits for any more.
    func dismiss(_ alert: Alert)
}

/// A question to whoever stands before the screen.
public struct Alert: Sendable, Hashable {
    /// The question in a few words.
    public var title: String
    /// What there is to know besides.
    public var message: String
    /// The choices, at least one.
    public var choices: [String]
    /// The index of the choice that counts if nobody chooses.
    public var fallback: Int

    /// Creates an alert.
    ///
    /// - Parameters:
    ///   - choices: an empty list stands for "OK".
    ///   - fallback: by default the last; an index outside the choices is the last too.
    public init(title: String, message: String = "", choices: [String] = [], fallback: Int? = nil) {
        self.title = title
        self.message = message
        let choices = choices.isEmpty ? ["OK"] : choices
        self.choices = choices
        self.fallback = fallback.flatMap { choices.indices.contains($0) ? $0 : nil } ?? choices.count - 1
    }
}

/// Leads from screen to screen on a host.
///
/// ```swift
/// let navigator = Navigator(host: window)
/// navigator.show(screen(of: club))
/// if await navigator.ask(title: "Delete Ann?", message: "Her visits go too.") { try await club.delete("U1") }
/// ```
@MainActor
public final class Navigator<Host: ScreenHost> {
    private struct Entry {
        var screen: Screen<Host.View>
        /// Whether the screen was presented over those below, so that ``dismiss()`` ends with it.
        var isPresented: Bool
    }

    private weak var host: Host?
    private var entries: [Entry] = []

    /// Creates a navigator without a screen. It does not hold its host.
    public init(host: Host) {
        self.host = host
    }

    /// The screen that is shown; `nil` before the first.
    public var current: Screen<Host.View>? { entries.last?.screen }

    /// The number of screens, the shown one included.
    public var depth: Int { entries.count }

    /// Shows a screen: pushed on the current one, or presented if it is the first.
    ///
    /// - Parameter configuration: is called with the screen before it is shown.
    public func show(_ screen: Screen<Host.View>, configuration: (Screen<Host.View>) -> Void = { _ in }) {
        open(screen, isPresented: entries.isEmpty, configuration)
    }

    /// Shows a screen from which ``back()`` leads to the current one.
    ///
    /// - Parameter configuration: is called with the screen before it is shown.
    public func push(_ screen: Screen<Host.View>, configuration: (Screen<Host.View>) -> Void = { _ in }) {
        open(screen, isPresented: false, configuration)
    }

    /// Shows a screen over the current one; ``dismiss()`` ends it with all that was pushed on it.
    ///
    /// - Parameter configuration: is called with the screen before it is shown.
    public func present(_ screen: Screen<Host.View>, configuration: (Screen<Host.View>) -> Void = { _ in }) {
        open(screen, isPresented: true, configuration)
    }

    /// Ends the current screen and shows the one before. Does nothing on the first.
    public func back() {
        close(to: entries.count - 1)
    }

    /// Ends the screen that was presented last, with all that was pushed on it. Does nothing on the first.
    public func dismiss() {
        if let index = entries.lastIndex(where: \.isPresented) { close(to: index) }
    }

    private func open(_ screen: Screen<Host.View>, isPresented: Bool, _ configuration: (Screen<Host.View>) -> Void) {
        configuration(screen)
        let former = current
        entries.append(Entry(screen: screen, isPresented: isPresented))
        change(from: former, to: screen)
    }

    private func close(to count: Int) {
        guard count > 0, count < entries.count else { return }
        let closed = entries[count...].map(\.screen)
        entries.removeSubrange(count...)
        change(from: closed.last, to: entries[count - 1].screen)
        for screen in closed.reversed() { screen.destroy() }
    }

    private func change(from former: Screen<Host.View>?, to screen: Screen<Host.View>) {
        let appear = { screen.appear { self.host?.show(screen.view) } }
        if let former { former.disappear(appear) } else { appear() }
    }

    // MARK: Alerts

    /// Shows an alert and returns the index of the choice.
    ///
    /// - Returns: ``Alert/fallback`` if the task is cancelled, or if the host is gone or drops the alert.
    public func answer(to alert: Alert) async -> Int {
        // Ends without an answer when the task is cancelled, or nobody is left to answer.
        for await answer in answers(to: alert) { return answer }
        host?.dismiss(alert)
        return alert.fallback
    }

    private func answers(to alert: Alert) -> AsyncStream<Int> {
        let (answers, continuation) = AsyncStream.makeStream(of: Int.self)
        let slot = AnswerSlot(continuation)
        host?.show(alert) { answer in
            guard alert.choices.indices.contains(answer) else { return }
            slot.continuation.yield(answer)
            slot.continuation.finish()
        }
        return answers
    }

    /// Shows a message with one button, until somebody has pressed it.
    public func tell(title: String, message: String = "", button: String = "OK") async {
        _ = await answer(to: Alert(title: title, message: message, choices: [button]))
    }

    /// Asks a question and returns whether the answer is yes.
    ///
    /// - Returns: `false` if nobody answers, as described for ``answer(to:)``.
    public func ask(title: String, message: String = "", yes: String = "Yes", no: String = "No") async -> Bool {
        await answer(to: Alert(title: title, message: message, choices: [yes, no])) == 0
    }
}

/// Ends the wait for an answer when the host has dropped its closure.
private final class AnswerSlot {
    let continuation: AsyncStream<Int>.Continuation

    init(_ continuation: AsyncStream<Int>.Continuation) { self.continuation = continuation }

    deinit { continuation.finish() }
}
