import ClubKit
import Foundation
import KioskKit
import ReaderKit
import Testing

@testable import KioskScreen

/// A view for tests: it keeps what it is to show.
private final class KeptTodayView: TodayView {
    var shown: [[String]] = []

    func show(_ answer: [String], today: String) { shown.append(answer + [today]) }
}

@MainActor
@Test(.timeLimit(.minutes(1)))
func aTapIsAnswered() async throws {
    let reception = Reception(Club(configuration: ClubConfiguration(database: .memory)))
    let kept = KeptTodayView()
    let screen = Screen(TodayPresenter(reception.model, theme: Theme()), view: kept, shownAs: kept)
    screen.appear()
    #expect(kept.shown == [["0 visits today"]])
    let capture = try Capture(contentsOf: "Tests/captures/member.capture")
    try await reception.serve(ReplayBackend([capture], startOf: { _ in Date() }))
    #expect(kept.shown.last == ["Welcome, Ann", "This is your first visit. Great to have you here!", "1 visit today"])
    screen.destroy()
}
