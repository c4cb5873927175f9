/// What a ``CardScanner`` tells.
public enum ScannerEvent: Sendable, Hashable {
    /// Something happened to the readers.
    case reader(ReaderEvent)
    /// A card was presented and read, as far as it could be.
    case scan(ScanEvent)
}
