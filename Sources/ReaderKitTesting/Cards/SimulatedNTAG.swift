import ReaderKit
import Synchronization

/// An NTAG21x or a MIFARE Ultralight, EV1 or C: a Type 2 tag with its true memory layout.
///
/// It answers the raw frames of its chip: READ, WRITE, COMPATIBILITY_WRITE and HLTA; FAST_READ, GET_VERSION, READ_SIG
/// and PWD_AUTH; an NTAG's READ_CNT; an Ultralight EV1's READ_CNT, INCR_CNT, CHECK_TEARING_EVENT and VCSL; an
/// Ultralight C's AUTHENTICATE with 3DES. It has roll-over, one-time programmable bits, lock bits, protection by
/// password or key, counters, and an NTAG's ASCII mirror. Behind a ``SimulatedReader`` it takes `FF B0` and `FF D6`
/// too.
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
    ///   - model: the chip.
    ///   - uid: the identifier, 7 bytes; a shorter one is filled with zeros, a longer one cut.
    ///   - signature: what READ_SIG answers, 32 bytes. The default is a placeholder that no check accepts.
    ///   - seed: where an Ultralight C's challenges come from; by default the same ones in every run.
    public init(
        _ model: Model,
        uid: [UInt8] = SimulatedNTAG.sampleUID,
        signature: [UInt8]? = nil,
        seed: UInt64 = 1
    ) {
        self.model = model
        var state = NTAGState(model: model, signature: signature, seed: seed)
        state.setUID(uid)
        state.setFactoryContent()
        self.state = Mutex(state)
    }

    /// A tag with the given memory from page 0 on; what the image does not cover stays as the factory made it.
    ///
    /// The identifier is taken from the image as it is, so that broken images can be tried too.
    public init(_ model: Model, image: [UInt8], signature: [UInt8]? = nil) {
        self.model = model
        var state = NTAGState(model: model, signature: signature, seed: 1)
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

    /// Sets the key of an Ultralight C and the pages that need it, as writes would; another chip stays as it is.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - firstPage: AUTH0; 48 and more protect nothing.
    ///   - reading: whether reading needs the key too (AUTH1), not only writing.
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

    /// A counter of an Ultralight EV1 lost its power in the middle of an increment, which CHECK_TEARING_EVENT tells
    /// until the next one.
    public func tear(counter: Int) { state.withLock { _ = $0.tornCounters.insert(counter) } }

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
