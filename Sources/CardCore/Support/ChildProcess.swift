import Glibc

/// Programs that are started as a child of this one.
package enum ChildProcess {
    /// Where a child's standard stream leads.
    package enum Stream {
        /// Nowhere: `/dev/null`.
        case null
        /// An open file of this process.
        case file(Int32)
        /// A file that is appended to, created with mode 0600.
        case appending(String)
    }

    /// Starts a program, which inherits nothing but its standard streams, blocks no signal, and has the default actions.
    ///
    /// - Parameters:
    ///   - path: the program; `PATH` is not searched.
    ///   - isGroup: whether it is the first of a process group of its own, which can be ended with all that it starts, and
    ///     which Control-C leaves alone.
    ///   - environment: the whole environment; by default that of this process.
    /// - Returns: the number of the process, which is to be waited for, or the error number.
    package static func start(
        _ path: String,
        _ arguments: [String] = [],
        isGroup: Bool,
        environment: [String: String]? = nil,
        input: Stream = .null,
        output: Stream = .null,
        errors: Stream = .null
    ) -> (pid: pid_t, error: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            switch stream {
            case .null: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            case .file(let file): posix_spawn_file_actions_adddup2(&actions, file, number)
            case .appending(let path):
                posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            }
        }
        // Libraries open files, and other threads start programs, without marking what they open.
        for file in 3..<Int32(1024) { posix_spawn_file_actions_addclose(&actions, file) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // The group's number is the process's own, since none is set.
        let group = isGroup ? Int(POSIX_SPAWN_SETPGROUP) : 0
        posix_spawnattr_setflags(&attributes, Int16(Int(POSIX_SPAWN_SETSIGDEF) | Int(POSIX_SPAWN_SETSIGMASK) | group))

        // A text with a NUL would end there.
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let values = environment.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] }
        defer { for text in words + (values ?? []) { free(text) } }
        var process: pid_t = 0
        let error =
            if let values {
                posix_spawn(&process, path, &actions, &attributes, words, values)
            } else {
                posix_spawn(&process, path, &actions, &attributes, words, environ)
            }
        return (process, error)
    }
}
