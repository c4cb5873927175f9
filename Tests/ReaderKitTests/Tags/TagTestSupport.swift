import ReaderKit
import ReaderKitTesting

/// A channel whose answers are whatever a closure says: for cards that no simulated card would be.
final class AnsweringChannel: CardChannel {
    let facts: CardFacts
    let elapsed = Duration.zero
    private(set) var commands: [[UInt8]] = []
    private(set) var frames: [RawFrame] = []
    private let answer: ([UInt8]) throws(ReaderError) -> [UInt8]
    private let frameAnswer: (RawFrame) throws(ReaderError) -> RawFrame

    init(
        facts: CardFacts = CardFacts(),
        frame: @escaping (RawFrame) throws(ReaderError) -> RawFrame = { _ throws(ReaderError) in
            throw ReaderError(.unsupported, attempting: "exchange a raw frame")
        },
        _ answer: @escaping ([UInt8]) throws(ReaderError) -> [UInt8]
    ) {
        self.facts = facts
        self.answer = answer
        frameAnswer = frame
    }

    /// Answers the commands in order and 6F00 afterwards; a command that is not the next one gets 6F00 too.
    convenience init(script: [(command: String, answer: String)]) {
        var rest = script[...]
        self.init { command throws(ReaderError) in
            guard let next = rest.first, bytes(next.command) == command else { return [0x6F, 0x00] }
            rest.removeFirst()
            return bytes(next.answer)
        }
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        commands.append(command)
        return try answer(command)
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        frames.append(frame)
        return try frameAnswer(frame)
    }
}

/// The bytes of a hexadecimal text; text that is none gives nothing, which no test takes for success.
func bytes(_ text: String) -> [UInt8] { (try? Hex.decode(text)) ?? [] }

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

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
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
