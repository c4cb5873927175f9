/// An actor on a thread of its own, whose calls into a C library are watched.
///
/// A whole conversation is one hop and may block. When a call does not return, ``watch`` gives the thread up, everybody
/// who waits is told, and the actor is never used again; whoever made it makes a new one.
protocol CallThread: Actor {
    /// The thread, which is the actor's executor.
    nonisolated var executor: ThreadExecutor { get }

    /// What gives up on a call that does not return.
    nonisolated var watch: CallWatch { get }

    /// Called on the thread after each piece of work: ends the thread if it is not wanted any more.
    func tidyUp()
}

extension CallThread {
    /// Runs code in this actor's isolation, and stops waiting for it when a call in it does not return.
    ///
    /// A cancelled task does not wait for code that has begun either: a call may be blocked for as long as another program
    /// holds the card. The code ends by itself, at its next exchange, and nobody else is served by this thread before.
    ///
    /// - Parameters:
    ///   - evenIfCancelled: whether a cancelled task waits all the same, as for cleaning up.
    ///   - onCancel: called when the task is cancelled while it waits, from no particular thread.
    nonisolated func run<Result: Sendable>(
        evenIfCancelled: Bool = false,
        onCancel: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (isolated Self, Cancellation) throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let pending = PendingResult(continuation)
                guard let waiter = watch.addWaiter({ pending.resume(with: .failure($0)) }) else { return }
                cancellation.whenCancelled {
                    pending.resume(with: .failure(ReaderError(.cancelled, attempting: "use the reader")))
                }
                submit { me in
                    // Until then somebody waits, even if the task has left: a call that hangs must be noticed.
                    defer { me.watch.removeWaiter(waiter) }
                    // Given up or cancelled while this was in the queue: whoever waits was told.
                    guard !me.watch.isAbandoned, !cancellation.isCancelled else { return }
                    let result = Swift.Result { try body(me, cancellation) }
                    pending.resume(with: result)
                }
            }
        } onCancel: {
            guard !evenIfCancelled else { return }
            cancellation.cancel()
            onCancel()
        }
    }

    /// Runs code on the thread, after what was submitted before.
    nonisolated func submit(
        _ work: @escaping @Sendable (isolated Self) -> Void,
        afterwards: @escaping @Sendable () -> Void = {}
    ) {
        executor.submit { [self] in
            assumeIsolated { me in
                work(me)
                me.tidyUp()
            }
            afterwards()
        }
    }
}
