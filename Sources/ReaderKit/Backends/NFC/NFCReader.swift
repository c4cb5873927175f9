import Foundation
import Synchronization

/// One reader: a thread, the device and the card on it.
///
/// While somebody watches, it looks for cards at intervals, between conversations and never within one. A device that
/// fails is opened anew; one that is away is tried again with growing pauses. ``NFCBackend`` makes a new one when its
/// thread was given up.
actor NFCReader: CallThread {
    struct Surroundings: Sendable {
        var library: NFCLibrary
        var configuration: NFCConfiguration
        var abandoned: AbandonedThreads
        var openPort: @Sendable (String) throws(ReaderError) -> NFCPort = { path throws(ReaderError) in
            try NFCPort(path)
        }
        var nextEpoch: @Sendable () -> Int
        var now: @Sendable () -> Date

        func callWatch(onExpiry: @escaping CallWatch.Fail) -> CallWatch {
            CallWatch(deadline: configuration.callDeadline, abandoned: abandoned, onExpiry: onExpiry)
        }
    }

    struct Polling {
        var isWanted = false
        var isScheduled = false
    }

    nonisolated let info: ReaderInfo
    nonisolated let watch: CallWatch
    nonisolated let executor = ThreadExecutor(name: "nfc-reader")
    nonisolated let configuration: NFCConfiguration
    private nonisolated let surroundings: Surroundings
    private nonisolated let report: @Sendable (ReaderTable.Report) -> Void
    nonisolated let polling = Mutex(Polling())
    private nonisolated let aborter: NFCAborter
    private nonisolated let conversations = Mutex(0)

    let device: NFCDevice
    var card: CardPresence?
    private var number = 0
    private var epoch = 0
    private var isTold = false
    private var untold: [ReaderTable.Report] = []
    private var backOff: Duration
    private var failures = 0
    /// Whether it was opened anew since it last answered a look.
    private var hasRecovered = false
    private var hasLooked = false
    private(set) var isRetired = false

    // What is known of the state of the card.

    /// Whether nothing was sent to the card since it was selected, except to see whether it is there.
    var isFresh = false
    /// Whether the presentation is over, though nobody was notified yet.
    var isOver = false
    /// Whether the card answered when it was last asked whether it is there, and nobody has talked to it since.
    var hasAnswered = false
    /// Whether asking this card reveals nothing, so that it is selected again each time.
    private var isMute = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        info: ReaderInfo,
        surroundings: Surroundings,
        report: @escaping @Sendable (ReaderTable.Report) -> Void,
        onStuck: @escaping CallWatch.Fail
    ) {
        self.info = info
        self.surroundings = surroundings
        self.report = report
        configuration = surroundings.configuration
        backOff = surroundings.configuration.firstBackOff
        watch = surroundings.callWatch(onExpiry: onStuck)
        device = NFCDevice(
            connection: NFCConnectionString(info.name),
            library: surroundings.library,
            configuration: surroundings.configuration,
            watch: watch,
            openPort: surroundings.openPort
        )
        aborter = device.aborter
    }

    // MARK: - From anywhere

    /// Begins to look for cards, or ends it; `tellingAll` reports anew what is known.
    nonisolated func setPolling(_ isWanted: Bool, tellingAll: Bool) {
        polling.withLock { $0.isWanted = isWanted }
        if tellingAll {
            submitWatched { me in
                me.isTold = false
                me.untold = []
            }
        }
        schedule(after: .zero)
    }

    /// Ends the thread, after what it is doing now, and calls back as ``submitWatched(_:then:)``.
    nonisolated func stop(then done: @escaping @Sendable () -> Void = {}) {
        polling.withLock { $0.isWanted = false }
        submitWatched({ $0.isRetired = true }, then: done)
    }

    nonisolated func converse<Result: Sendable>(
        _ presence: CardPresence,
        _ conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        let owner = conversations.withLock { number in
            number += 1
            return number
        }
        let aborter = aborter
        return try await run(onCancel: { aborter.abortCall(of: owner) }) { me, cancellation in
            aborter.setOwner(owner)
            defer { aborter.setOwner(0) }
            let channel = try me.open(presence, cancellation)
            defer { channel.close() }
            return try conversation(channel)
        }
    }

    private nonisolated func schedule(after pause: Duration) {
        let isNew = polling.withLock { polling in
            guard polling.isWanted, !polling.isScheduled else { return false }
            polling.isScheduled = true
            return true
        }
        guard isNew else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + pause.seconds) { [weak self] in
            self?.submitWatched { me in
                let isWanted = me.polling.withLock { polling in
                    polling.isScheduled = false
                    return polling.isWanted
                }
                guard isWanted, !me.isRetired, !me.watch.isAbandoned else { return }
                me.schedule(after: me.tick())
            }
        }
    }

    // MARK: - On the thread

    func cleanUp() { device.close() }

    /// Opens the reader if it has to be, looks for cards, and returns when to do so again.
    private func tick() -> Duration {
        do throws(ReaderError) {
            guard try openIfNeeded() else { return rest(after: nil) }
            try look()
            tell()
            return configuration.pollInterval
        } catch {
            guard error.kind != .stuck else { return configuration.lastBackOff }
            guard let isBack = recover() else { return rest(after: error) }
            return isBack ? configuration.pollInterval : rest(after: nil)
        }
    }

    /// A disturbed line is put right by opening it anew, which nobody needs to know of; whether the reader is there, or
    /// `nil` if it is and cannot be used.
    private func recover() -> Bool? {
        guard isTold, !hasRecovered else { return nil }
        hasRecovered = true
        do throws(ReaderError) {
            device.close()
            guard try openIfNeeded() else { return false }
            try look()
            tell()
            return true
        } catch {
            return nil
        }
    }

    /// Reports what was seen, once the reader has answered a look.
    private func tell() {
        guard device.answers else { return }
        if isTold {
            untold.forEach(report)
        } else {
            isTold = true
            report(.opened)
            // Whoever begins to watch learns of the card that is there, but not of one that was.
            card?.wasAlreadyThere = true
            if let card { report(.inserted(card)) }
        }
        untold = []
        backOff = configuration.firstBackOff
        failures = 0
        hasRecovered = false
    }

    /// Reports that the reader cannot be used now; returns how long to wait before it is tried again.
    private func rest(after error: ReaderError?) -> Duration {
        device.close()
        if let card { untold.append(.removed(card)) }
        card = nil
        if isTold { (untold + [.lost]).forEach(report) }
        untold = []
        isTold = false
        guard let error else {
            report(.absent)
            failures = 0
            backOff = configuration.firstBackOff
            return configuration.lastBackOff
        }
        failures += 1
        // A reader that has just been plugged in or out may not answer for a moment.
        if error.kind == .serviceUnavailable {
            report(.service(error))
        } else if error.kind != .readerUnavailable || failures > 1 {
            report(.trouble(error))
        }
        defer { backOff = min(backOff * 2, configuration.lastBackOff) }
        return backOff
    }

    func openIfNeeded() throws(ReaderError) -> Bool {
        guard !device.isOpen else { return true }
        let context = try makeContext()
        guard try device.open(in: context) else { return false }
        epoch = card?.epoch ?? surroundings.nextEpoch()
        hasLooked = false
        isFresh = false
        hasAnswered = false
        return true
    }

    private func makeContext() throws(ReaderError) -> NFCLibrary.Context {
        let (library, configuration) = (surroundings.library, configuration)
        let context = try watch.call("begin with libnfc") {
            library.makeContext(configuration.scansSerialPorts)
        }
        guard let context else { throw NFCReader.noContext }
        report(.service(nil))
        return context
    }

    static let noContext = ReaderError(
        .serviceUnavailable,
        attempting: "begin with libnfc",
        detail: "nfc_init failed, which means that there is no memory",
        advice: "Free memory, or restart this program."
    )

    func look() throws(ReaderError) {
        if let card {
            if try isStillThere() { return }
            self.card = nil
            untold.append(.removed(card))
            try device.dropField()
        }
        if let found = try device.find() {
            number += 1
            let presence = CardPresence(
                reader: info,
                number: number,
                epoch: epoch,
                facts: found.facts,
                at: surroundings.now(),
                wasAlreadyThere: !hasLooked
            )
            card = presence
            isFresh = true
            isOver = false
            hasAnswered = false
            isMute = !found.canBePinged
            target = found
            untold.append(.inserted(presence))
        }
        hasLooked = true
    }

    var target: NFCTarget?

    /// Whether the card is still there and has been all the time. One that answered the last time and does not now was
    /// away, even if it can be selected again.
    private func isStillThere() throws(ReaderError) -> Bool {
        guard let target, !isOver else { return false }
        if !isMute, device.target != nil {
            let code = try device.ping()
            switch code {
            case _ where code.isSuccess:
                hasAnswered = true
                return true
            case .targetReleased where hasAnswered, .radio where hasAnswered:
                return false
            default:
                // It may be one that does not answer this question, or have been left in some other state.
                if !hasAnswered { isMute = true }
            }
        }
        guard try device.reselect(target, dropsField: false) else { return false }
        self.target = device.target
        isFresh = true
        return true
    }
}

