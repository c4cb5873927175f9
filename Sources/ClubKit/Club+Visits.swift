import Foundation
import ReaderKit

/// Visits: the ledger of a member.
extension Club {
    /// The visits of a member, including undone ones: at most the `limit` newest, newest first.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func visits(of key: String, limit: Int = 1000) async throws(ClubError) -> [Visit] {
        try await openStore("list a member's visits").visits(of: key, limit: max(0, limit))
    }

    /// The member whose visit it is, or `nil` if there is no such visit or they were deleted.
    package func member(ofVisit id: UUID) async throws(ClubError) -> Member? {
        try await openStore("look up a visit").member(ofVisit: id)
    }

    /// Records a visit by hand, regardless of the cooldown, the end of the membership and blocks.
    ///
    /// If it is the member's latest, the club's scenarios are evaluated as at a tap, as of the time of the visit;
    /// executions are reported and delivered likewise. For groups and the kiosk a visit by hand counts only then.
    ///
    /// - Parameters:
    ///   - key: the member's ``Member/userId`` or any of their cards.
    ///   - date: the time of the visit, at most a day in the future; now by default.
    ///   - context: who records it, and why.
    /// - Returns: the updated member.
    /// - Throws: ``ClubError/Kind/noSuchMember``, ``ClubError/Kind/invalidValue`` for a date that cannot be.
    @discardableResult
    public func recordVisit(
        of key: String,
        at date: Date? = nil,
        by context: ActionContext
    ) async throws(ClubError) -> Member {
        try await recordManualVisit(of: key, at: date, by: context).member
    }

    /// The same, and describes what scenarios were charged with.
    package func recordManualVisit(
        of key: String,
        at date: Date?,
        by context: ActionContext
    ) async throws(ClubError) -> (member: Member, executions: [ScenarioExecution]) {
        let store = try openStore("record a visit")
        var scenarios: ScenarioTap?
        if let plan = state.withLock({ $0.scenarios }) {
            scenarios = ScenarioTap(plan: plan, refused: await refused(by: plan.conditional))
        }
        let id = configuration.makeUUID()
        let visit = try await store.recordVisit(of: key, at: date, id: id, context, scenarios: scenarios) { visit in
            self.updated(.manualVisit)(visit.changed)
            self.deliver(visit.executions, of: visit.changed.member)
        }
        return (visit.changed.member, visit.executions)
    }

    /// Undoes a visit, however it was recorded. It stays in the ledger, with the reason.
    ///
    /// - Parameter id: ``Visit/id``, which for a tap is ``ReaderKit/ScanEvent/id``.
    /// - Returns: the updated member.
    /// - Throws: ``ClubError/Kind/noSuchVisit``, also for a visit that was undone before, or whose member was deleted
    ///   since.
    @discardableResult
    public func undoVisit(_ id: UUID, by context: ActionContext) async throws(ClubError) -> Member {
        try await openStore("undo a visit").undoVisit(id, context, committed: updated(.undo))
    }
}

