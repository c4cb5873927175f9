/// Rings when the members may have changed: once at the start, after each commit of this process, and at intervals for
/// commits of other processes, which nobody announces. Rings that nobody has heard yet are one.
///
/// It rings as long as somebody keeps it.
final class ChangeBell: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let tasks: [Task<Void, Never>]

    init(_ store: MemberStore, every interval: Duration) {
        let (rings, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.rings = rings
        self.continuation = continuation
        let commits = store.commits.stream(bufferingPolicy: .bufferingNewest(1))
        tasks = [
            Task {
                for await _ in commits { continuation.yield() }
                // The store was closed, which whoever hears it will find out.
                continuation.yield()
            },
            Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: interval)
                    continuation.yield()
                }
            },
        ]
        continuation.yield()
    }

    func ring() {
        continuation.yield()
    }

    deinit {
        for task in tasks { task.cancel() }
        continuation.finish()
    }
}
