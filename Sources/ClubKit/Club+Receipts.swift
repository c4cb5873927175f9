import Foundation
import ReaderKit

extension Club {
    /// Records the taps of a source, one after the other, and gives the receipt of each.
    ///
    /// ```swift
    /// for await receipt in club.receipts(of: CardScanner(backend).taps()) {
    ///     print(receipt.member?.username ?? "nobody", receipt.outcome.name)
    /// }
    /// ```
    ///
    /// A disk that is full, or a database that another program holds, loses no tap: the same tap, with the same
    /// ``ScanEvent/id``, is given to the club again, after pauses of 0.2 s that grow to 2 s, and the next one is taken when
    /// it is recorded. What a tap waits for is told to ``events`` and the delegate once, not at each try. What waiting cannot
    /// mend is told there too, and the next tap is taken; that the system cannot read or write
    /// (``ClubError/Kind/inputOutput``) counts as such after pauses of a minute.
    ///
    /// The sequence ends with its source, when its task is cancelled, or when the club is not open or is closed meanwhile.
    /// It throws what its source throws, and nothing else. The source is asked for a tap when one is asked of the sequence.
    ///
    /// - Parameters:
    ///   - taps: the source.
    ///   - patience: how long the pauses of one tap may be together; `nil`, the default, for as long as it takes.
    ///   - messages: what a card brought, as with ``receive(_:keeping:)``; called once for each tap, before it is recorded.
    ///   - waiting: called when a tap begins to wait, with what hinders it; it goes on with its receipt. Where it is given,
    ///     nothing is logged of that.
    ///   - unrecorded: called for each tap that has no receipt, with the reason: ``ClubError/Kind/cancelled`` where its task
    ///     was cancelled while it waited.
    public func receipts<Taps: AsyncSequence>(
        of taps: Taps,
        patience: Duration? = nil,
        keeping messages: @escaping @Sendable (ScanEvent) -> [Message] = { _ in [] },
        waiting: (@Sendable (ScanEvent, ClubError) -> Void)? = nil,
        unrecorded: @escaping @Sendable (ScanEvent, ClubError) -> Void = { _, _ in }
    ) -> Receipts<Taps> where Taps.Element == ScanEvent {
        Receipts(taps: taps) { tap throws(ClubError) in
            do throws(ClubError) {
                return try await self.receive(
                    tap,
                    keeping: messages(tap),
                    patience: patience,
                    waiting: waiting.map { waiting in { waiting(tap, $0) } }
                )
            } catch {
                unrecorded(tap, error)
                throw error
            }
        }
    }

    /// Records a tap, and again where it could not be and may be later, as long as the pauses allow and somebody waits.
    func receive(
        _ event: ScanEvent,
        keeping messages: [Message] = [],
        patience: Duration? = nil,
        isAwaited: () -> Bool = { true },
        waiting: ((ClubError) -> Void)? = nil
    ) async throws(ClubError) -> Receipt {
        var told: ClubError.Kind?
        do throws(ClubError) {
            return try await ClubError.retrying(for: patience) { error in
                if told != error.kind {
                    report(error, isLogged: waiting == nil)
                    waiting?(error)
                }
                told = error.kind
                return isAwaited()
            } _: { () async throws(ClubError) in
                try await record(event, keeping: messages)
            }
        } catch {
            // One that waited is told of whatever ends it; whoever cancels its task knows why.
            if told != nil || error.kind != .notOpen && error.kind != .cancelled {
                let isTold = told == error.kind || error.kind == .cancelled
                tellUnrecorded(event, error, isTold: isTold, isLogged: waiting == nil)
            }
            throw error
        }
    }
}

/// The receipts of taps (see ``Club/receipts(of:patience:keeping:waiting:unrecorded:)``).
public struct Receipts<Taps: AsyncSequence>: AsyncSequence where Taps.Element == ScanEvent {
    /// What the source throws.
    public typealias Failure = Taps.Failure

    let taps: Taps
    let receive: @Sendable (ScanEvent) async throws(ClubError) -> Receipt

    /// Asks the source for taps.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// What the source throws.
        public typealias Failure = Taps.Failure

        var taps: Taps.AsyncIterator
        let receive: @Sendable (ScanEvent) async throws(ClubError) -> Receipt
        private var isOver = false

        init(_ receipts: Receipts) {
            taps = receipts.taps.makeAsyncIterator()
            receive = receipts.receive
        }

        /// The receipt of the next tap that can be recorded; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Receipt? {
            while !isOver, !Task.isCancelled, let tap = try await taps.next(isolation: actor) {
                do throws(ClubError) {
                    return try await receive(tap)
                } catch {
                    isOver = error.kind == .notOpen || error.kind == .cancelled
                }
            }
            isOver = true
            return nil
        }
    }

    /// Begins to take the taps of the source.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension Receipts: Sendable where Taps: Sendable {}
