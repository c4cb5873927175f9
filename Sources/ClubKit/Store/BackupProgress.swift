/// The progress of a copy of the database.
public struct BackupProgress: Sendable, Hashable {
    /// The number of copied pages.
    public var pagesDone: Int

    /// The number of pages of the database when the copy began.
    public var pagesTotal: Int

    /// The copied fraction, from 0 to 1.
    public var fraction: Double { pagesTotal > 0 ? Double(pagesDone) / Double(pagesTotal) : 1 }

    /// Creates a progress.
    public init(pagesDone: Int, pagesTotal: Int) {
        self.pagesDone = pagesDone
        self.pagesTotal = pagesTotal
    }
}
