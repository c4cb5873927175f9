import Dispatch
import Foundation
import Logging
import ReaderKit
import Synchronization

/// A club: turns taps into members' visits, stores them, and notifies the application.
///
/// ```swift
/// let club = Club(configuration: ClubConfiguration(database: .file(path: "/var/lib/club/club.sqlite")))
///     .setDelegate(to: self)
///     .setCustomMembershipUser(classType: CustomMembershipUser.self)
/// try await club.open()
/// let receipt = try await club.receive(event)
/// ```
///
/// Set-up methods are synchronous and can be chained; use them before ``open()``. Calls made too early or too late
/// throw ``ClubError/Kind/notOpen``; none traps.
public final class Club: Sendable {
    /// The shared club, with the standard configuration, for programs that need only one.
    public static let shared = Club()

    /// The current configuration, including changes made by set-up methods.
    public var configuration: ClubConfiguration { state.withLock { $0.configuration } }

    struct State {
        var configuration: ClubConfiguration { didSet { changes &+= 1 } }
        /// How often the configuration was set.
        var changes = 0
        /// Whether the club is open, or is being opened, so that it is too late for ``Club/configure(_:)``.
        var isOpening = false
        var delegate = DelegateReference(nil)
        var feedback: (any ReaderFeedback)?
        var userClass: MembershipUser.Type = MembershipUser.self
        var dayPassHours = 0
        var scenarios: ScenarioPlan?
        /// `nil` until the application sets it: a program that only looks into the database delivers nothing.
        var delivery: ScenarioDelivery?
        var store: MemberStore?
    }

    struct DelegateReference: @unchecked Sendable {
        // Delegates are not Sendable. This is safe to send since the club only compares the reference with nil and
        // hands it back, except on the queue of setDispatchQueue, where its methods are called one at a time. The
        // reference itself never changes, and reading a weak reference is atomic.
        private(set) weak var delegate: (any ClubMiddlewareDelegate)?

        init(_ delegate: (any ClubMiddlewareDelegate)?) {
            self.delegate = delegate
        }
    }

    let state: Mutex<State>
    let callbacks = CallbackQueue(.main)
    /// What the original library's names need to remember.
    let familiar = Mutex(FamiliarState())
    let broadcaster = EventBroadcaster<ClubEvent>()
    /// What scenarios were charged with and the application's code is to deliver.
    let delivering = DeliveryQueue()
    /// Answers taps at the readers.
    package let feedback = FeedbackRelay()
    /// Removes old visits while the club is open.
    let retention = Mutex<Task<Void, Never>?>(nil)

    /// Opening and closing block, so they have a queue of their own, which also keeps them in order.
    let opening = DispatchQueue(label: "club.opening")

    /// Creates a club, which is not open yet.
    public init(configuration: ClubConfiguration = ClubConfiguration()) {
        state = Mutex(State(configuration: configuration))
    }

    // MARK: Set-up

    /// Changes the configuration before the club is opened, such as the database, the cooldown, the logger, how cards
    /// are read, and the file of the passes.
    ///
    /// ```swift
    /// Club.shared.configure {
    ///     $0.database = .file(path: "/var/lib/club/club.sqlite")
    ///     $0.passes = "/etc/club/passes.json"
    /// }
    /// ```
    ///
    /// Once the club is open, or ``open(withAppKey:appId:developerId:completion:)`` was called, nothing is changed, and
    /// ``ClubError/Kind/alreadyOpen`` is reported to the delegate, in ``events`` and in the log; likewise once a type
    /// of ``ScenarioProtocol`` keeps its state in this club's database, until ``keepScenarioTypes()`` is called.
    ///
    /// - Parameter change: called again if the configuration is changed concurrently, so that nothing is lost. A
    ///   closure that itself changes this club changes nothing else, which is reported as
    ///   ``ClubError/Kind/invalidSetting``.
    @discardableResult
    public func configure(_ change: (inout ClubConfiguration) -> Void) -> Club {
        let attempt = "configure the club"
        for _ in 0..<100 {
            var (changed, changes) = state.withLock { ($0.configuration, $0.changes) }
            // Outside of the lock: it is the application's code.
            change(&changed)
            let isSet: Bool? = FamiliarScenarios.whileHeld { holder in
                state.withLock { state in
                    guard !state.isOpening, holder != ObjectIdentifier(self) else { return false }
                    guard state.changes == changes else { return nil }
                    state.configuration = changed
                    return true
                }
            }
            if isSet == true { return self }
            if isSet == false {
                report(ClubError(.alreadyOpen, attempting: attempt))
                return self
            }
        }
        let detail = "it was changed by something else each time; a change must not change the same club itself"
        report(ClubError(.invalidSetting, attempting: attempt, detail: detail))
        return self
    }

