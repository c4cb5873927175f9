import CardCore
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

/// What the readers of libnfc and those in Smart Reader mode have in common.
@Suite("Table of readers", .timeLimit(.minutes(5)))
struct ReaderTableTests {
    private static let reader = ReaderInfo(name: "A", backend: .smartReader)

    /// As the backends use it: one lock keeps the beginnings and ends of watches in their order.
    @Test("Watches that end while taps come in hold up nobody")
    func endsMeanwhile() async throws {
        let table = ReaderTable { Date(timeIntervalSince1970: 0) }
        let (order, ends) = (Shared(()), Shared(0))
        func watch() -> AsyncStream<ReaderEvent> {
            order.withLock { _ in
                table.watch(forgets: false) { order.withLock { _ in ends.withLock { $0 += 1 } } }.events
            }
        }
        table.note(.opened, of: Self.reader)
        let tapping = Task.detached { for _ in 0..<20_000 { table.note(.line("tap"), of: Self.reader) } }
        await consumersComeAndGo(2000, watch)
        await tapping.value
        try await until("all have ended") { ends.withLock(\.self) == 2000 }
        #expect(!table.isWatched)
        let later = watch()
        table.note(.line("last"), of: Self.reader)
        table.finish()
        #expect(await SmartReaders.texts(later.reduce(into: []) { $0.append($1) }) == ["added", "last"])
    }
}
