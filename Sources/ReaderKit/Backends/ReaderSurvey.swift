/// The readers that are there at one moment, and what kept others from being found.
public struct ReaderSurvey: Sendable {
    /// The readers.
    public var readers: [ReaderStatus]

    /// Why some way to readers could not be asked: one error for each. Empty when all could.
    public var faults: [any Error]

    /// What was found.
    public init(readers: [ReaderStatus] = [], faults: [any Error] = []) {
        self.readers = readers
        self.faults = faults
    }
}