    /// Sets the delegate, which the club holds weakly.
    @discardableResult
    public func setDelegate(to delegate: (any ClubMiddlewareDelegate)?) -> Club {
        let reference = DelegateReference(delegate)
        state.withLock { $0.delegate = reference }
        return self
    }

    /// The delegate; `nil` if none is set or it is gone.
    public var delegate: (any ClubMiddlewareDelegate)? { state.withLock { $0.delegate }.delegate }

    /// Sets what answers taps by light and sound; `nil`, the default, for nothing. It may be changed at any time.
    ///
    /// ```swift
    /// club.setFeedback(to: ReaderLights(backend))
    /// ```
    ///
    /// Each new tap sends its reader one signal (``Receipt/Outcome/signal``), after the commit and beside the taps,
    /// which wait for none (``ReaderKit/FeedbackRelay``).
    @discardableResult
    public func setFeedback(to feedback: (any ReaderFeedback)?) -> Club {
        state.withLock { $0.feedback = feedback }
        return self
    }

    /// Sets the queue of all callbacks, ``Dispatch/DispatchQueue/main`` by default. Callbacks run one at a time and in
    /// order on a concurrent queue too.
    @discardableResult
    public func setDispatchQueue(_ queue: DispatchQueue) -> Club {
        callbacks.setQueue(queue)
        return self
    }

    /// Sets the class of the objects that callbacks and getters return.
    @discardableResult
    public func setCustomMembershipUser(classType: MembershipUser.Type) -> Club {
        state.withLock { $0.userClass = classType }
        return self
    }

    var userClass: MembershipUser.Type { state.withLock { $0.userClass } }

    /// Sets what happens when an unknown card is presented.
    @discardableResult
    public func setUserCreation(_ style: UserCreation) -> Club {
        state.withLock { $0.configuration.userCreationStyle = style }
        return self
    }

    /// Sets how many hours a visit is valid: the cooldown becomes 1 to 24 hours.
    ///
    /// Any other number changes nothing, and is reported as ``ClubError/Kind/invalidSetting`` to the delegate, in
    /// ``events`` and in the log.
    @discardableResult
    public func setDayPass(hours: Int) -> Club {
        guard (1...24).contains(hours) else {
            let detail = "\(hours) hours instead of 1 to 24"
            report(ClubError(.invalidSetting, attempting: "set the day pass", detail: detail))
            return self
        }
        state.withLock { state in
            state.dayPassHours = hours
            state.configuration.cooldown = .seconds(hours * 3600)
        }
        return self
    }

    /// The hours of ``setDayPass(hours:)``; 0 if not set.
    public var dayPassHours: Int { state.withLock { $0.dayPassHours } }

    /// The time after a counted tap in which further taps of the same member are acknowledged but not counted.
    public var cooldown: Duration { configuration.cooldown }

    // MARK: Opening and closing

    /// Whether the club is open.
    public var isOpen: Bool { state.withLock { $0.store != nil } }

    /// Opens the member database, creating or upgrading it if necessary. Does nothing if the club is open.
    public func open() async throws(ClubError) {
        try await opening.run { () throws(ClubError) in
            guard !self.isOpen else { return }
            self.state.withLock { $0.isOpening = true }
            let store: MemberStore
            do throws(ClubError) {
                store = try self.makeStore()
            } catch {
                self.state.withLock { $0.isOpening = false }
                throw error
            }
            self.state.withLock { $0.store = store }
            FamiliarScenarios.noteOpened(self)
            self.keepSpans(in: store)
            self.keepRetention(in: store)
            self.deliverLeftOver()
            self.configuration.logger.info(
                "The club is open.",
                metadata: [
                    "device": "\(store.deviceID)", "kiosk": "\(self.identity.kiosk)",
                    "operator": "\(self.identity.operatorName)",
                ]
            )
        }
    }

