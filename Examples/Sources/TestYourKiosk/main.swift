// Proves a kiosk without a reader and without a card: a simulated card is presented, read by the real scanner and
// received by the real club. In a test target the checks would be #expect.
//
//   swift run TestYourKiosk

import ClubKit
import Foundation
import ReaderKit
import ReaderKitTesting

func check(_ condition: Bool, _ what: String) {
    print(condition ? "ok      \(what)" : "FAILED  \(what)")
    if !condition { exit(1) }
}

let message = try NDEFMessage([.text("4|U1|x|Ann", language: "en")]).encoded()
let card = SimulatedNTAG.formatted(.ntag213, message: message)
let backend = SimulatedBackend()
let club = Club(configuration: ClubConfiguration(database: .memory))
try await club.open()

if let card, let presence = backend.insert(card) {
    let tap = await CardScanner(backend).scan(presence)
    let receipt = try await club.receive(tap)
    print(receipt.outcome.name, receipt.member?.username ?? "nobody")  // created Ann
    check(receipt.outcome == .created && receipt.member?.username == "Ann", "an unknown card becomes a member")
    check(try await club.receive(tap) == receipt, "the same tap given again changes nothing")
}

if let card, let presence = backend.insert(card) {
    let tap = await CardScanner(backend).scan(presence)
    check(try await club.receive(tap).outcome == .repeat, "a second tap at once is not counted")
}

if let card, let presence = backend.insert(card, faults: [.tear(beforeExchange: 2)]) {
    let tap = await CardScanner(backend).scan(presence)
    let reason = try await club.receive(tap).outcome.reason
    check(reason?.code == .card(.cardRemoved), "a card that is taken away too early is nobody's")
}

check(try await club.members().map(\.numVisits) == [1], "one member, one visit")
try await club.close()
