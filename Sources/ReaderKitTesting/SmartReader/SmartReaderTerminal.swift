import ReaderKit

/// A simulated S550 in Smart Reader mode on a serial line: it reads a card by itself and sends a line that reports it.
///
/// It is reachable at ``path`` as long as it is plugged in. What is done to it takes effect at once, from any thread; a
/// line is lost if nobody has the terminal open.
public final class SmartReaderTerminal: Sendable {
    /// The form of its lines (register 02A0).
    public let format: SmartReaderFormat

    /// What stands before and behind each identifier in plain text (registers 02A8 and 02A9).
    public let prefix: [UInt8], suffix: [UInt8]

    private let board = SmartReaderBoard()
    private let terminal: PluggableTerminal

    /// Plugs a reader in, with the form of its lines, and what stands before and behind each identifier in plain text.
    ///
    /// - Parameter link: a path for a symbolic link to the terminal, whose own name differs each time. A link that is
    ///   there is replaced; anything else is an error. It is removed with the terminal.
    /// - Throws: ``ReaderError/Kind/readerUnavailable`` if there is no pseudo-terminal to be had, or the link cannot be
    ///   made.
    public init(
        link: String? = nil,
        format: SmartReaderFormat = .scrdr,
        prefix: [UInt8] = [],
        suffix: [UInt8] = [0x0A]
    ) throws(ReaderError) {
        self.format = format
        self.prefix = prefix
        self.suffix = suffix
        terminal = PluggableTerminal(board, link: link)
        try plugIn()
    }

    // MARK: Where it is

    /// The symbolic link under which it is reachable, however often it goes and comes back, if it has one.
    public var link: String? { terminal.link }

    /// The path of the terminal: the link, if there is one. `nil` while it is not plugged in.
    public var path: String? { terminal.path }

    /// Whether it is plugged in.
    public var isPluggedIn: Bool { terminal.isPluggedIn }

    /// Whether a program has the terminal open, so that a line that is sent now reaches it.
    public var isOpenedByProgram: Bool { terminal.isOpenedByProgram }

    /// Pulls the plug: the terminal is gone for whoever has it open, and the link too. Returns when nothing is left of the
    /// terminal; nothing happens if it is not plugged in.
    public func unplug() { terminal.unplug() }

    /// Plugs it in again, on a new terminal, or throws as ``init(link:format:prefix:suffix:)``. Nothing happens if it
    /// is plugged in.
    public func plugIn() throws(ReaderError) { try terminal.plugIn() }

    // MARK: What it reads

    /// Reads a card as a template for NDEF does, and sends its identifier and the text or address of its message;
    /// `move` is what the line states that the card did, if the reader follows it.
    ///
    /// - Throws: ``SmartReaderLineError`` if the format cannot hold what is on the card, or nothing is to be read.
    public func report(
        _ card: any SimulatedCard,
        template: UInt8 = 1,
        move: SmartReaderTag.Move? = nil
    ) throws(SmartReaderLineError) {
        try report(SmartReaderTag(reading: card, template: template, move: move))
    }

    /// Sends the line of a wallet's pass, as its template reads it: D1 is Apple's, D2 Google's. The identifier that the
    /// phone shows is another one each time. Throws ``SmartReaderLineError`` if the format cannot hold it.
    public func report(
        pass id: String,
        template: UInt8,
        tag: [UInt8] = [0x08, 0x11, 0x22, 0x33]
    ) throws(SmartReaderLineError) {
        try report(SmartReaderTag(interface: "01", radioProtocol: "01", template: template, id: tag.hex, data: id))
    }

    /// Sends a line, or throws ``SmartReaderLineError`` if the format cannot hold it.
    public func report(_ tag: SmartReaderTag) throws(SmartReaderLineError) {
        board.send(try bytes(of: tag))
    }

    /// The bytes of a line, with its end, or ``SmartReaderLineError`` if the format cannot hold it.
    public func bytes(of tag: SmartReaderTag) throws(SmartReaderLineError) -> [UInt8] {
        let line = Array(try tag.line(as: format).utf8)
        return format == .plain ? prefix + line + suffix : line + [0x0D, 0x0A]
    }

    /// Reports that it is there, as after its start.
    public func greet() {
        switch format {
        case .scrdr: board.send(Array("$SCRDR*54\r\n".utf8))
        case .json: board.send(Array(#"{"VendorName":"SpringCard","SerialNumber":"00000000"}"#.utf8) + [0x0D, 0x0A])
        case .mk1: board.send(Array("# S550/RDR\r\n".utf8))
        case .plain: break
        }
    }

    // MARK: What goes wrong

    /// Sends so many bytes of a line and no more, as when bytes are lost or the plug is pulled. Throws
    /// ``SmartReaderLineError`` if the format cannot hold it.
    public func tear(_ tag: SmartReaderTag, afterBytes count: Int) throws(SmartReaderLineError) {
        board.send(Array(try bytes(of: tag).prefix(max(0, count))))
    }

    /// How long each line takes from now on.
    public var delay: Duration {
        get { board.output.withLock { $0.delay } }
        set { board.output.withLock { $0.delay = newValue } }
    }

    /// The noise on the line from now on; `nil` is none.
    public func setNoise(_ noise: LineNoise?) { board.output.withLock { $0.noise = noise } }

    /// Sends bytes that are no line.
    public func send(noise bytes: [UInt8]) { board.send(bytes, isDelayed: false) }
}

extension SmartReaderTag {
    /// What a reader reports about a card, with a template for NDEF.
    public init(reading card: any SimulatedCard, template: UInt8 = 1, move: Move? = nil) {
        defer { card.powerOff() }
        let reading = CardReading(over: SimulatedCardChannel(card), limits: .default)
        let protocols: [Technology: String] = [.iso14443a: "01", .iso14443b: "02", .iso15693: "04"]
        self.init(
            interface: "01",
            radioProtocol: reading.technology.flatMap { protocols[$0] },
            template: template,
            id: reading.uid?.hex ?? "",
            move: move,
            data: reading.ndef?.lazy.compactMap(\.smartReaderText).first
        )
    }
}

extension NDEFRecord {
    /// What a template for NDEF returns of a record: the text or the address.
    fileprivate var smartReaderText: String? {
        switch content {
        case .text(let text): text.text
        case .uri(let uri), .absoluteURI(let uri, _): uri
        case .smartPoster(let poster): poster.uri
        default: nil
        }
    }
}
