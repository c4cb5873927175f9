import Cryptography
import Foundation
import ReaderKit
import Synchronization

/// A simulated Android phone with objects of Google Wallet, which it provides by Smart Tap 2.1.
///
/// It shows another identifier at each activation, and checks the terminal's signature as a phone does: a terminal whose
/// key it does not know gets nothing.
public final class SimulatedAndroidPhone: SimulatedCard {
    /// A pass.
    public struct Pass: Sendable, Hashable {
        /// What it is.
        public var kind: SmartTapObject.Kind
        /// What it is redeemed by.
        public var value: String
        /// The number of the object, 8 bytes.
        public var objectID: [UInt8]

        /// A pass.
        public init(kind: SmartTapObject.Kind = .loyalty, value: String, objectID: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]) {
            self.kind = kind
            self.value = value
            self.objectID = objectID
        }
    }

    /// The collector whose passes these are, and the public key that it has registered.
    public struct Collector: Sendable, Hashable {
        /// The collector's number.
        public var id: UInt32
        /// The version of the key.
        public var keyVersion: UInt32
        /// A compressed point, 33 bytes (``SmartTapKey/publicKey``).
        public var publicKey: [UInt8]

        /// The collector of a terminal's key.
        public init(_ key: SmartTapKey) {
            id = key.collectorID
            keyVersion = key.version
            publicKey = key.publicKey
        }
    }

    fileprivate enum Step {
        case idle, selected, negotiated
    }

    fileprivate struct State {
        var passes: [Pass]
        var collector: Collector
        var chunk: Int
        var isCompressed: Bool
        var givesAll: Bool
        var isLocked = false
        var random: PhoneRandom
        var uid: [UInt8]
        // Of this activation:
        var step = Step.idle
        var nonce: [UInt8] = []
        var key: P256.PrivateKey
        var signed: [UInt8] = []
        var terminalKey: P256.PublicKey?
        var session: [UInt8] = []
        var sequence: UInt8 = 0
        var pending: [UInt8] = []
    }

    /// As a reader finds it: a phone has no historical bytes.
    public let kind = SimulatedCardKind.isoDEP(historicalBytes: [])

    private let state: Mutex<State>

    /// A phone with passes for a collector. With several it wants its owner to choose.
    ///
    /// - Parameters:
    ///   - chunk: how many bytes of its data it sends at once.
    ///   - isCompressed: whether it compresses its data for terminals that can inflate them.
    ///   - givesAll: whether it sends all its passes at once instead of having one chosen, and without any still
    ///     identifies its owner (status word 9001).
    ///   - seed: the same seed yields the same identifiers and keys.
    public init(
        _ passes: [Pass],
        collector: Collector,
        chunk: Int = 200,
        isCompressed: Bool = false,
        givesAll: Bool = false,
        seed: UInt64 = 1
    ) {
        var random = PhoneRandom(seed: seed)
        let (uid, key) = (random.identifier(), random.key())
        state = Mutex(
            State(
                passes: passes,
                collector: collector,
                chunk: min(max(chunk, 1), 250),
                isCompressed: isCompressed,
                givesAll: givesAll,
                random: random,
                uid: uid,
                key: key
            )
        )
    }

    /// The identifier of this activation.
    public var uid: [UInt8] { state.withLock { $0.uid } }

    /// Whether it is locked.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Its owner chooses one of the passes.
    public func choose(_ pass: Pass) { state.withLock { $0.passes = [pass] } }

    /// Takes another identifier, and forgets the tap before.
    public func powerOn() {
        state.withLock { state in
            state.uid = state.random.identifier()
            state.nonce = state.random.bytes(32)
            state.key = state.random.key()
            state.step = .idle
        }
    }

    /// The reader has gone.
    public func powerOff() { state.withLock { $0.step = .idle } }

    /// Answers as the wallet does.
    public func receive(apdu: [UInt8]) -> [UInt8]? {
        guard let command = try? CommandAPDU(bytes: apdu) else { return Status.wrongLength }
        return state.withLock { state in
            switch (command.cla, command.ins) {
            case (0x00, 0xA4): state.select(command.data)
            case (0x90, 0x53): state.negotiate(command.data)
            case (0x90, 0x50): state.getData(command.data)
            case (0x90, 0xC0): state.more()
            case (0x90, _): [0x94, 0x00]
            case (0x00, _): Status.unknownInstruction
            default: Status.unknownClass
            }
        }
    }
}

