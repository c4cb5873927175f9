import Foundation

/// Begins something and waits until it calls back, or at most for so long. Calling back more than once is the same as once.
///
/// It waits in a cancelled task too.
package func waiting(
    atMost limit: Duration? = nil,
    _ begin: (_ done: @escaping @Sendable () -> Void) -> Void
) async {
    try? await withCheckedThrowingContinuation { continuation in
        let pending = PendingResult<Void>(continuation)
        let done: @Sendable () -> Void = { pending.resume(with: .success(())) }
        begin(done)
        if let limit { DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds, execute: done) }
    }
}
