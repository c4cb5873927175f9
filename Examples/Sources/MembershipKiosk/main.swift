// A kiosk in a few lines: a card on a reader becomes a member's visit.
//
//   swift run MembershipKiosk                                       the readers of this machine, until Control-C
//   swift run MembershipKiosk ../Fixtures/day/01-morning.capture    a recording, on a club in memory

import ClubKit
import ReaderKit

func serve(_ backend: some ReaderBackend, database: DatabaseLocation) async throws {
    let desk = Desk()
    let club = Club(configuration: ClubConfiguration(database: database))
        .setDelegate(to: desk)
        .setCustomMembershipUser(classType: CustomMembershipUser.self)
    try await club.open()
    for await receipt in club.receipts(of: CardScanner(backend).taps()) {
        print(receipt.outcome.name, receipt.member?.userId ?? receipt.outcome.reason?.message ?? "")
    }
    try await club.close()
    // The club holds its delegate weakly.
    withExtendedLifetime(desk) {}
}

if let file = CommandLine.arguments.dropFirst().first {
    try await serve(ReplayBackend([try Capture(contentsOf: file)]), database: .memory)
} else {
    try await serve(PCSCBackend(), database: .file(path: "club.sqlite"))
}