extension SimulatedAndroidPhone.State {
    private static let identifier: [UInt8] = [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x11]

    private var publicKey: [UInt8] { key.publicKey.compressed }

    fileprivate mutating func select(_ name: [UInt8]) -> [UInt8] {
        switch name {
        case Array("OSE.VAS.01".utf8):
            step = .selected
            let details = BERTLV(
                0x73,
                objects: [BERTLV(0xDF6D, [0, 0]), BERTLV(0xDF4D, [0, 1]), BERTLV(0xDF62, [0x03])]
            )
            let entry = BERTLV(0x61, objects: [BERTLV(0x4F, Self.identifier), BERTLV(0x87, [0x01]), details])
            let template = BERTLV(
                0x6F,
                objects: [
                    BERTLV(0x50, Array("AndroidPay".utf8)), BERTLV(0xC0, [0, 1]),
                    BERTLV(0xC1, [0xCC, 0, 0, 0, 0, 0, 0x80, 0x80]), BERTLV(0xC2, nonce), BERTLV(0xC3, publicKey),
                    BERTLV(0xA5, objects: [BERTLV(0xBF0C, objects: [entry])]),
                ]
            )
            return ((try? template.encoded()) ?? []) + Status.success
        case Self.identifier:
            step = .selected
            let name = Array("mdn".utf8)
            let record = NDEFRecord(tnf: .external, type: name, id: name, payload: [4] + nonce)
            return [0, 0, 0, 1] + SmartTapRecords.bytes([record]) + Status.success
        default: return Status.notFound
        }
    }

    fileprivate mutating func negotiate(_ data: [UInt8]) -> [UInt8] {
        guard step != .idle else { return [0x95, 0x00] }
        if isLocked { return [0x93, 0x00] }
        guard let request = try? SmartTapRecords.read(data).first(named: "ngr")?.payload, request.count > 2 else {
            return [0x94, 0x02]
        }
        guard request[0] == 0, request[1] == 1 else { return [0x95, 0x02] }
        guard let records = try? SmartTapRecords.read(request[2...]),
            let session = records.first(named: "ses")?.payload, session.count == 10,
            let proof = records.first(named: "cpr")?.payload, proof.count > 70,
            let parts = try? SmartTapRecords.read(proof[70...]),
            let signature = parts.first(named: "sig")?.primitive, let number = parts.first(named: "cld")?.primitive
        else { return [0x94, 0x02] }
        guard let terminal = try? P256.PublicKey(compressed: proof[33..<66]),
            let code = ECDSASignature(der: signature)
        else { return [0x94, 0x03] }
        let isLive = proof[32] == 0x01
        let signedNonce = isLive ? nonce : [UInt8](repeating: 0, count: 32)
        let signed = Array(proof[..<32]) + signedNonce + number + Array(proof[33..<66])
        guard number == collector.id.bigEndianBytes, Array(proof[66..<70]) == collector.keyVersion.bigEndianBytes,
            let key = try? P256.PublicKey(compressed: collector.publicKey),
            key.isValid(code, for: signed)
        else { return [0x95, 0x00] }
        (self.session, sequence) = (Array(session.prefix(8)), session[8] &+ 1)
        (self.signed, terminalKey) = (signed + signature, terminal)
        step = .negotiated
        let answer = SmartTapRecords.bytes([
            SmartTapRecords.record("ses", self.session + [sequence, 1]), SmartTapRecords.record("dpk", publicKey),
        ])
        return SmartTapRecords.bytes([SmartTapRecords.record("nrs", answer)]) + (isLive ? [0x90, 0x00] : [0x90, 0x02])
    }

