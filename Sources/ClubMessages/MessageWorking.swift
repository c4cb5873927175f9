import ClubRecords
import Foundation

extension MessageRouter {
    /// Puts a message into the queue. To be called inside ``storing``.
    @discardableResult
    func enqueue(_ job: Job) -> Job {
        guarded.withLock { _ = $0.active.insert(job.message.id) }
        let turn = working.take()
        // Not a part of the calling task, whose being cancelled must not reach a message that is stored.
        Task.detached {
            await self.working.inTurn(turn) {
                let result = await self.finish(job)
                self.guarded.withLock { _ = $0.active.remove(job.message.id) }
                job.answer.give(result)
                if case .success = result { self.catchUp() }
            }
        }
        return job
    }

    /// Takes up what waits for an inbox that failed: it works again.
    private func catchUp() {
        let isNeeded = guarded.withLock { state in
            guard !state.isCatchingUp, !state.unfinished.isEmpty else { return false }
            state.isCatchingUp = true
            return true
        }
        guard isNeeded else { return }
        Task.detached {
            await self.storing.inTurn {
                let left = self.guarded.withLock { state in
                    state.isCatchingUp = false
                    return state.unfinished.filter { !state.active.contains($0.key) }.map(\.value.job)
                }
                for job in left.sorted(by: { $0.message.receivedAt < $1.message.receivedAt }) {
                    self.enqueue(Job(message: job.message, ignoresExpiry: job.ignoresExpiry))
                }
            }
        }
    }

    /// Brings a message to its end, and stores that.
    private func finish(_ job: Job) async -> Result<RoutingResult, ClubError> {
        let id = job.message.id
        var left = guarded.withLock { $0.unfinished[id] } ?? Unfinished(job: job)
        do throws(ClubError) {
            let result: RoutingResult
            if let known = left.result {
                result = known
            } else {
                result = try await route(job)
                left.result = result
            }
            try await inbox.settle(id, outcome: result.outcome, at: result.at)
            guarded.withLock { $0.unfinished[id] = nil }
            tell(job.message, result)
            return .success(result)
        } catch {
            // What is not there, or not pending any more, is not to be gone on with.
            let unfinished = [.noSuchMessage, .invalidValue].contains(error.kind) ? nil : left
            guarded.withLock { $0.unfinished[id] = unfinished }
            configuration.logger.error("\(job.message): \(error)")
            return .failure(error)
        }
    }

    /// Tries the processors of a message, one after the other.
    private func route(_ job: Job) async throws(ClubError) -> RoutingResult {
        let message = job.message
        func ended(_ outcome: RoutingResult.Outcome, by processor: String? = nil) -> RoutingResult {
            result(outcome, of: message, by: processor)
        }
        if job.attempts >= configuration.maximumAttempts {
            return ended(.failed("the program ended within each of \(job.attempts) attempts to process it"))
        }
        if !job.ignoresExpiry, message.isExpired(at: configuration.clock()) { return ended(.expired) }
        let attempt = try await inbox.beginAttempt(message.id)
        let context = MessageContext(
            messageID: message.id,
            type: message.type,
            source: message.source,
            receivedAt: message.receivedAt,
            attempt: attempt,
            state: state
        )
        var last: ProcessorTable.Entry?
        // Looked up anew each time: one that is unregistered meanwhile is not called any more.
        while let next = processor(for: message, behind: last) {
            switch await run(next, message.payload, context) {
            case .newData: return ended(.newData, by: next.name)
            case .noData: return ended(.noData, by: next.name)
            case .failed(let reason): return ended(.failed(PlainText.line(reason)), by: next.name)
            case nil: return ended(.timedOut, by: next.name)
            case .declined: last = next
            }
        }
        if last != nil { return ended(.unhandled("every processor of its type declined it")) }
        return ended(.unhandled(reasonForNobody(message)))
    }

    private func processor(for message: Message, behind last: ProcessorTable.Entry?) -> ProcessorTable.Entry? {
        guarded.withLock { $0.processors.processor(of: message.type, from: message.source.kind, behind: last) }
    }

    private func reasonForNobody(_ message: Message) -> String {
        guarded.withLock { $0.processors.reason(type: message.type, from: message.source.kind) }
    }

    private func run(
        _ entry: ProcessorTable.Entry,
        _ payload: FieldValue,
        _ context: MessageContext
    ) async -> ProcessingResult? {
        await Self.$processing.withValue(ObjectIdentifier(self)) {
            await LimitedWork.run(within: configuration.timeout) { await entry.process(payload, context) }
        }
    }
}

