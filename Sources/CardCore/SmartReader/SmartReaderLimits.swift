/// Limits that hold for whatever a reader in Smart Reader mode sends.
public enum SmartReaderLimits {
    /// The longest line, in bytes, without its end. A longer one is dropped up to its end.
    public static let lineLength = 8192

    /// How many objects and arrays of a JSON line may lie within each other.
    public static let jsonDepth = 8

    /// The longest identifier that is taken for that of a card, in bytes; ISO/IEC 14443-3 has 10 at most.
    public static let identifierLength = 16
}
