import KioskKit
import Testing

/// What happened, in order.
@MainActor
private final class Log {
    var lines: [String] = []
    func callAsFunction(_ line: String) { lines.append(line) }
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }
}

@MainActor
private protocol TitleView: PresentableView {
    func show(_ title: String)
}

private final class TestView: TitleView {
    let name: String
    let log: Log

    init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }

    func show(_ title: String) { log("\(name) shows \(title)") }
}

private final class TestPresenter: ScreenPresenter {
    weak var view: (any TitleView)?
    let name: String
    let log: Log

    init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }

    func presenterInitialized() {
        log("\(name) initialized")
        view?.show(name)
    }
    func viewDidLoad() { log("\(name) did load") }
    func viewWillAppear() { log("\(name) will appear") }
    func viewDidAppear() { log("\(name) did appear") }
    func viewWillDisappear() { log("\(name) will disappear") }
    func viewDidDisappear() { log("\(name) did disappear") }
    func viewDidDestroy() { log("\(name) did destroy") }
}

/// A host whose views are names; it answers alerts with what it was told to.
private final class TestHost: ScreenHost {
    let log: Log
    var answers: [Int]?
    /// Answers the alert that was shown last.
    private(set) var answerLater: (@MainActor (Int) -> Void)?
    private(set) var dismissed: [Alert] = []

    init(_ log: Log) { self.log = log }

    func show(_ view: TestView) { log("host shows \(view.name)") }

    func show(_ alert: Alert, answer: @escaping @MainActor (Int) -> Void) {
        log("alert \(alert.title)")
        answerLater = answer
        for choice in answers ?? [] { answer(choice) }
    }

    func dismiss(_ alert: Alert) { dismissed.append(alert) }
}

