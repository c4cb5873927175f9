import CardCore
import Cryptography
import Foundation

/// Checks tokens that an issuer signed and that stand on cards: JSON Web Tokens (RFC 7519) with EdDSA (Ed25519) or ES256.
///
/// Such a token proves who wrote the card's content, not that the card is no copy, unless the token names the card that it
/// was made for: the claim `uid`, the card's identifier in hexadecimal. A token without that claim counts on any card.
public struct SignedTokenVerifier: Sendable {
    /// Who has to have issued it (`iss`); `nil` for anybody whose key is here.
    public var issuer: String?

    /// For whom it has to be (`aud`); `nil` for anybody.
    public var audience: String?

    /// The claim that names the member: by its whole name, or with dots between the names of nested objects.
    public var idClaim: String

    /// The claim with the member's name.
    public var nameClaim: String

    /// How far the clocks of the issuer and of this computer may be apart.
    public var leeway: Duration

    /// Whether a token without an end (`exp`) is refused.
    public var requiresExpiry: Bool

    private let keys: [Key]

    /// A key of the issuer, by the name that tokens know it by; a key without a name is tried for any token.
    private struct Key: Sendable {
        var name: String?
        var half: Half

        enum Half: Sendable {
            case es256(P256.PublicKey)
            case edDSA(Ed25519.PublicKey)
        }

        /// The name of what the key signs by, as in RFC 7518 and RFC 8037.
        var algorithm: String {
            switch half {
            case .es256: "ES256"
            case .edDSA: "EdDSA"
            }
        }

        func verifies(_ signature: [UInt8], of signed: some Collection<UInt8>) -> Bool {
            switch half {
            case .es256(let key):
                ECDSASignature(numbers: signature).map { key.isValid($0, for: signed) } ?? false
            case .edDSA(let key): key.isValid(signature, for: signed)
            }
        }
    }

    /// What is wrong with a key.
    public enum KeyFault: String, Error, Sendable, Hashable, CaseIterable {
        case malformed = "neither a set of JSON Web Keys nor a public key in PEM"
        case unsupported = "without a key that can be used: Ed25519 and P-256 keys for signatures are"
        case isPrivate =
            "a private key: a reader needs the public half only, and others could issue tokens with this one"
        case empty = "an empty set of keys"
    }

    /// A verifier with the public keys of an issuer; several while one takes the place of another.
    ///
    /// - Parameter keys: each a JSON Web Key Set (RFC 7517), or one public key in PEM.
    public init(
        keys: [String],
        issuer: String? = nil,
        audience: String? = nil,
        idClaim: String = "sub",
        nameClaim: String = "name",
        leeway: Duration = .seconds(60),
        requiresExpiry: Bool = false
    ) throws(KeyFault) {
        var all: [Key] = []
        for text in keys { all += try Self.keys(in: text) }
        guard !all.isEmpty else { throw .empty }
        self.keys = all
        self.issuer = issuer
        self.audience = audience
        self.idClaim = idClaim
        self.nameClaim = nameClaim
        self.leeway = leeway
        self.requiresExpiry = requiresExpiry
    }

    /// The names of the keys, as tokens know them (`kid`); those without one are left out.
    public var keyNames: [String] { keys.compactMap(\.name) }

    /// How many keys there are.
    public var keyCount: Int { keys.count }

    // MARK: Keys

    /// Keys of other kinds and for other uses are passed over, as RFC 7517 asks for; one that can be used has to be there.
    private static func keys(in text: String) throws(KeyFault) -> [Key] {
        guard text.trimmed.first == "{" else { return [try key(pem: text)] }
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let set = object["keys"] as? [[String: Any]]
        else { throw .malformed }
        var keys: [Key] = []
        for entry in set {
            guard entry["d"] == nil else { throw .isPrivate }
            if let use = entry["use"] as? String, use != "sig" { continue }
            if let half = try half(of: entry) { keys.append(Key(name: entry["kid"] as? String, half: half)) }
        }
        if keys.isEmpty { throw set.isEmpty ? .empty : .unsupported }
        return keys
    }

    /// `nil` for a key of another kind, or for another algorithm.
    private static func half(of entry: [String: Any]) throws(KeyFault) -> Key.Half? {
        func coordinate(_ name: String) throws(KeyFault) -> [UInt8] {
            guard let text = entry[name] as? String, let bytes = base64(text.utf8) else { throw .malformed }
            return bytes
        }
        do {
            switch (entry["kty"] as? String, entry["crv"] as? String, entry["alg"] as? String) {
            case ("EC", "P-256", nil), ("EC", "P-256", "ES256"):
                return .es256(try P256.PublicKey(coordinates: coordinate("x") + coordinate("y")))
            case ("OKP", "Ed25519", nil), ("OKP", "Ed25519", "EdDSA"):
                return .edDSA(try Ed25519.PublicKey(coordinate("x")))
            default: return nil
            }
        } catch {
            throw .malformed
        }
    }

    private static func key(pem: String) throws(KeyFault) -> Key {
        guard !pem.contains("PRIVATE KEY") else { throw .isPrivate }
        if let key = try? P256.PublicKey(pem: pem) { return Key(half: .es256(key)) }
        if let key = try? Ed25519.PublicKey(pem: pem) { return Key(half: .edDSA(key)) }
        throw .malformed
    }

    // MARK: Tokens

