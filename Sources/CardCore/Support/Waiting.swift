import Foundation
import Synchronization

/// Begins something and waits until it calls back, or at most for so long. Calling back more than once is the same as once.
///
/// It waits in a cancelled task too.
package func waiting(atMost limit: Duration? = nil, _ begin: (_ done: @escaping @Sendable () -> Void) -> Void) async {
    try? await withCheckedThrowingContinuation { continuation in
        let pending = PendingResult<Void>(continuation)
        let done: @Sendable () -> Void = { pending.resume(with: .success(())) }
        begin(done)
        if let limit { DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds, execute: done) }
    }
}

/// The result of a call on another thread, provided once, by whoever comes first.
package final class PendingResult<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

    package init(_ continuation: CheckedContinuation<Value, any Error>) {
        self.continuation = Mutex(continuation)
    }

    /// Resumes the one who waits, at the first call.
    ///
    /// - Returns: whether it was the first call.
    @discardableResult package func resume(with result: sending Result<Value, any Error>) -> Bool {
        let continuation = continuation.withLock { $0.take() }
        continuation?.resume(with: result)
        return continuation != nil
    }
}

extension Duration {
    /// The duration in seconds.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
