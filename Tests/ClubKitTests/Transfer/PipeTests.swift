import Foundation
import Synchronization
import Testing

@testable import ClubKit

/// Pipes at whose other end nobody is yet.
@Suite("Pipes", .timeLimit(.minutes(10)))
struct PipeTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// What the work throws that is cancelled at once, or while it waits.
    private func cancelling(
        late isLate: Bool,
        _ work: @escaping @Sendable (Club, String) async throws(TransferError) -> Void
    ) async throws -> TransferError.Kind? {
        let path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let club = try await openClub()
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task { () -> TransferError.Kind? in
            continuation.finish()
            do throws(TransferError) {
                try await work(club, path)
                return nil
            } catch {
                return error.kind
            }
        }
        if isLate { for await _ in started {} }
        task.cancel()
        return await task.value
    }

    @Test("Waiting for a writer ends when it is cancelled", arguments: [false, true])
    func reading(isLate: Bool) async throws {
        let kind = try await cancelling(late: isLate) { club, path throws(TransferError) in
            _ = try await club.importMembers(from: path, options: ImportOptions(format: .csv))
        }
        #expect(kind == .cancelled)
    }

    @Test("Waiting for a reader ends when it is cancelled", arguments: [false, true])
    func writing(isLate: Bool) async throws {
        let kind = try await cancelling(late: isLate) { club, path throws(TransferError) in
            _ = try await club.exportMembers(to: path, options: ExportOptions(format: .csv, overwrite: true))
        }
        #expect(kind == .cancelled)
    }

    @Test("A reader that takes nothing more does not keep a writer")
    func full() throws {
        let path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        // Once it is open; before, it would not be opened at all.
        let isOpen = Mutex(false)
        let output = try OutputFile(path, overwrite: true, isCancelled: { isOpen.withLock(\.self) })
        isOpen.withLock { $0 = true }
        #expect {
            try output.write { $0 += [UInt8](repeating: 0x41, count: 1 << 20) }
        } throws: { error in
            (error as? TransferError)?.kind == .cancelled
        }
    }

    @Test("A writer may come late, pause, and go")
    func late() async throws {
        let path = directory.file("pipe.csv")
        try #require(mkfifo(path, 0o600) == 0)
        Thread.detachNewThread {
            // Opening waits for the reader.
            let file = open(path, O_WRONLY)
            for text in ["userId\nA\n", "B\n", "C\n"] {
                _ = Array(text.utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                // Until the reader has taken it, and waits for more.
                var left: Int32 = 1
                while ioctl(file, UInt(FIONREAD), &left) == 0, left > 0 { sched_yield() }
            }
            close(file)
        }
        let club = try await openClub()
        #expect(try await club.importMembers(from: path).created == 3)
    }
}
