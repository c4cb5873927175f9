import ClubKit
import Foundation
import ReaderKit
import TestSupport
import Testing

@testable import KioskKit

@MainActor
private final class RecordingView: VisitorView {
    var scenes: [VisitorScene] = []
    var rows: [TapRow] = []
    func show(_ scene: VisitorScene, taps: [TapRow], theme: Theme) {
        if scenes.last != scene { scenes.append(scene) }
        rows = taps
    }
    var titles: [String] { scenes.map(\.title) }
}

@Suite struct SceneQueueTests {
    private static func news(_ text: String) -> SceneQueue.Content {
        .announcement(text, UUID(uuidString: "00000000-0000-0000-0000-000000000000") ?? UUID())
    }

    @Test("A scene alone has its time; while others wait, each is shown for a shorter one")
    func times() {
        var queue = SceneQueue()
        let start = ContinuousClock.now
        func content(after seconds: Double) -> SceneQueue.Content? {
            queue.advance(to: start + .seconds(seconds))
            return queue.current
        }
        #expect(queue.end == nil)
        queue.add(Self.news("A"), for: .seconds(4), at: start)
        #expect(content(after: 3.9) == Self.news("A") && queue.end == start + .seconds(4))
        #expect(content(after: 4) == nil)
        queue.add(Self.news("B"), for: .seconds(4), at: start + .seconds(10))
        queue.add(Self.news("C"), for: .seconds(4), at: start + .seconds(10.2))
        #expect(content(after: 11.4) == Self.news("B"))
        #expect(content(after: 11.5) == Self.news("C"))
        #expect(content(after: 15.4) == Self.news("C"))
        // One that comes when the shown one has had its short time is shown at once.
        queue.add(Self.news("D"), for: .seconds(4), at: start + .seconds(15.45))
        #expect(content(after: 15.45) == Self.news("D"))
    }

    @Test("Many that come together are each shown, each for 0.3 s at least, but no more than fifty wait")
    func many() {
        var queue = SceneQueue()
        var now = ContinuousClock.now
        for number in 0..<60 { queue.add(Self.news("\(number)"), for: .seconds(4), at: now) }
        var shown: [SceneQueue.Content] = []
        while let content = queue.current {
            shown.append(content)
            let end = queue.end ?? now
            #expect(now.duration(to: end) >= .milliseconds(300))
            now = end
            queue.advance(to: now)
        }
        #expect(shown == ([0] + (10..<60)).map { Self.news("\($0)") })
    }

    @Test("After a pause of the process, what waited is still shown")
    func late() {
        var queue = SceneQueue()
        let start = ContinuousClock.now
        for title in ["A", "B"] { queue.add(Self.news(title), for: .seconds(4), at: start) }
        queue.advance(to: start + .seconds(60))
        #expect(queue.current == Self.news("B") && queue.end == start + .seconds(64))
    }
}

@Suite struct VisitorScenesTests {
    private static let at = Date(timeIntervalSince1970: 1_790_000_000)
    private let scenes = VisitorScenes(Theme(), in: .gmt)

    private func tap(_ outcome: Receipt.Outcome, visits: Int = 2, name: String? = "Ann", birthday: String? = nil)
        -> RecordedTap
    {
        var receipt = Receipt(eventID: UUID(), at: Self.at, reader: "Front", backend: .simulated, outcome: outcome)
        let fields = birthday.map { ["birthday": FieldValue.string($0)] } ?? [:]
        receipt.member = Member(userId: "U1", username: name, numVisits: visits, fields: fields)
        return RecordedTap(receipt: receipt)
    }

