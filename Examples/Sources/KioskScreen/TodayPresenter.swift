import KioskKit

/// What the screen needs of its view.
@MainActor
protocol TodayView: PresentableView {
    /// Shows the answer to the latest tap, of no lines before the first, and how many came today.
    func show(_ answer: [String], today: String)
}

/// Presentation: what is shown, and when.
final class TodayPresenter: ScreenPresenter {
    weak var view: (any TodayView)?
    private let model: KioskModel
    private let scenes: VisitorScenes
    private var answer: VisitorScene?
    private var stopObserving: (@MainActor () -> Void)?

    init(_ model: KioskModel, theme: Theme) {
        self.model = model
        scenes = VisitorScenes(theme)
    }

    func viewDidLoad() {
        stopObserving = model.observe { [weak self] _, news in self?.note(news) }
    }

    func viewWillAppear() { render() }

    func viewDidDestroy() { stopObserving?() }

    private func note(_ news: KioskModel.News) {
        if case .tap(let tap) = news { answer = scenes.answer(to: tap) }
        render()
    }

    private func render() {
        let lines = answer.map { [$0.title] + $0.lines + $0.rewards } ?? []
        view?.show(lines, today: scenes.words.text(.visitsToday, [.count: .number(model.status.visitsToday)]))
    }
}
