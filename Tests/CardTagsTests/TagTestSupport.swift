import CardCore
import NDEFCodec
import ReaderKitTesting
import TestSupport

@testable import CardTags

/// Pages 0 to 2 of the sample tag, then a capability container and a data area.
func type2Image(container: String, data: String) -> [UInt8] {
    bytes("04A1B29F C3D4E580 72480000") + bytes(container) + bytes(data)
}

/// What reading the memory image gives, or the error, as text for tables.
func readType2(
    _ image: [UInt8],
    model: SimulatedNTAG.Model = .ntag213,
    reader: SimulatedReader = SimulatedReader()
) -> (result: Result<TagContent, TagError>, exchanges: Int) {
    let channel = SimulatedCardChannel(SimulatedNTAG(model, image: image), reader: reader)
    let result = readType2(over: channel)
    return (result, channel.exchanges)
}

func readType2(over channel: any CardChannel, limits: NDEFLimits = .default) -> Result<TagContent, TagError> {
    var tag = Type2Tag(channel, limits: limits)
    do throws(TagError) {
        return .success(try tag.readNDEF())
    } catch {
        return .failure(error)
    }
}

func readType4(over channel: any CardChannel, limits: NDEFLimits = .default) -> Result<TagContent, TagError> {
    var tag = Type4Tag(channel, limits: limits)
    do throws(TagError) {
        return .success(try tag.readNDEF())
    } catch {
        return .failure(error)
    }
}

extension Result<TagContent, TagError> {
    var content: TagContent? { try? get() }

    var error: TagError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// A conversation with a simulated card by raw frames alone, as through libnfc: no commands of class `FF`.
final class RawCardChannel: CardChannel {
    let facts: CardFacts
    let elapsed = Duration.zero
    private(set) var frames: [RawFrame] = []
    private(set) var resets = 0
    /// What the library makes of an acknowledgement: four bits, a byte, or nothing.
    var acknowledgement = RawFrame([0x0A], bitsInLastByte: 4)
    private let card: any SimulatedCard

    init(_ card: any SimulatedCard) {
        self.card = card
        facts = CardFacts(technology: .iso14443a, values: [.init("sak", [0x00]), .init("uid", card.uid)])
        card.powerOn()
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        throw ReaderError(.unsupported, attempting: "send a command to the card")
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        frames.append(frame)
        guard let answer = card.receive(frame: frame) else {
            throw ReaderError(.timeout, attempting: "exchange a raw frame")
        }
        return answer.bitsInLastByte == 4 && answer.bytes == [0x0A] ? acknowledgement : answer
    }

    func reset() throws(ReaderError) {
        resets += 1
        card.powerOff()
        card.powerOn()
    }
}

/// A message of that length that begins as one does: a long record of a type that nobody knows.
func sampleMessage(_ length: Int, seed: Int = 0) -> [UInt8] {
    (0..<length).map { $0 == 0 ? 0xD1 : UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed &* 7) }
}
