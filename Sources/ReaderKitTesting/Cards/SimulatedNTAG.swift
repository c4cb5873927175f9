import ReaderKit
import Synchronization

/// An NTAG21x or a MIFARE Ultralight, EV1 or C: a Type 2 tag with its true memory layout.
///
/// It answers the raw frames of its chip: READ, WRITE, COMPATIBILITY_WRITE and HLTA; FAST_READ, GET_VERSION, READ_SIG
/// and PWD_AUTH; an NTAG's READ_CNT; an Ultralight EV1's READ_CNT, INCR_CNT, CHECK_TEARING_EVENT and VCSL; an
/// Ultralight C's AUTHENTICATE with 3DES. It has roll-over, one-time programmable bits, lock bits, protection by
/// password or key, counters, and an NTAG's ASCII mirror.
///
/// As on the chip, changed lock bits and configuration take effect when the tag is next powered. Other than the chip,
/// it need not be selected anew after a refusal, which most readers do by themselves.
public final class SimulatedNTAG: SimulatedCard {
    /// The chip.
    public let model: Model

    private let state: Mutex<NTAGState>

    /// A tag as it leaves the factory: formatted, with an empty message.
    ///
    /// - Parameters:
    ///   - uid: the identifier, 7 bytes; a shorter one is filled with zeros, a longer one cut.
    ///   - signature: what READ_SIG answers, 32 bytes. The default is a placeholder that no check accepts.
    ///   - seed: where an Ultralight C's challenges come from; by default the same ones in every run.
    public init(_ model: Model, uid: [UInt8] = SimulatedNTAG.sampleUID, signature: [UInt8]? = nil, seed: UInt64 = 1) {
        self.model = model
        var state = NTAGState(model: model, signature: signature, seed: seed)
        state.setUID(uid)
        state.setFactoryContent()
        self.state = Mutex(state)
    }

    /// A tag with the given memory from page 0 on, identifier included, right or not; what the image does not cover
    /// stays as the factory made it.
    public init(_ model: Model, image: [UInt8], signature: [UInt8]? = nil) {
        self.model = model
        var state = NTAGState(model: model, signature: signature, seed: 1)
        state.setUID(SimulatedNTAG.sampleUID)
        state.setFactoryContent()
        state.overwrite(with: image)
        self.state = Mutex(state)
    }

    /// A formatted tag that holds the message; `nil` if it is too long for the chip.
    public static func formatted(
        _ model: Model,
        uid: [UInt8] = SimulatedNTAG.sampleUID,
        message: [UInt8]
    ) -> SimulatedNTAG? {
        guard let content = [UInt8].dataArea(message, size: (model.lastUserPage - 3) * 4) else { return nil }
        let tag = SimulatedNTAG(model, uid: uid)
        tag.state.withLock { $0.overwrite(with: content, fromPage: 4, clearingUserMemory: true) }
        return tag
    }

    /// A tag whose capability container and user memory are all zero.
    public static func unformatted(_ model: Model, uid: [UInt8] = SimulatedNTAG.sampleUID) -> SimulatedNTAG {
        let tag = SimulatedNTAG(model, uid: uid)
        tag.state.withLock {
            $0.overwrite(with: [0, 0, 0, 0], fromPage: 3)
            $0.overwrite(with: [], fromPage: 4, clearingUserMemory: true)
        }
        return tag
    }

