import ReaderKit
import Synchronization

/// A card that shows an identifier and nothing else: a MIFARE Classic without its keys, a DESFire without the NDEF
/// application, a phone with a new identifier each time, a FeliCa or vicinity card.
public final class SimulatedIdentityCard: SimulatedCard {
    /// What the card is to a reader.
    public let kind: SimulatedCardKind

    private let state: Mutex<State>

    private struct State {
        var uid: [UInt8]
        var activations = 0
        let next: (@Sendable (Int) -> [UInt8])?
    }

    /// A card of that kind with that identifier.
    public init(kind: SimulatedCardKind, uid: [UInt8]) {
        self.kind = kind
        state = Mutex(State(uid: uid, next: nil))
    }

    /// A card of that kind that shows another identifier for the first (0), second (1), … activation.
    public init(kind: SimulatedCardKind, uid: @escaping @Sendable (Int) -> [UInt8]) {
        self.kind = kind
        state = Mutex(State(uid: uid(0), next: uid))
    }

    /// A MIFARE Classic 1K; reading its blocks without a key is refused by the reader.
    public static func classic1K(uid: [UInt8] = [0x3A, 0x5B, 0x7C, 0x9D]) -> SimulatedIdentityCard {
        SimulatedIdentityCard(kind: .classic1K, uid: uid)
    }

    /// A MIFARE DESFire that has no NDEF application: every SELECT is answered `6A82`.
    public static func desFire(uid: [UInt8] = [0x04, 0x6F, 0x16, 0x9A, 0xFC, 0x2E, 0x80]) -> SimulatedIdentityCard {
        SimulatedIdentityCard(kind: .isoDEP(historicalBytes: [0x80]), uid: uid)
    }

    /// A phone without a pass: a random identifier of 4 bytes that begins with `08`, new at each activation, the same
    /// for the same seed.
    public static func phone(seed: UInt64 = 1) -> SimulatedIdentityCard {
        SimulatedIdentityCard(kind: .isoDEP(historicalBytes: [])) { activation in
            var numbers = SeededNumbers(seed: seed &+ UInt64(truncatingIfNeeded: activation) &* 0x9E37_79B9_7F4A_7C15)
            return [0x08] + [UInt8].littleEndian(Int(truncatingIfNeeded: numbers.next()), 3)
        }
    }

    /// A FeliCa card with that IDm, 8 bytes.
    public static func feliCa(
        idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE7, 0x91, 0x83, 0x5A, 0x06]
    ) -> SimulatedIdentityCard {
        SimulatedIdentityCard(kind: .feliCa, uid: idm)
    }

    /// An ICODE SLI, a vicinity card, with that identifier, 8 bytes, most significant first.
    public static func vicinity(
        uid: [UInt8] = [0xE0, 0x04, 0x01, 0x50, 0x2B, 0x7C, 0x91, 0x3D]
    ) -> SimulatedIdentityCard {
        SimulatedIdentityCard(kind: .icodeSLI, uid: uid)
    }

    /// The identifier of the present activation.
    public var uid: [UInt8] { state.withLock { $0.uid } }

    /// A card with changing identifiers takes the next one.
    public func powerOn() {
        state.withLock {
            guard let next = $0.next else { return }
            $0.uid = next($0.activations)
            $0.activations += 1
        }
    }

    /// SELECT finds nothing; nothing else is known.
    public func receive(apdu: [UInt8]) -> [UInt8]? {
        guard apdu.count >= 4 else { return Status.wrongLength }
        return apdu[1] == 0xA4 ? Status.notFound : Status.unknownInstruction
    }
}
