import ReaderKit
import ReaderKitTesting
import Synchronization

/// Where simulated cards are presented to other programs.
protocol EmulationStage: Sendable {
    var way: EmulationWay { get }

    /// What a program takes to get there.
    var connection: String { get }

    /// What a person should know.
    var hints: [String] { get }

    /// How many commands and frames programs have exchanged with cards.
    var exchanges: Int { get }

    /// What grows whenever a program does something here, if only look for cards.
    var activity: Int { get }

    /// Whether a card that is presented now is lost, since no program is there to be notified of it.
    var isUnheard: Bool { get }

    /// Presents a card.
    func insert(_ card: any SimulatedCard) throws

    /// Takes it away.
    func remove()

    /// Waits until the card that was presented first can be reached.
    func untilReachable() async throws

    /// Throws when nobody can reach the card any more.
    func check() throws(ReaderError)
}

extension EmulationStage {
    var activity: Int { exchanges }

    var isUnheard: Bool { false }

    func check() {}

    func untilReachable() async throws {}
}

/// The virtual reader of pcscd.
struct VirtualReaderStage: EmulationStage {
    let way = EmulationWay.pcscd
    let connection: String
    private let reader: VirtualCardReader

    init(slot: Int) {
        connection = slot == 2 ? "Virtual PCD 00 01" : "Virtual PCD 00 00"
        reader = VirtualCardReader(port: slot == 2 ? VirtualCardReader.secondPort : VirtualCardReader.firstPort)
    }

    var hints: [String] {
        [
            "Any PC/SC program reads it: pcsc_scan, or readerctl scan --reader \"\(connection)\"",
            "The virtual reader listens on every network interface and lets anybody insert cards: it has no place on a "
                + "kiosk.",
        ]
    }

    var exchanges: Int { reader.exchanges }

    func insert(_ card: any SimulatedCard) throws {
        do throws(ReaderError) {
            try reader.present(card)
        } catch {
            var error = error
            error.advice =
                "Install the virtual reader (Debian: apt install vsmartcard-vpcd) and start pcscd anew "
                + "(systemctl restart pcscd). Or take --via pn532."
            throw error
        }
    }

    func remove() { reader.remove() }

    func untilReachable() async throws {
        let end = ContinuousClock.now + VirtualCardReader.settlingTime * 4
        while !reader.isSeen {
            try check()
            guard end > .now else {
                reader.remove()
                throw ReaderError(
                    .readerUnavailable,
                    attempting: "present a card on \(connection)",
                    detail: "another program presents a card there",
                    advice: "End that program, take the other slot (--slot), or --via pn532."
                )
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func check() throws(ReaderError) {
        guard !reader.isPresenting else { return }
        throw ReaderError(
            .readerUnavailable,
            attempting: "present a card on \(connection)",
            detail: "pcscd has ended",
            advice: "Start it again, and this tool then."
        )
    }
}

/// A PN532 board on a pseudo-terminal.
struct PN532Stage: EmulationStage {
    let way = EmulationWay.pn532
    let connection: String
    private let terminal: PN532Terminal

    init(_ terminal: PN532Terminal) {
        self.terminal = terminal
        connection = terminal.connectionString ?? ""
    }

    var hints: [String] { ["Any libnfc program reads it: LIBNFC_DEFAULT_DEVICE=\(connection) nfc-list -v"] }

    var exchanges: Int { terminal.exchanges }

    var activity: Int { terminal.commands }

    func insert(_ card: any SimulatedCard) { terminal.insert(card) }

    func remove() { terminal.remove() }
}

/// An S550 in Smart Reader mode on a pseudo-terminal.
final class SmartReaderStage: EmulationStage {
    let way = EmulationWay.smartReader
    let connection: String
    private let terminal: SmartReaderTerminal
    private let here = Mutex<(any SimulatedCard)?>(nil)

    init(_ terminal: SmartReaderTerminal) {
        self.terminal = terminal
        connection = terminal.path ?? ""
    }

    var hints: [String] {
        [
            "A line comes at each tap, while a program has the terminal open: "
                + "readerctl scan --reader smart-reader:\(connection)"
        ]
    }

    /// Nobody asks such a reader anything.
    var exchanges: Int { 0 }

    var isUnheard: Bool { !terminal.isOpenedByProgram }

    func insert(_ card: any SimulatedCard) throws {
        // A reader that reports when cards come and go: what comes again is a tap again, however soon.
        try report(card, .insert)
        here.withLock { $0 = card }
    }

    func remove() {
        guard let card = here.withLock({ $0.take() }) else { return }
        switch terminal.format {
        case .scrdr, .json: try? report(card, .remove)
        // They have no way to report it: their line would be another tap.
        case .mk1, .plain: break
        }
    }

    private func report(_ card: any SimulatedCard, _ move: SmartReaderTag.Move) throws {
        do throws(SmartReaderLineError) {
            try terminal.report(card, move: move)
        } catch {
            throw ReaderError(
                .unsupported,
                attempting: "report the card by a line of the form '\(terminal.format.rawValue)'",
                detail: error.code.fact,
                advice: "Take another form (--line-format), or --via pn532."
            )
        }
    }
}
