import CardTags

/// The file that says what passes a place reads and accepts: JSON, with the keys in files of their own.
///
/// ```json
/// {
///   "appleVAS": {
///     "passes": [{ "passTypeIdentifier": "pass.com.example.club", "keys": ["vas.pem"] }],
///     "longestAgeSeconds": 300
///   },
///   "smartTap": { "collector": 20180608, "keyVersion": 1, "key": "smarttap.pem", "memberKinds": ["loyalty"] },
///   "signingTags": [
///     { "host": "club.example", "path": "/t", "metaReadKey": "meta.key", "fileReadKey": "file.key",
///       "layout": { "piccData": "e", "mac": "c" }, "identity": "uid" }
///   ],
///   "cards": [
///     { "uri": { "host": "club.example", "path": "/m/" } },
///     { "json": { "type": "application/vnd.club+json", "id": "token", "isToken": true } }
///   ],
///   "tokens": { "keys": ["issuer.jwks"], "issuer": "https://club.example" },
///   "order": ["appleVAS", "smartTap", "sdm", "text", "ndef", "uid"],
///   "lowestAssurance": "identifier"
/// }
/// ```
///
/// Every part may be left out. Paths are taken from the folder of the file. A file with a key must be readable by its owner
/// alone: private keys of wallets are PEM, those of tags 32 hexadecimal digits. The public keys that signed tokens are
/// checked with are no secret, and must not be writable by others.
public struct PassConfiguration: Sendable, Hashable, Codable {
    /// Passes of Apple Wallet.
    public var appleVAS: AppleVAS?
    /// Passes of Google Wallet.
    public var smartTap: SmartTap?
    /// Tags that sign their address.
    public var signingTags: [SigningTags]?
    /// Which records of cards name a member, and where (``CardRule``); the first that is for a record decides.
    public var cards: [CardRule]?
    /// How signed tokens on cards are checked.
    public var tokens: Tokens?
    /// Which pass stands for the member (``PassSite/order``).
    public var order: [Pass.Kind]?
    /// How far a pass has to be trusted (``PassSite/lowestAssurance``).
    public var lowestAssurance: Pass.Assurance?

    /// Passes of Apple Wallet.
    public struct AppleVAS: Sendable, Hashable, Codable {
        /// The kinds of passes, in the order in which they are asked for.
        public var passes: [Kind]
        /// How old a pass may be by the phone's clock, 1 to 86 400 seconds.
        public var longestAgeSeconds: Int?
        /// Whether the variant of ``AppleVASCryptogram/open(for:allowsVariant:)`` is tried too.
        public var triesVariant: Bool?

        /// A kind of pass.
        public struct Kind: Sendable, Hashable, Codable {
            /// The pass type identifier.
            public var passTypeIdentifier: String
            /// The files with the keys.
            public var keys: [String]
        }
    }

    /// Passes of Google Wallet: with a key, or with a signature that was made in advance.
    public struct SmartTap: Sendable, Hashable, Codable {
        /// The collector's number, 0 to 4 294 967 295.
        public var collector: Int
        /// The version under which the key is registered, in the same range.
        public var keyVersion: Int
        /// The file with the key.
        public var key: String?
        /// The file with a signature made in advance (``SmartTapPreSignature``), in place of the key.
        public var preSigned: String?
        /// Which objects name a member, in this order (``PassSite/smartTapKinds``); loyalty cards if it is left out.
        public var memberKinds: [SmartTapObject.Kind]?
        /// Whose objects name a member (``PassSite/smartTapIssuers``); those of all issuers if it is left out.
        public var issuers: [UInt64]?
    }

    /// Tags that sign their address.
    public struct SigningTags: Sendable, Hashable, Codable {
        /// The host of the address.
        public var host: String
        /// How its path begins.
        public var path: String?
        /// Where what stands in it.
        public var layout: SDMLayout
        /// The file with the key that opens identifier and counter.
        public var metaReadKey: String?
        /// The file with the key that the codes are made with: one for all tags, or with ``diversification`` the one that
        /// the tags' keys are worked out from.
        public var fileReadKey: String
        /// How the key of each tag is worked out from its identifier.
        public var diversification: KeyDiversification?
        /// What names the member; `uid` if it is left out.
        public var identity: SDMSite.Identity?
    }

    /// How signed tokens on cards are checked (``SignedTokenVerifier``).
    public struct Tokens: Sendable, Hashable, Codable {
        /// The files with the issuer's public keys: sets of JSON Web Keys, or PEM.
        public var keys: [String]
        /// Who has to have issued a token (`iss`).
        public var issuer: String?
        /// For whom it has to be (`aud`).
        public var audience: String?
        /// The claim that names the member; `sub` if it is left out.
        public var idClaim: String?
        /// The claim with the member's name; `name` if it is left out.
        public var nameClaim: String?
        /// How far the clocks may be apart, 0 to 86 400 seconds; 60 if it is left out.
        public var leewaySeconds: Int?
        /// Whether a token without an end is refused.
        public var requiresExpiry: Bool?
    }
}
