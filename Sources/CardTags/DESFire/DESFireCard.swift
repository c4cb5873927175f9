import CardCore
import Cryptography

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

    /// The card's description of itself (GET VERSION, `60`). Sets ``commandSet``.
    public mutating func version() throws(DESFireError) -> DESFireVersion {
        let attempt = "read the card's version"
        let answer = try execute(.getVersion, attempt: attempt)
        guard let version = DESFireVersion(answer) else { throw wrongLength(answer, attempt) }
        commandSet = version.hasLightCommands ? .light : .desfire
        return version
    }

    /// The card's fixed identifier, which a card with random identifiers reports only in a session (GET CARD UID, `51`).
    public mutating func cardUID() throws(DESFireError) -> CardUID {
        let attempt = "read the card's fixed identifier"
        let uid = try execute(.getCardUID, protection: .encrypted, answer: .encrypted, length: 7, attempt: attempt)
        guard uid.count == 7 else { throw wrongLength(uid, attempt) }
        return CardUID(uid, technology: .iso14443a)
    }

    /// How many bytes of memory are free (GET FREE MEMORY, `6E`).
    public mutating func freeMemory() throws(DESFireError) -> Int {
        let attempt = "read how much memory is free"
        let answer = try execute(.freeMemory, attempt: attempt)
        guard answer.count == 3 else { throw wrongLength(answer, attempt) }
        return answer.littleEndianNumber
    }

    /// The settings of the selected application's or the card's master key (GET KEY SETTINGS, `45`).
    public mutating func keySettings() throws(DESFireError) -> DESFireKeySettings {
        let attempt = "read the key settings"
        let answer = try execute(.getKeySettings, attempt: attempt)
        guard let settings = DESFireKeySettings(answer) else { throw wrongLength(answer, attempt) }
        return settings
    }

    /// The version number that was given to a key when it was set (GET KEY VERSION, `64`).
    ///
    /// - Parameter number: 0...13.
    public mutating func keyVersion(_ number: UInt8) throws(DESFireError) -> UInt8 {
        let attempt = "read the version of key \(number)"
        let answer = try execute(.getKeyVersion, header: [number], attempt: attempt)
        guard let version = answer.first, answer.count == 1 else { throw wrongLength(answer, attempt) }
        return version
    }

    // MARK: Applications

    /// The applications on the card (GET APPLICATION IDS, `6A`); the card itself must be selected.
    public mutating func applicationIDs() throws(DESFireError) -> [DESFireApplicationID] {
        let attempt = "list the card's applications"
        let answer = try execute(.getApplicationIDs, attempt: attempt)
        guard answer.count % 3 == 0 else { throw wrongLength(answer, attempt) }
        return stride(from: 0, to: answer.count, by: 3).compactMap { DESFireApplicationID(wire: answer[$0..<$0 + 3]) }
    }

    /// Selects an application, or the card itself (SELECT APPLICATION, `5A`). A session ends with it.
    public mutating func select(_ application: DESFireApplicationID) throws(DESFireError) {
        session = nil
        selected = nil
        _ = try execute(.selectApplication, header: application.wire, attempt: "select the application \(application)")
        selected = application
    }

    /// Selects an application by its name (ISO/IEC 7816-4 SELECT), the only way on DESFire Light and NTAG 424. A session
    /// ends with it.
    ///
    /// - Parameter name: 1...16 bytes.
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

