/// What a processor made of a message, in the words of the original library's platform (`UIBackgroundFetchResult`).
public enum BackgroundFetchResult: String, Sendable, Hashable, CaseIterable {
    /// There is something new.
    case newData
    /// Nothing is new.
    case noData
    /// It failed.
    case failed
}
