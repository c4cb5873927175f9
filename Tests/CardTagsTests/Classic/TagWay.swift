import CardCore
import ReaderKitTesting
import Testing

@testable import CardTags

/// The two ways to a storage card: commands of class `FF`, and the card's own frames.
enum TagWay: CaseIterable, CustomTestStringConvertible {
    case reader, frames

    var testDescription: String { self == .reader ? "through the reader" : "in raw frames" }

    /// Begins a conversation; the card gets power.
    func channel(_ card: any SimulatedCard) -> any CardChannel {
        self == .reader ? SimulatedCardChannel(card) : FrameChannel(card)
    }
}

/// A reader that takes the card's own frames only, as libnfc does.
final class FrameChannel: CardChannel {
    let card: any SimulatedCard
    let facts: CardFacts
    let elapsed = Duration.zero
    let capabilities = ChannelCapabilities(hasPseudoAPDUs: false)
    private(set) var frames: [RawFrame] = []

    init(_ card: any SimulatedCard) {
        self.card = card
        card.powerOn()
        switch card.kind {
        case .storage(0x11, _):
            facts = CardFacts(technology: .felica, values: [.init("idm", card.uid)])
        case .storage(0x09...0x0C, _):
            facts = CardFacts(technology: .iso15693, values: [.init("uid", card.uid)])
        case .storage(_, let name):
            let sak: UInt8 = [0x0001: 0x08, 0x0002: 0x18, 0x0026: 0x09][name] ?? 0x00
            facts = CardFacts(technology: .iso14443a, values: [.init("sak", [sak]), .init("uid", card.uid)])
        case .isoDEP:
            facts = CardFacts(technology: .iso14443a, values: [.init("sak", [0x20]), .init("uid", card.uid)])
        }
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        throw ReaderError(.unsupported, attempting: "send a command to the card")
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        frames.append(frame)
        guard let answer = card.receive(frame: frame) else {
            throw ReaderError(.timeout, attempting: "exchange a raw frame")
        }
        return answer
    }

    func reset() throws(ReaderError) {
        card.powerOff()
        card.powerOn()
    }
}

/// Opens the card anew and does something with its tag.
func withTag<Result>(
    _ card: any SimulatedCard,
    _ way: TagWay,
    _ body: (inout any NDEFTag) throws -> Result
) throws -> Result {
    var tag = try #require(try TagReader.open(over: way.channel(card)))
    return try body(&tag)
}

/// What the card holds, read in a conversation of its own.
func content(of card: any SimulatedCard, _ way: TagWay) throws -> TagContent {
    try withTag(card, way) { tag in try tag.readNDEF() }
}
