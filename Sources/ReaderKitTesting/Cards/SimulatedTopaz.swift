import ReaderKit
import Synchronization

/// A Topaz with 96 or 512 bytes of memory: a Type 1 tag that can be read.
///
/// It takes RID (`78`), RALL (`00`), READ (`01`) and, with 512 bytes, READ8 (`02`) and RSEG (`10`). It does not take
/// writes.
public final class SimulatedTopaz: SimulatedCard {
    /// The identifier, 7 bytes, of which the reader sees the first four in RID.
    public let uid: [UInt8]

    /// Whether the card has 512 bytes in place of 96 and what belongs to them.
    public let isLarge: Bool

    private let state: Mutex<[UInt8]>

    /// The identifier of cards unless specified otherwise.
    public static let sampleUID: [UInt8] = [0x00, 0x1A, 0x2B, 0x3C, 0x4D, 0x5E, 0x6F]

    /// A card whose memory is zero but for its identifier.
    public init(isLarge: Bool = false, uid: [UInt8] = SimulatedTopaz.sampleUID) {
        self.isLarge = isLarge
        self.uid = uid.padded(to: 7)
        state = Mutex(self.uid + Array(repeating: 0, count: (isLarge ? 512 : 120) - 7))
    }

    /// A formatted tag that holds the message; `nil` if it is too long for the card.
    public static func formatted(
        message: [UInt8] = [],
        isLarge: Bool = false,
        uid: [UInt8] = SimulatedTopaz.sampleUID
    ) -> SimulatedTopaz? {
        let card = SimulatedTopaz(isLarge: isLarge, uid: uid)
        card.overwrite(at: 8, with: [0xE1, 0x10, isLarge ? 0x3F : 0x0E, 0x00])
        let controls: [UInt8] = isLarge ? [0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03] : []
        let places = Array(12..<104) + (isLarge ? Array(128..<512) : [])
        guard let area = [UInt8].dataArea(message, size: places.count - controls.count) else { return nil }
        for (place, byte) in zip(places, controls + area) { card.overwrite(at: place, with: [byte]) }
        return card
    }

    /// A Topaz.
    public var kind: SimulatedCardKind { .topaz }

    /// The whole memory as it is now.
    public var memory: [UInt8] { state.withLock { $0 } }

    /// Changes memory as no reader could; what does not fit is left out.
    public func overwrite(at address: Int, with bytes: [UInt8]) {
        state.withLock { $0.overwrite(at: address, with: bytes) }
    }

    private var header: [UInt8] { [isLarge ? 0x12 : 0x11, 0x48] }

    /// Answers a frame of the card's own protocol; `nil` is silence.
    public func receive(frame: RawFrame) -> RawFrame? {
        let bytes = frame.bytes
        guard frame.bitsInLastByte == 8, let command = bytes.first else { return nil }
        if command == 0x78 { return bytes.count == 7 ? RawFrame(header + uid.prefix(4)) : nil }
        guard bytes.suffix(4).elementsEqual(uid.prefix(4)) else { return nil }
        return state.withLock { memory in
            switch (command, bytes.count) {
            case (0x00, 7):
                return RawFrame(header + memory.prefix(120))
            case (0x01, 7):
                let address = Int(bytes[1])
                return address < 120 ? RawFrame([bytes[1], memory[address]]) : nil
            case (0x02, 14) where isLarge:
                let start = Int(bytes[1]) * 8
                return start + 8 <= memory.count ? RawFrame([bytes[1]] + memory[start..<start + 8]) : nil
            case (0x10, 14) where isLarge:
                let start = Int(bytes[1] >> 4) * 128
                return start + 128 <= memory.count ? RawFrame([bytes[1]] + memory[start..<start + 128]) : nil
            default:
                return nil
            }
        }
    }
}
