/// The way by which a reader is reached.
public enum BackendKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// A reader served by pcscd, through libpcsclite.
    case pcsc
    /// A reader driven by libnfc.
    case nfc
    /// An S550 in Smart Reader mode, on a serial line.
    case smartReader
    /// A recorded capture.
    case replay
    /// A simulated card in this process.
    case simulated
}
