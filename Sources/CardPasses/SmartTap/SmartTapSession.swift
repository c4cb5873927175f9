import CardCore
import Cryptography
import NDEFCodec

/// One tap of Smart Tap 2.1, from the phone's number to its data: makes the commands and reads the answers.
///
/// The terminal signs both numbers, its own and the phone's, so that neither side can be played back to the other. The
/// phone's data is encrypted with keys of this tap alone, and its code is checked before anything else is done with it.
struct SmartTapSession {
    /// Whether the phone's number was signed, so that what it sends cannot be of another tap.
    let isLive: Bool
    private let collector: [UInt8]
    private let keyVersion: [UInt8]
    private let entropy: SmartTapEntropy
    private let signed: [UInt8]
    private let signature: [UInt8]
    private var phoneKey: P256.PublicKey?
    private var sequence: UInt8 = 0

    private static let version: [UInt8] = [0x00, 0x01]
    private static let accepted: UInt8 = 0x01

    /// A tap with the phone's number, 32 bytes.
    ///
    /// - Parameter signing: signs in place of the key, for a tap that is to be made again.
    init(
        _ key: SmartTapKey,
        phoneNonce: [UInt8],
        entropy: SmartTapEntropy,
        sequence: UInt8 = 0,
        signing: (([UInt8]) throws -> [UInt8])? = nil
    ) throws {
        (collector, keyVersion) = (key.collectorID.bigEndianBytes, key.version.bigEndianBytes)
        self.entropy = entropy
        self.sequence = sequence
        signed = entropy.nonce + phoneNonce + collector + entropy.publicKey
        signature = try signing?(signed) ?? key.sign(signed)
        isLive = true
    }

    /// A tap with a signature that was made in advance; of the entropy the number of the session alone is used.
    init(_ made: SmartTapPreSignature, entropy: SmartTapEntropy) {
        (collector, keyVersion) = (made.collectorID.bigEndianBytes, made.version.bigEndianBytes)
        self.entropy = SmartTapEntropy(session: entropy.session, nonce: made.nonce, key: made.key)
        signed = made.nonce + SmartTapPreSignature.phoneNonce + collector + self.entropy.publicKey
        signature = made.signature
        isLive = false
    }

    // MARK: Commands

    /// NEGOTIATE SECURE SESSION: `90 53 00 00 Lc ngr 00`.
    func negotiate() throws(APDUError) -> CommandAPDU {
        let proof = SmartTapRecords.bytes([
            SmartTapRecords.record("sig", [0x04] + signature),
            SmartTapRecords.record("cld", [0x04] + collector),
        ])
        let authentication: [UInt8] = [isLive ? 0x01 : 0x00]
        let request = SmartTapRecords.bytes([
            SmartTapRecords.record("ses", sessionBytes),
            SmartTapRecords.record("cpr", entropy.nonce + authentication + entropy.publicKey + keyVersion + proof),
        ])
        return try Self.command(Instruction.negotiateSecureSession, "ngr", request)
    }

    /// GET SMART TAP DATA: `90 50 00 00 Lc srq 00`.
    func getData(_ request: SmartTapRequest) throws(APDUError) -> CommandAPDU {
        let merchant = [SmartTapRecords.record("cld", [0x04] + collector)]
        let services = request.services.map { SmartTapRecords.record("str", [$0.rawValue]) }
        var records = [
            SmartTapRecords.record("ses", sessionBytes),
            SmartTapRecords.record("mer", SmartTapRecords.bytes(merchant)),
            SmartTapRecords.record("slr", SmartTapRecords.bytes(services)),
        ]
        if let capabilities = request.capabilities { records.append(SmartTapRecords.record("pcr", capabilities.bytes)) }
        return try Self.command(Instruction.getSmartTapData, "srq", SmartTapRecords.bytes(records))
    }

    static let getMore = CommandAPDU(trusted: 0x90, Instruction.getResponse, 0x00, 0x00, [], 256)

    private static func command(_ ins: UInt8, _ name: String, _ message: [UInt8]) throws(APDUError) -> CommandAPDU {
        let data = SmartTapRecords.bytes([SmartTapRecords.record(name, version + message)])
        return try CommandAPDU(cla: 0x90, ins: ins, p1: 0, p2: 0, data: data, expectedLength: 256)
    }

    private var sessionBytes: [UInt8] { entropy.session + [sequence, Self.accepted] }

    /// Numbers a command that is sent again.
    mutating func countUp() { sequence &+= 1 }

    // MARK: Answers

    mutating func take(negotiation data: [UInt8]) throws(SmartTapError) {
        let records = try open(data, "nrs")
        guard let bytes = records.first(named: "dpk")?.payload,
            let key = try? P256.PublicKey(compressed: bytes)
        else { throw .malformed(.ephemeralKey) }
        phoneKey = key
    }

    /// Takes the answer to ``getData(_:)``, all its parts together, and reports whether it was proven to be of this tap.
    mutating func take(data: [UInt8]) throws(SmartTapError) -> (objects: [SmartTapObject], isProven: Bool) {
        let records = try open(data, "srs")
        guard let bundle = records.first(named: "reb")?.payload, let flags = bundle.first else {
            throw .malformed(.data)
        }
        let isEncrypted = flags & 0x01 != 0
        var bytes = Array(bundle.dropFirst())
        if isEncrypted { bytes = try decrypt(bytes) }
        if flags & 0x02 != 0 {
            do throws(Inflation.Failure) {
                bytes = try Inflation.inflate(bytes, limit: SmartTapLimits.data)
            } catch {
                throw error == .tooLong ? .tooLong : .malformed(.compression)
            }
        }
        let values = try SmartTapRecords.read(bytes)
        return (try SmartTapObject.read(values), isEncrypted)
    }

    /// Looks into an answer, whose session must be this one.
    private mutating func open(_ data: [UInt8], _ name: String) throws(SmartTapError) -> [NDEFRecord] {
        guard let outer = try SmartTapRecords.read(data).first(named: name) else { throw .malformed(.records) }
        let records = try SmartTapRecords.read(outer.payload)
        guard let session = records.first(named: "ses")?.payload, session.count == 10 else {
            throw .malformed(.session)
        }
        guard Array(session.prefix(8)) == entropy.session, session[9] == Self.accepted else {
            throw .session(status: session[9])
        }
        sequence = session[8] &+ 1
        return records
    }

    private func decrypt(_ bytes: [UInt8]) throws(SmartTapError) -> [UInt8] {
        guard let phoneKey, let secret = try? entropy.key.sharedSecret(with: phoneKey),
            let keys = try? KeyDerivation.hkdf(
                secret,
                salt: phoneKey.compressed,
                information: signed + signature,
                count: 48
            )
        else { throw .malformed(.ephemeralKey) }
        let (vectorLength, codeLength) = (12, 32)
        guard bytes.count >= vectorLength + codeLength else { throw .malformed(.data) }
        let covered = bytes.dropLast(codeLength)
        // In a time that does not reveal where it differs.
        let code = bytes.suffix(codeLength)
        guard HMAC.isValid(code, for: covered, key: keys[16..<48]) else {
            throw .forged
        }
        let counter = Array(covered.prefix(vectorLength)) + [UInt8](repeating: 0, count: 4)
        let ciphertext = covered.dropFirst(vectorLength)
        guard let plain = try? AES.apply(counter: counter, to: ciphertext, key: keys[0..<16]) else {
            throw .malformed(.data)
        }
        return plain
    }
}
