import ReaderKit

/// A simulated PN532 board on a serial line: a ``PN532Chip`` behind a pseudo-terminal.
///
/// To a program that uses libnfc, or speaks to such boards itself, there is no difference to a board with a card on it.
/// It is reachable at ``connectionString`` as long as it is plugged in. A thread of its own serves it, which sleeps
/// while nothing comes over the line; what is done to the board takes effect at once, from any thread.
public final class PN532Terminal: Sendable {
    /// The symbolic link under which the board is reachable, however often it goes and comes back, if it has one.
    public var link: String? { terminal.link }

    private let habits: PN532Chip.Habits
    private let board: PN532Board
    private let terminal: PluggableTerminal

    /// Plugs a board in.
    ///
    /// - Parameter link: a path for a symbolic link to the terminal, whose own name differs each time. A link that is
    ///   there is replaced; anything else is an error. It is removed with the terminal.
    /// - Throws: ``ReaderError/Kind/readerUnavailable`` if there is no pseudo-terminal to be had, or the link cannot be
    ///   made.
    public init(link: String? = nil, habits: PN532Chip.Habits = .init()) throws(ReaderError) {
        self.habits = habits
        board = PN532Board(PN532Chip(habits))
        terminal = PluggableTerminal(board, link: link)
        try plugIn()
    }

    // MARK: Where it is

    /// The path of the terminal: the link, if there is one. `nil` while the board is not plugged in.
    public var path: String? { terminal.path }

    /// What libnfc takes to find the board, such as `pn532_uart:/dev/pts/3`; `nil` while it is not plugged in.
    public var connectionString: String? { path.map { "pn532_uart:" + $0 } }

    /// Whether the board is plugged in.
    public var isPluggedIn: Bool { terminal.isPluggedIn }

    /// Pulls the plug: the terminal is gone for whoever has it open, and the link too. The card stays where it is, without
    /// power. Returns when nothing is left of the terminal; nothing happens if it is not plugged in.
    public func unplug() { terminal.unplug() }

    /// Plugs the board in again, on a new terminal, or throws as ``init(link:habits:)``: the chip starts anew, and the
    /// card gets power when its field is switched on. Nothing happens if it is plugged in.
    public func plugIn() throws(ReaderError) {
        try terminal.plugIn { board.restart(PN532Chip(habits)) }
    }

    // MARK: The card

    /// Lays a card on the board; one that is there is taken away first.
    public func insert(_ card: any SimulatedCard) { board.insert(card) }

    /// Takes the card away; nothing happens if there is none.
    public func remove() { board.state.withLock { $0.chip.remove() } }

    /// Whether a card lies on the board. After a tear there is none.
    public var hasCard: Bool { board.chip.hasCard }

    /// How many APDUs and frames have reached cards, without those by which cards are found.
    public var exchanges: Int { board.chip.exchanges }

    /// How many commands the chip took since it was plugged in.
    public var commands: Int { board.chip.commands }

    /// Whether a command waits for a card.
    public var isWaitingForCard: Bool { board.chip.isWaiting }

    /// Whether the chip's field is on.
    public var isFieldOn: Bool { board.chip.isFieldOn }

    // MARK: What goes wrong

    /// Plans that the card is taken away at an exchange, counted from 0 over those to come, or after it carried that
    /// out, its answer being lost.
    public func tear(atExchange exchange: Int, afterwards: Bool = false) {
        board.state.withLock { $0.chip.tear(atExchange: exchange, afterwards: afterwards) }
    }

    /// How long each answer takes from now on, behind the acknowledgement of its command.
    public var delay: Duration {
        get { board.state.withLock { $0.output.delay } }
        set { board.state.withLock { $0.output.delay = newValue } }
    }

    /// The noise on the line from now on, in both directions; `nil` is none.
    public func setNoise(_ noise: LineNoise?) { board.state.withLock { $0.output.noise = noise } }

    /// Sends bytes to the program that are none of the chip's.
    public func send(noise bytes: [UInt8]) { board.send(bytes) }

    /// Leaves the chip as a program that was killed in the middle leaves some boards: it answers nothing until an
    /// acknowledgement frame makes it give up what it was at, or it is plugged in anew.
    public func hang() { board.state.withLock { $0.chip.isHanging = true } }
}

extension PN532Terminal {
    /// Why a program could make nothing of a card on such a board, in words; `nil` if it could.
    ///
    /// The chip knows nothing of ISO 15693. A recorded card has to bring its identifier, and the frames or APDUs that
    /// were exchanged with it: of what a PC/SC reader did by commands of its own, the frames are not known.
    public static func obstacle(to card: any SimulatedCard) -> String? {
        var inner = card
        while let torn = inner as? TornCard { inner = torn.card }
        if inner.kind.isVicinity { return "a PN532 cannot reach cards of ISO 15693" }
        if let recorded = inner as? RecordedCard {
            if recorded.uid.isEmpty { return "the capture does not tell the card's identifier" }
            let exchanges = recorded.presentation.exchanges
            let isReaders = exchanges.contains { $0.request.apdu.map { !$0.starts(with: [0xFF, 0xCA]) } ?? false }
            if case .storage = recorded.kind, isReaders, !exchanges.contains(where: \.request.isFrame) {
                return
                    "the capture has only what a PC/SC reader answered for the card, and none of the card's own frames"
            }
        }
        return RadioFace(card, uid: card.uid) == nil ? "a PN532 cannot see such a card" : nil
    }
}
