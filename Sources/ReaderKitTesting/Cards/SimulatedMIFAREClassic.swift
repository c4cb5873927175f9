import ReaderKit
import Synchronization

/// A MIFARE Classic Mini, 1K or 4K with its sectors, keys and access bits.
///
/// It takes authentication (`60` or `61`, block, key, the identifier's last four bytes: the form in which a reader chip
/// is reported; the cipher itself is the reader's part), READ (`30`), WRITE (`A0`, in one frame or in two), and for
/// value blocks DECREMENT (`C0`), INCREMENT (`C1`), RESTORE (`C2`) and TRANSFER (`B0`). The access bits hold for every
/// block, key B is no key where it can be read, a trailer whose access bits contradict each other closes its sector for
/// ever, and after a wrong key or a refused command the card is silent until it is powered anew.
public final class SimulatedMIFAREClassic: SimulatedCard {
    /// The size of the card.
    public let size: ClassicSize

    /// The identifier, 4 or 7 bytes.
    public let uid: [UInt8]

    private let state: Mutex<ClassicState>

    /// The identifier of cards unless specified otherwise.
    public static let sampleUID: [UInt8] = [0x3A, 0x5B, 0x7C, 0x9D]

    /// A card as it leaves the factory: the key `FFFFFFFFFFFF` everywhere, no data; the identifier has 4 or 7 bytes.
    public init(_ size: ClassicSize = .oneK, uid: [UInt8] = SimulatedMIFAREClassic.sampleUID) {
        self.size = size
        self.uid = uid
        var memory = [UInt8](repeating: 0, count: size.blocks * 16)
        let manufacturer = uid + (uid.count == 4 ? [uid.reduce(0, ^)] : []) + [0x08, 0x04, 0x00]
        memory.replaceSubrange(0..<min(16, manufacturer.count), with: manufacturer.prefix(16))
        for sector in 0..<size.sectors {
            let start = ClassicSize.trailer(ofSector: sector) * 16
            let key = ClassicKey.factory.bytes
            memory.replaceSubrange(start..<start + 16, with: key + AccessConditions.transport.bytes + [0x69] + key)
        }
        state = Mutex(ClassicState(uid: uid, memory: memory))
    }

    /// A card with the given memory from block 0 on, keys included; what the image does not cover stays as the factory
    /// made it.
    public init(_ size: ClassicSize, image: [UInt8], uid: [UInt8]) {
        let blank = SimulatedMIFAREClassic(size, uid: uid)
        self.size = size
        self.uid = uid
        let kept = image.prefix(size.blocks * 16)
        state = Mutex(ClassicState(uid: uid, memory: Array(kept) + blank.memory[kept.count...]))
    }

    /// A card whose sectors all belong to NDEF, with one key B, and that holds the message; `nil` if it is too long.
    public static func formatted(
        _ size: ClassicSize = .oneK,
        message: [UInt8] = [],
        keyB: ClassicKey = .factory,
        uid: [UInt8] = SimulatedMIFAREClassic.sampleUID
    ) -> SimulatedMIFAREClassic? {
        let card = SimulatedMIFAREClassic(size, uid: uid)
        var directory = MAD(hasSecondHalf: size.sectors > 16)
        let sectors = (1..<size.sectors).filter { $0 != 16 }
        for sector in sectors { directory[sector] = .ndef }
        let blocks = sectors.flatMap { ClassicSize.blocks(ofSector: $0).dropLast() }
        guard let area = [UInt8].dataArea(message, size: blocks.count * 16) else { return nil }
        let content = area.padded(to: blocks.count * 16)
        card.state.withLock { state in
            for (index, block) in blocks.enumerated() { state[block] = Array(content[index * 16..<index * 16 + 16]) }
            let first = directory.firstBytes
            for index in 0..<2 { state[1 + index] = Array(first[index * 16..<index * 16 + 16]) }
            if let second = directory.secondBytes {
                for index in 0..<3 { state[64 + index] = Array(second[index * 16..<index * 16 + 16]) }
            }
            for sector in 0..<size.sectors {
                let isDirectory = sector == 0 || sector == 16
                let key = isDirectory ? ClassicKey.directory : .ndef
                let access = isDirectory ? AccessConditions.directory : .ndef
                let purpose: UInt8 = isDirectory ? (directory.hasSecondHalf ? 0xC2 : 0xC1) : 0x40
                state[ClassicSize.trailer(ofSector: sector)] = key.bytes + access.bytes + [purpose] + keyB.bytes
            }
        }
        return card
    }

    /// What readers take the card for.
    public var kind: SimulatedCardKind {
        switch size {
        case .mini: .classicMini
        case .oneK: .classic1K
        case .fourK: .classic4K
        case .twoK: .storage(standard: 0x03, name: 0x0036)
        }
    }

    /// The whole memory as it is now, block 0 first, the keys not hidden.
    public var memory: [UInt8] { state.withLock { $0.memory } }

    /// Changes a block as no reader could. What is no block, or not 16 bytes, changes nothing.
    public func overwrite(block: Int, with bytes: [UInt8]) {
        guard (0..<size.blocks).contains(block), bytes.count == 16 else { return }
        state.withLock { $0[block] = bytes }
    }

    /// Makes a block a value block, as no reader could; what is no block changes nothing. The card takes no notice of
    /// the address.
    public func setValue(_ value: Int32, block: Int, address: UInt8 = 0) {
        overwrite(block: block, with: ClassicValue(value, address: address).bytes)
    }

    /// The number in a value block; `nil` if it is none.
    public func value(block: Int) -> Int32? {
        guard (0..<size.blocks).contains(block) else { return nil }
        return state.withLock { ClassicValue($0[block])?.number }
    }

    /// Powers the card: it is selected, no sector open.
    public func powerOn() { state.withLock { $0.activate() } }

    /// Closes all sectors.
    public func powerOff() { state.withLock { $0.deactivate() } }

    /// Answers a frame of the card's own protocol; `nil` is silence.
    public func receive(frame: RawFrame) -> RawFrame? {
        guard frame.bitsInLastByte == 8 else { return nil }
        return state.withLock { $0.answer(frame.bytes) }
    }
}