@MainActor
@Suite(.timeLimit(.minutes(10))) struct PresentationTests {
    private let log = Log()

    private func screen(_ name: String) -> Screen<TestView> {
        let view = TestView(name, log)
        return Screen(TestPresenter(name, log), view: view, shownAs: view)
    }

    @Test("A screen's presenter follows its whole life, each call once and in order")
    func lifeCycle() {
        do {
            let screen = screen("A")
            #expect(log.take() == ["A initialized", "A shows A"])
            screen.appear { log("shown") }
            screen.appear { log("not again") }
            #expect(log.take() == ["A did load", "A will appear", "shown", "A did appear"])
            screen.disappear { log("hidden") }
            #expect(log.take() == ["A will disappear", "hidden", "A did disappear"])
            screen.appear()
            #expect(log.take() == ["A will appear", "A did appear"])
        }
        #expect(log.take() == ["A will disappear", "A did disappear", "A did destroy"])
    }

    @Test("A screen that leads to another as soon as it appears begins nothing")
    func leaving() {
        final class Passing: ScreenPresenter {
            weak var view: TestView?
            var leave: @MainActor () -> Void = {}
            var begun = 0

            func viewDidAppear() { leave() }
            func taskWhileShown() -> Task<Void, Never>? {
                begun += 1
                return nil
            }
        }
        let (view, presenter) = (TestView("A", log), Passing())
        let screen = Screen(presenter, view: view, shownAs: view)
        presenter.leave = { [weak screen] in screen?.disappear() }
        screen.appear()
        #expect(presenter.begun == 0)
    }

    @Test("What goes on while a screen is shown begins when it is, and is cancelled before it is hidden")
    func whileShown() {
        final class Worker: ScreenPresenter {
            weak var view: TestView?
            let log: Log
            var tasks: [Task<Void, Never>] = []

            init(_ log: Log) { self.log = log }

            func viewDidAppear() { log("did appear, tasks: \(tasks.count)") }
            func viewWillDisappear() { log("will disappear, cancelled: \(tasks.last?.isCancelled ?? false)") }
            func taskWhileShown() -> Task<Void, Never>? {
                let task = Task<Void, Never> { _ = try? await Task.sleep(for: .seconds(3600)) }
                tasks.append(task)
                return task
            }
        }
        let worker = Worker(log)
        let view = TestView("W", log)
        let screen = Screen(worker, view: view, shownAs: view)
        #expect(worker.tasks.isEmpty)
        screen.appear()
        #expect(worker.tasks.count == 1 && !worker.tasks[0].isCancelled)
        screen.disappear()
        screen.appear()
        screen.destroy()
        #expect(
            log.take() == [
                "did appear, tasks: 0", "will disappear, cancelled: true", "did appear, tasks: 1",
                "will disappear, cancelled: true",
            ]
        )
    }

    @Test("A screen that was destroyed is not destroyed again, nor shown")
    func destroyed() {
        let screen = screen("A")
        _ = log.take()
        screen.destroy()
        screen.destroy()
        screen.appear()
        #expect(log.take() == ["A did destroy"])
    }

    @Test("A presenter does not hold its view")
    func weakView() {
        let presenter = TestPresenter("A", log)
        do {
            let view = TestView("A", log)
            presenter.bind(to: view)
            #expect(presenter.view != nil)
        }
        #expect(presenter.view == nil)
        let void = VoidPresenter()
        do {
            let view = TestView("A", log)
            let screen = Screen(void, view: view, shownAs: view)
            #expect(void.view != nil)
            screen.destroy()
        }
        #expect(void.view == nil)
    }

    @Test("Showing, pushing, presenting and the ways back")
    func navigation() {
        let host = TestHost(log)
        let navigator = Navigator(host: host)
        navigator.back()
        navigator.dismiss()
        #expect(navigator.current == nil)
        navigator.show(screen("A")) { _ in log("configured") }
        #expect(
            log.take() == [
                "A initialized", "A shows A", "configured", "A did load", "A will appear", "host shows A",
                "A did appear",
            ]
        )
        navigator.show(screen("B"))
        #expect(
            log.take() == [
                "B initialized", "B shows B", "A will disappear", "B did load", "B will appear", "host shows B",
                "B did appear", "A did disappear",
            ]
        )
        navigator.back()
        #expect(
            log.take() == [
                "B will disappear", "A will appear", "host shows A", "A did appear", "B did disappear", "B did destroy",
            ]
        )
        navigator.back()
        #expect(log.take() == [] && navigator.depth == 1)
        navigator.present(screen("C"))
        navigator.push(screen("D"))
        _ = log.take()
        navigator.dismiss()
        #expect(navigator.current?.view.name == "A" && navigator.depth == 1)
        #expect(
            log.take() == [
                "D will disappear", "A will appear", "host shows A", "A did appear", "D did disappear", "D did destroy",
                "C did destroy",
            ]
        )
        // The first was presented too, and stays.
        navigator.dismiss()
        #expect(navigator.depth == 1)
    }

    @Test("Where the ways back lead to, and which screens end on the way")
    func waysBack() {
        /// The steps: s shows, p pushes, m presents a screen named by the step's number; b and d lead back. Then the
        /// screen that is shown, and the number of screens.
        let table = [
            ("s", "1", 1), ("p", "1", 1), ("m", "1", 1), ("sb", "1", 1), ("sd", "1", 1), ("ssb", "1", 1),
            // There is nothing presented to dismiss but the first.
            ("spd", "2", 2), ("ppd", "2", 2),
            // Back leads over a presented screen too, one by one.
            ("smp", "3", 3), ("smpb", "2", 2), ("smpbb", "1", 1), ("smpbd", "1", 1),
            ("smpd", "1", 1), ("smmd", "2", 2), ("smmdd", "1", 1), ("smpmppd", "3", 3), ("smpmppdd", "1", 1),
        ]
        let host = TestHost(log)
        for (steps, shown, depth) in table {
            let navigator = Navigator(host: host)
            _ = log.take()
            var opened = 0
            for (index, step) in steps.enumerated() {
                let name = "\(index + 1)"
                switch step {
                case "b": navigator.back()
                case "d": navigator.dismiss()
                default:
                    opened += 1
                    let configured: (Screen<TestView>) -> Void = { log("configured \($0.view.name)") }
                    switch step {
                    case "s": navigator.show(screen(name), configuration: configured)
                    case "p": navigator.push(screen(name), configuration: configured)
                    default: navigator.present(screen(name), configuration: configured)
                    }
                }
            }
            let lines = log.take()
            #expect(lines.filter { $0.hasPrefix("configured") }.count == opened, "\(steps)")
            #expect(lines.filter { $0.hasSuffix("did destroy") }.count == opened - depth, "\(steps)")
            #expect(lines.last(where: { $0.hasPrefix("host shows") }) == "host shows \(shown)", "\(steps)")
            #expect(navigator.current?.view.name == shown && navigator.depth == depth, "\(steps)")
        }
        withExtendedLifetime(host) {}
    }

    @Test("Alerts: the first answer counts, one that is no choice does not, and nobody waits for a host that is gone")
    func alerts() async throws {
        let shown = TestHost(log)
        let navigator = Navigator(host: shown)
        shown.answers = [7, 0, 1]
        #expect(await navigator.ask(title: "Delete?"))
        shown.answers = [1]
        #expect(await navigator.ask(title: "Delete?") == false)
        shown.answers = [0]
        await navigator.tell(title: "Done")
        #expect(await navigator.answer(to: Alert(title: "Which?", choices: ["a", "b", "c"])) == 0)
        shown.answers = nil
        let later = Task { await navigator.ask(title: "Later?") }
        try await until { log.lines.contains("alert Later?") }
        shown.answerLater?(0)
        #expect(await later.value)
        let question = Task { await navigator.ask(title: "Nobody?") }
        try await until { log.lines.contains("alert Nobody?") }
        question.cancel()
        #expect(await question.value == false)
        #expect(shown.dismissed.map(\.title) == ["Nobody?"])
        shown.answerLater?(0)
    }

    @Test("The choice that counts if nobody chooses is one of the choices")
    func fallbacks() {
        #expect(Alert(title: "").choices == ["OK"] && Alert(title: "").fallback == 0)
        let table: [(Int?, Int)] = [(nil, 1), (0, 0), (1, 1), (2, 1), (-1, 1)]
        for (fallback, expected) in table {
            #expect(Alert(title: "", choices: ["a", "b"], fallback: fallback).fallback == expected)
        }
    }

    @Test("A navigator does not hold its host")
    func hostIsGone() async throws {
        let navigator = Navigator(host: TestHost(log))
        #expect(await navigator.answer(to: Alert(title: "Which?", choices: ["a", "b"], fallback: 0)) == 0)
        navigator.show(screen("A"))
        #expect(navigator.current?.view.name == "A")
        // One that goes while it asks.
        var host: TestHost? = TestHost(log)
        guard let asking = host.map({ Navigator(host: $0) }) else { return }
        let question = Task { await asking.ask(title: "Gone?") }
        try await until { log.lines.contains("alert Gone?") }
        host = nil
        #expect(await question.value == false)
    }

    @Test("A presenter that observes the network is notified when its screen appears")
    func network() async throws {
        final class Observer: NetworkObservingPresenter {
            weak var view: TestView?
            var states: [Bool] = []
            func networkDidBecomeAvailable() { states.append(true) }
            func networkDidBecomeUnavailable() { states.append(false) }
        }
        let observer = Observer()
        let view = TestView("N", log)
        let screen = Screen(observer, view: view, shownAs: view)
        #expect(observer.states.isEmpty)
        screen.appear()
        try await until { !observer.states.isEmpty }
        #expect(observer.states.first == NetworkMonitor.isAvailable)
        screen.disappear()
    }

    @Test("Watching the network begins with the present state, and ends with its task")
    func networkChanges() async {
        var states: [Bool] = []
        for await isAvailable in NetworkMonitor.changes() {
            states.append(isAvailable)
            break
        }
        #expect(states == [NetworkMonitor.isAvailable])
        let watching = Task { for await _ in NetworkMonitor.changes() {} }
        watching.cancel()
        await watching.value
    }
}

