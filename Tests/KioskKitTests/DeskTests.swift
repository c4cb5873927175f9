import ClubKit
import Foundation
import ReaderKit
import TestSupport
import Testing

@testable import KioskKit

@MainActor
private final class RecordingDesk: DeskView {
    var scenes: [DeskScene] = []

    func show(_ scene: DeskScene, theme: Theme) { scenes.append(scene) }
}

@MainActor
@Suite("The desk's screen", .timeLimit(.minutes(5))) struct DeskTests {
    private var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    private func receipt(_ name: String, at date: Date) -> Receipt {
        var receipt = Receipt(eventID: UUID(), at: date, reader: "Reader", backend: .simulated, outcome: .visit)
        receipt.member = Member(userId: name, username: name, numVisits: 3)
        return receipt
    }

    @Test("Today's taps, the newest first, without names unless they are asked for; those of yesterday go at midnight")
    func today() throws {
        let midnight = try #require(ISO8601DateFormatter().date(from: "2026-11-25T00:00:00Z"))
        let now = Shared(midnight - 3600)
        let clock: @Sendable () -> Date = { now.withLock(\.self) }
        let model = KioskModel(calendar: calendar, clock: clock)
        model.note(.reader(.readerAdded(ReaderInfo(name: "Reader", backend: .simulated))))
        let (plain, named) = (RecordingDesk(), RecordingDesk())
        let screens = [(false, plain), (true, named)].map { showsNames, view in
            let presenter = DeskPresenter(model, showsNames: showsNames, calendar: calendar, clock: clock)
            return (presenter, Screen(presenter, view: view, shownAs: view))
        }
        for (_, screen) in screens { screen.appear() }
        #expect(named.scenes.map(\.title) == ["Taps today"] && named.scenes[0].taps == [])
        let later = RecordedTap(receipt: receipt("Bea", at: midnight - 1800))
        model.note(recorded: later, visitsToday: 1)
        model.note(recorded: RecordedTap(receipt: receipt("Ann", at: midnight - 3600)), visitsToday: 2)
        #expect(named.scenes.last?.taps.map(\.text) == ["Bea", "Ann"])
        #expect(plain.scenes.last?.taps.map(\.text) == ["Member", "Member"])
        #expect(named.scenes.last?.visitsToday == "2 visits today" && named.scenes.last?.trouble == nil)
        // A tap that is reported twice is one, and a status that changes nothing is not shown again.
        let count = named.scenes.count
        model.note(recorded: later)
        #expect(named.scenes.last?.taps.count == 2 && named.scenes.count == count)
        model.note(.reader(.serviceLost(ReaderError(.serviceStopped, attempting: "wait for readers"))))
        #expect(named.scenes.last?.trouble?.isEmpty == false)
        var theme = Theme()
        theme.language = .german
        screens[1].0.theme = theme
        #expect(named.scenes.last?.title == "Heute" && named.scenes.last?.taps.first?.detail == "Besuch Nummer 3")
        now.withLock { $0 = midnight + 60 }
        model.note(recorded: RecordedTap(receipt: receipt("Cem", at: midnight + 60)))
        #expect(named.scenes.last?.taps.map(\.text) == ["Cem"])
        for (_, screen) in screens { screen.destroy() }
    }

    @Test("The taps of before the start are read from the club, of other processes too, and no more than are kept")
    func before() async throws {
        let test = try TestClub()
        try await test.club.open()
        for number in 1...12 { _ = try await test.club.receive(test.tap("M\(number)", name: "Member \(number)")) }
        #expect(
            try await test.club.receipts(since: .distantPast, limit: 3).compactMap(\.member?.username)
                == ["Member 12", "Member 11", "Member 10"]
        )
        #expect(try await test.club.receipts(since: .distantFuture, limit: 3) == [])
        #expect(try await test.club.receipts(since: .distantPast, limit: -1) == [])
        let view = RecordingDesk()
        let clock = test.club.configuration.clock
        let presenter = DeskPresenter(KioskModel(), club: test.club, showsNames: true, calendar: calendar, clock: clock)
        let screen = Screen(presenter, view: view, shownAs: view)
        screen.appear()
        try await until { view.scenes.last?.taps.count == 12 }
        #expect(view.scenes.last?.taps.first?.text == "Member 12")
        screen.destroy()
        try await test.club.close()
    }
}
