import ClubKit
import Foundation
import ReaderKit

/// A view of the visitor's screen. What it shows is in the scene; it needs no texts and no logic of its own.
@MainActor
public protocol VisitorView: PresentableView {
    /// Shows a scene in place of the one before, and the latest taps beside it.
    func show(_ scene: VisitorScene, taps: [TapRow], theme: Theme)
}

/// Presents the visitor's screen: each tap is answered, one after the other, and then the screen is at rest again.
///
/// ```swift
/// let presenter = VisitorPresenter(model, theme: theme)
/// let screen = Screen(presenter, view: view, shownAs: view)
/// screen.appear()
/// ```
///
/// An answer is shown for ``Theme/greetingSeconds``, or for a shorter time while others wait, so that each is shown. A
/// name is on the screen no longer than ``Theme/privacySeconds``.
@MainActor
public final class VisitorPresenter: ScreenPresenter {
    /// The view.
    public weak var view: (any VisitorView)?

    /// How the screen looks and speaks. A change is shown at once; what is shown already keeps its time.
    public var theme: Theme {
        didSet {
            scenes = VisitorScenes(theme, in: timeZone)
            for index in recent.indices { recent[index].row = row(recent[index]) }
            taps.update(to: recent.map(\.row))
            render()
        }
    }

    /// The latest taps, the newest first; at most ``keptTaps``.
    public let taps = ListDataSource<TapRow>(section: "taps")

    /// The number of rows in ``taps``.
    public static let keptTaps = 100

    /// Whether names stay in the list of taps, which then is for the staff.
    public let showsNames: Bool

    private struct ShownTap {
        var receipt: Receipt
        /// When the name is to go, and whether it has.
        var until: ContinuousClock.Instant
        var hasName = true
        var row = TapRow(time: "", text: "", detail: "")
    }

    private let model: KioskModel
    private let timeZone: TimeZone
    private var scenes: VisitorScenes
    private var queue = SceneQueue()
    private var recent: [ShownTap] = []
    private var reading: Set<ReaderInfo> = []
    private var stopObserving: (@MainActor () -> Void)?
    private var timer: Task<Void, Never>?

    /// Creates a presenter.
    ///
    /// - Parameters:
    ///   - showsNames: whether names stay in the list of taps.
    ///   - timeZone: the time zone of what is shown.
    public init(_ model: KioskModel, theme: Theme = Theme(), showsNames: Bool = false, timeZone: TimeZone = .current) {
        self.model = model
        self.theme = theme
        self.showsNames = showsNames
        self.timeZone = timeZone
        scenes = VisitorScenes(theme, in: timeZone)
    }

    /// Follows the model from here on.
    public func viewDidLoad() {
        stopObserving = model.observe { [weak self] _, news in self?.note(news) }
        render()
    }

    /// Draws the screen again.
    public func viewDidAppear() { render() }

    /// Follows nothing any more.
    public func viewDidDestroy() {
        stopObserving?()
        timer?.cancel()
    }

    private func note(_ news: KioskModel.News) {
        let now = ContinuousClock.now
        switch news {
        case .status:
            // Nothing is read by a reader that is gone, or stuck.
            reading = reading.filter { reader in
                model.status.readers.contains { $0.reader == reader && $0.fault == nil }
            }
        case .reading(let reader): reading.insert(reader)
        case .readingEnded(let reader): reading.remove(reader)
        case .tap(let tap):
            reading = reading.filter { $0.name != tap.receipt.reader }
            let shown = min(theme.greetingSeconds, theme.privacySeconds)
            queue.add(.tap(tap), for: .seconds(shown), at: now)
            var new = ShownTap(receipt: tap.receipt, until: now + .seconds(theme.privacySeconds))
            new.row = row(new)
            recent = [new] + recent.prefix(Self.keptTaps - 1)
            taps.update(to: recent.map(\.row))
        case .announcement(let message):
            queue.add(.announcement(message), for: .seconds(theme.greetingSeconds * 2), at: now)
        }
        render()
    }

    private func row(_ tap: ShownTap) -> TapRow { scenes.row(of: tap.receipt, showsName: showsNames || tap.hasName) }

    /// Takes the names away whose time is over.
    private func hideNames(at now: ContinuousClock.Instant) {
        let over = recent.indices.filter { recent[$0].hasName && recent[$0].until <= now }
        if showsNames || over.isEmpty { return }
        for index in over {
            recent[index].hasName = false
            recent[index].row = row(recent[index])
        }
        taps.update(to: recent.map(\.row))
    }

    /// Shows what is to be seen now, and sees to it that what follows is shown in time.
    private func render() {
        let now = ContinuousClock.now
        queue.advance(to: now)
        hideNames(at: now)
        let scene =
            switch queue.current {
            case .tap(let tap): scenes.answer(to: tap)
            case .announcement(let message, let id): scenes.announcement(message, id: id)
            case nil: reading.isEmpty ? scenes.rest(model.status) : scenes.reading()
            }
        view?.show(scene, taps: taps.items, theme: theme)
        timer?.cancel()
        let privacy = showsNames ? nil : recent.lazy.map(\.until).filter { $0 > now }.min()
        guard let next = [queue.end, privacy].compactMap(\.self).min() else { return }
        timer = Task { [weak self] in
            guard (try? await Task.sleep(until: next, clock: .continuous)) != nil else { return }
            self?.render()
        }
    }
}

/// What is shown one after the other: each for its time, or for less while others wait. It knows no clock.
struct SceneQueue {
    enum Content: Hashable {
        case tap(RecordedTap)
        case announcement(String, UUID = UUID())
    }

    /// How long each is shown at least, however many wait; and with one that waits.
    static let shortest = Duration.milliseconds(300), short = Duration.milliseconds(1500)

    /// How many wait at most; of more, the oldest is dropped, since whom it answers has gone on long ago.
    static let longest = 50

    private struct Item {
        var content: Content
        var duration: Duration
    }

    private var items: [Item] = []
    private var began = ContinuousClock.now

    /// What is shown; `nil` if nothing is to be.
    var current: Content? { items.first?.content }

    /// When something else is to be shown.
    var end: ContinuousClock.Instant? { items.first.map { began + time(of: $0) } }

    private func time(of item: Item) -> Duration {
        let waiting = items.count - 1
        return waiting == 0 ? item.duration : min(item.duration, max(Self.shortest, Self.short / waiting))
    }

    /// Adds one behind those that wait.
    mutating func add(_ content: Content, for duration: Duration, at now: ContinuousClock.Instant) {
        advance(to: now)
        if items.isEmpty { began = now }
        items.append(Item(content: content, duration: duration))
        if items.count > Self.longest + 1 { items.remove(at: 1) }
        advance(to: now)
    }

    /// Goes on to what is shown at a time.
    mutating func advance(to now: ContinuousClock.Instant) {
        while let end, end <= now {
            items.removeFirst()
            // One that waited has its time from when it is seen, not from when it could have been.
            began = items.isEmpty ? end : max(end, now)
        }
    }
}
