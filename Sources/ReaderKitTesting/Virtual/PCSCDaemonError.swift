import Glibc

/// A pcscd for tests could not be started.
public enum PCSCDaemonError: Error, Sendable, Hashable {
    /// This process shares its readers with the machine.
    case notIsolated
    /// The program could not be started; `error` is the number of `errno`.
    case notStarted(path: String, error: Int32)
    /// It ended before it served; `status` is what `waitpid` gave.
    case ended(path: String, status: Int32)
    /// It runs and did not serve within 10 s.
    case silent(path: String)
}

extension PCSCDaemonError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .notIsolated:
            "could not start a pcscd for tests: it would meet this machine's own. Run the tests with 'Scripts/isolated'."
        case .notStarted(let path, let error):
            "could not start \(path): \(String(cString: strerror(error))) (\(error)). Install the package pcscd."
        case .ended(let path, let status):
            "could not start \(path): it ended with wait status \(status). Give it a log file to see why."
        case .silent(let path):
            "could not start \(path): it does not serve. Install vsmartcard-vpcd, or give it a log file to see why."
        }
    }
}
