import ReaderKit
import Synchronization

/// An NTAG213, 215 or 216, or a plain MIFARE Ultralight: a Type 2 tag with its true memory layout.
///
/// It answers the raw frames READ, WRITE, FAST_READ, GET_VERSION, READ_CNT, READ_SIG, PWD_AUTH and HLTA as the chip
/// does, with roll-over, one-time programmable bits, lock bits and password protection; behind a ``SimulatedReader`` also
/// `FF B0` and `FF D6`. As on the chip, changed lock bits and configuration take effect when the tag is next powered.
public final class SimulatedNTAG: SimulatedCard {
    /// The chip.
    public let model: Model

    private let state: Mutex<NTAGState>

    /// A tag as it leaves the factory: formatted, with an empty message.
    ///
    /// - Parameters:
    ///   - model: the chip.
    ///   - uid: the identifier, 7 bytes; a shorter one is filled with zeros, a longer one cut.
    ///   - signature: what READ_SIG answers, 32 bytes. The default is a placeholder that no check accepts.
    public init(_ model: Model, uid: [UInt8] = SimulatedNTAG.sampleUID, signature: [UInt8]? = nil) {
        self.model = model
        var state = NTAGState(model: model, signature: signature)
        state.setUID(uid)
        state.setFactoryContent()
        self.state = Mutex(state)
    }

    /// A tag with the given memory from page 0 on; what the image does not cover stays as the factory made it.
    ///
    /// The identifier is taken from the image as it is, so that broken images can be tried too.
    public init(_ model: Model, image: [UInt8], signature: [UInt8]? = nil) {
        self.model = model
        var state = NTAGState(model: model, signature: signature)
        state.setUID(SimulatedNTAG.sampleUID)
        state.setFactoryContent()
        state.overwrite(with: image)
        self.state = Mutex(state)
    }

    /// A formatted tag that holds the message.
    ///
    /// - Returns: `nil` if the message is too long for the chip.
    public static func formatted(
        _ model: Model,
        uid: [UInt8] = SimulatedNTAG.sampleUID,
        message: [UInt8]
    ) -> SimulatedNTAG? {
        let header: [UInt8] =
            message.count < 255
            ? [0x03, UInt8(message.count)]
            : [0x03, 0xFF, UInt8(message.count >> 8 & 0xFF), UInt8(message.count & 0xFF)]
        let size = (model.lastUserPage - 3) * 4
        guard message.count < 65_535, header.count + message.count <= size else { return nil }
        var content = header + message
        if content.count < size { content.append(0xFE) }
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

    /// The identifier that tags have unless told otherwise.
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

    /// Protects the pages from `firstPage` on with a password, as a write of the configuration pages would.
    ///
    /// - Parameters:
    ///   - password: 4 bytes.
    ///   - acknowledgement: PACK, 2 bytes.
    ///   - firstPage: AUTH0.
    ///   - reading: whether reading needs the password too (PROT), not only writing.
    ///   - attempts: AUTHLIM, the wrong passwords that are allowed; 0 is no limit.
    public func protect(
        password: [UInt8],
        acknowledgement: [UInt8] = [0, 0],
        fromPage firstPage: UInt8,
        reading: Bool,
        attempts: UInt8 = 0
    ) {
        state.withLock {
            $0.protect(
                password: password,
                acknowledgement: acknowledgement,
                firstPage: firstPage,
                reading: reading,
                attempts: attempts
            )
        }
    }

    /// Gives the tag power: locks and configuration are read from memory, nobody is authenticated.
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
        /// What the factory writes from page 4 on.
        public let factoryContent: [UInt8]

        /// The page of the dynamic lock bytes, right behind user memory.
        public var dynamicLockPage: Int? { pagesPerLockBit > 0 ? lastUserPage + 1 : nil }
        /// The first of the four configuration pages: CFG0, CFG1, PWD, PACK.
        public var configurationPage: Int? { pagesPerLockBit > 0 ? lastUserPage + 2 : nil }

        /// NTAG213: 144 bytes of user memory.
        public static let ntag213 = Model(
            pages: 45,
            lastUserPage: 0x27,
            sizeByte: 0x12,
            version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03],
            pagesPerLockBit: 2,
            factoryContent: [0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE]
        )
        /// NTAG215: 504 bytes of user memory, of which the capability container counts 496.
        public static let ntag215 = Model(
            pages: 135,
            lastUserPage: 0x81,
            sizeByte: 0x3E,
            version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03],
            pagesPerLockBit: 16,
            factoryContent: [0x03, 0x00, 0xFE, 0x00]
        )
        /// NTAG216: 888 bytes of user memory, of which the capability container counts 872.
        public static let ntag216 = Model(
            pages: 231,
            lastUserPage: 0xE1,
            sizeByte: 0x6D,
            version: [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x13, 0x03],
            pagesPerLockBit: 16,
            factoryContent: [0x03, 0x00, 0xFE, 0x00]
        )
        /// MIFARE Ultralight (MF0ICU1): 48 bytes of user memory, no version, no password; formatted here.
        public static let ultralight = Model(
            pages: 16,
            lastUserPage: 0x0F,
            sizeByte: 0x06,
            version: nil,
            pagesPerLockBit: 0,
            factoryContent: [0x03, 0x00, 0xFE, 0x00]
        )
    }
}
