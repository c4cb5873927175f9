import ReaderKit

/// A conversation with a simulated card in this process, with planned faults. It belongs to one thread at a time.
public final class SimulatedCardChannel: CardChannel {
    /// The card.
    public let card: any SimulatedCard

    /// The reader before the card.
    public let reader: SimulatedReader

    /// What goes wrong, and when.
    public var faults: [SimulatedFault]

    /// How many exchanges there were.
    public private(set) var exchanges = 0

    /// Every command APDU that was sent, in order.
    public private(set) var commands: [[UInt8]] = []

    /// The answer to reset and what the kind of card specifies.
    public let facts: CardFacts

    private let start = ContinuousClock.now
    private let isPresent: () -> Bool
    private var isGone = false

    /// Powers the card and begins a conversation with it.
    public convenience init(
        _ card: any SimulatedCard,
        reader: SimulatedReader = SimulatedReader(),
        faults: [SimulatedFault] = []
    ) {
        card.powerOn()
        self.init(card, reader: reader, faults: faults) { true }
    }

    /// Begins a conversation with a card that has power, and may be taken away meanwhile.
    init(
        _ card: any SimulatedCard,
        reader: SimulatedReader,
        faults: [SimulatedFault],
        isPresent: @escaping () -> Bool
    ) {
        self.card = card
        self.reader = reader
        self.faults = faults
        self.isPresent = isPresent
        facts = CardFacts(atr: card.atr)
    }

    /// The time since the conversation began.
    public var elapsed: Duration { start.duration(to: .now) }

    /// Sends a command APDU to the reader, which answers it or passes it to the card.
    public func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        commands.append(command)
        return try exchange("send a command to the card") { reader.transmit(command, to: card) }
    }

    /// Sends a raw frame to the card.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        try exchange("exchange a raw frame") { card.receive(frame: frame) }
    }

    /// Removes the card's power and restores it.
    public func reset() throws(ReaderError) {
        if isGone || !isPresent() { throw ReaderError(.cardRemoved, attempting: "reset the card") }
        card.powerOff()
        card.powerOn()
    }

    private func exchange<Answer>(_ attempt: String, _ body: () -> Answer?) throws(ReaderError) -> Answer {
        let number = exchanges
        exchanges += 1
        if isGone || !isPresent() { throw ReaderError(.cardRemoved, attempting: attempt) }
        guard let fault = faults.first(where: { $0.exchange == number }) else {
            guard let answer = body() else { throw ReaderError(.timeout, attempting: attempt) }
            return answer
        }
        if fault.afterCommand { _ = body() }
        switch fault.kind {
        case .removed:
            isGone = true
            card.powerOff()
            throw ReaderError(.cardRemoved, attempting: attempt)
        case .reset:
            card.powerOff()
            card.powerOn()
            throw ReaderError(.cardReset, attempting: attempt)
        case .timeout: throw ReaderError(.timeout, attempting: attempt)
        case .communication: throw ReaderError(.communication, attempting: attempt)
        }
    }
}