extension DESFireCard {
    /// Shows the card an AES key and lets it show that it knows the key too, as DESFire EV1 and later do (AUTHENTICATE
    /// AES, `AA`). From then on the session's code goes on through every command.
    ///
    /// The key is tried once.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - number: its number in the selected application, 0...13; 0 is the master key.
    /// - Throws: ``DESFireError``; ``DESFireError/wrongKey(attempt:)`` if the card does not take it, and
    ///   ``DESFireError/forged(attempt:)`` if the card does not know it.
    public mutating func authenticateAES(key: SecretKey, number: UInt8) throws(DESFireError) {
        let attempt = "authenticate with key \(number)"
        session = nil
        let ours = try makeChallenge(attempt)
        let first = try answer(.authenticateAES, [number], .additionalFrame, length: AES128.blockLength, attempt)
        let (cards, sent, vector) = try Self.mapping(attempt) { () throws(CryptoFailure) in
            let cards = try AES128.decrypt(first, key)
            // The vector goes on from block to block, in both directions.
            let sent = try AES128.encrypt(ours + Self.rotated(cards), key, vector: first)
            return (cards, sent, Array(sent.suffix(AES128.blockLength)))
        }
        let second = try answer(.additionalFrame, sent, .done, length: 16, attempt)
        let proof = try Self.mapping(attempt) { () throws(CryptoFailure) in
            try AES128.decrypt(second, key, vector: vector)
        }
        guard ConstantTime.areEqual(proof, Self.rotated(ours)),
            let sessionKey = EV1Messaging.sessionKey(ours: ours, cards: cards)
        else { throw .forged(attempt: attempt) }
        session = DESFireSession(keyNumber: number, EV1Messaging(key: sessionKey))
    }

    /// Shows the card an AES key and lets it show that it knows the key too, as DESFire EV2 and later and NTAG 424 do
    /// (AUTHENTICATE EV2 FIRST, `71`).
    ///
    /// The key is tried once; number and errors are those of ``authenticateAES(key:number:)``.
    public mutating func authenticateEV2First(key: SecretKey, number: UInt8) throws(DESFireError) {
        let attempt = "authenticate with key \(number)"
        session = nil
        let ours = try makeChallenge(attempt)
        // Behind the key's number: no capabilities of ours.
        let first = try answer(
            .authenticateEV2First,
            [number, 0x00],
            .additionalFrame,
            length: AES128.blockLength,
            attempt
        )
        let (cards, sent) = try Self.mapping(attempt) { () throws(CryptoFailure) in
            let cards = try AES128.decrypt(first, key)
            return (cards, try AES128.encrypt(ours + Self.rotated(cards), key))
        }
        // Transaction identifier 4, our challenge rotated 16, the card's capabilities 6, ours 6.
        let second = try answer(.additionalFrame, sent, .done, length: 32, attempt)
        let messaging = try Self.mapping(attempt) { () throws(CryptoFailure) in
            let clear = try AES128.decrypt(second, key)
            guard ConstantTime.areEqual(clear[4..<20], Self.rotated(ours)) else { throw .forged }
            let keys = try EV2Messaging.sessionKeys(key, ours: ours, cards: cards)
            return EV2Messaging(encryptionKey: keys.encryption, codeKey: keys.code, transaction: Array(clear[..<4]))
        }
        guard let messaging else { throw .forged(attempt: attempt) }
        session = DESFireSession(keyNumber: number, messaging)
    }

    /// The card's challenge, behind which it expects an answer, or its proof at the end; both still encrypted.
    private func answer(
        _ instruction: DESFireInstruction,
        _ payload: [UInt8],
        _ expected: DESFireStatus,
        length: Int,
        _ attempt: String
    ) throws(DESFireError) -> [UInt8] {
        let (data, status) = try frame(instruction, payload, attempt)
        guard status == expected else {
            let isEnd = expected == .done
            if isEnd, status == .authenticationError { throw .wrongKey(attempt: attempt) }
            guard status == .done || status == .additionalFrame else { throw status.refusal(attempt) }
            throw .invalidAnswer(
                attempt: attempt,
                detail: isEnd ? "the card asks for more" : "the card asks for no proof"
            )
        }
        guard data.count == length else { throw wrongLength(data, attempt) }
        return data
    }

    /// The bytes, the first of them moved to the end.
    private static func rotated(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst()) + Array(bytes.prefix(1)) }
}

extension DESFireCard {
    /// The most data bytes in the APDU of a native frame: with the wrapping, a block of 64 bytes on the radio.
    static let frameLength = 55

