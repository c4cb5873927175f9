import ArgumentParser
import Foundation
import ReaderKit
import ReaderKitTesting
import ToolSupport

struct Emulate: ReportingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Presents a simulated card to any program, through pcscd, libnfc or a serial line.",
        discussion: """
            The card is a new one (--card; --list-cards shows the kinds), one that was recorded (--capture), or one \
            from a memory dump (--image: .mfd of nfc-mfclassic and nfc-mfultralight, .bin, .eml and .json of Proxmark, \
            .nfc of Flipper, .mct of MIFARE Classic Tool; of MIFARE Classic, Ultralight and NTAG21x). A FILE alone is a \
            capture or an image, as its content shows. --phone is a phone whose pass is made for the keys of --passes. The cards of a capture come one after the other, each tap the next.

            --via pcscd puts it on the virtual reader of vsmartcard, --via pn532 on a simulated PN532 board that \
            libnfc opens, and --via smart-reader lets a simulated S550 on a serial line report it: it comes and goes all \
            the time, for a second each, while a program has the terminal open.

            The virtual reader listens on every network interface and lets anybody insert cards. It has no place on a \
            kiosk.

            On the other two the card stays until the tool is interrupted. With --present, --absent or --times it is taken away and \
            presented again, as it is then. What programs say to the card is counted, and nothing of it is shown.

            EXAMPLES
              readerctl emulate --card ntag213 --ndef-uri https://club.example/m/42
              readerctl emulate --card classic-1k --ndef-text "4|U1|x|Ann" --via pn532
              readerctl emulate tap.capture --present 1 --absent 1 --times 20
              readerctl emulate --phone apple --passes passes.json --message M-1042 --via pn532

            JSON keys, by event: "reachable" has via, connection (the reader's name, what libnfc takes, or the path of \
            the terminal), card and times where it is given; "inserted", "removed" and "talked" have at, and the last \
            of them exchanges: all commands and frames until then; "ended" has exchanges. With --list-cards: name, \
            title, capacity (the longest message in bytes, absent where there can be none) and via.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var source: EmulatedCardOptions
    @OptionGroup var phone: EmulatedPhoneOptions
    @OptionGroup var place: EmulationOptions
    @OptionGroup var taps: EmulationTapOptions
    @Flag(help: "List the kinds of cards, and do nothing else.")
    var listCards = false

    func perform(_ out: Output) async throws {
        if listCards { return try list(out) }
        try place.check()
        try taps.check(place.via)
        let cards: [EmulatedCard]
        if let phone = try await phone.card() {
            guard source.isEmpty else {
                throw ValidationError("--phone takes the place of a card: leave FILE, --card and the like out.")
            }
            cards = [phone]
        } else {
            cards = try await source.cards()
        }
        for card in cards {
            if let obstacle = place.via.obstacle(to: card.make()) {
                throw ValidationError("\(card.name) cannot be presented with --via \(place.via): \(obstacle).")
            }
        }
        try await Emulation(stage: place.stage(), cards: cards, taps: taps, output: out).run()
    }

    private func list(_ out: Output) throws {
        for kind in SimulatedCardCatalog.kinds {
            let card = try SimulatedCardCatalog.make(kind.name)
            let ways = EmulationWay.allCases.filter { $0.obstacle(to: card) == nil }
            let capacity = kind.capacity.map { ", messages up to " + counted($0, "byte") } ?? ""
            try out.result(
                fields: ["name": kind.name, "title": kind.title, "capacity": kind.capacity, "via": ways],
                text: kind.name.padded(to: 20) + kind.title + capacity
            )
        }
    }
}
