import CardCore

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

    /// Decodes a message given as hexadecimal text. Text that is not hexadecimal is reported as
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

    /// The object described above.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(records, forKey: .records)
        try container.encodeIfPresent(error, forKey: .error)
    }
}
