import CardCore
import Cryptography
import Foundation

/// The key that hides a club's member identifiers (see `ClubConfiguration.identifierKey`).
///
/// The store, exports and the audit log then hold `id:` followed by four characters that identify the key, a dash, and
/// 40 hexadecimal characters of an HMAC-SHA-256, from which the number of a card cannot be derived or guessed without
/// the key. Names, custom fields and messages are not hidden.
public struct IdentifierKey: Sendable, Hashable {
    /// The minimum length of a key, in bytes.
    public static let shortest = 16

    private let bytes: [UInt8]

    /// Distinguishes this key from others, without revealing it.
    package let check: String

    /// Creates a key; `nil` if it has fewer than ``shortest`` bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.shortest else { return nil }
        self.bytes = bytes
        check = Self.code("ClubKit identifier key", bytes).prefix(2).hex
    }

    private static let mark = "id:"
    private static let hashBytes = 20

    private static func code(_ text: String, _ key: [UInt8]) -> [UInt8] {
        HMAC.code(for: text.utf8, key: SecretBytes(key))
    }

    /// Returns the hidden form of an identifier read from a card. One that looks hidden already is hidden too, so that
    /// a card with an identifier from an export is not accepted.
    public func hidden(_ identifier: String) -> String {
        Self.mark + check + "-" + Self.code("id " + identifier, bytes).prefix(Self.hashBytes).hex
    }

    /// What stands for an identifier that a person or a file provides. A hidden one stays as it is.
    package func resolved(_ identifier: String) -> String {
        Self.check(of: identifier) == check ? identifier : hidden(identifier)
    }

    /// Which key an identifier was hidden under, or `nil` if it is a plain one.
    package static func check(of identifier: String) -> String? {
        let text = Array(identifier.utf8)
        let mark = Array(mark.utf8)
        guard text.count == mark.count + 4 + 1 + 2 * hashBytes, text.starts(with: mark),
            text[mark.count + 4] == UInt8(ascii: "-")
        else { return nil }
        func isHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) }
        let digits = text[mark.count..<mark.count + 4] + text[(mark.count + 5)...]
        return digits.allSatisfy(isHex) ? String(decoding: text[mark.count..<mark.count + 4], as: UTF8.self) : nil
    }
}

extension IdentifierKey: Secret {
    /// The four characters that identify the key, never the key.
    public var description: String { "identifier key \(check)" }
}

/// How the club remembers whom it has erased without knowing who they were.
package enum Erasure {
    /// The keyed hash of an identifier.
    package static func hash(_ identifier: String, salt: Data) -> Data {
        Data(HMAC.code(for: identifier.utf8, key: SecretBytes(salt)))
    }

    /// The same for people, in the audit log.
    package static func text(_ identifier: String, salt: Data) -> String {
        textPrefix + hash(identifier, salt: salt).prefix(16).hex.lowercased()
    }

    /// Whether that stands for an identifier that was erased.
    package static func isText(_ text: String) -> Bool { text.hasPrefix(textPrefix) }

    private static let textPrefix = "erased:"
}
