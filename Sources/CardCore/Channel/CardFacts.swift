/// What a reader knows of a card before anything was asked of it.
///
/// PC/SC readers report an ATR, libnfc the answers of anticollision. A fact's name is the one that captures use
/// (`atqa`, `sak`, `uid`, `ats`, `pupi`, `idm`, …).
public struct CardFacts: Sendable, Hashable {
    /// The answer to reset, as PC/SC reports it.
    public var atr: [UInt8]?

    /// The radio technology, where the backend knows it itself.
    public var technology: Technology?

    /// Named values of that technology, in the order in which they were provided.
    public var values: [Value]

    /// One named value.
    public struct Value: Sendable, Hashable {
        /// The name, in lower case.
        public var name: String
        /// The bytes.
        public var bytes: [UInt8]

        /// A named value.
        public init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// The facts of a card; all of them may be missing.
    public init(atr: [UInt8]? = nil, technology: Technology? = nil, values: [Value] = []) {
        self.atr = atr
        self.technology = technology
        self.values = values
    }

    /// The first value of that name.
    public subscript(name: String) -> [UInt8]? {
        values.first { $0.name == name }?.bytes
    }
}

extension CardFacts: Redacted {
    /// Which facts there are. Their bytes identify a card, and are left out.
    public var description: String {
        let names = (atr == nil ? [] : ["atr"]) + values.map(\.name)
        return "\(technology?.rawValue ?? "card") with \(names.joined(separator: ", "))"
    }
}

/// The radio technology through which a card talks.
public enum Technology: String, Sendable, Hashable, Codable, CaseIterable {
    /// ISO/IEC 14443 Type A (NFC-A).
    case iso14443a
    /// ISO/IEC 14443 Type B (NFC-B).
    case iso14443b
    /// JIS X 6319-4, Sony FeliCa (NFC-F).
    case felica
    /// ISO/IEC 15693, vicinity cards (NFC-V).
    case iso15693
}
