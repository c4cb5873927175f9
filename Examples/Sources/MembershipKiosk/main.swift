// A kiosk in a few lines: a card on a reader becomes a member's visit.
//
//   swift run MembershipKiosk                                       the readers of this machine, until Control-C
//   swift run MembershipKiosk ../Fixtures/day/01-morning.capture    a recording, on a club in memory

import ClubKit
import ReaderKit

var backend: any ReaderBackend = PCSCBackend()
var database = DatabaseLocation.file(path: "club.sqlite")
if let file = CommandLine.arguments.dropFirst().first {
    backend = ReplayBackend([try Capture(contentsOf: file)])
    database = .memory
}

let desk = Desk()
let club = Club(configuration: ClubConfiguration(database: database))
    .setDelegate(to: desk)
    .setCustomMembershipUser(classType: CustomMembershipUser.self)
try await club.open()
for await case .scan(let tap) in CardScanner(backend).events() {
    let receipt = try await club.receive(tap)
    if let reason = receipt.outcome.reason { print(reason.message) }
}
try await club.close()
