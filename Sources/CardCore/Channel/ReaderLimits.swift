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

    /// How many parts one command may be sent in (command chaining). A command of 65 535 bytes takes 257 of 255.
    public static let commandParts = 1024

    /// How long one command may take with all its rounds. It is looked at between the rounds, each of which has the
    /// deadline of its backend.
    public static let commandDuration = Duration.seconds(30)

    /// How long reading a card may take from its first command on, however many there are. It is looked at before each
    /// exchange, which has the deadline of its backend.
    public static let tapDuration = Duration.seconds(15)

    /// How long work on a card may take that somebody asked for: writing its message, or copying its memory.
    public static let workDuration = Duration.seconds(120)

    /// How many levels of BER-TLV objects are read or written.
    public static let tlvDepth = 8
}
