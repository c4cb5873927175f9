import ClubKit
import Foundation

/// What the desk's screen shows at one moment, in the words of its language.
public struct DeskScene: Sendable, Hashable, Codable {
    /// The title.
    public var title: String
    /// The number of visits today, in words.
    public var visitsToday: String
    /// What keeps members from being served, or that the clock is wrong, and what to do; `nil` if nothing is. What the store and the doctor report
    /// is in English.
    public var trouble: String?
    /// The taps of today, the newest first; at most ``DeskPresenter/keptTaps``.
    public var taps: [TapRow]
}

/// A view of the desk's screen.
@MainActor
public protocol DeskView: PresentableView {
    /// Shows a scene in place of the one before.
    func show(_ scene: DeskScene, theme: Theme)
}

/// Presents the desk's screen: today's taps, and what keeps members from being served.
@MainActor
public final class DeskPresenter: ScreenPresenter {
    /// The view.
    public weak var view: (any DeskView)?

    /// How the screen looks and speaks; a change is shown at once.
    public var theme: Theme {
        didSet {
            scenes = VisitorScenes(theme, in: calendar.timeZone)
            rows = [:]
            render()
        }
    }

    /// The number of taps in ``DeskScene/taps``.
    public static let keptTaps = 500

    /// Whether the taps have names.
    public let showsNames: Bool

    private let model: KioskModel
    private let club: Club?
    private let calendar: Calendar
    private let clock: @Sendable () -> Date
    private var scenes: VisitorScenes
    private var receipts: [Receipt] = []
    /// The rows that were made, since most stay as they are.
    private var rows: [UUID: TapRow] = [:]
    private var shown: (scene: DeskScene, theme: Theme)?
    private var stopObserving: (@MainActor () -> Void)?
    private var reading: Task<Void, Never>?
    /// What the model knew when the taps were read last.
    private var read = (visits: 0, hadFault: false)

    /// Creates a presenter.
    ///
    /// - Parameters:
    ///   - club: where the taps of before are read; without it the list begins with the next tap.
    ///   - showsNames: whether the taps have names.
    ///   - calendar: decides when a day begins, and the time zone of what is shown.
    ///   - clock: the clock.
    public init(
        _ model: KioskModel,
        club: Club? = nil,
        theme: Theme = Theme(),
        showsNames: Bool = false,
        calendar: Calendar = .current,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.model = model
        self.club = club
        self.theme = theme
        self.showsNames = showsNames
        self.calendar = calendar
        self.clock = clock
        scenes = VisitorScenes(theme, in: calendar.timeZone)
    }

    /// Follows the model from here on, and reads the taps of before.
    public func viewDidLoad() {
        stopObserving = model.observe { [weak self] model, news in
            guard let self else { return }
            if case .tap(let tap) = news {
                add([tap.receipt])
            } else {
                render()
                // Taps that waited for a full disk, or came while nobody followed, are in the store alone.
                if read.visits != model.status.visitsToday || read.hadFault != (model.status.storageFault != nil) {
                    readTaps()
                }
            }
        }
        render()
        readTaps()
    }

    private func readTaps() {
        guard let club else { return }
        read = (model.status.visitsToday, model.status.storageFault != nil)
        reading?.cancel()
        let today = calendar.startOfDay(for: clock())
        reading = Task { [weak self] in
            // A store that cannot be read is reported by the model, which reports too when it can be again.
            guard let all = try? await club.receipts(since: today, limit: Self.keptTaps), !Task.isCancelled else {
                return
            }
            self?.add(all)
        }
    }

    /// Follows nothing any more.
    public func viewDidDestroy() {
        stopObserving?()
        reading?.cancel()
    }

    private func add(_ new: [Receipt]) {
        let known = Set(receipts.map(\.eventID))
        receipts = (new.filter { !known.contains($0.eventID) } + receipts).sorted { $0.at > $1.at }
        if receipts.count > Self.keptTaps {
            for receipt in receipts[Self.keptTaps...] { rows[receipt.eventID] = nil }
            receipts.removeSubrange(Self.keptTaps...)
        }
        render()
    }

    private func render() {
        let (today, tomorrow) = calendar.day(of: clock())
        let over = receipts.firstIndex { $0.at < today } ?? receipts.count
        for receipt in receipts[over...] { rows[receipt.eventID] = nil }
        receipts.removeSubrange(over...)
        let words = scenes.words
        let scene = DeskScene(
            title: words.text(.tapsToday),
            visitsToday: words.text(.visitsToday, [.count: .number(model.status.visitsToday)]),
            trouble: model.status.trouble.map { _ in scenes.note(model.status) } ?? scenes.clockNote(model.status),
            taps: receipts.drop { $0.at >= tomorrow }.map(row)
        )
        guard shown?.scene != scene || shown?.theme != theme else { return }
        shown = (scene, theme)
        view?.show(scene, theme: theme)
    }

    private func row(_ receipt: Receipt) -> TapRow {
        if let row = rows[receipt.eventID] { return row }
        let row = scenes.row(of: receipt, showsName: showsNames)
        rows[receipt.eventID] = row
        return row
    }
}
