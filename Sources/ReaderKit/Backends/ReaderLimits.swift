/// Limits that hold for whatever a card or a reader sends.
public enum ReaderLimits {
    /// The longest response APDU: 65 536 bytes of data and a status word. (`MAX_BUFFER_SIZE_EXTENDED` is larger.)
    public static let responseLength = 65_538

    /// The longest answer to reset (ISO/IEC 7816-3; `MAX_ATR_SIZE`).
    public static let atrLength = 33

    /// How often one command may be answered with `61xx` (more data) before the answer is refused.
    public static let moreDataRounds = 256

    /// How often one command may be answered with `6Cxx` (wrong length) before the answer is refused.
    public static let wrongLengthRounds = 1
}
