import Foundation

/// Waiting for the other end of a pipe, which may take for ever.
package enum PipeWait {
    /// How long a cancellation may go unheard, in milliseconds.
    private static let slice: Int32 = 100

    /// Waits until reading or writing goes on, or fails.
    ///
    /// - Returns: false if it was cancelled.
    package static func isReady(_ file: Int32, _ events: Int16, unless isCancelled: () -> Bool) -> Bool {
        while !isCancelled() {
            var one = pollfd(fd: file, events: events, revents: 0)
            let count = poll(&one, 1, slice)
            // What is wrong with the file is told by reading or writing.
            if count > 0 || count < 0 && errno != EINTR { return true }
        }
        return false
    }

    /// Opens a named pipe for writing when somebody reads it.
    ///
    /// - Returns: the descriptor, which does not block, or -1 with `errno`; ECANCELED if it was cancelled.
    package static func open(_ path: String, unless isCancelled: () -> Bool) -> Int32 {
        while !isCancelled() {
            let file = Foundation.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            // No event tells that a reader has come.
            guard file < 0, errno == ENXIO || errno == EINTR else { return file }
            poll(nil, 0, slice)
        }
        errno = ECANCELED
        return -1
    }
}
