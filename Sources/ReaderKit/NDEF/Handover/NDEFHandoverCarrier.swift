/// The content of a Handover Carrier record (`Hc`): a carrier by its type, where there is no configuration of it yet (NFC
/// Forum Connection Handover).
public struct NDEFHandoverCarrier: Sendable, Hashable {
    /// How the type is to be understood: well-known, MIME, absolute URI or external.
    public var format: NDEFRecord.TNF

    /// The type of the record that would configure the carrier, 0 to 255 bytes.
    public var type: [UInt8]

    /// Data of the carrier.
    public var data: [UInt8]

    /// A carrier.
    public init(format: NDEFRecord.TNF, type: [UInt8], data: [UInt8] = []) {
        self.format = format
        self.type = type
        self.data = data
    }
}