extension Club {
    /// Records the taps of a source, one after the other, and returns their receipts as a sequence.
    ///
    /// ```swift
    /// for await receipt in club.receipts(of: CardScanner(backend).taps()) {
    ///     print(receipt.member?.username ?? "nobody", receipt.outcome.name)
    /// }
    /// ```
    ///
    /// No tap is lost to a full disk or a database that another program holds: the tap, with the same ``ScanEvent/id``,
    /// is retried after pauses of 0.2 s that grow to 2 s, and the next one is requested once it is recorded. The cause
    /// is reported to ``events`` and the delegate once, not at each try. Errors that waiting cannot resolve are
    /// reported there too, and the next tap is requested; ``ClubError/Kind/inputOutput`` counts as such after a minute
    /// of pauses.
    ///
    /// The sequence ends with its source, when its task is cancelled, or when the club is not open or is closed
    /// meanwhile. It throws only the errors of its source. A tap is requested from the source when a receipt is
    /// requested from the sequence.
    ///
    /// - Parameters:
    ///   - taps: the source.
    ///   - patience: the maximum total of the pauses of one tap; `nil`, the default, for no limit.
    ///   - messages: the messages on a card, as with ``receive(_:keeping:)``; called once for each tap, before it is
    ///     recorded.
    ///   - waiting: called with the cause when a tap begins to wait; its receipt ends the wait. If present, waiting is
    ///     not logged.
    ///   - pausing: called before each pause of a tap that waits.
    ///   - unrecorded: called for each tap without a receipt, with the reason: ``ClubError/Kind/cancelled`` if its task
    ///     was cancelled while it waited.
    public func receipts<Taps: AsyncSequence>(
        of taps: Taps,
        patience: Duration? = nil,
        keeping messages: @escaping @Sendable (ScanEvent) -> [Message] = { _ in [] },
        waiting: (@Sendable (ScanEvent, ClubError) -> Void)? = nil,
        pausing: @escaping @Sendable () -> Void = {},
        unrecorded: @escaping @Sendable (ScanEvent, ClubError) -> Void = { _, _ in }
    ) -> Receipts<Taps> where Taps.Element == ScanEvent {
        Receipts(taps: taps) { tap throws(ClubError) in
            do throws(ClubError) {
                return try await self.receive(
                    tap,
                    keeping: messages(tap),
                    patience: patience,
                    waiting: waiting.map { waiting in { waiting(tap, $0) } },
                    pausing: pausing
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
        waiting: ((ClubError) -> Void)? = nil,
        pausing: () -> Void = {}
    ) async throws(ClubError) -> Receipt {
        var told: ClubError.Kind?
        do throws(ClubError) {
            return try await ClubError.retrying(for: patience) { error in
                if told != error.kind {
                    report(error, isLogged: waiting == nil)
                    waiting?(error)
                }
                told = error.kind
                pausing()
                return isAwaited()
            } _: { () async throws(ClubError) in
                try await record(event, keeping: messages)
            }
        } catch {
            // One that waited is notified whatever ends it; whoever cancels its task knows why.
            if told != nil || error.kind != .notOpen && error.kind != .cancelled {
                broadcaster.yield(.scan(event))
                if told != error.kind, error.kind != .cancelled { report(error, isLogged: waiting == nil) }
            }
            throw error
        }
    }
}

/// The receipts of taps (see ``Club/receipts(of:patience:keeping:waiting:pausing:unrecorded:)``).
public struct Receipts<Taps: AsyncSequence>: AsyncSequence where Taps.Element == ScanEvent {
    /// The error of the source.
    public typealias Failure = Taps.Failure

    let taps: Taps
    let receive: @Sendable (ScanEvent) async throws(ClubError) -> Receipt

    /// An iterator that requests taps from the source.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The error of the source.
        public typealias Failure = Taps.Failure

        var taps: Taps.AsyncIterator
        let receive: @Sendable (ScanEvent) async throws(ClubError) -> Receipt
        private var isOver = false

        init(_ receipts: Receipts) {
            taps = receipts.taps.makeAsyncIterator()
            receive = receipts.receive
        }

        /// Returns the receipt of the next tap that can be recorded; `nil` at the end.
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

    /// Returns an iterator over the receipts.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension Receipts: Sendable where Taps: Sendable {}

/// The club's memory of presented passes, in its database: a recorded tap is refused after a restart too.
///
/// ```swift
/// let site = try configuration.site(folder: "/etc/club", memory: club.passMemory)
/// ```
///
/// While the club is closed nothing can be remembered, and passes that need it are rejected.
public struct ClubPassMemory: PassMemory {
    let club: Club

    /// Records something that may be presented once. Blocks until it is on disk.
    ///
    /// - Throws: ``ClubError``.
    public func takeOnce(_ digest: [UInt8], until end: Date, now: Date) throws -> Bool {
        try club.openStore("remember a pass").takeOnce(digest, until: end, now: now)
    }

    /// Records a counter that must increase. Blocks until it is on disk.
    ///
    /// - Throws: ``ClubError``.
    public func takeCounter(_ value: UInt32, of name: [UInt8]) throws -> Bool {
        try club.openStore("remember a pass").takeCounter(value, of: name)
    }
}

extension Club {
    /// The club's memory of presented passes, for ``ReaderKit/PassSite/memory``.
    public var passMemory: ClubPassMemory { ClubPassMemory(club: self) }
}
