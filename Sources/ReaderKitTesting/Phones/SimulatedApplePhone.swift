import Cryptography
import Foundation
import ReaderKit
import Synchronization

/// A simulated iPhone with passes of Apple Wallet, which it provides by Apple VAS.
///
/// It shows another identifier at each activation. What real phones answer to wrong commands is known from tables alone;
/// here the answers are those.
public final class SimulatedApplePhone: SimulatedCard {
    /// A pass.
    public struct Pass: Sendable, Hashable {
        /// The pass type identifier, such as `pass.com.example.club`.
        public var passTypeIdentifier: String
        /// The message of the pass.
        public var message: String
        /// The public key of the readers that it is for: a compressed point, 33 bytes (``AppleVASKey/publicKey``).
        public var readerKey: [UInt8]

        /// A pass.
        public init(passTypeIdentifier: String, message: String, readerKey: [UInt8]) {
            self.passTypeIdentifier = passTypeIdentifier
            self.message = message
            self.readerKey = readerKey
        }
    }

    fileprivate struct State {
        var passes: [Pass]
        var isLocked = false
        var isSelected = false
        var random: PhoneRandom
        var uid: [UInt8]
        var shown: String?
        var recorded: [UInt8]?
    }

    /// As a reader finds it: a phone has no historical bytes.
    public let kind = SimulatedCardKind.isoDEP(historicalBytes: [])

    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    /// A phone with a clock; the same seed yields the same identifiers and keys.
    public init(_ passes: [Pass], seed: UInt64 = 1, now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        var random = PhoneRandom(seed: seed)
        let uid = random.identifier()
        state = Mutex(State(passes: passes, random: random, uid: uid))
    }

    /// The identifier of this activation.
    public var uid: [UInt8] { state.withLock { $0.uid } }

    /// Whether it is locked: then it shows the pass and wants its owner.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Makes it send this cryptogram at each tap, as one who recorded it would; `nil` makes new ones again.
    public func replay(_ cryptogram: [UInt8]?) { state.withLock { $0.recorded = cryptogram } }

    /// The pass type that it shows to its owner, since a reader asked for it.
    public var shownPass: String? { state.withLock { $0.shown } }

    /// Takes another identifier, and forgets the tap before.
    public func powerOn() {
        state.withLock { state in
            state.isSelected = false
            state.uid = state.random.identifier()
        }
    }

    /// The reader has gone.
    public func powerOff() { state.withLock { $0.isSelected = false } }

    /// Answers as the wallet does.
    public func receive(apdu: [UInt8]) -> [UInt8]? {
        guard let command = try? CommandAPDU(bytes: apdu) else { return Status.wrongLength }
        return state.withLock { state in
            switch (command.cla, command.ins) {
            case (0x00, 0xA4): state.select(command)
            case (0x80, 0xCA): state.getData(command, now())
            case (0x00, _): Status.unknownInstruction
            default: Status.unknownClass
            }
        }
    }
}

extension SimulatedApplePhone.State {
    fileprivate mutating func select(_ command: CommandAPDU) -> [UInt8] {
        isSelected = command.p1 == 0x04 && command.data == Array("OSE.VAS.01".utf8)
        guard isSelected else { return Status.notFound }
        let template = BERTLV(
            0x6F,
            objects: [
                BERTLV(0x50, Array("ApplePay".utf8)), BERTLV(0x9F21, [0x01, 0x00]), BERTLV(0x9F24, random.bytes(4)),
                BERTLV(0x9F23, [0x00, 0x00, 0x00, 0x1E]),
            ]
        )
        return ((try? template.encoded()) ?? []) + Status.success
    }

    fileprivate mutating func getData(_ command: CommandAPDU, _ now: Date) -> [UInt8] {
        guard isSelected else { return Status.notFound }
        guard command.p1 == 0x01, command.p2 <= 0x01 else { return [0x6B, 0x00] }
        guard let objects = try? BERTLV.decode(command.data), objects.find(0x9F22)?.value == [0x01, 0x00] else {
            return [0x6A, 0x80]
        }
        if command.p2 == 0x00 {
            guard objects.find(0x9F29) != nil else { return [0x6A, 0x80] }
            return [0x70, 0x03, 0x9F, 0x2A, 0x00] + Status.success
        }
        guard let merchant = objects.find(0x9F25)?.value, merchant.count == 32 else { return [0x6A, 0x80] }
        let wanted = passes.first { SHA256.hash($0.passTypeIdentifier.utf8) == merchant }
        guard let pass = wanted else { return [0x6A, 0x83] }
        shown = pass.passTypeIdentifier
        if isLocked { return [0x62, 0x87] }
        guard let cryptogram = recorded ?? cryptogram(of: pass, merchant, now) else { return [0x6A, 0x80] }
        let answer = BERTLV(0x70, objects: [BERTLV(0x9F2A, []), BERTLV(0x9F27, cryptogram)])
        return ((try? answer.encoded()) ?? []) + Status.success
    }

    private mutating func cryptogram(of pass: SimulatedApplePhone.Pass, _ merchant: [UInt8], _ now: Date) -> [UInt8]? {
        let key = random.key()
        let label = Array("ApplePay encrypted VAS data".utf8)
        let information = [0x0D] + Array("id-aes256-GCM".utf8) + label + merchant
        guard let reader = try? P256.PublicKey(compressed: pass.readerKey),
            let secret = try? key.sharedSecret(with: reader),
            let dataKey = try? KeyDerivation.x963(secret, information: information, count: 32)
        else { return nil }
        // Phones count from the beginning of 2001.
        let seconds = UInt32(clamping: Int(now.timeIntervalSince1970 - 978_307_200))
        let time = seconds.bigEndianBytes
        let nonce = [UInt8](repeating: 0, count: 16)
        guard let box = try? AES.GCM.seal(time + Array(pass.message.utf8), key: dataKey, nonce: nonce) else {
            return nil
        }
        return SHA256.hash(reader.coordinates.prefix(32)).prefix(4) + key.publicKey.coordinates.prefix(32)
            + box.ciphertext + box.tag
    }
}
