import ReaderKit
import Synchronization

/// A card made from a capture: it answers a command with what was recorded, as ``ReplayChannel`` does by command.
///
/// The identifier, and what a reader finds out by itself, come from the facts of the capture, or from the recorded
/// answer to `FF CA 00 00 00`. Recorded commands of class `FF` were answered by a reader, and ``SimulatedReader``
/// returns the answers as they were; others it makes of the card's frames.
public final class RecordedCard: SimulatedCard {
    /// What was recorded.
    public let presentation: Capture.Presentation

    /// What the card is, by its answer to reset.
    public let kind: SimulatedCardKind

    /// The answer to reset: the recorded one, or the one that a reader makes of the facts.
    public let atr: [UInt8]

    /// The identifier; empty if the capture omits it.
    public let uid: [UInt8]

    private let pseudoAPDUs: Set<[UInt8]>
    private let state: Mutex<Channel>

    /// The conversation; a card that left in the recording stays silent until it is powered anew.
    private struct Channel {
        var replay: ReplayChannel
        var isGone = false
    }

    /// A card from one presentation of a capture, or ``RecordedCardError`` if there is nothing that one could be made
    /// of.
    public init(_ presentation: Capture.Presentation) throws(RecordedCardError) {
        guard presentation.connectFault == nil else { throw .unreadable }
        guard let atr = presentation.facts.effectiveATR, let kind = RecordedCard.kind(atr) else { throw .unknownCard }
        self.presentation = presentation
        self.kind = kind
        self.atr = atr
        uid = RecordedCard.identifier(presentation)
        pseudoAPDUs = Set(presentation.exchanges.compactMap { $0.request.apdu }.filter { $0.first == 0xFF })
        state = Mutex(Channel(replay: ReplayChannel(presentation)))
    }

    /// Nothing is selected. A card that left in the recording begins anew.
    public func powerOn() {
        state.withLock { channel in
            if channel.isGone { channel = Channel(replay: ReplayChannel(presentation)) }
            try? channel.replay.reset()
        }
    }

    /// Answers a recorded command APDU; `6D00` if it was not recorded, silence where a fault was.
    public func receive(apdu: [UInt8]) -> [UInt8]? {
        answer { (replay) throws(ReaderError) in try replay.transmit(apdu) }
    }

    /// Answers a recorded frame; silence if it was not recorded.
    public func receive(frame: RawFrame) -> RawFrame? {
        let recorded = answer { (replay) throws(ReaderError) in try replay.transceive(frame) }
        return recorded ?? inventory(frame)
    }

    /// What the reader answered in the recording to a command of its own; `nil` if it was not sent.
    func recordedAnswer(ofReader command: [UInt8]) -> [UInt8]? {
        pseudoAPDUs.contains(command) ? receive(apdu: command) ?? Status.mute : nil
    }

    private func answer<Answer>(_ body: @Sendable (ReplayChannel) throws(ReaderError) -> Answer) -> Answer? {
        state.withLock { channel in
            do throws(ReaderError) {
                return try body(channel.replay)
            } catch {
                if error.kind == .cardRemoved { channel.isGone = true }
                return nil
            }
        }
    }

    /// How a FeliCa card is found, and kept track of, is no part of a recording: libnfc does both by itself.
    private func inventory(_ frame: RawFrame) -> RawFrame? {
        guard kind.isFeliCa, uid.count == 8, !state.withLock({ $0.isGone }) else { return nil }
        let bytes = frame.bytes
        if bytes.count == 10, bytes[1] == 0x04, bytes[2...].elementsEqual(uid) {
            return RawFrame([0x0B, 0x05] + uid + [0x00])
        }
        guard bytes.count == 6, bytes[1] == 0x00 else { return nil }
        let facts = presentation.facts
        let system = facts["syscode"].flatMap { $0.count == 2 ? $0 : nil } ?? [0xFF, 0xFF]
        for (asked, own) in zip(bytes[2..<4], system) where asked != 0xFF && own != 0xFF && asked != own { return nil }
        let parameters = facts["pmm"].flatMap { $0.count == 8 ? $0 : nil } ?? [0x00, 0xF1, 0, 0, 0, 0x01, 0x43, 0]
        let answer = [0x01] + uid + parameters + (bytes[4] == 0x01 ? system : [])
        return RawFrame([UInt8(answer.count + 1)] + answer)
    }
}

extension RecordedCard {
    private static func kind(_ atr: [UInt8]) -> SimulatedCardKind? {
        guard let atr = try? ATR(atr) else { return nil }
        if let card = atr.storageCard { return .storage(standard: card.standard, name: card.nameCode) }
        return .isoDEP(historicalBytes: atr.historicalBytes)
    }

    private static func identifier(_ presentation: Capture.Presentation) -> [UInt8] {
        let facts = presentation.facts
        if let bytes = facts["uid"] ?? facts["idm"] ?? facts["pupi"], !bytes.isEmpty { return bytes }
        for exchange in presentation.exchanges {
            // 6282: the identifier is shorter than asked for, and complete.
            guard let command = exchange.request.apdu, command.starts(with: [0xFF, 0xCA, 0x00, 0x00]),
                case .bytes(let answer) = exchange.answer, [4, 7, 8, 10].contains(answer.count - 2),
                [Status.success, Status.endOfData].contains(Array(answer.suffix(2)))
            else { continue }
            return Array(answer.dropLast(2))
        }
        return []
    }
}

extension Capture.Exchange.Request {
    var apdu: [UInt8]? {
        if case .apdu(let command) = self { command } else { nil }
    }

    var isFrame: Bool {
        if case .raw = self { true } else { false }
    }
}

/// No card could be made from a capture.
public enum RecordedCardError: Error, Sendable, Hashable {
    /// The recording states that no conversation with the card was possible.
    case unreadable
    /// The recording does not describe what card it was: neither an answer to reset nor the facts of anticollision.
    case unknownCard
    /// The capture has no cards.
    case noCards
}

extension RecordedCardError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        let reason =
            switch self {
            case .unreadable: "no conversation with it was possible when it was recorded"
            case .unknownCard: "the capture has neither its answer to reset nor what anticollision told"
            case .noCards: "the capture has none"
            }
        return "could not make a card from the capture: \(reason). Record a card that is read, and take that capture."
    }
}
