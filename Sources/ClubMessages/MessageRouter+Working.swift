import ClubRecords
import Foundation

extension MessageRouter {
    /// Puts a message into the queue. To be called inside ``storing``.
    func enqueue(_ job: Job) {
        let mustStart = guarded.withLock { state in
            state.queue.append(job)
            state.active.insert(job.message.id)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        // Not a part of the calling task, whose being cancelled must not reach a message that is stored.
        if mustStart { Task.detached { await self.work() } }
    }

    private func work() async {
        while let job = nextJob() {
            let result = await finish(job)
            guarded.withLock { _ = $0.active.remove(job.message.id) }
            job.answer.give(result)
            if case .success = result { catchUp() }
        }
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

    private func nextJob() -> Job? {
        guarded.withLock { state in
            let job = state.queue.next()
            state.isWorking = job != nil
            return job
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
            RoutingResult(
                messageID: message.id,
                type: message.type,
                source: message.source,
                outcome: outcome,
                processor: processor,
                at: configuration.clock()
            )
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
