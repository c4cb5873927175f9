import Foundation
import GRDB

/// Merges what is read into a store, a batch in a transaction.
package final class StoreImportSink: ImportSink {
    /// - Parameters:
    ///   - mode: what becomes of members who are there.
    ///   - dryRun: whether to work on a copy that is thrown away.
    ///   - changed: called after each commit, in the order of the commits, on the writer's queue, with the members who
    ///     were there and were changed: it must not wait for anything.
    package init(
        _ store: MemberStore,
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        _ context: ActionContext = ActionContext(),
        changed: @escaping @Sendable ([MemberStore.Changed]) -> Void = { _ in }
    ) throws(ClubError) {
    }

    package func apply(_ batch: ImportBatch) throws(ClubError) -> [ImportVerdict] { [] }

    package func apply(_ records: [TransferRecord]) throws(ClubError) -> [ImportVerdict] { [] }

    package func finish() throws(ClubError) {}
}
