/// An NDEF message: a sequence of records (NFC Forum NDEF 1.0), with chunks joined.
///
/// Decoding and encoding are inverse: where ``encoded(mode:limits:)`` succeeds, decoding its bytes in the same mode
/// with the same limits gives the same message; where the bytes decoded are in the form that this encoder writes (short
/// records for payloads up to 255 bytes, no chunks), encoding gives the same bytes.
public struct NDEFMessage: Sendable, Hashable {
    /// The records.
    public var records: [NDEFRecord]

    /// A message of these records.
    public init(_ records: [NDEFRecord] = []) {
        self.records = records
    }

    /// Reads a message, which has to fill the bytes given.
    ///
    /// Both modes check the payloads of Text, URI, Smart Poster and absolute URI records too. In
    /// ``NDEFMode/lenient`` this throws for every fault that is not accepted; ``decodeLeniently(_:limits:)`` gives the
    /// records before it.
    ///
    /// - Throws: The first fault. Within a record what its lengths claim is checked first, then the record's own rules,
    ///   its place in the message, and its payload.
    public init(
        decoding bytes: [UInt8],
        mode: NDEFMode = .strict,
        limits: NDEFLimits = .default
    ) throws(NDEFError) {
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
