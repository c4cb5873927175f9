import CardCore

/// A card of the DESFire family at the other end of a channel: DESFire EV1 to EV3, DESFire Light, NTAG 424.
///
/// It speaks the native commands in their ISO wrapping (`90 INS 00 00 [Lc data] 00`, answered `91xx`). Applications and
/// files are read freely where the card allows it, or after ``authenticateAES(key:number:)`` (EV1) or
/// ``authenticateEV2First(key:number:)``; from then on every answer is verified before anything of it is used, and a
/// session ends with the first error, whatever it is. A key is tried once, and never another in its place.
///
/// Like the channel it belongs to one conversation and must not outlive it.
public struct DESFireCard {
    /// The session of the key that was shown, if there is one.
    public internal(set) var session: DESFireSession?

    /// The application that was selected; ``DESFireApplicationID/card`` at first, `nil` after a selection by name.
    public internal(set) var selected: DESFireApplicationID? = .card

    /// The set of commands that the card has. ``version()`` finds out.
    public internal(set) var commandSet = CommandSet.desfire

    /// The sets of commands of the family.
    public enum CommandSet: String, Sendable, Hashable, CaseIterable {
        /// DESFire EV1 to EV3: reading and writing in native frames, answered `91AF` while there is more.
        case desfire
        /// DESFire Light and NTAG 424: `AD` and `8D`, in one APDU.
        case light
    }

    let channel: any CardChannel
    private let challenge: () -> [UInt8]

    /// A card at the other end of the channel.
    ///
    /// - Parameter channel: any channel that carries APDUs to the card.
    public init(_ channel: any CardChannel) {
        self.init(channel) {
            var generator = SystemRandomNumberGenerator()
            return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
    }

    /// A card at the other end of the channel, with challenges of the caller's making.
    ///
    /// - Parameters:
    ///   - channel: any channel that carries APDUs to the card.
    ///   - challenge: gives 16 bytes for each authentication. Outside of tests they must come from a cryptographic source
    ///     of randomness.
    public init(_ channel: any CardChannel, challenge: @escaping () -> [UInt8]) {
        self.channel = channel
        self.challenge = challenge
    }

    /// Ends the session on this side. The card forgets it with the next reset, selection or authentication.
    public mutating func endSession() {
        session = nil
    }

    /// Powers the card anew: it forgets the selection and the session.
    ///
    /// - Throws: ``DESFireError/link(_:)``.
    public mutating func reset() throws(DESFireError) {
        session = nil
        selected = .card
        do {
            try channel.reset()
        } catch {
            throw .link(error)
        }
    }

    // MARK: The card

    /// What the card says of itself (GET VERSION, `60`). Sets ``commandSet``.
    ///
    /// - Throws: ``DESFireError``.
    public mutating func version() throws(DESFireError) -> DESFireVersion {
        let attempt = "read the card's version"
        let answer = try execute(0x60, attempt: attempt)
        guard let version = DESFireVersion(answer) else { throw wrongLength(answer, attempt) }
        commandSet = version.hasLightCommands ? .light : .desfire
        return version
    }

    /// The card's fixed identifier, which a card with random identifiers tells only in a session (GET CARD UID, `51`).
    ///
    /// - Throws: ``DESFireError``.
    public mutating func cardUID() throws(DESFireError) -> CardUID {
        let attempt = "read the card's fixed identifier"
        let uid = try execute(0x51, protection: .encrypted, answer: .encrypted, length: 7, attempt: attempt)
        guard uid.count == 7 else { throw wrongLength(uid, attempt) }
        return CardUID(uid, technology: .iso14443a)
    }

    /// How many bytes of memory are free (GET FREE MEMORY, `6E`).
    ///
    /// - Throws: ``DESFireError``.
    public mutating func freeMemory() throws(DESFireError) -> Int {
        let attempt = "read how much memory is free"
        let answer = try execute(0x6E, attempt: attempt)
        guard answer.count == 3 else { throw wrongLength(answer, attempt) }
        return answer.littleEndianNumber
    }

    /// The settings of the selected application's or the card's master key (GET KEY SETTINGS, `45`).
    ///
    /// - Throws: ``DESFireError``.
    public mutating func keySettings() throws(DESFireError) -> DESFireKeySettings {
        let attempt = "read the key settings"
        let answer = try execute(0x45, attempt: attempt)
        guard let settings = DESFireKeySettings(answer) else { throw wrongLength(answer, attempt) }
        return settings
    }

    /// The version number that was given to a key when it was set (GET KEY VERSION, `64`).
    ///
    /// - Parameter number: 0...13.
    /// - Throws: ``DESFireError``.
    public mutating func keyVersion(_ number: UInt8) throws(DESFireError) -> UInt8 {
        let attempt = "read the version of key \(number)"
        let answer = try execute(0x64, header: [number], attempt: attempt)
        guard let version = answer.first, answer.count == 1 else { throw wrongLength(answer, attempt) }
        return version
    }

    // MARK: Applications

    /// The applications on the card (GET APPLICATION IDS, `6A`); the card itself must be selected.
    ///
    /// - Throws: ``DESFireError``.
    public mutating func applicationIDs() throws(DESFireError) -> [DESFireApplicationID] {
        let attempt = "list the card's applications"
        let answer = try execute(0x6A, attempt: attempt)
        guard answer.count % 3 == 0 else { throw wrongLength(answer, attempt) }
        return stride(from: 0, to: answer.count, by: 3).compactMap { DESFireApplicationID(wire: answer[$0..<$0 + 3]) }
    }

    /// Selects an application, or the card itself (SELECT APPLICATION, `5A`). A session ends with it.
    ///
    /// - Throws: ``DESFireError``.
    public mutating func select(_ application: DESFireApplicationID) throws(DESFireError) {
        session = nil
        selected = nil
        _ = try execute(0x5A, header: application.wire, attempt: "select the application \(application)")
        selected = application
    }

    /// Selects an application by its name (ISO/IEC 7816-4 SELECT), the only way on DESFire Light and NTAG 424. A session
    /// ends with it.
    ///
    /// - Parameter name: 1...16 bytes.
    /// - Throws: ``DESFireError``.
    public mutating func select(name: [UInt8]) throws(DESFireError) {
        let attempt = "select the application named \(name.hex)"
        guard let command = try? CommandAPDU.select(name: name) else {
            throw .invalidRequest(attempt: attempt, detail: "a name has 1 to 16 bytes")
        }
        session = nil
        selected = nil
        let answer: ResponseAPDU
        do {
            answer = try channel.send(command)
        } catch {
            throw .link(error)
        }
        guard answer.isSuccess else { throw .refused(attempt: attempt, status: answer.statusWord) }
    }

    /// 16 bytes of the caller's randomness.
    func makeChallenge(_ attempt: String) throws(DESFireError) -> [UInt8] {
        let bytes = challenge()
        guard bytes.count == 16 else {
            throw .invalidRequest(attempt: attempt, detail: "the challenge has \(bytes.count) bytes, not 16")
        }
        return bytes
    }
}
