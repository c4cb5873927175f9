// A kiosk with a screen of its own.
//
//   swift run KioskScreen                                       the readers of this machine, until Control-C
//   swift run KioskScreen ../Fixtures/day/01-morning.capture    a recording, on a club in memory

import ClubKit
import Foundation
import KioskKit
import ReaderKit

// Data: members and readers.
let club: Club
let backend: any ReaderBackend
if let file = CommandLine.arguments.dropFirst().first {
    club = Club(configuration: ClubConfiguration(database: .memory))
    // The screen answers taps of the present, so the recording begins now.
    backend = ReplayBackend([try Capture(contentsOf: file)], startOf: { _ in Date() })
} else {
    club = Club(configuration: ClubConfiguration(database: .file(path: "club.sqlite")))
    backend = PCSCBackend()
}

// Use case, view and presentation.
let reception = Reception(club)
let view = PrintedTodayView()
let screen = Screen(TodayPresenter(reception.model, theme: Theme()), view: view, shownAs: view)
screen.appear()
try await reception.serve(backend)
screen.destroy()
