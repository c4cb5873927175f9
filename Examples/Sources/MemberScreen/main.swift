// The custom user and the list of members of the original library's documentation, as a program.
//
//   swift run MemberScreen                                       the readers of this machine, until Control-C
//   swift run MemberScreen ../Fixtures/day/01-morning.capture    a recording, on a club in memory
//
// It is built twice, the second time (MemberScreenOnMainActor) with everything isolated to the main actor by default.

import ClubKit
import Dispatch
import ReaderKit

let club: Club
if let file = CommandLine.arguments.dropFirst().first {
    club = Club(configuration: ClubConfiguration(database: .memory))
    club.setCapture(instance: ReplayBackend([try Capture(contentsOf: file)]))
} else {
    club = Club.shared
}
let kiosk = Kiosk(club)
kiosk.setupClub()
// The callbacks come on the main queue, which has to run for that.
dispatchMain()
