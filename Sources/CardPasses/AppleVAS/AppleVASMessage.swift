import CardCore
import Foundation

/// What a pass of Apple Wallet says, once its cryptogram is opened.
public struct AppleVASMessage: Sendable, Hashable {
    /// The message of the pass (`nfc.message` in `pass.json`), at most 64 bytes in Apple's passes.
    public var text: String

    /// When the phone made the cryptogram, by the phone's own clock, to the second.
    public var at: Date

    /// What tells the cryptogram from every other (``AppleVASCryptogram/digest``).
    public var digest: [UInt8]

    /// Seconds from 1970 to the beginning of 2001, from which phones count.
    private static let epoch: TimeInterval = 978_307_200

    /// A message.
    public init(text: String, at: Date, digest: [UInt8]) {
        self.text = text
        self.at = at
        self.digest = digest
    }

    /// Reads the plain text: seconds since 2001 in four bytes, then the message in UTF-8.
    ///
    /// - Throws: ``AppleVASError/malformed(_:)``.
    init(_ plain: [UInt8], digest: [UInt8]) throws(AppleVASError) {
        guard plain.count >= 4 else { throw .malformed(.message) }
        let seconds = plain[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let text = String(validating: plain[4...], as: UTF8.self) else { throw .malformed(.message) }
        self.init(text: text, at: Date(timeIntervalSince1970: Self.epoch + TimeInterval(seconds)), digest: digest)
    }
}

extension AppleVASMessage: CustomStringConvertible, CustomDebugStringConvertible {
    /// When it was made; what it says is personal and left out.
    public var description: String { "Apple VAS message of \(ISO8601.text(at))" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
