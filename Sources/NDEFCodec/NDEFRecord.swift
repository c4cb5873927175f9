/// One NDEF record, with chunks already joined.
public struct NDEFRecord: Sendable, Hashable {
    /// How the type is to be understood.
    public var tnf: TNF
    /// The type, 0 to 255 bytes.
    public var type: [UInt8]
    /// The identifier, or `nil` if there is none.
    public var id: [UInt8]?
    /// The payload.
    public var payload: [UInt8]

    /// Type name format: how the type of a record is to be understood.
    public enum TNF: UInt8, Sendable, Hashable, CaseIterable {
        /// No type, identifier or payload.
        case empty = 0
        /// A type of the NFC Forum.
        case wellKnown = 1
        /// A media type (RFC 2046).
        case mime = 2
        /// An absolute URI (RFC 3986).
        case absoluteURI = 3
        /// A type of somebody's own domain.
        case external = 4
        /// The payload is of unknown type.
        case unknown = 5
        /// Reserved; kept only by a lenient decoder.
        case reserved = 7
    }

    /// A record.
    public init(tnf: TNF, type: [UInt8] = [], id: [UInt8]? = nil, payload: [UInt8] = []) {
        self.tnf = tnf
        self.type = type
        self.id = id
        self.payload = payload
    }
}