    @Test("Which scene a tap is answered with")
    func kinds() {
        let rows: [(RecordedTap, VisitorScene.Kind, String)] = [
            (tap(.created, visits: 1), .firstVisit, "Welcome, Ann"), (tap(.created, name: ""), .firstVisit, "Welcome"),
            (tap(.visit), .visit, "Welcome, Ann"), (tap(.visit, name: nil), .visit, "Welcome"),
            (tap(.visit, visits: 10), .milestone, "Welcome, Ann"), (tap(.visit, visits: 11), .visit, "Welcome, Ann"),
            (tap(.visit, birthday: "1990-09-21"), .birthday, "Happy birthday, Ann!"),
            (tap(.visit, name: nil, birthday: "09-21"), .birthday, "Happy birthday!"),
            (tap(.visit, birthday: "1990-09-22"), .visit, "Welcome, Ann"),
            (tap(.visit, birthday: "soon"), .visit, "Welcome, Ann"), (tap(.repeat), .alreadyCounted, "Already counted"),
            (tap(.rejected(.init(.expired, ""))), .refused, "Your membership has ended"),
            (tap(.rejected(.init(.card(.cardRemoved), ""))), .holdLonger, "Please hold it a little longer"),
            (tap(.ignored(.init(.maintenance, ""))), .maintenance, "This kiosk is under maintenance"),
        ]
        for (tap, kind, title) in rows {
            let scene = scenes.answer(to: tap)
            #expect(scene.kind == kind && scene.title == title, "\(tap.receipt.outcome)")
        }
    }

    @Test("Notices, stamps and rewards of a visit")
    func details() {
        var tap = tap(.visit, visits: 7)
        tap.receipt.notices = [.visitsLeft(1), .expiresSoon(Date(timeIntervalSince1970: 1_790_100_000))]
        tap.stampCard = StampCard(scenario: "coffee", title: "a coffee", stamps: 7, size: 10)
        tap.rewards = ["This coffee is on us."]
        let scene = scenes.answer(to: tap)
        #expect(scene.lines[0] == "Visit number 7" && scene.lines[1] == "1 visit left")
        #expect(scene.lines[2].contains("2026") && scene.lines[3] == "3 more visits until: a coffee")
        #expect(scene.stamps == .init(filled: 7, total: 10) && scene.rewards == ["This coffee is on us."])
    }

    @Test("What is shown at rest follows from the state and from trouble")
    func rest() {
        var status = KioskStatus()
        #expect(scenes.rest(status).kind == .readerTrouble && scenes.rest(status).note != nil)
        status.readers = [.init(reader: ReaderInfo(name: "Front", backend: .simulated))]
        #expect(scenes.rest(status).kind == .rest && scenes.rest(status).lines == [])
        #expect(scenes.rest(status).note == nil)
        status.wrongDay = Date(timeIntervalSince1970: 43_200)
        #expect(scenes.rest(status).kind == .rest && scenes.rest(status).note?.contains("1970") == true)
        status.state = .idle
        #expect(scenes.rest(status).kind == .idle && scenes.rest(status).note?.contains("1970") == true)
        status.state = .maintenance
        #expect(scenes.rest(status).kind == .maintenance)
        status.readers = []
        #expect(scenes.rest(status).kind == .maintenance)
        status.storageFault = ClubError(.diskFull, attempting: "record a tap")
        #expect(scenes.rest(status).kind == .storageTrouble)
        var theme = Theme()
        theme.place = "beside the door"
        #expect(VisitorScenes(theme).rest(KioskStatus()).lines.count == 1)
    }

    @Test("A name that is markup, control or turned round stays what it is: a name")
    func hostileNames() {
        let scene = scenes.answer(to: tap(.visit, name: "A\u{1B}[2J\u{202E}nn\n"))
        #expect(scene.title == "Welcome, A [2Jnn")
    }

    @Test("Rows of the list show a name only where they may")
    func rows() {
        let counted = tap(.visit, visits: 3).receipt
        #expect(scenes.row(of: counted, showsName: true).text == "Ann")
        #expect(scenes.row(of: counted, showsName: false).text == "Member")
        #expect(scenes.row(of: counted, showsName: true).detail == "Visit number 3")
        var unknown = counted
        unknown.member = nil
        unknown.outcome = .rejected(.init(.unknownCard, ""))
        #expect(scenes.row(of: unknown, showsName: true).text == "Card not recognised")
        #expect(scenes.row(of: tap(.visit, name: nil).receipt, showsName: true).text == "Member")
    }
}

