import CardCore
import NDEFCodec

/// Something that a phone provides in a tap: a pass of Google Wallet, or who the customer is.
public struct SmartTapObject: Sendable, Hashable {
    /// What it is.
    public var kind: Kind

    /// Who issued it.
    public var issuer: Issuer

    /// The number of the object, 8 bytes if the phone reports it.
    public var objectID: [UInt8]?

    /// What the pass is redeemed by (`smartTapRedemptionValue`); for a customer `nil`.
    public var value: String?

    /// What names the customer to this collector, the same at each tap; of a customer only.
    public var customerID: [UInt8]?

    /// The number of the tap; of a customer only.
    public var tapID: [UInt8]?

    /// The language of the phone, as in BCP 47; of a customer only.
    public var language: String?

    /// The kinds of objects; the raw value is the name by which configurations and events know it. A `privateLabel` is a
    /// closed loop card, a `flight` a boarding pass, a `transit` a ticket of public transport.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        case customer, loyalty, offer, giftCard, privateLabel, eventTicket, flight, transit, generic, genericPrivate

        /// The name by which Smart Tap knows it.
        package var code: String { Self.codes[self] ?? "" }

        private static let codes: [Kind: String] = [
            .customer: "cus", .loyalty: "ly", .offer: "of", .giftCard: "gc", .privateLabel: "pl", .eventTicket: "et",
            .flight: "fl", .transit: "tr", .generic: "gr", .genericPrivate: "gp",
        ]
    }

    /// Who issued an object.
    public struct Issuer: Sendable, Hashable {
        /// What the issuer is: 0 unknown, 1 a merchant, 2 the wallet, 3 the maker of the phone.
        public var kind: UInt8
        /// The issuer's number; for a merchant that of the collector.
        public var id: [UInt8]

        /// The issuer's number as Google's console shows it; `nil` where it has more than eight bytes.
        public var number: UInt64? {
            let digits = id.drop { $0 == 0 }
            return digits.count > 8 ? nil : digits.reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// An issuer.
        public init(kind: UInt8, id: [UInt8]) {
            self.kind = kind
            self.id = id
        }
    }

    /// An object.
    public init(
        kind: Kind,
        issuer: Issuer,
        objectID: [UInt8]? = nil,
        value: String? = nil,
        customerID: [UInt8]? = nil,
        tapID: [UInt8]? = nil,
        language: String? = nil
    ) {
        self.kind = kind
        self.issuer = issuer
        self.objectID = objectID
        self.value = value
        self.customerID = customerID
        self.tapID = tapID
        self.language = language
    }

    /// Reads the objects of a tap. Kinds that are not known are passed over.
    static func read(_ records: [NDEFRecord]) throws(SmartTapError) -> [SmartTapObject] {
        var objects: [SmartTapObject] = []
        for record in records where record.isNamed("asv") {
            let parts = try SmartTapRecords.read(record.payload)
            guard let issuer = parts.first(named: "i")?.primitive, let kind = issuer.first else {
                throw .malformed(.data)
            }
            for part in parts {
                guard let object = Kind.allCases.first(where: { part.isNamed($0.code) }) else { continue }
                let fields = try SmartTapRecords.read(part.payload)
                objects.append(
                    SmartTapObject(
                        kind: object,
                        issuer: Issuer(kind: kind, id: Array(issuer.dropFirst())),
                        objectID: fields.first(named: "oid")?.primitive,
                        value: fields.first(named: "n")?.smartTapText,
                        customerID: fields.first(named: "cid")?.primitive,
                        tapID: fields.first(named: "cut")?.primitive,
                        language: fields.first(named: "cpl")?.smartTapText
                    )
                )
            }
        }
        return objects
    }
}

extension SmartTapObject: Codable {
    private enum Key: String, CodingKey {
        case kind, issuerKind, issuer, objectId, value, customerId, tapId, language
    }

    /// An object in ``ScanEvent``: bytes as upper-case hexadecimal, absent values left out.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(kind, forKey: .kind)
        try object.encode(issuer.kind, forKey: .issuerKind)
        try object.encode(issuer.id.hex, forKey: .issuer)
        try object.encodeIfPresent(objectID?.hex, forKey: .objectId)
        try object.encodeIfPresent(value, forKey: .value)
        try object.encodeIfPresent(customerID?.hex, forKey: .customerId)
        try object.encodeIfPresent(tapID?.hex, forKey: .tapId)
        try object.encodeIfPresent(language, forKey: .language)
    }

    /// Reads the object back.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        kind = try object.decode(Kind.self, forKey: .kind)
        let issuerKind = try object.decode(UInt8.self, forKey: .issuerKind)
        issuer = Issuer(kind: issuerKind, id: try object.bytes(forKey: .issuer) ?? [])
        objectID = try object.bytes(forKey: .objectId)
        value = try object.decodeIfPresent(String.self, forKey: .value)
        customerID = try object.bytes(forKey: .customerId)
        tapID = try object.bytes(forKey: .tapId)
        language = try object.decodeIfPresent(String.self, forKey: .language)
    }
}

extension KeyedDecodingContainer {
    /// Bytes in hexadecimal, if they are there.
    func bytes(forKey key: Key) throws -> [UInt8]? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        do {
            return try Hex.decode(text)
        } catch {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(error)")
        }
    }
}

extension SmartTapObject: Redacted {
    /// What it is; who it names is left out.
    public var description: String { "Smart Tap object: \(kind)" }
}