@MainActor
@Suite struct RowTests {
    private enum Entry { case member(String), rule, unknown }

    private final class MemberRow: RowView {
        var presenter: MemberPresenter?
        var presented: MemberRow { self }
        var text = ""
    }

    private final class MemberPresenter: Presenter {
        weak var view: MemberRow? { didSet { view?.text = name } }
        var name: String { didSet { view?.text = name } }
        init(_ name: String) { self.name = name }
    }

    private final class RuleRow: RowView {
        var presenter: VoidPresenter?
        var presented: AnyObject { self }
    }

    @Test("Rows of several kinds, used again without their former presenter")
    func reuse() throws {
        let rows = RowRegistry<Entry>()
        var made = 0
        var presenters: [MemberPresenter] = []
        rows.register(MemberRow.self) {
            made += 1
            return MemberRow()
        } presenter: { entry in
            guard case .member(let name) = entry else { return nil }
            let presenter = MemberPresenter(name)
            presenters.append(presenter)
            return presenter
        }
        rows.register(RuleRow.self, make: RuleRow.init) { entry in
            if case .rule = entry { VoidPresenter() } else { nil }
        }
        let ann = try #require(rows.row(for: .member("Ann")) as? MemberRow)
        #expect(ann.text == "Ann")
        #expect(rows.row(for: .rule) is RuleRow)
        #expect(rows.row(for: .unknown) == nil)
        rows.recycle(ann)
        #expect(ann.presenter == nil && presenters[0].view == nil)
        let bea = try #require(rows.row(for: .member("Bea")) as? MemberRow)
        #expect(bea === ann && bea.text == "Bea" && made == 1)
        presenters[0].name = "Ann again"
        #expect(bea.text == "Bea")
        bea.configure(with: MemberPresenter("Cem"))
        #expect(presenters[1].view == nil && bea.text == "Cem")
        #expect(rows.row(for: .member("Dan")) as? MemberRow !== bea)
    }

    @Test("Of several kinds that show an item the first counts; a row of no kind is only detached")
    func kinds() {
        let rows = RowRegistry<Entry>()
        rows.register(RuleRow.self, make: RuleRow.init) { _ in VoidPresenter() }
        rows.register(MemberRow.self, make: MemberRow.init) { _ in MemberPresenter("Ann") }
        #expect(rows.row(for: .rule) is RuleRow && rows.row(for: .member("Ann")) is RuleRow)
        let row = MemberRow()
        let presenter = MemberPresenter("Bea")
        row.configure(with: presenter)
        let others = RowRegistry<Entry>()
        others.recycle(row)
        #expect(row.presenter == nil && presenter.view == nil)
        #expect(others.row(for: .rule) == nil)
    }
}
