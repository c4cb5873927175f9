import Foundation
import GRDB

extension Club {
    /// Returns a sequence of the receipts of taps that are committed from now on, by this process and by others with
    /// the same database, for a screen.
    ///
    /// ```swift
    /// for try await receipt in club.newReceipts() {
    ///     screen.greet(receipt.member)
    /// }
    /// ```
    ///
    /// Taps of this process are returned at once, those of others usually within some milliseconds. A tap whose time is
    /// more than fifteen seconds before its commit is omitted: nobody stands before the screen any more.
    ///
    /// - Parameter interval: how often to check besides, since not every system reports what other processes write.
    public func newReceipts(pollInterval interval: Duration = .milliseconds(250)) -> ReceiptFeed {
        ReceiptFeed(club: self, interval: interval, began: Timestamp.microseconds(configuration.clock()) ?? 0)
    }

    /// Returns the receipts of the taps since a time, of all processes with the same database, the latest first.
    ///
    /// - Parameter limit: the maximum number of receipts.
    /// - Throws: ``ClubError/Kind/notOpen``, or an error of the database.
    public func receipts(since date: Date, limit: Int) async throws(ClubError) -> [Receipt] {
        let attempt = "read the taps"
        let since = Timestamp.microseconds(date) ?? (date < Date() ? Int64.min : Int64.max)
        return try await openStore(attempt).read(attempt) { db in
            let sql = "SELECT event_id FROM receipt WHERE at >= ? ORDER BY at DESC LIMIT ?"
            let taps = try UUID.fetchAll(db, sql: sql, arguments: [since, max(0, limit)])
            return try taps.compactMap { try db.receipts.receipt(of: $0) }
        }
    }
}

/// The sequence of ``Club/newReceipts(pollInterval:)``: the receipts of taps as they are committed.
///
/// Each iteration is independent and has the taps since the sequence was made. It ends when the task is cancelled, and
/// throws ``ClubError/Kind/notOpen`` when the club is not open or is closed.
public struct ReceiptFeed: AsyncSequence, Sendable {
    /// A receipt.
    public typealias Element = Receipt
    /// The error that ends the sequence.
    public typealias Failure = ClubError

    let club: Club
    let interval: Duration
    /// Taps from then on are new, also if they are committed before the first look; in microseconds since 1970.
    let began: Int64

    /// An iterator over new receipts.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// How old a tap is at most, in microseconds.
        private static let span: Int64 = 15 * Timestamp.second

        private let feed: ReceiptFeed
        private var following: (store: MemberStore, bell: ChangeBell, rings: AsyncStream<Void>.Iterator)?
        /// The taps of the span that were returned, or were there before, with their times.
        private var known: [UUID: Int64]?
        private var waiting: [Receipt] = []
        /// The beginning of the span at the latest look.
        private var latest = Int64.min

        fileprivate init(_ feed: ReceiptFeed) { self.feed = feed }

        /// Returns the next receipt as soon as its tap is committed.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClubError) -> Receipt? {
            let attempt = "follow the taps"
            if following == nil {
                let store = try feed.club.openStore(attempt)
                let bell = ChangeBell(store, every: Swift.max(feed.interval, .milliseconds(1)))
                following = (store, bell, bell.rings.makeAsyncIterator())
            }
            guard let store = following?.store else { return nil }
            while waiting.isEmpty {
                guard await following?.rings.next(isolation: actor) != nil else { return nil }
                let (former, began) = (known, feed.began)
                let since = (Timestamp.microseconds(store.clock()) ?? 0) - Self.span
                // A clock that was set back leads back to taps of people who have gone.
                let isBack = since < latest
                latest = since
                do throws(ClubError) {
                    let (taps, receipts) = try await store.read(attempt) { db -> ([UUID: Int64], [Receipt]) in
                        let taps = try db.receipts.taps(since: since)
                        if isBack { return (taps, []) }
                        let new = taps.filter { former?[$0.key] == nil && (former != nil || $0.value > began) }
                            .sorted { $0.value < $1.value }
                        return (taps, try new.compactMap { try db.receipts.receipt(of: $0.key) })
                    }
                    known = taps
                    waiting = receipts.reversed()
                } catch {
                    if error.kind == .cancelled { return nil }
                    throw error
                }
            }
            return waiting.popLast()
        }
    }

    /// Returns an iterator over the receipts from now on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension StoredReceipts {
    /// The taps from that time on, in microseconds since 1970, with their times.
    func taps(since: Int64) throws -> [UUID: Int64] {
        var taps: [UUID: Int64] = [:]
        for row in try db.rows("SELECT event_id, at FROM receipt WHERE at >= ?", [since]) {
            taps[try row.value(0)] = try row.value(1)
        }
        return taps
    }
}
