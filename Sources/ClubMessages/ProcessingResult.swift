/// What a processor made of a message.
public enum ProcessingResult: Sendable, Hashable {
    /// It was processed, and there is something new.
    case newData
    /// It was processed, and nothing is new.
    case noData
    /// It could not be processed. The reason goes to the dead letters and to whoever sent the message, so it should not
    /// quote the payload.
    case failed(String)
    /// It is not for this processor: the next one of its type is tried, and at last the fallback.
    case declined
}
