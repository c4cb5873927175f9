import CardCore
import CardTags
import Cryptography
import Foundation

/// One question for passes: GET VAS DATA, `80 CA 01 P2 Lc … 00`.
public struct AppleVASRequest: Sendable, Hashable {
    /// The pass of which merchant is asked for: the SHA-256 of its pass type identifier, 32 bytes.
    public var merchantID: [UInt8]

    /// What the reader may do besides.
    public var mode: Mode

    /// Whether further questions come in the same tap.
    public var hasMore: Bool

    /// A random number of four bytes that is sent to the phone (tag 9F28), or `nil` for none. Nothing depends on it.
    public var nonce: [UInt8]?

    /// How passes and payment go together (the low bits of tag 9F26).
    public enum Mode: UInt8, Sendable, Hashable, CaseIterable {
        case passOrPayment, passAndPayment, passOnly, paymentOnly
    }

    /// A question.
    public init(merchantID: [UInt8], mode: Mode = .passOnly, hasMore: Bool = false, nonce: [UInt8]? = nil) {
        self.merchantID = merchantID
        self.mode = mode
        self.hasMore = hasMore
        self.nonce = nonce
    }

    /// The command.
    ///
    /// - Throws: ``APDUError`` if the identifier or the number has not its length.
    public func command() throws(APDUError) -> CommandAPDU {
        try Self.check(merchantID.count == 32, "a merchant id of \(merchantID.count) bytes: it has 32")
        var objects = [BERTLV(0x9F22, [0x01, 0x00]), BERTLV(0x9F25, merchantID)]
        if let nonce {
            try Self.check(nonce.count == 4, "a nonce of \(nonce.count) bytes: it has 4")
            objects.append(BERTLV(0x9F28, nonce))
        }
        objects.append(BERTLV(0x9F26, [0x00, 0x80, 0x00, (hasMore ? 0x80 : 0) | mode.rawValue]))
        let data = (try? objects.encoded()) ?? []
        return try CommandAPDU(cla: 0x80, ins: Instruction.getData, p1: 0x01, p2: 0x01, data: data, expectedLength: 256)
    }

    private static func check(_ isRight: Bool, _ what: String) throws(APDUError) {
        guard !isRight else { return }
        throw APDUError(.parameterOutOfRange, offset: 5, message: "could not make GET VAS DATA with \(what)")
    }
}

/// A kind of pass of Apple Wallet that is asked for, and the keys that open it.
public struct AppleVASMerchant: Sendable {
    /// The pass type identifier, such as `pass.com.example.club`, which `pass.json` has as `passTypeIdentifier`.
    public let passTypeIdentifier: String

    /// The keys that passes of this kind may be encrypted for; several while one replaces another.
    public let keys: [AppleVASKey]

    /// What it is asked by (tag 9F25): the SHA-256 of the identifier, 32 bytes.
    public let merchantID: [UInt8]

    /// A kind of pass.
    ///
    /// - Parameter passTypeIdentifier: printable ASCII; white space round it does not count.
    public init(passTypeIdentifier: String, keys: [AppleVASKey]) {
        let name = passTypeIdentifier.trimmed
        self.passTypeIdentifier = name
        self.keys = keys
        merchantID = SHA256.hash(name.utf8)
    }
}

extension AppleVASMerchant: CustomStringConvertible {
    /// The identifier and the keys' own identifiers.
    public var description: String { "\(passTypeIdentifier), keys: \(keys.map { Hex.encode($0.identifier) })" }
}

/// The contents of a pass of Apple Wallet, once its cryptogram is opened.
public struct AppleVASMessage: Sendable, Hashable {
    /// The message of the pass (`nfc.message` in `pass.json`), at most 64 bytes in Apple's passes.
    public var text: String

    /// When the phone made the cryptogram, by the phone's own clock, to the second.
    public var at: Date

    /// Distinguishes the cryptogram from every other (``AppleVASCryptogram/digest``).
    public var digest: [UInt8]

    /// Reads the plain text: seconds since 2001 in four bytes, then the message in UTF-8.
    init(_ plain: [UInt8], digest: [UInt8]) throws(AppleVASError) {
        guard plain.count >= 4 else { throw .malformed(.message) }
        guard let text = String(validating: plain[4...], as: UTF8.self) else { throw .malformed(.message) }
        self.text = text
        at = Date(timeIntervalSinceReferenceDate: TimeInterval(plain.number(at: 0, count: 4)))
        self.digest = digest
    }
}

extension AppleVASMessage: Redacted {
    /// When it was made; the contents are personal and omitted.
    public var description: String { "Apple VAS message of \(ISO8601.text(at))" }
}

/// What a phone answers to one question for a pass.
public enum AppleVASAnswer: Sendable, Hashable {
    /// A pass, encrypted for the reader.
    case pass(AppleVASCryptogram)
    /// An address was accepted, or the phone has nothing to report (`9000` or `6100` without a cryptogram).
    case noData
    /// There is no pass of this kind, or another one is shown (`6A83`). The next kind may be asked for.
    case noSuchPass
    /// There is a pass and the phone is locked (`6287`). It shows the pass now; nothing more may be asked in this tap.
    case locked
    /// The person has to choose or to confirm on the phone (`6984`). Nothing more may be asked in this tap.
    case needsUser
    /// The phone refuses the question as such.
    case refused(StatusWord)

    /// Reads the answer to GET VAS DATA.
    public init(_ response: ResponseAPDU) throws(AppleVASError) {
        switch response.statusWord {
        // "No data", and not the beginning of more of them.
        case StatusWord(0x6100): self = .noData
        case .recordNotFound: self = .noSuchPass
        case .recordDeactivated: self = .locked
        case .referenceDataNotUsable: self = .needsUser
        case .success: self = try Self.read(response.data)
        default: self = .refused(response.statusWord)
        }
    }

    private static func read(_ data: [UInt8]) throws(AppleVASError) -> AppleVASAnswer {
        if data.isEmpty { return .noData }
        guard let objects = try? BERTLV.decode(data), let template = objects.find(0x70) else {
            throw .malformed(.answer)
        }
        guard template.find(0x9F2A)?.value?.count ?? 0 <= AppleVASLimits.token else { throw .malformed(.token) }
        guard let cryptogram = template.find(0x9F27)?.value, !cryptogram.isEmpty else { return .noData }
        return .pass(try AppleVASCryptogram(cryptogram))
    }
}

/// Limits for what a phone sends.
package enum AppleVASLimits {
    /// The longest mobile token (tag 9F2A), in bytes.
    package static let token = 32
    /// The longest cryptogram (tag 9F27), in bytes.
    static let cryptogram = 256
}
