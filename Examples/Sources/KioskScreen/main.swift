// A kiosk with a screen of its own.
//
//   swift run KioskScreen                                            the readers of this machine, until Control-C
//   swift run KioskScreen ../Fixtures/day/01-morning.capture         a recording, without a reader

import ClubKit
import Foundation
import KioskKit
import ReaderKit

// Data: members and readers.
let captures = CommandLine.arguments.dropFirst()
let club = Club(configuration: ClubConfiguration(database: .memory))
let backend: any ReaderBackend =
    captures.isEmpty ? PCSCBackend() : ReplayBackend(try CaptureFiles.load(Array(captures)))
try await club.open()

// Use cases: what the kiosk knows follows the readers and the store.
let model = KioskModel()
let following = Task { try await model.follow(club) }

// Presentation: a presenter, and the view that it drives.
var theme = Theme()
theme.clubName = "Riverside Gym"
let view = PrintedTodayView()
let screen = Screen(TodayPresenter(model, theme: theme), view: view, shownAs: view)
screen.appear()

var latest: Receipt?
for await event in CardScanner(backend).events() {
    model.note(event)
    if case .scan(let tap) = event { latest = try await club.receive(tap) }
}
// A recording ends before its last tap is shown.
while let latest, model.status.lastTap != latest { try await Task.sleep(for: .milliseconds(10)) }
screen.destroy()
following.cancel()
try await club.close()
