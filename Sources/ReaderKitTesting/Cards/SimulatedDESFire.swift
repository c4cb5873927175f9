import ReaderKit
import Synchronization

/// A card of the DESFire family: applications, AES keys, files with access rights, and the secure messaging of EV1 and
/// EV2.
///
/// It answers the native commands in their ISO wrapping, and SELECT, READ BINARY and UPDATE BINARY where its files have
/// ISO identifiers: with an NDEF application it is a Type 4 tag. What differs between products is its
/// ``Configuration/Model``. Standard files are written through as the frames come, backup files when the transaction is
/// committed, so the card can be torn as a real one.
public final class SimulatedDESFire: SimulatedCard {
    private let state: Mutex<DESFireState>

    /// What differs between cards.
    public struct Configuration: Sendable {
        /// The product.
        public var model = Model.ev2
        /// The fixed identifier, 7 bytes.
        public var uid: [UInt8] = [0x04, 0x6F, 0x16, 0x9A, 0xFC, 0x2E, 0x80]
        /// Whether the card shows a random identifier of 4 bytes, another one at each activation.
        public var showsRandomUID = false
        /// The card's AES master key; `nil` is the DES key with which cards leave the factory, which no AES
        /// authentication takes.
        public var masterKey: SecretKey?
        /// The settings of the master key: `02` listing is free, `04` making applications is free.
        public var options: UInt8 = 0x0F
        /// The memory for applications and files, in bytes.
        public var memory = 7936
        /// What the card has.
        public var applications: [SimulatedDESFireApplication] = []
        /// Where the card's challenges come from; by default the same ones in every run.
        public var seed: UInt64 = 1

        /// A blank DESFire EV2. Change what shall differ.
        public init() {}
    }

    /// The products.
    public enum Model: String, Sendable, Hashable, CaseIterable {
        /// DESFire EV1: authentication of its own generation only.
        case ev1
        /// DESFire EV2.
        case ev2
        /// DESFire EV3.
        case ev3
        /// DESFire Light: EV2 authentication only, the smaller set of commands.
        case light
        /// NTAG 424 DNA: the same, as an NDEF tag.
        case ntag424
    }

    /// A card.
    public init(_ configuration: Configuration = Configuration()) {
        state = Mutex(DESFireState(configuration))
    }

    /// The identifier that the card shows: the fixed one, or the random one of the present activation.
    public var uid: [UInt8] { state.withLock { $0.shownUID } }

    /// A card with ISO/IEC 14443-4 and the one historical byte of the family.
    public var kind: SimulatedCardKind { .isoDEP(historicalBytes: [0x80]) }

    /// How the card was made.
    public var configuration: Configuration { state.withLock { $0.configuration } }

    /// What the card has now. What is not committed is not in it.
    public var applications: [SimulatedDESFireApplication] {
        get { state.withLock { $0.applications } }
        set {
            state.withLock { state in
                state.applications = newValue
                // The selected application may be gone.
                if let selected = state.selected, selected >= newValue.count { state.forget() }
            }
        }
    }

    /// How many authentications the card refused because of a wrong key.
    public var failedAuthentications: Int { state.withLock { $0.failedAuthentications } }

    /// Whether a session lasts.
    public var isAuthenticated: Bool { state.withLock { $0.session != nil } }

    /// The bytes of a data file, or `nil` if absent of that number in that application.
    public func data(of file: UInt8, in application: UInt32) -> [UInt8]? {
        applications.first { $0.id == application }?.files.first { $0.number == file }?.data
    }

    /// Nothing is selected but the card, and a card with random identifiers takes the next one.
    public func powerOn() { state.withLock { $0.powerOn() } }

    /// Selection, session and what was not committed are gone.
    public func powerOff() { state.withLock { $0.forget() } }

    /// Answers a command APDU.
    public func receive(apdu: [UInt8]) -> [UInt8]? {
        guard let command = try? CommandAPDU(bytes: apdu) else { return Status.wrongLength }
        return state.withLock { $0.answer(command) }
    }
}