    /// The identifier of tags unless specified otherwise.
    public static let sampleUID: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]

    /// The identifier, 7 bytes.
    public var uid: [UInt8] { state.withLock { $0.uid } }

    /// An Ultralight, as all of these are to a reader.
    public var kind: SimulatedCardKind { .ultralight }

    /// The whole memory as it is now, page 0 first, the password not hidden.
    public var memory: [UInt8] { state.withLock { $0.memory } }

    /// Changes memory as no reader could, page by page or across pages; what does not fit is left out.
    public func overwrite(page: Int, with bytes: [UInt8]) {
        state.withLock { $0.overwrite(with: bytes, fromPage: page) }
    }

    /// Protects the pages from `firstPage` (AUTH0) on with a password of 4 bytes and an acknowledgement (PACK) of 2, as
    /// a write of the configuration pages would.
    ///
    /// - Parameters:
    ///   - reading: whether reading needs the password too (PROT), not only writing.
    ///   - attempts: AUTHLIM, the wrong passwords that are allowed; 0 is no limit.
    public func protect(
        password: [UInt8],
        acknowledgement: [UInt8] = [0, 0],
        fromPage firstPage: UInt8,
        reading: Bool,
        attempts: UInt8 = 0
    ) {
        state.withLock { $0.protect(password, acknowledgement, firstPage, reading, attempts) }
    }

    /// Sets the key of an Ultralight C, 16 bytes, and the first page that needs it (AUTH0; 48 and more protect
    /// nothing), as writes would; another chip stays as it is. `reading` is whether reading needs the key too (AUTH1).
    public func protect(key: [UInt8], fromPage firstPage: UInt8, reading: Bool) {
        guard model.isUltralightC, key.count == 16 else { return }
        state.withLock {
            $0.overwrite(with: [firstPage, 0, 0, 0, reading ? 0 : 1, 0, 0, 0], fromPage: 0x2A)
            $0.overwrite(with: UltralightCHandshake.key(inMemory: key), fromPage: 0x2C)
        }
    }

    /// The three counters of an Ultralight EV1, 0...16 777 215 each; an NTAG's counter of activations is the last one.
    /// Setting them needs three values; what is out of range is cut to it.
    public var counters: [Int] {
        get { state.withLock { $0.counters } }
        set {
            guard newValue.count == 3 else { return }
            state.withLock { $0.counters = newValue.map { min(max(0, $0), 0xFF_FFFF) } }
        }
    }

    /// A counter of an Ultralight EV1 lost its power in the middle of an increment, which CHECK_TEARING_EVENT reports
    /// until the next one.
    public func tear(counter: Int) { state.withLock { _ = $0.tornCounters.insert(counter) } }

    /// Powers the tag: locks and configuration are read from memory, nobody is authenticated.
    public func powerOn() { state.withLock { $0.activate() } }

    /// Ends the authentication.
    public func powerOff() { state.withLock { $0.deactivate() } }

    /// Answers a frame of the tag's own protocol; `nil` is silence.
    public func receive(frame: RawFrame) -> RawFrame? {
        guard frame.bitsInLastByte == 8 else { return nil }
        return state.withLock { $0.answer(frame.bytes) }
    }
}

extension SimulatedNTAG {
    /// A chip and its memory layout.
    public struct Model: Sendable, Hashable {
        /// The name on its data sheet.
        public let name: String
        /// The number of pages of 4 bytes.
        public let pages: Int
        /// The last page of user memory; the first is 4.
        public let lastUserPage: Int
        /// The capability container's size byte: the data area in units of 8 bytes.
        public let sizeByte: UInt8
        /// What GET_VERSION answers, or `nil` if the chip does not know the command.
        public let version: [UInt8]?
        /// How many pages one dynamic lock bit locks; 0 for a chip without them.
        public let pagesPerLockBit: Int
        /// What a formatted tag has from page 4 on.
        public let factoryContent: [UInt8]
        /// Whether it is an Ultralight C: a counter, authentication settings and a key in place of a configuration.
        let isUltralightC: Bool

        /// - Parameters:
        ///   - version: what differs between versions: product, subtype and size.
        ///   - lockControl: the value of the lock control object before an empty message; empty if there is none.
        private init(
            _ name: String,
            _ pages: Int,
            _ lastUserPage: Int,
            _ sizeByte: UInt8,
            _ version: [UInt8]? = nil,
            _ pagesPerLockBit: Int = 0,
            _ lockControl: [UInt8] = []
        ) {
            self.name = name
            self.pages = pages
            self.lastUserPage = lastUserPage
            self.sizeByte = sizeByte
            self.version = version.map { [0x00, 0x04] + $0[..<2] + [0x01, 0x00, $0[2], 0x03] }
            self.pagesPerLockBit = pagesPerLockBit
            factoryContent =
                lockControl.isEmpty ? [0x03, 0x00, 0xFE, 0x00] : [0x01, 0x03] + lockControl + [0x03, 0x00, 0xFE]
            isUltralightC = version == nil && pagesPerLockBit > 0
        }

        enum Family { case ultralight, ultralightC, ultralightEV1, ntag }

