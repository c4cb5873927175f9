#if NETWORK
import CCurl
import Foundation
import Synchronization

/// The thread on which a client's transfers run. libcurl's handles are touched on it alone, but for the call that wakes it.
///
/// `@unchecked Sendable`: `running` is touched on the thread of ``run()`` alone; the pointer is made before and freed at its end,
/// under the lock that wakers hold.
final class CurlLoop: @unchecked Sendable {
    private struct Mail {
        var arriving: [CurlTransfer] = []
        var cancelled: [CurlTransfer] = []
        var isStopped = false
        /// Whether the thread has ended, and freed the handle.
        var isOver = false
    }

    private let library: CurlLibrary
    private let options: CurlOptions
    private let multi: UnsafeMutableRawPointer
    private let mail = Mutex(Mail())
    private var running: [UnsafeMutableRawPointer: CurlTransfer] = [:]

    init(_ options: CurlOptions) throws(CurlError) {
        library = try CurlLibrary.shared.get()
        guard let multi = library.makeMulti() else { throw CurlError(.unavailable, "libcurl has no memory") }
        self.multi = multi
        self.options = options
    }

    func add(_ transfer: CurlTransfer) { post { $0.arriving.append(transfer) } }
    func cancel(_ transfer: CurlTransfer) { post { $0.cancelled.append(transfer) } }
    func stop() { post { $0.isStopped = true } }

    private func post(_ change: (inout Mail) -> Void) {
        mail.withLock { mail in
            guard !mail.isOver else { return }
            change(&mail)
            _ = library.wakeUp(multi)
        }
    }

    func run() {
        // Writing to a connection that has ended is an error of that request, and no end of the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        while takeMail() {
            var count: Int32 = 0
            _ = library.perform(multi, &count)
            while let message = library.message(multi, &count) {
                guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
                end(easy) { $0.result(of: message.pointee.data.result, library) }
            }
            let now = ContinuousClock.now
            var next = now + .seconds(60)
            for (easy, transfer) in running {
                let limit = transfer.limit(options)
                if limit <= now { end(easy) { $0.timedOut() } } else { next = min(next, limit) }
            }
            // A millisecond more, so that a limit has passed when the wait ends.
            let pause = Int32((next - now) / .milliseconds(1)) + 1
            // Where it cannot wait, for want of memory, it does not spin.
            if library.poll(multi, nil, 0, pause, nil) != CURLM_OK { usleep(10_000) }
        }
    }

    /// Begins and ends what was asked for; returns false where it ends.
    private func takeMail() -> Bool {
        let (arriving, cancelled, isStopped) = mail.withLock { mail in
            defer { (mail.arriving, mail.cancelled) = ([], []) }
            return (mail.arriving, mail.cancelled, mail.isStopped)
        }
        for transfer in arriving { begin(transfer) }
        for transfer in cancelled {
            transfer.isCancelled = true
            if let easy = transfer.easy { end(easy) { _ in .failure(CurlError(.cancelled)) } }
        }
        guard isStopped else { return true }
        for easy in Array(running.keys) { end(easy) { _ in .failure(CurlError(.cancelled)) } }
        mail.withLock { mail in
            mail.isOver = true
            _ = library.cleanMulti(multi)
        }
        return false
    }

    private func begin(_ transfer: CurlTransfer) {
        // A task may be cancelled before it asks.
        guard !transfer.isCancelled else { return transfer.finish(.failure(CurlError(.cancelled))) }
        guard let easy = transfer.prepare(library, options) else {
            transfer.finish(.failure(CurlError(.notConnected, "libcurl does not take the request")))
            return
        }
        guard library.add(multi, easy) == CURLM_OK else {
            transfer.clean(library)
            transfer.finish(.failure(CurlError(.notConnected, "libcurl does not take the request")))
            return
        }
        running[easy] = transfer
    }

    private func end(_ easy: UnsafeMutableRawPointer, _ result: (CurlTransfer) -> Result<CurlResponse, CurlError>) {
        guard let transfer = running.removeValue(forKey: easy) else { return }
        let result = result(transfer)
        _ = library.remove(multi, easy)
        transfer.clean(library)
        transfer.finish(result)
    }
}
#endif