    fileprivate mutating func getData(_ data: [UInt8]) -> [UInt8] {
        guard step == .negotiated else { return [0x95, 0x00] }
        if isLocked { return [0x93, 0x00] }
        guard let request = try? SmartTapRecords.read(data).first(named: "srq")?.payload, request.count > 2,
            let records = try? SmartTapRecords.read(request[2...]), let ses = records.first(named: "ses")?.payload,
            ses.count == 10, ses.starts(with: session)
        else { return [0x94, 0x02] }
        guard passes.count <= 1 || givesAll else { return [0x93, 0x02] }
        sequence = ses[8] &+ 1
        guard !passes.isEmpty || givesAll else { return [0x90, 0x01] }
        let capabilities = records.first(named: "pcr")?.payload
        guard let bundle = bundle(compressed: isCompressed && (capabilities?.first ?? 0) & 0x40 != 0) else {
            return [0x92, 0x01]
        }
        let answer = SmartTapRecords.bytes([
            SmartTapRecords.record("ses", session + [sequence, 1]), SmartTapRecords.record("reb", bundle),
        ])
        pending = SmartTapRecords.bytes([SmartTapRecords.record("srs", answer)])
        return next()
    }

    fileprivate mutating func more() -> [UInt8] {
        guard step == .negotiated else { return [0x94, 0x04] }
        return pending.isEmpty ? [0x94, 0x05] : next()
    }

    private mutating func next() -> [UInt8] {
        let part = Array(pending.prefix(chunk))
        pending.removeFirst(part.count)
        return part + (pending.isEmpty ? [0x90, passes.isEmpty ? 0x01 : 0x00] : [0x91, 0x00])
    }

    private mutating func bundle(compressed: Bool) -> [UInt8]? {
        let customer = SmartTapRecords.bytes([
            SmartTapRecords.record("cid", [4] + SHA256.hash(collector.id.bigEndianBytes).prefix(16)),
            Self.text("cpl", [0x02] + Array("enen".utf8)),
            SmartTapRecords.record("cut", [4] + random.bytes(16)),
        ])
        let objects = passes.map { pass in
            let object = SmartTapRecords.bytes([
                SmartTapRecords.record("oid", [4] + pass.objectID),
                // Without a language, as Google's own sample has it.
                Self.text("n", [0x00] + Array(pass.value.utf8)),
            ])
            return value([4, 1] + collector.id.bigEndianBytes, SmartTapRecords.record(pass.kind.code, object))
        }
        let values = SmartTapRecords.bytes(
            [value([4, 2, 0, 0, 0, 1], SmartTapRecords.record("cus", customer))] + objects
        )
        guard let terminalKey, let secret = try? key.sharedSecret(with: terminalKey),
            let keys = try? KeyDerivation.hkdf(secret, salt: publicKey, information: signed, count: 48)
        else { return nil }
        let vector = random.bytes(12)
        let plain = compressed ? Self.stored(values) : values
        guard let data = try? AES.apply(counter: vector + [0, 0, 0, 0], to: plain, key: keys[0..<16]) else {
            return nil
        }
        let covered = vector + data
        return [compressed ? 0x03 : 0x01] + covered + HMAC.code(for: covered, key: keys[16..<48])
    }

    private static func text(_ id: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(tnf: .wellKnown, type: [0x54], id: Array(id.utf8), payload: payload)
    }

    private func value(_ issuer: [UInt8], _ object: NDEFRecord) -> NDEFRecord {
        SmartTapRecords.record("asv", SmartTapRecords.bytes([SmartTapRecords.record("i", issuer), object]))
    }

    /// A zlib stream of one stored block: compressed in form alone, which is all that the other side has to undo.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let length = [UInt8].littleEndian(bytes.count, 2)
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return [0x78, 0x01, 0x01] + length + length.map { ~$0 } + bytes + (high << 16 | low).bigEndianBytes
    }
}

/// What a simulated phone makes up: the same seed makes the same, activation after activation.
struct PhoneRandom: Sendable {
    private let seed: UInt64
    private var count: UInt64 = 0

    init(seed: UInt64) { self.seed = seed }

    mutating func bytes(_ length: Int) -> [UInt8] {
        count += 1
        let input = [seed, count].flatMap { [UInt8].littleEndian(Int(truncatingIfNeeded: $0), 8) }
        return Array(SHA256.hash(input).prefix(length))
    }

    mutating func key() -> P256.PrivateKey {
        while true {
            // Fewer than one of 2^32 numbers of 32 bytes are no key of the curve.
            if let key = try? P256.PrivateKey(bytes(32)) { return key }
        }
    }

    /// The next identifier: 08 and three bytes, as phones show it.
    mutating func identifier() -> [UInt8] { [0x08] + bytes(3) }
}