    func makeStore() throws(ClubError) -> MemberStore { try MemberStore(configuration) }

    /// Closes the member database, when all work under way has been committed, and ends the sequences of ``events``.
    /// The readers of ``open(withAppKey:appId:developerId:completion:)`` are released; a tap under way may not be
    /// recorded. The club can be opened again.
    public func close() async throws(ClubError) {
        try await opening.run { () throws(ClubError) in
            self.stopServing()
            guard let store = self.state.withLock({ $0.store }) else { return }
            self.retention.withLock { $0.take() }?.cancel()
            self.delivering.forget()
            do throws(ClubError) {
                try store.close()
            } catch {
                // A store that is closed already is what was wanted.
                guard error.kind == .notOpen else { throw error }
            }
            self.state.withLock { state in
                state.store = nil
                state.isOpening = false
            }
            self.broadcaster.finish()
            self.configuration.logger.info("The club is closed.")
        }
    }

    func openStore(_ attempt: String) throws(ClubError) -> MemberStore {
        guard let store = state.withLock({ $0.store }) else { throw ClubError(.notOpen, attempting: attempt) }
        return store
    }

    // MARK: Taps

    /// Records a tap and returns its receipt, once it is on disk. All taps go through this method.
    ///
    /// ```swift
    /// let receipt = try await club.receive(tap)
    /// print(receipt.outcome.name, receipt.member?.numVisits ?? 0)
    /// ```
    ///
    /// A tap that was seen before (by ``ScanEvent/id``, also before a restart) returns its first receipt and changes
    /// nothing, so a tap may safely be retried. A new tap is reported to ``events`` and the delegate after its commit.
    ///
    /// If its task is cancelled while the tap waits for its commit, the receipt is returned all the same.
    ///
    /// - Parameters:
    ///   - event: the tap.
    ///   - messages: the messages on the card (``CardMessages/messages(in:)``). If the tap is new they are kept in
    ///     ``inbox`` in one transaction with it, whatever its outcome; an identifier that begins with the tap's marks
    ///     them as the member's. ``MessageRouter/takeUp(_:)`` has them processed. A message with a known identifier is
    ///     omitted; one with an invalid identifier throws, and the tap is not recorded.
    /// - Throws: ``ClubError`` if the tap was not recorded. Except for ``ClubError/Kind/notOpen`` and
    ///   ``ClubError/Kind/cancelled``, it is reported to ``events`` and the delegate too.
    public func receive(_ event: ScanEvent, keeping messages: [Message] = []) async throws(ClubError) -> Receipt {
        try await receive(event, keeping: messages, patience: .zero)
    }

    /// Records a tap. What fails is reported by the caller.
    func record(_ event: ScanEvent, keeping messages: [Message]) async throws(ClubError) -> Receipt {
        let store = try openStore(MemberStore.tapAttempt)
        let (configuration, plan) = state.withLock { ($0.configuration, $0.scenarios) }
        let userCreation = configuration.userCreationStyle
        var rules = TapRules(cooldown: Timestamp.microseconds(configuration.cooldown))
        rules.isMaintenance = configuration.application.applicationState == .maintenance
        rules.expiryWarning = Int64(min(max(configuration.expiryWarningDays, 0), 36_500)) * 86_400 * Timestamp.second
        rules.visitsWarning = configuration.visitsLeftWarning
        rules.scenarios = plan
        var unknown: UnknownCard = userCreation.condition == nil ? .create : .ask
        // A tap that was seen before is no attempt.
        if let plan, !plan.conditional.isEmpty, !rules.isMaintenance, event.memberKey != nil,
            try await !store.hasReceived(event.id)
        {
            rules.refusedScenarios = await refused(by: plan.conditional)
        }
        while true {
            let receipt = try await store.receive(event, rules: rules, unknown: unknown, keeping: messages) {
                self.publish($0, of: event)
            }
            if let receipt {
                log(receipt)
                return receipt
            }
            // Outside the transaction: the condition is the application's code, which may call the club.
            let holds = await answer("ask whether an unknown card makes a member") { userCreation.condition?() ?? true }
            unknown = holds ?? false ? .create : .ignore
        }
    }

