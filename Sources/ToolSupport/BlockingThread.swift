import ReaderKit

/// Work that waits for a person or a pipe, on a thread of its own: the threads of the concurrency runtime are few.
package enum BlockingThread {
    /// Runs the work; it looks at the cancellation that it is given, which is that of this task.
    ///
    /// - Throws: what the work throws.
    package static func run<Result: Sendable>(
        name: String,
        _ work: @escaping @Sendable (CardOnReader.Cancellation) throws -> Result
    ) async throws -> Result {
        try await CardOnReader.Cancellation.during { cancellation in
            try await withCheckedThrowingContinuation { continuation in
                DetachedThread.start(name: name) {
                    continuation.resume(with: Swift.Result { try work(cancellation) })
                }
            }
        }
    }
}
