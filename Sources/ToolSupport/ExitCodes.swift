import ArgumentParser

/// The exit codes of the tools, after `sysexits.h`.
package enum ToolExit {
    /// The work was done.
    package static let success = ExitCode(0)
    /// It was not done, or a comparison differs.
    package static let failure = ExitCode(1)
    /// The command line is wrong (`EX_USAGE`).
    package static let usage = ExitCode(64)
    /// Input is malformed (`EX_DATAERR`).
    package static let malformed = ExitCode(65)
    /// There is no such input file (`EX_NOINPUT`).
    package static let noInput = ExitCode(66)
    /// A service or a reader is not available (`EX_UNAVAILABLE`).
    package static let unavailable = ExitCode(69)
    /// Reading or writing failed (`EX_IOERR`).
    package static let inputOutput = ExitCode(74)
    /// Interrupted by a person (128 + `SIGINT`).
    package static let interrupted = ExitCode(130)
}
