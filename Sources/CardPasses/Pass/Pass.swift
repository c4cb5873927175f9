import CardCore
import CardTags

/// Something read from a card that reports who the member is.
public struct Pass: Sendable, Hashable, Codable {
    /// Where the identifier comes from.
    public var kind: Kind

    /// The identifier.
    public var id: String

    /// How far it may be trusted.
    public var assurance: Assurance

    /// The member's name, where the pass carries one.
    public var name: String?

    /// Which of a wallet's passes it is: the pass type identifier of Apple Wallet, the kind of object of Google Wallet
    /// (``SmartTapObject/Kind``). `nil` for what is on a card, and for what a reader reports without specifying it.
    public var type: String?

    /// Where an identifier comes from.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A pass of Apple Wallet, read with the VAS protocol.
        case appleVAS
        /// An object of Google Wallet, read with Smart Tap.
        case smartTap
        /// A tap signed by the tag (NTAG 424 DNA, Secure Dynamic Messaging).
        case sdm
        /// An NDEF record: Text, URI or JSON.
        case ndef
        /// The four-field membership text `number|id|payload|name`.
        case text
        /// The card's own unique identifier.
        case uid
    }

    /// How far an identifier may be trusted, from least to most.
    public enum Assurance: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
        /// It identifies nobody.
        case none
        /// It names a member and can be copied.
        case identifier
        /// It was made with a key; a recording of the tap would pass again. What a wallet provides was made for the
        /// place's public key, which proves that it is meant for the place and not who made it.
        case cryptographic
        /// It was made with a key, and a recording of the tap is refused.
        case cryptographicWithReplayProtection

        /// Less trusted comes first.
        public static func < (left: Assurance, right: Assurance) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// A pass.
    public init(kind: Kind, id: String, assurance: Assurance, name: String? = nil, type: String? = nil) {
        self.kind = kind
        self.id = id
        self.assurance = assurance
        self.name = name
        self.type = type
    }
}

extension Pass: Redacted {
    /// The kind and the assurance. Who the member is is left out, so that it does not end up in a log by accident.
    public var description: String { "\(kind.rawValue) pass (\(assurance.rawValue))" }
}