    /// Returns whether the tap with that ``ScanEvent/id`` has a receipt, so that receiving it again changes nothing.
    public func hasReceived(_ id: UUID) async throws(ClubError) -> Bool {
        try await openStore("look up a tap").hasReceived(id)
    }

    /// Records every tap of a source, one after the other, until the source ends or the task is cancelled.
    ///
    /// This is ``receipts(of:patience:keeping:waiting:pausing:unrecorded:)`` without the receipts. Taps are requested from the
    /// source on the thread that commits them, unless the source chooses another: it must suspend while it has none,
    /// and not block, which would delay the taps of all readers. A tap in hand when the task is cancelled is recorded,
    /// unless it waits for the disk or for another program: then ``events`` reports it without a receipt.
    ///
    /// - Throws: ``ClubError/Kind/notOpen`` if the club is not open, or is closed meanwhile.
    public func run(_ source: some AsyncSequence<ScanEvent, Never>) async throws(ClubError) {
        let store = try openStore("record taps")
        // On the thread of the commits, so that one tap after the other waits for the disk alone.
        try await withTaskExecutorPreference(store.taps) { () async throws(ClubError) in
            let closed = Mutex<ClubError?>(nil)
            let receipts = receipts(
                of: source,
                unrecorded: { _, error in if error.kind == .notOpen { closed.withLock { $0 = error } } }
            )
            for await _ in receipts {}
            if let error = closed.withLock({ $0 }) { throw error }
        }
    }

    private func log(_ receipt: Receipt) {
        configuration.logger.debug(
            "A tap was recorded.",
            metadata: [
                "outcome": "\(receipt.outcome.name)",
                "reason": "\(receipt.outcome.reason?.code.rawValue ?? "-")",
                "member": "\(receipt.member.map { PlainText.shortened($0.userId) } ?? "-")",
                "reader": "\(receipt.reader)",
            ]
        )
        debugLogger.addDebugMessage(
            "Club - tap on \(receipt.reader): \(receipt.outcome.name)"
                + (receipt.outcome.reason.map { " (\($0.code.rawValue))" } ?? "")
        )
    }

