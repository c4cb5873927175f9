import CardCore
import ReaderKitTesting
import TestSupport

@testable import CardTags

/// A PC/SC reader's channel that carries raw frames only as its reader does, in SpringCard's form or not at all.
final class EncapsulatingChannel: CardChannel {
    let facts: CardFacts
    let elapsed = Duration.zero
    private let card: any SimulatedCard
    private let reader: SimulatedReader

    init(_ card: any SimulatedCard, reader: SimulatedReader) {
        self.card = card
        self.reader = reader
        facts = CardFacts(atr: card.atr)
        card.powerOn()
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        guard let answer = reader.transmit(command, to: card) else {
            throw ReaderError(.timeout, attempting: "send a command to the card")
        }
        return answer
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        let number: UInt8 =
            switch card.kind {
            case .storage(0x11, _): 0x07
            case .storage(0x09...0x0C, _): 0x04
            default: 0x01
            }
        let answer = try transmit([0xFF, 0xFE, number, 0x00, UInt8(frame.bytes.count)] + frame.bytes)
        guard answer.suffix(2).elementsEqual([0x90, 0x00]) else {
            let isMute = answer.first == 0x6F
            throw ReaderError(isMute ? .timeout : .unsupported, attempting: "exchange a raw frame")
        }
        let bytes = Array(answer.dropLast(2))
        return RawFrame(bytes, bitsInLastByte: number == 1 && bytes.count == 1 ? 4 : 8)
    }

    func reset() throws(ReaderError) {
        card.powerOff()
        card.powerOn()
    }
}