    /// Sends a command, in the session if there is one, and returns the verified data of the whole answer.
    ///
    /// - Parameters:
    ///   - instruction: the native command.
    ///   - header: parameters that are never encrypted.
    ///   - data: what is to be protected.
    ///   - protection: how the command travels in a session. Without data there is nothing to encrypt; EV1 sends a code
    ///     only with data.
    ///   - answer: how the answer travels in a session.
    ///   - length: how many bytes are expected, where that is known.
    ///   - attempt: to be read after "could not".
    mutating func execute(
        _ instruction: DESFireInstruction,
        header: [UInt8] = [],
        data: [UInt8] = [],
        protection: DESFireCommunication = .authenticated,
        answer: DESFireCommunication = .authenticated,
        length: Int? = nil,
        attempt: String
    ) throws(DESFireError) -> [UInt8] {
        guard var session else { return try exchange(instruction, header + data, attempt) }
        // Whatever goes wrong from here on, the two sides no longer agree.
        self.session = nil
        let sent = try Self.mapping(attempt) { () throws(CryptoFailure) in
            try session.messaging.wrap(instruction.rawValue, header, data, protection)
        }
        let received = try exchange(instruction, sent, attempt)
        let clear = try Self.mapping(attempt) { () throws(CryptoFailure) in
            try session.messaging.unwrap(received, status: 0x00, answer, length: length)
        }
        self.session = session
        return clear
    }

    /// Sends a native command in as many frames as it takes, and gathers the answer from as many as come.
    func exchange(_ instruction: DESFireInstruction, _ payload: [UInt8], _ attempt: String) throws(DESFireError)
        -> [UInt8]
    {
        var rest = payload[...]
        var (data, status) = try frame(instruction, takeFrame(&rest), attempt)
        while !rest.isEmpty {
            guard status == .additionalFrame, data.isEmpty else {
                throw status == .done || status == .additionalFrame
                    ? .invalidAnswer(attempt: attempt, detail: "the card ended the command before it had all of it")
                    : status.refusal(attempt)
            }
            (data, status) = try frame(.additionalFrame, takeFrame(&rest), attempt)
        }
        var rounds = 0
        while status == .additionalFrame {
            guard rounds < ReaderLimits.moreDataRounds else {
                throw .limitExceeded(attempt: attempt, detail: "more than \(ReaderLimits.moreDataRounds) parts")
            }
            rounds += 1
            let next: [UInt8]
            (next, status) = try frame(.additionalFrame, [], attempt)
            guard data.count + next.count <= ReaderLimits.responseLength - 2 else {
                throw .limitExceeded(attempt: attempt, detail: "more than \(ReaderLimits.responseLength - 2) bytes")
            }
            data += next
        }
        guard status == .done else { throw status.refusal(attempt) }
        return data
    }

    /// One frame and the card's answer to it, whatever its status.
    func frame(
        _ instruction: DESFireInstruction,
        _ payload: [UInt8],
        _ attempt: String
    ) throws(DESFireError) -> (data: [UInt8], status: DESFireStatus) {
        guard payload.count <= 255 else {
            throw .invalidRequest(attempt: attempt, detail: "the command has \(payload.count) bytes, more than 255")
        }
        let answer: ResponseAPDU
        do {
            answer = try channel.exchange(CommandAPDU(trusted: 0x90, instruction.rawValue, 0, 0, payload, 256))
        } catch {
            throw .link(error)
        }
        guard let status = DESFireStatus(answer.statusWord) else {
            throw .refused(attempt: attempt, status: answer.statusWord)
        }
        return (answer.data, status)
    }

    /// The next frame's worth of bytes. Commands of the light set travel in one APDU.
    private func takeFrame(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let part = rest.prefix(commandSet == .light ? rest.count : Self.frameLength)
        rest = rest.dropFirst(part.count)
        return Array(part)
    }

    /// An answer of another length than the command has.
    func wrongLength(_ answer: [UInt8], _ attempt: String) -> DESFireError {
        .invalidAnswer(attempt: attempt, detail: "it has \(answer.count) bytes")
    }

    /// Turns what went wrong in the secure messaging into an error of the conversation.
    static func mapping<Value>(
        _ attempt: String,
        _ body: () throws(CryptoFailure) -> Value
    ) throws(DESFireError) -> Value {
        do {
            return try body()
        } catch {
            switch error {
            case .forged: throw .forged(attempt: attempt)
            case .wrongLength:
                throw .invalidAnswer(attempt: attempt, detail: "its length does not fit what it should hold")
            case .wrongPadding: throw .invalidAnswer(attempt: attempt, detail: "its padding is not the right one")
            case .exhausted:
                throw .limitExceeded(attempt: attempt, detail: "a session has at most 65535 commands")
            }
        }
    }
}
