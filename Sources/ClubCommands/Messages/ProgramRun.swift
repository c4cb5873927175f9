import Foundation
import ReaderKit
import ToolSupport

/// Runs a program on some input, on the calling thread, and keeps the last line of its standard error.
///
/// The program is the first of a process group of its own, so that Control-C at the kiosk leaves it alone, and it is
/// ended together with what it started. What it writes to standard output is thrown away: the kiosk's own stays whole.
struct ProgramRun {
    enum End: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// How long a program may take to end when it is asked to.
    private static let grace = Duration.seconds(2)
    private static let kept = 4096

    var path: String
    var input: [UInt8]
    /// What its environment has besides that of this process.
    var environment: [String: String]

    /// Runs it to its end, which a cancellation brings about.
    func run(_ cancellation: CardOnReader.Cancellation) throws -> (end: End, lastLine: String?) {
        let (stdin, stderr, exit) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        let (process, error) = ChildProcess.start(
            path,
            isGroup: true,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: .file(stdin.read),
            errors: .file(stderr.write)
        )
        guard error == 0 else {
            for file in [stdin.read, stdin.write, stderr.read, stderr.write, exit.read, exit.write] { close(file) }
            throw Self.failure(error)
        }
        close(stdin.read)
        close(stderr.write)
        DetachedThread.start(name: "program") {
            // It stays to be waited for, so that its number remains its own until it is.
            var info = siginfo_t()
            while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            close(exit.write)
        }
        _ = fcntl(stdin.write, F_SETFL, O_NONBLOCK)
        _ = fcntl(stderr.read, F_SETFL, O_NONBLOCK)
        var conversation = Conversation(input: input[...], stdin: stdin.write, stderr: stderr.read, exit: exit.read)
        return conversation.lead(process, cancellation)
    }

    // MARK: - Starting

    private static func pipe() throws -> (read: Int32, write: Int32) {
        guard let ends = makePipe() else { throw failure(errno) }
        return ends
    }

    private static func failure(_ code: Int32) -> ToolFailure {
        ToolFailure("could not start the program: \(String(cString: strerror(code)))")
    }

    // MARK: - Waiting

    private struct Conversation {
        var input: ArraySlice<UInt8>
        /// -1 once it is closed, as the others.
        var stdin: Int32
        var stderr: Int32
        var exit: Int32
        var tail: [UInt8] = []
        /// Until when it may end by itself, once it was asked to.
        var end: ContinuousClock.Instant?

        mutating func lead(
            _ process: pid_t,
            _ cancellation: CardOnReader.Cancellation
        ) -> (end: End, lastLine: String?) {
            defer { for file in [stdin, stderr, exit] where file >= 0 { close(file) } }
            var hasEnded = false
            while !hasEnded {
                feed()
                hasEnded = wait(cancellation)
                hear()
                if cancellation.isCancelled, end == nil {
                    kill(-process, SIGTERM)
                    end = .now + ProgramRun.grace
                } else if let end, end <= .now {
                    kill(-process, SIGKILL)
                    self.end = .now + ProgramRun.grace
                }
            }
            // What it started goes too, while the group is surely still its own.
            if end != nil { kill(-process, SIGKILL) }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            hear()
            let code = status & 0x7F
            return (code == 0 ? .exited(status >> 8 & 0xFF) : .signalled(code), lastLine)
        }

        /// Waits for something to do, and returns whether the program has ended.
        private func wait(_ cancellation: CardOnReader.Cancellation) -> Bool {
            // Descriptors below 0 are passed over.
            var files = [
                pollfd(fd: exit, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stderr, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stdin, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: end == nil ? cancellation.descriptor : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = end.map { max(0, ContinuousClock.now.duration(to: $0).seconds) }
            let time = left.map { Int32(($0 * 1000).rounded(.up)) } ?? -1
            return poll(&files, nfds_t(files.count), time) > 0 && files[0].revents != 0
        }

        private mutating func feed() {
            while stdin >= 0 {
                if input.isEmpty { return closeInput() }
                let count = input.withUnsafeBytes { write(stdin, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                // A program need not read it.
                guard count > 0 else { return closeInput() }
                input = input.dropFirst(count)
            }
        }

        private mutating func closeInput() {
            close(stdin)
            stdin = -1
        }

        private mutating func hear() {
            var part = [UInt8](repeating: 0, count: 4096)
            // So much at one go: a program that writes without end must be ended at its time all the same.
            for _ in 0..<16 where stderr >= 0 {
                let count = read(stderr, &part, part.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                guard count > 0 else {
                    close(stderr)
                    stderr = -1
                    return
                }
                tail = (tail + part.prefix(count)).suffix(ProgramRun.kept)
            }
        }

        private var lastLine: String? {
            tail.split(whereSeparator: { $0 == 10 || $0 == 13 }).map { String(decoding: $0, as: UTF8.self) }
                .last { !$0.allSatisfy(\.isWhitespace) }
        }
    }
}