@MainActor
@Suite(.timeLimit(.minutes(10))) struct VisitorPresenterTests {
    private let reader = ReaderInfo(name: "Reader", backend: .simulated)

    private func receipt(_ name: String, _ outcome: Receipt.Outcome = .visit) -> RecordedTap {
        var receipt = Receipt(eventID: UUID(), at: Date(), reader: "Reader", backend: .simulated, outcome: outcome)
        receipt.member = Member(userId: name, username: name, numVisits: 3)
        return RecordedTap(receipt: receipt)
    }

    @Test("Rest, reading, greeting, rest again; the name is gone from the list after its time")
    func scenes() async throws {
        let model = KioskModel()
        model.note(.reader(.readerAdded(reader)))
        var theme = Theme()
        (theme.greetingSeconds, theme.privacySeconds) = (0.1, 0.2)
        let presenter = VisitorPresenter(model, theme: theme)
        let view = RecordingView()
        let screen = Screen(presenter, view: view, shownAs: view)
        screen.appear()
        #expect(view.scenes.map(\.kind) == [.rest])
        let presence = CardPresence(reader: reader, number: 1, facts: CardFacts(), at: Date())
        model.note(.reader(.cardInserted(presence)))
        model.note(recorded: receipt("Ann"))
        #expect(view.rows.map(\.text) == ["Ann"])
        try await until { view.scenes.last?.kind == .rest }
        #expect(
            view.titles == [
                "Hold your card or phone here", "Reading … please hold still", "Welcome, Ann",
                "Hold your card or phone here",
            ]
        )
        try await until { view.rows.map(\.text) == ["Member"] }
        theme.language = .german
        presenter.theme = theme
        #expect(view.scenes.last?.language == .german && view.rows.map(\.text) == ["Mitglied"])
        model.announce("We close at eight.")
        #expect(view.scenes.last?.lines == ["We close at eight."])
        // While it is shown.
        theme.language = .english
        presenter.theme = theme
        #expect(view.scenes.last?.language == .english && view.scenes.last?.lines == ["We close at eight."])
        screen.destroy()
        let count = view.scenes.count
        model.note(recorded: receipt("Bea"))
        #expect(view.scenes.count == count)
    }

    @Test("Twenty quick taps are each shown, in order, and the list has the newest first")
    func quickTaps() async throws {
        let model = KioskModel()
        model.note(.reader(.readerAdded(reader)))
        var theme = Theme()
        theme.greetingSeconds = 0.05
        let presenter = VisitorPresenter(model, theme: theme, showsNames: true)
        let view = RecordingView()
        let screen = Screen(presenter, view: view, shownAs: view)
        screen.appear()
        let names = (1...20).map { "M\($0)" }
        for name in names { model.note(recorded: receipt(name)) }
        #expect(view.rows.map(\.text) == names.reversed())
        try await until { view.scenes.count >= 22 }
        #expect(view.titles.dropFirst().dropLast() == names.map { "Welcome, \($0)" }[...])
        for number in 1...200 { model.note(recorded: receipt("N\(number)", .repeat)) }
        #expect(view.rows.count == VisitorPresenter.keptTaps && view.rows.first?.text == "N200")
        screen.destroy()
    }
}

@Suite struct SampleScenesTests {
    @Test("There is a sample of every kind in every language, in that kind and language", arguments: Language.allCases)
    func samples(language: Language) {
        var theme = Theme()
        theme.language = language
        let samples = VisitorScenes(theme, in: .gmt).samples()
        #expect(samples.map(\.kind) == VisitorScene.Kind.allCases)
        #expect(samples.allSatisfy { $0.language == language && !$0.title.isEmpty })
    }
}