extension NFCReader {
    /// What there is now; `nil` if the reader is not there. It looks for a card, unless that is done all the time
    /// anyway.
    func status() throws(ReaderError) -> ReaderStatus? {
        do throws(ReaderError) {
            return try statusOnce()
        } catch {
            // It may have been away since it was last used.
            guard NFCReader.meansDeviceLost(error) else { throw error }
            device.close()
            return try statusOnce()
        }
    }

    private func statusOnce() throws(ReaderError) -> ReaderStatus? {
        // Closed meanwhile: nothing is opened any more.
        guard !isRetired, try openIfNeeded() else { return nil }
        if !polling.withLock(\.isWanted) || !device.answers { try look() }
        let (card, technologies) = (isOver ? nil : card, device.technologies)
        let details = try device.information()
        return ReaderStatus(reader: info, card: card, technologies: technologies, details: details)
    }

    func open(_ presence: CardPresence, _ cancellation: Cancellation) throws(ReaderError) -> NFCChannel {
        let attempt = "connect to the card"
        guard !cancellation.isCancelled else { throw ReaderError(.cancelled, attempting: attempt) }
        guard let card, card.number == presence.number, card.epoch == presence.epoch, let target, !isOver else {
            throw ReaderError(.cardRemoved, attempting: attempt, detail: "that presentation is over")
        }
        if !isFresh || !device.isOpen { try selectAgain(target, attempt) }
        isFresh = false
        hasAnswered = false
        return NFCChannel(self, device, presence: card, target: self.target ?? target, cancellation)
    }

    private func selectAgain(_ target: NFCTarget, _ attempt: String) throws(ReaderError) {
        do throws(ReaderError) {
            guard try openIfNeeded() else { throw ReaderError(.readerUnavailable, attempting: attempt) }
            guard try device.reselect(target, dropsField: true) else {
                isOver = true
                throw ReaderError(.cardRemoved, attempting: attempt)
            }
        } catch {
            guard NFCReader.meansDeviceLost(error), reopen(target) else { throw error }
        }
        self.target = device.target
    }

    static func meansDeviceLost(_ error: ReaderError) -> Bool {
        guard let code = error.code.flatMap({ Int32(exactly: $0.rawValue) }) else { return false }
        return NFCCode(code).meansDeviceLost
    }

    /// Opens the device anew after it failed, and selects the card; whether both went well.
    func reopen(_ target: NFCTarget) -> Bool {
        do throws(ReaderError) {
            device.close()
            guard try openIfNeeded(), try device.reselect(target, dropsField: true) else { return false }
            self.target = device.target
            return true
        } catch {
            return false
        }
    }

    func conversationEnded(isOver: Bool) {
        if isOver { self.isOver = true }
        isFresh = false
        hasAnswered = false
        if let target = device.target { self.target = target }
    }
}
