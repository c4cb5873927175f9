import CardCore

/// The content of a Signature record (`Sig`, NFC Forum Signature RTD 2.0): a signature over the records before it, up to
/// the Signature record before or the message's start, read to be shown. It is not verified.
public struct NDEFSignature: Sendable, Hashable {
    /// The minor number of the version, 0 to 15; the major number is 2.
    public var minorVersion: UInt8 = 0

    /// How the signature was made.
    public var algorithm: Algorithm

    /// The hash of what is signed: 2 is SHA-256.
    public var hash: UInt8 = 2

    /// The signature; empty for a marker, which begins the range of the next signature.
    public var signature: Data

    /// The form of the certificates, 0 to 7: 0 is X.509, 1 is M2M.
    public var certificateFormat: UInt8 = 0

    /// The certificates, the signer's first; at most 15.
    public var certificates: [[UInt8]] = []

    /// Where the certificate that issued the last one is.
    public var certificateURI: String?

    /// Whether the record signs nothing and only begins the range of the next signature.
    public var isMarker: Bool { algorithm == .none && signature == .bytes([]) }

    /// A signature, or where it is.
    public enum Data: Sendable, Hashable {
        /// The bytes of the signature.
        case bytes([UInt8])
        /// The place of the signature. It comes from the card: never open it unasked.
        case uri(String)
    }

    /// How a signature was made. The raw value is the code in the record.
    public struct Algorithm: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The code, 0 to 127.
        public let rawValue: UInt8

        /// The algorithm with that code, of which 7 bits count.
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0x7F }

        /// No signature: the record is a marker.
        public static let none = Algorithm(rawValue: 0x00)
        /// ECDSA over P-256.
        public static let ecdsaP256 = Algorithm(rawValue: 0x0B)

        private static let names = [
            "none", "RSASSA-PSS-1024", "RSASSA-PKCS1-v1_5-1024", "DSA-1024", "ECDSA-P192", "RSASSA-PSS-2048",
            "RSASSA-PKCS1-v1_5-2048", "DSA-2048", "ECDSA-P224", "ECDSA-K233", "ECDSA-B233", "ECDSA-P256",
        ]

        /// The algorithm's name, or its code if the standard has none for it.
        public var description: String {
            Self.names.indices.contains(Int(rawValue))
                ? Self.names[Int(rawValue)] : "0x" + CollectionOfOne(rawValue).hex
        }
    }
}

extension NDEFSignature {
    /// Reads a payload; `nil` for other major versions than 2, which are left as they are.
    init?(payload: [UInt8]) throws(NDEFError) {
        var cursor = NDEFCursor(payload)
        guard let version = cursor.byte() else { throw NDEFError(.signatureWithoutVersion, at: 0) }
        guard version >> 4 == 2 else { return nil }
        guard let kind = cursor.byte(), let hash = cursor.byte() else {
            throw NDEFError(.signatureBeyondEnd, at: cursor.offset)
        }
        let signature = try Self.field(&cursor, isURI: kind & 0x80 != 0)
        guard let chain = cursor.byte() else { throw NDEFError(.signatureBeyondEnd, at: cursor.offset) }
        var certificates: [[UInt8]] = []
        for _ in 0..<(chain & 0x0F) {
            if case .bytes(let bytes) = try Self.field(&cursor, isURI: false) { certificates.append(bytes) }
        }
        var certificateURI: String?
        if chain & 0x80 != 0, case .uri(let uri) = try Self.field(&cursor, isURI: true) { certificateURI = uri }
        guard cursor.isAtEnd else { throw NDEFError(.signatureTrailingBytes, at: cursor.offset, value: cursor.left) }
        self.init(
            minorVersion: version & 0x0F,
            algorithm: Algorithm(rawValue: kind),
            hash: hash,
            signature: signature,
            certificateFormat: chain >> 4 & 0x07,
            certificates: certificates,
            certificateURI: certificateURI
        )
    }

    private static func field(_ cursor: inout NDEFCursor, isURI: Bool) throws(NDEFError) -> Data {
        let start = cursor.offset
        guard let count = cursor.bigEndian16() else { throw NDEFError(.signatureBeyondEnd, at: start) }
        guard let bytes = cursor.take(count) else { throw NDEFError(.signatureBeyondEnd, at: start, value: count) }
        guard isURI else { return .bytes(bytes) }
        if var fault = bytes.withUnsafeBufferPointer(NDEFPayload.uriFault) {
            fault.offset += start + 2
            throw fault
        }
        return .uri(String(decoding: bytes, as: UTF8.self))
    }
}

extension NDEFSignature: Encodable {
    /// The JSON object that the tools print: `version`, `algorithm` (a name), `hash` (a number), `signature`
    /// (hexadecimal) or `signatureURI`, `certificateFormat` (a number), `certificates` (hexadecimal), `certificateURI`.
    public func encode(to encoder: any Encoder) throws {
        var object: JSONObject = [
            "version": "2.\(minorVersion)", "algorithm": algorithm.description, "hash": hash,
            "certificateFormat": certificateFormat, "certificates": certificates.map(\.hex),
            "certificateURI": certificateURI,
        ]
        switch signature {
        case .bytes(let bytes): object["signature"] = bytes.hex
        case .uri(let uri): object["signatureURI"] = uri
        }
        try object.encode(to: encoder)
    }
}