extension MessageRouter {
    /// Processes the pending messages of the inbox that are not in this router's queue: those left when the program
    /// ended, and those that wait for an inbox that failed (which are also processed once another message succeeds).
    /// Call it after the processors are registered, and again at any time.
    ///
    /// Each attempt was counted before it began. A message with ``RouterConfiguration/maximumAttempts`` interrupted
    /// attempts becomes a dead letter without another one, so that it cannot keep a kiosk down.
    ///
    /// - Parameter ids: only the messages with these identifiers; all if `nil`.
    /// - Returns: the results, in order, once all are settled.
    /// - Throws: the first error of the inbox; the others were tried nevertheless.
    @discardableResult
    public func resume(only ids: Set<String>? = nil) async throws(ClubError) -> [RoutingResult] {
        try refuseToWaitForItself("process the messages that are left")
        return try await results(of: enqueuePending(ids))
    }

    /// Enqueues pending messages of the inbox, such as those kept with a tap, without waiting for their results, which
    /// ``results`` reports.
    ///
    /// - Parameter ids: their identifiers. Those that are not pending, or in the queue already, are ignored.
    public func takeUp(_ ids: Set<String>) async throws(ClubError) {
        _ = try await enqueuePending(ids)
    }

    private func enqueuePending(_ ids: Set<String>?) async throws(ClubError) -> [Job] {
        try await storing.inTurn { () async throws(ClubError) -> [Job] in
            // Taken first: what is settled while the inbox is read must not be taken for pending.
            let active = guarded.withLock { $0.active }
            let entries = try await inbox.pending().filter { entry in
                !active.contains(entry.id) && ids?.contains(entry.id) ?? true
            }
            let unfinished = guarded.withLock { $0.unfinished }
            return entries.map { entry in
                let former = unfinished[entry.id]?.job
                // Attempts of this program did not end with it.
                let attempts = former == nil ? entry.attempts : 0
                let ignoresExpiry = former?.ignoresExpiry ?? false
                return enqueue(Job(message: typed(entry.message), attempts: attempts, ignoresExpiry: ignoresExpiry))
            }
        }
    }

    /// Returns at most the `limit` newest dead letters, in the order in which they arrived or were reopened.
    public func deadLetters(limit: Int = .max) async throws(ClubError) -> [InboxEntry] {
        try await inbox.entries(.dead, limit: limit)
    }

    /// Processes a dead letter again. Its identifier stays the same, for the inbox and for processors.
    ///
    /// - Parameters:
    ///   - id: ``Message/id``.
    ///   - evenIfExpired: whether to process it even if it has expired.
    /// - Returns: the result; the message may be a dead letter again.
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if there is no such dead letter; the error of the inbox.
    @discardableResult
    public func replay(_ id: String, evenIfExpired: Bool = false) async throws(ClubError) -> RoutingResult {
        guard let job = try await reopen(id, evenIfExpired) else {
            let detail = "among the dead letters"
            throw ClubError(.noSuchMessage, attempting: "replay a message", detail: detail)
        }
        return try await job.answer.value().get()
    }

    /// Processes all dead letters again, each once, in the order of arrival.
    ///
    /// - Throws: the first error of the inbox; messages reopened until then are processed.
    @discardableResult
    public func replayAll(evenIfExpired: Bool = false) async throws(ClubError) -> [RoutingResult] {
        var results: [RoutingResult] = []
        for entry in try await deadLetters() {
            // One at a time, so that a crash leaves the others where they are.
            guard let job = try await reopen(entry.id, evenIfExpired) else { continue }
            results.append(try await job.answer.value().get())
        }
        return results
    }

    private func reopen(_ id: String, _ ignoresExpiry: Bool) async throws(ClubError) -> Job? {
        try refuseToWaitForItself("replay a message")
        return try await storing.inTurn { () async throws(ClubError) -> Job? in
            guard let message = try await inbox.reopen(id) else { return nil }
            guarded.withLock { $0.unfinished[id] = nil }
            return enqueue(Job(message: typed(message), ignoresExpiry: ignoresExpiry))
        }
    }

    /// The rule for types may have been set since a message without one came.
    func typed(_ message: Message) -> Message {
        var message = message
        message.type = message.type ?? messageType(of: message.payload)
        return message
    }

    private func results(of jobs: [Job]) async throws(ClubError) -> [RoutingResult] {
        var results: [RoutingResult] = []
        var failure: ClubError?
        for job in jobs {
            do throws(ClubError) {
                results.append(try await job.answer.value().get())
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return results
    }
}