        var family: Family {
            if isUltralightC { return .ultralightC }
            guard let version, version.count > 2 else { return .ultralight }
            return version[2] == 0x03 ? .ultralightEV1 : .ntag
        }

        var countsReads: Bool { family == .ntag && version.map { $0.count > 3 && $0[3] == 0x02 } ?? false }

        /// The page of the dynamic lock bytes, right behind user memory.
        public var dynamicLockPage: Int? { pagesPerLockBit > 0 ? lastUserPage + 1 : nil }
        /// The first of the four configuration pages: CFG0, CFG1, PWD, PACK.
        public var configurationPage: Int? { version != nil ? (dynamicLockPage ?? lastUserPage) + 1 : nil }
        var endOfReading: Int { isUltralightC ? 0x2C : pages }

        // Name, pages, the last one of user memory, size byte, version, pages per lock bit, lock control.

        /// NTAG210: 48 bytes of user memory.
        public static let ntag210 = Model("NTAG210", 20, 0x0F, 0x06, [0x04, 0x01, 0x0B])
        /// NTAG212: 128 bytes of user memory.
        public static let ntag212 = Model("NTAG212", 41, 0x23, 0x10, [0x04, 0x01, 0x0E], 2, [0x90, 0x0A, 0x34])
        /// NTAG213: 144 bytes of user memory.
        public static let ntag213 = Model("NTAG213", 45, 0x27, 0x12, [0x04, 0x02, 0x0F], 2, [0xA0, 0x0C, 0x34])
        /// NTAG215: 504 bytes of user memory, of which the capability container counts 496.
        public static let ntag215 = Model("NTAG215", 135, 0x81, 0x3E, [0x04, 0x02, 0x11], 16)
        /// NTAG216: 888 bytes of user memory, of which the capability container counts 872.
        public static let ntag216 = Model("NTAG216", 231, 0xE1, 0x6D, [0x04, 0x02, 0x13], 16)
        /// MIFARE Ultralight (MF0ICU1): 48 bytes of user memory, no version, no password; formatted here.
        public static let ultralight = Model("MIFARE Ultralight", 16, 0x0F, 0x06)
        /// MIFARE Ultralight C (MF0ICU2): 144 bytes of user memory, no version, a 3DES key; formatted here.
        public static let ultralightC = Model("MIFARE Ultralight C", 48, 0x27, 0x12, nil, 4, [0xA0, 0x10, 0x44])
        /// MIFARE Ultralight EV1 with 48 bytes of user memory (MF0UL11); formatted here.
        public static let ultralightEV1Small = Model(
            "MIFARE Ultralight EV1 (MF0UL11)",
            20,
            0x0F,
            0x06,
            [0x03, 0x01, 0x0B]
        )
        /// MIFARE Ultralight EV1 with 128 bytes of user memory (MF0UL21); formatted here.
        public static let ultralightEV1Large = Model(
            "MIFARE Ultralight EV1 (MF0UL21)",
            41,
            0x23,
            0x10,
            [0x03, 0x01, 0x0E],
            2,
            [0x90, 0x0A, 0x34]
        )

        /// All chips that are simulated.
        public static let all: [Model] = [
            .ultralight, .ultralightC, .ultralightEV1Small, .ultralightEV1Large, .ntag210, .ntag212, .ntag213, .ntag215,
            .ntag216,
        ]
    }
}

extension SimulatedNTAG.Model {
    /// The dynamic lock bits, as the data sheets have them: their places, counted from the lowest bit of the first byte,
    /// the pages that they lock, and the places of the bits that make them unchangeable.
    var lockBits: [(place: Int, locked: ClosedRange<Int>, frozenBy: Int)] {
        guard pagesPerLockBit > 0 else { return [] }
        if isUltralightC {
            return [
                (1, 16...19, 0), (2, 20...23, 0), (3, 24...27, 0), (5, 28...31, 4), (6, 32...35, 4), (7, 36...39, 4),
                (12, 41...41, 8), (13, 42...42, 9), (14, 43...43, 10), (15, 44...47, 11),
            ]
        }
        return (0..<16).compactMap { bit in
            let first = 16 + bit * pagesPerLockBit
            guard first <= lastUserPage else { return nil }
            return (bit, first...min(first + pagesPerLockBit - 1, lastUserPage), 16 + bit / 2)
        }
    }
}