    /// Whether a text looks like a token: three parts, of which the first begins as JSON does.
    public static func isToken(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
            && text.utf8.allSatisfy { isBase64($0) || $0 == UInt8(ascii: ".") }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// No token on a card is longer, in bytes.
    static let longest = 8192

    /// Checks a token at the moment of the tap.
    ///
    /// - Parameter card: the identifier of the card that it is on, if that is known.
    public func verify(_ token: String, at now: Date, on card: CardUID? = nil) throws(SignedTokenError) -> SignedToken {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard token.utf8.count <= Self.longest, parts.count == 3,
            let header = Self.base64(parts[0]).flatMap(JSONValue.object), let signature = Self.base64(parts[2]),
            let claims = Self.base64(parts[1]).flatMap(JSONValue.object)
        else { throw .malformed }
        guard case .text(let way) = header["alg"], header["crit"] == nil,
            keys.contains(where: { $0.algorithm == way })
        else { throw .unsupported }
        let name = header["kid"]?.name
        let candidates = keys.filter { $0.algorithm == way && ($0.name == name || $0.name == nil || name == nil) }
        guard !candidates.isEmpty else { throw .unknownKey }
        let signed = Array(token.utf8)[..<(parts[0].count + 1 + parts[1].count)]
        guard candidates.contains(where: { $0.verifies(signature, of: signed) }) else { throw .forged }
        return try check(claims, at: now, on: card)
    }

    /// Base64url without padding (RFC 7515); `nil` for anything else.
    private static func base64(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.allSatisfy(isBase64) else { return nil }
        let plain = String(decoding: text, as: UTF8.self).replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: plain + padding).map { Array($0) }
    }

    private func check(
        _ claims: [String: JSONValue],
        at now: Date,
        on card: CardUID?
    ) throws(SignedTokenError) -> SignedToken {
        func date(_ name: String) throws(SignedTokenError) -> Date? {
            guard let value = claims[name], value != .null else { return nil }
            guard let seconds = value.double, seconds.isFinite else { throw .malformed }
            return Date(timeIntervalSince1970: seconds)
        }
        let expires = try date("exp")
        if let expires {
            guard now < expires.addingTimeInterval(leeway.seconds) else { throw .expired }
        } else if requiresExpiry {
            throw .endless
        }
        if let begin = try date("nbf"), now < begin.addingTimeInterval(-leeway.seconds) { throw .notYetValid }
        if let issuer, claims["iss"]?.name != issuer { throw .wrongIssuer }
        if let audience {
            switch claims["aud"] {
            case .list(let list) where list.contains(.text(audience)): break
            case .text(audience): break
            default: throw .wrongAudience
            }
        }
        if let bound = claims["uid"], bound != .null {
            guard let bytes = bound.name.flatMap({ try? Hex.decode($0) }), bytes == card?.bytes else {
                throw .wrongCard
            }
        }
        guard let id = Self.claim(idClaim, in: claims)?.name?.trimmed, MemberID.isUsable(id) else { throw .nobody }
        let name = Self.claim(nameClaim, in: claims)?.name.map(MemberID.name).flatMap { $0.isEmpty ? nil : $0 }
        return SignedToken(id: id, name: name, expires: expires)
    }

    /// A claim by its whole name, which may be an address with dots in it, or by a path of names.
    private static func claim(_ name: String, in claims: [String: JSONValue]) -> JSONValue? {
        claims[name] ?? JSONValue.value(at: name, in: claims)
    }
}

/// The contents of a signed token, once its signature and its times are right.
public struct SignedToken: Sendable, Hashable {
    /// What names the member.
    public var id: String

    /// The member's name, where the token has it.
    public var name: String?

    /// When it ends, if it does.
    public var expires: Date?
}

extension SignedToken: Redacted {
    /// When it ends; whom it names is left out.
    public var description: String { "signed token" + (expires.map { ", until \(ISO8601.text($0))" } ?? "") }
}

/// A signed token is not accepted.
///
/// It never holds anything of the token.
public enum SignedTokenError: PassFault {
    /// It is no token: not three parts of Base64url, or no JSON in them.
    case malformed
    /// It is signed in another way than with EdDSA or ES256, or asks for extensions that are not known.
    case unsupported
    case unknownKey
    case forged
    case expired
    case notYetValid
    /// It has no end, and has to have one here.
    case endless
    case wrongIssuer
    case wrongAudience
    case wrongCard
    case nobody
    case noVerifier

    /// What was attempted and what happened.
    public var message: String { "could not accept the card's token: " + texts.fact }

    /// What a person can do about it.
    public var hint: String { texts.hint }

    private var texts: (fact: String, hint: String) {
        let anew = "Write the card anew."
        let place = "Check issuer and audience in the configuration; use a card of this place."
        let forged = "Check the keys in the configuration; if they are right, the card was not written by the issuer."
        let key = "Add the issuer's public key to the configuration, or write the card anew."
        return switch self {
        case .malformed: ("it is malformed", anew)
        case .unsupported: ("it is signed in a way that is not accepted here", "Sign tokens with EdDSA or ES256.")
        case .unknownKey: ("it was signed with a key that is not known here", key)
        case .forged: ("its signature is wrong", forged)
        case .expired: ("its time is over", "Renew the membership and write the card anew.")
        case .notYetValid:
            ("its time has not begun", "Come back when it has; check the clock of the reader's computer.")
        case .endless: ("it has no end", anew)
        case .wrongIssuer: ("somebody else issued it", place)
        case .wrongAudience: ("it is for another place", place)
        case .wrongCard: ("it was made for another card", "It is a copy: use the card that it was written to.")
        case .nobody: ("it names nobody", anew)
        case .noVerifier:
            ("there is no key to check it with", "Name the issuer's public keys in the configuration.")
        }
    }

    package var isOfTime: Bool { self == .expired || self == .notYetValid }
}
