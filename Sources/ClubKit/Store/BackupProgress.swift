/// How far a copy of the database has come.
public struct BackupProgress: Sendable, Hashable {
    /// The pages that are copied.
    public var pagesDone: Int

    /// The pages of the database as it was when the copy began.
    public var pagesTotal: Int

    /// How much is copied, from 0 to 1.
    public var fraction: Double { pagesTotal > 0 ? Double(pagesDone) / Double(pagesTotal) : 1 }

    /// A progress.
    public init(pagesDone: Int, pagesTotal: Int) {
        self.pagesDone = pagesDone
        self.pagesTotal = pagesTotal
    }
}
