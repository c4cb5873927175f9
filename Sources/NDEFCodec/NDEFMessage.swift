import CardCore

/// An NDEF message: a sequence of records (NFC Forum NDEF 1.0), with chunks joined.
///
/// Decoding and encoding are inverse: where ``encoded(mode:limits:)`` succeeds, decoding its bytes in the same mode
/// with the same limits returns the same message; where the bytes decoded are in the form that this encoder writes
/// (short records for payloads up to 255 bytes, no chunks), encoding returns the same bytes.
public struct NDEFMessage: Sendable, Hashable {
    /// The records.
    public var records: [NDEFRecord]

    /// A message of these records.
    public init(_ records: [NDEFRecord] = []) {
        self.records = records
    }

    /// Reads a message, which has to fill the bytes.
    ///
    /// Both modes check the payloads of Text, URI, Smart Poster and absolute URI records too. In
    /// ``NDEFMode/lenient`` this throws for every fault that is not accepted; ``decodeLeniently(_:limits:)`` returns
    /// the records before it.
    ///
    /// - Throws: The first fault. Within a record what its lengths claim is checked first, then the record's own rules,
    ///   its place in the message, and its payload.
    public init(decoding bytes: [UInt8], mode: NDEFMode = .strict, limits: NDEFLimits = .default) throws(NDEFError) {
        let result = NDEFDecoder.decode(bytes, mode: mode, limits: limits)
        if let fault = result.fault, mode == .strict || !fault.isTolerable { throw fault }
        self.init(result.records)
    }

    /// Reads what can be read in ``NDEFMode/lenient``: the records before the first fault, and the fault.
    ///
    /// - Returns: The records before the fault (all of them if ``NDEFError/isTolerable``), and the fault or `nil`.
    public static func decodeLeniently(
        _ bytes: [UInt8],
        limits: NDEFLimits = .default
    ) -> (message: NDEFMessage, fault: NDEFError?) {
        let result = NDEFDecoder.decode(bytes, mode: .lenient, limits: limits)
        return (NDEFMessage(result.records), result.fault)
    }

    /// The bytes of the message, in the shortest form: payloads up to 255 bytes as short records, an identifier field
    /// only where there is an identifier, no chunks.
    ///
    /// - Throws: The rule for which decoding in the same mode with the same limits would refuse the bytes, or
    ///   ``NDEFError/Code/typeTooLong`` or ``NDEFError/Code/idTooLong``.
    public func encoded(mode: NDEFMode = .strict, limits: NDEFLimits = .default) throws(NDEFError) -> [UInt8] {
        try NDEFEncoder.encode(records, mode: mode, limits: limits)
    }
}

extension NDEFMessage: ExpressibleByArrayLiteral {
    /// A message of these records.
    public init(arrayLiteral elements: NDEFRecord...) {
        self.init(elements)
    }
}

/// What `ndef decode --json` prints for a message, one object on one line:
///
/// - `{"records":[…]}` for a message that is accepted;
/// - `{"error":{"code":…,"offset":…,"message":…}}` for one that a strict decoder refuses;
/// - both keys for one in which a lenient decoder found a fault: the records before the fault, and the fault. Where the
///   fault is one that lenience accepts (``NDEFError/isTolerable``) these are all the records.
package struct NDEFReport: Sendable, Hashable, Encodable {
    /// The records; `nil` where a strict decoder refused the message.
    package var records: [NDEFRecord]?

    /// The fault, or `nil`.
    package var error: NDEFError?

    /// Whether the message was accepted. If not, the tool exits with 65.
    package var isAccepted: Bool

    /// Decodes a message.
    package init(decoding bytes: [UInt8], lenient: Bool = false, limits: NDEFLimits = .default) {
        let result = NDEFDecoder.decode(bytes, mode: lenient ? .lenient : .strict, limits: limits)
        self.init(records: result.records, fault: result.fault, lenient: lenient)
    }

    /// Decodes a message in hexadecimal text. Text that is not hexadecimal is reported as
    /// ``NDEFError/Code/notHexadecimal`` with the offset in the text.
    package init(hex: String, lenient: Bool = false, limits: NDEFLimits = .default) {
        do {
            self.init(decoding: try Hex.decode(hex), lenient: lenient, limits: limits)
        } catch {
            self.init(records: [], fault: NDEFError(.notHexadecimal, at: error.offset), lenient: lenient)
        }
    }

    private init(records: [NDEFRecord], fault: NDEFError?, lenient: Bool) {
        error = fault
        self.records = lenient || fault == nil ? records : nil
        isAccepted = fault.map { lenient && $0.isTolerable } ?? true
    }

    private enum CodingKeys: String, CodingKey {
        case records, error
    }
}

/// What an NDEF message may cost at most. No message makes the decoder allocate more than a small multiple of its own
/// length, whatever lengths it claims.
public struct NDEFLimits: Sendable, Hashable {
    /// The most bytes that one payload may have, all its chunks together.
    public let payload: Int

    /// The most bytes that a message may have.
    public let message: Int

    /// The most records that a message may have. Chunks count as one record.
    public let records: Int

    /// How deep messages may lie inside the payloads of other messages. 0 allows none.
    public let nesting: Int

    /// 64 KiB for a payload and for a message, 256 records, nesting 4.
    public static let `default` = NDEFLimits()

    /// The most that can be allowed: 1 MiB for a payload and for a message, 256 records, nesting 4.
    public static let maximum = NDEFLimits(payload: 1 << 20, message: 1 << 20)

    /// Limits; a value out of the range from 0 to that of ``maximum`` is brought into it.
    public init(payload: Int = 1 << 16, message: Int = 1 << 16, records: Int = 256, nesting: Int = 4) {
        self.payload = min(max(payload, 0), 1 << 20)
        self.message = min(max(message, 0), 1 << 20)
        self.records = min(max(records, 0), 256)
        self.nesting = min(max(nesting, 0), 4)
    }
}

/// How closely an NDEF message is held to the standard.
public enum NDEFMode: String, Sendable, Hashable, CaseIterable, Codable {
    /// All of the NFC Forum's rules hold, and one broken rule refuses the message.
    case strict

    /// For tags as they are found. What does no harm is accepted: bytes after the message's end, an empty buffer, a
    /// record without a type, the reserved type name format (kept as it is), a Text record without a language, and
    /// the reserved prefix codes of a URI record (read as no prefix). Every other rule holds.
    case lenient
}
