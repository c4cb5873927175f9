/// A view that a presenter drives, whatever draws it: a terminal, a page in a browser, a window.
@MainActor
public protocol PresentableView: AnyObject {}

/// The logic of a view: what it shows, and what happens at its events. A presenter knows no user-interface toolkit, so
/// a test can provide a view of its own.
///
/// ```swift
/// protocol GreetingView: PresentableView {
///     func show(_ text: String)
/// }
///
/// final class GreetingPresenter: ScreenPresenter {
///     weak var view: (any GreetingView)?
///
///     func viewDidLoad() { view?.show("Hold your card here.") }
/// }
/// ```
@MainActor
public protocol Presenter: AnyObject {
    /// What the presenter needs of its view: usually a protocol (`any GreetingView`), or a class.
    associatedtype View

    /// The view; declare it `weak`, since the view, or the screen that has it, holds its presenter.
    var view: View? { get set }
}

extension Presenter {
    /// Attaches the presenter to its view. A view of another kind does not compile.
    public func bind(to view: View) { self.view = view }
}

/// The presenter of a whole screen, which follows the screen's life cycle. Each method does nothing by default.
///
/// The order is `presenterInitialized`, `viewDidLoad`, then `viewWillAppear`, `viewDidAppear`, `viewWillDisappear` and
/// `viewDidDisappear` each time the screen is shown, and `viewDidDestroy`.
@MainActor
public protocol ScreenPresenter: Presenter {
    /// Called once, right after the view was attached.
    func presenterInitialized()
    /// Called once, before the screen is shown for the first time.
    func viewDidLoad()
    /// Called before the screen is shown.
    func viewWillAppear()
    /// Called when the screen is shown.
    func viewDidAppear()
    /// Called before the screen is hidden.
    func viewWillDisappear()
    /// Called when the screen is hidden.
    func viewDidDisappear()
    /// Called once, when the screen is not needed any more.
    func viewDidDestroy()
    /// Returns what goes on while the screen is shown, such as following a sequence; `nil` by default. It is called
    /// after `viewDidAppear`, and the task is cancelled before `viewWillDisappear`.
    func taskWhileShown() -> Task<Void, Never>?
}

extension ScreenPresenter {
    /// Does nothing.
    public func presenterInitialized() {}
    /// Does nothing.
    public func viewDidLoad() {}
    /// Does nothing.
    public func viewWillAppear() {}
    /// Does nothing.
    public func viewDidAppear() {}
    /// Does nothing.
    public func viewWillDisappear() {}
    /// Does nothing.
    public func viewDidDisappear() {}
    /// Does nothing.
    public func viewDidDestroy() {}
    /// Returns `nil`.
    public func taskWhileShown() -> Task<Void, Never>? { nil }
}

/// The presenter of a screen without logic.
public final class VoidPresenter: ScreenPresenter {
    /// The view, whatever it is.
    public weak var view: AnyObject?

    /// Creates a presenter.
    public init() {}
}

/// A presenter and the view that it drives, as one thing that can be shown and hidden.
///
/// A screen holds both. `HostView` is what the host of screens can show (see ``ScreenHost``).
@MainActor
public final class Screen<HostView> {
    /// What the host shows.
    public let view: HostView

    private enum Phase { case new, hidden, shown, destroyed }

    private let presenter: any ScreenPresenter
    private var phase = Phase.new
    private var task: Task<Void, Never>?

    /// Creates a screen, attaches the presenter to its view, and calls `presenterInitialized`.
    ///
    /// - Parameters:
    ///   - presenter: the logic.
    ///   - view: the view as the presenter knows it.
    ///   - hostView: the same view as the host knows it.
    public init<P: ScreenPresenter>(_ presenter: P, view: P.View, shownAs hostView: HostView) {
        self.view = hostView
        self.presenter = presenter
        presenter.bind(to: view)
        presenter.presenterInitialized()
    }

    isolated deinit { destroy() }

    /// Shows the screen: loads it the first time, and calls the closure between `viewWillAppear` and `viewDidAppear`.
    /// Does nothing while it is shown.
    public func appear(_ show: () -> Void = {}) {
        if phase == .new {
            phase = .hidden
            presenter.viewDidLoad()
        }
        guard phase == .hidden else { return }
        presenter.viewWillAppear()
        show()
        phase = .shown
        presenter.viewDidAppear()
        // It may have led to another screen already.
        if phase == .shown { task = presenter.taskWhileShown() }
    }

    /// Hides the screen, and calls the closure between `viewWillDisappear` and `viewDidDisappear`. While it is hidden,
    /// only calls the closure.
    public func disappear(_ hide: () -> Void = {}) {
        guard phase == .shown else { return hide() }
        task?.cancel()
        task = nil
        presenter.viewWillDisappear()
        hide()
        phase = .hidden
        presenter.viewDidDisappear()
    }

    /// Ends the screen, hiding it first. A screen that is released ends by itself.
    public func destroy() {
        guard phase != .destroyed else { return }
        disappear()
        phase = .destroyed
        presenter.viewDidDestroy()
    }
}
