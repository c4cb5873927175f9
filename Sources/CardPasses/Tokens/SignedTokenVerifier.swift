import CardCore
import Foundation
import JWTKit

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
        var algorithm: any JWTAlgorithm
    }

    /// What is wrong with a key.
    public enum KeyFault: String, Error, Sendable, Hashable, CaseIterable {
        /// It is neither a JSON Web Key Set nor a public key in PEM.
        case malformed = "neither a set of JSON Web Keys nor a public key in PEM"
        /// No key of the set is an Ed25519 or P-256 key for signatures.
        case unsupported = "without a key that can be used: Ed25519 and P-256 keys for signatures are"
        /// The private half of a key is there too.
        case isPrivate =
            "a private key: a reader needs the public half only, and others could issue tokens with this one"
        /// The set has no key.
        case empty = "an empty set of keys"
    }

    /// A verifier with the public keys of an issuer; several while one takes the place of another.
    ///
    /// - Parameter keys: each a JSON Web Key Set (RFC 7517), or one public key in PEM.
    /// - Throws: ``KeyFault``.
    public init(
        keys: [String],
        issuer: String? = nil,
        audience: String? = nil,
        idClaim: String = "sub",
        nameClaim: String = "name",
        leeway: Duration = .seconds(60),
        requiresExpiry: Bool = false
    ) async throws(KeyFault) {
        var all: [Key] = []
        for text in keys { all += try await Self.keys(in: text) }
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
    private static func keys(in text: String) async throws(KeyFault) -> [Key] {
        guard text.trimmed.first == "{" else { return [try await key(pem: text)] }
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let set = object["keys"] as? [[String: Any]]
        else { throw .malformed }
        var keys: [Key] = []
        for entry in set {
            guard entry["d"] == nil else { throw .isPrivate }
            guard let algorithm = algorithmName(of: entry) else { continue }
            let name = entry["kid"] as? String
            // The library knows keys by their names alone.
            let named = entry.merging(["kid": name ?? "0"]) { $1 }
            guard let data = try? JSONSerialization.data(withJSONObject: named),
                let jwk = try? JSONDecoder().decode(JWK.self, from: data),
                let algorithm = await Self.algorithm({ try await $0.add(jwk: jwk, isDefault: true) }, algorithm)
            else { throw .malformed }
            keys.append(Key(name: name, algorithm: algorithm))
        }
        if keys.isEmpty { throw set.isEmpty ? .empty : .unsupported }
        return keys
    }

    /// By what a key signs; `nil` for one that cannot be used here.
    private static func algorithmName(of key: [String: Any]) -> String? {
        if let use = key["use"] as? String, use != "sig" { return nil }
        let name: String
        switch (key["kty"] as? String, key["crv"] as? String) {
        case ("EC", "P-256"): name = es256
        case ("OKP", "Ed25519"): name = edDSA
        default: return nil
        }
        if let algorithm = key["alg"] as? String, algorithm != name { return nil }
        return name
    }

    private static func key(pem: String) async throws(KeyFault) -> Key {
        guard !pem.contains("PRIVATE KEY") else { throw .isPrivate }
        if let key = try? ES256PublicKey(pem: pem) {
            if let algorithm = await algorithm({ await $0.add(ecdsa: key) }, es256) { return Key(algorithm: algorithm) }
        } else if let key = try? EdDSA.PublicKey(pem: pem) {
            if let algorithm = await algorithm({ await $0.add(eddsa: key) }, edDSA) {
                return Key(algorithm: algorithm)
            }
        }
        throw .malformed
    }

    /// The library gives what checks a signature only for keys of a collection.
    private static func algorithm(
        _ add: (JWTKeyCollection) async throws -> Void,
        _ name: String
    ) async -> (any JWTAlgorithm)? {
        let collection = JWTKeyCollection()
        guard (try? await add(collection)) != nil, let algorithm = try? await collection.getKey(alg: name) else {
            return nil
        }
        return algorithm.name == name ? algorithm : nil
    }

    private static let es256 = "ES256"
    private static let edDSA = "EdDSA"

    // MARK: Tokens

    /// Whether a text looks like a token: three parts, of which the first begins as JSON does.
    public static func isToken(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
            && text.utf8.allSatisfy {
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// No token on a card is longer, in bytes.
    static let longest = 8192

    /// Checks a token.
    ///
    /// - Parameters:
    ///   - now: the moment of the tap.
    ///   - card: the identifier of the card that it is on, if that is known.
    /// - Throws: ``SignedTokenError``.
    public func verify(_ token: String, at now: Date, on card: CardUID? = nil) throws(SignedTokenError) -> SignedToken {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // Not with the library's parser: it ends the program at numbers that are too great.
        guard token.utf8.count <= Self.longest, parts.count == 3,
            let header = Self.base64(parts[0]).flatMap(JSONValue.object), let signature = Self.base64(parts[2]),
            let claims = Self.base64(parts[1]).flatMap(JSONValue.object)
        else { throw .malformed }
        guard case .text(let way) = header["alg"], header["crit"] == nil,
            keys.contains(where: { $0.algorithm.name == way })
        else { throw .unsupported }
        let name = header["kid"]?.name
        let candidates = keys.filter {
            $0.algorithm.name == way && ($0.name == name || $0.name == nil || name == nil)
        }
        guard !candidates.isEmpty else { throw .unknownKey }
        let signed = Array(token.utf8)[..<(parts[0].count + 1 + parts[1].count)]
        guard candidates.contains(where: { (try? $0.algorithm.verify(signature, signs: signed)) == true }) else {
            throw .forged
        }
        return try check(claims, at: now, on: card)
    }

    /// Base64url without padding (RFC 7515); `nil` for anything else.
    private static func base64(_ text: Substring.UTF8View.SubSequence) -> [UInt8]? {
        var plain: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: plain.append(byte)
            default: return nil
            }
        }
        plain += Array(repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: Data(plain)).map { Array($0) }
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
        guard let id = Self.claim(idClaim, in: claims)?.name?.trimmed, MemberID.isUsable(id) else {
            throw .nobody
        }
        let name = Self.claim(nameClaim, in: claims)?.name.map(MemberID.name).flatMap { $0.isEmpty ? nil : $0 }
        return SignedToken(id: id, name: name, expires: expires)
    }

    /// A claim by its whole name, which may be an address with dots in it, or by a path of names.
    private static func claim(_ name: String, in claims: [String: JSONValue]) -> JSONValue? {
        claims[name] ?? JSONValue.value(at: name, in: claims)
    }
}

extension SignedTokenVerifier: CustomStringConvertible {
    /// Whose tokens, and how many keys.
    public var description: String { "signed tokens of \(issuer ?? "any issuer"), keys: \(keys.count)" }
}
