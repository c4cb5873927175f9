import ClubKit
import KioskKit

/// What the screen needs of its view.
@MainActor
protocol TodayView: PresentableView {
    func show(_ lines: [String])
}

/// A screen of one's own: how many came today, and what became of the latest tap.
final class TodayPresenter: ScreenPresenter {
    weak var view: (any TodayView)?
    private let model: KioskModel
    private let scenes: VisitorScenes
    private var stopObserving: (@MainActor () -> Void)?

    init(_ model: KioskModel, theme: Theme) {
        self.model = model
        scenes = VisitorScenes(theme)
    }

    func viewDidLoad() {
        stopObserving = model.observe { [weak self] _, news in
            if case .tap(let tap) = news { self?.show(scenes: tap) }
        }
    }

    func viewWillAppear() { view?.show([scenes.rest(model.status).title]) }

    func viewDidDestroy() { stopObserving?() }

    private func show(scenes tap: RecordedTap) {
        let scene = scenes.answer(to: tap)
        let today = scenes.words.text(.visitsToday, [.count: .number(model.status.visitsToday)])
        view?.show([scene.title] + scene.lines + scene.rewards + [today])
    }
}

/// The view: lines on standard output. A window or a page would be another class, with the same presenter.
final class PrintedTodayView: TodayView {
    func show(_ lines: [String]) { print(lines.joined(separator: " · ")) }
}