    /// What the application's own code answers on the queue of the callbacks, or `nil` where it does not in time.
    func answer<Value: Sendable>(_ attempt: String, _ ask: @escaping @Sendable () -> Value) async -> Value? {
        let answer = OneAnswer<Value?>()
        callbacks.enqueue {
            // Nobody waits any more.
            guard !answer.isGiven else { return }
            answer.give(ask())
        }
        let limit = configuration.conditionsLimit
        let end = DispatchWorkItem { answer.give(nil) }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds, execute: end)
        defer { end.cancel() }
        if let value = await answer.value() { return value }
        let detail = "\(limit.seconds) s were over, which counts as no"
        report(ClubError(.noAnswer, attempting: attempt, detail: detail))
        return nil
    }

    // MARK: Reporting

    /// The club's events from now on. Each call returns a sequence of its own, which has every event in the order of
    /// the commits and ends when the club is closed. Events that a slow consumer has not taken are buffered in memory.
    public var events: AsyncStream<ClubEvent> { broadcaster.stream() }

    /// Called on the writer's queue, right after the commit.
    private func publish(_ receipt: Receipt, of event: ScanEvent) {
        configuration.application.noteActivity()
        broadcaster.yield(.scan(event), .received(receipt))
        if let lights = state.withLock({ $0.feedback }) {
            let reader = ReaderInfo(name: event.reader, backend: event.backend)
            feedback.give(receipt.outcome.signal, at: reader, by: lights)
        }
        tell { $0.club($1, didReceive: receipt) }
        if let error = CKError(receipt.outcome) { tell { $0.club($1, didReceive: error) } }
        guard let member = receipt.member else { return }
        switch receipt.outcome {
        case .created: tell(member) { $0.club($1, didCreateNewMembership: $2) }
        case .visit: tell(member) { $0.club($1, didUpdateMembership: $2) }
        case .repeat, .ignored, .rejected: break
        }
        deliver(receipt.executions, of: receipt.member)
    }

    /// Called on the writer's queue, right after the commit.
    func publish(_ event: ClubEvent) {
        broadcaster.yield(event)
        switch event {
        case .added(let member, _): tell(member) { $0.club($1, didCreateNewMembership: $2) }
        case .updated(let member, _, _): tell(member) { $0.club($1, didUpdateMembership: $2) }
        case .deleted(let member, _): tell(member) { $0.club($1, didDeleteMembership: $2) }
        case .scenario(let result): tell { $0.club($1, didExecute: result) }
        case .routed(let result): tell { $0.club($1, didRoute: result) }
        case .scan, .received, .imported, .merged, .error: break
        }
    }

    func tell(_ method: @escaping @Sendable (any ClubMiddlewareDelegate, Club) -> Void) {
        // Without a delegate nothing waits for a queue that may never run.
        guard delegate != nil else { return }
        callbacks.enqueue {
            if let delegate = self.delegate { method(delegate, self) }
        }
    }

    func tell(
        _ member: Member,
        _ method: @escaping @Sendable (any ClubMiddlewareDelegate, Club, MembershipUser) -> Void
    ) {
        tell { delegate, club in
            do throws(ClubError) {
                method(delegate, club, try club.user(from: member))
            } catch {
                club.broadcaster.yield(.error(error, at: club.configuration.clock()))
                delegate.club(club, didReceive: error)
            }
        }
    }

    /// - Parameters:
    ///   - shown: passed to the delegate in place of the error.
    ///   - isLogged: whether the error is logged too.
    func report(_ error: ClubError, as shown: (any Error)? = nil, isLogged: Bool = true) {
        if isLogged { configuration.logger.error("\(error)") }
        debugLogger.addDebugMessage("Club - \(error)")
        broadcaster.yield(.error(error, at: configuration.clock()))
        tell { $0.club($1, didReceive: shown ?? error) }
    }
}

/// Runs callbacks on the application's queue: one at a time and in order, whatever kind of queue that is, also when it
/// is replaced while callbacks are waiting.
final class CallbackQueue: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var queue: DispatchQueue
        var incoming: [Job] = []
        /// The next job is the last one.
        var outgoing: [Job] = []
        /// Whether a block is on the queue that will run a job.
        var isScheduled = false

        mutating func next() -> Job? {
            if outgoing.isEmpty {
                outgoing = incoming.reversed()
                incoming = []
            }
            return outgoing.popLast()
        }
    }

    private let state: Mutex<State>

    init(_ queue: DispatchQueue) {
        state = Mutex(State(queue: queue))
    }

    /// Replaces the queue for the callbacks that have not begun.
    func setQueue(_ queue: DispatchQueue) {
        state.withLock { $0.queue = queue }
    }

    var currentQueue: DispatchQueue { state.withLock { $0.queue } }

    func enqueue(_ job: @escaping Job) {
        let queue: DispatchQueue? = state.withLock { state in
            state.incoming.append(job)
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return state.queue
        }
        if let queue { schedule(on: queue) }
    }

    /// One block a job, so that a callback that comes from elsewhere gets its turn on the queue in between.
    private func schedule(on queue: DispatchQueue) {
        queue.async {
            let job = self.state.withLock { $0.next() }
            job?()
            let next: DispatchQueue? = self.state.withLock { state in
                guard state.incoming.isEmpty, state.outgoing.isEmpty else { return state.queue }
                state.isScheduled = false
                return nil
            }
            if let next { self.schedule(on: next) }
        }
    }
}

extension DispatchQueue {
    /// Runs work that blocks.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(ClubError) -> Value
    ) async throws(ClubError) -> Value {
        let result: Result<Value, ClubError> = await withCheckedContinuation { continuation in
            self.async { continuation.resume(returning: Result { () throws(ClubError) in try work() }) }
        }
        return try result.get()
    }
}

extension Result where Failure == ClubError {
    /// Like `init(catching:)`, for async work.
    init(of work: () async throws(ClubError) -> Success) async {
        do throws(ClubError) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
