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
