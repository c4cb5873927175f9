import Foundation

/// The location of a club's database.
public enum DatabaseLocation: Sendable, Hashable {
    /// A file, created with mode 0600 if missing; missing directories are created with mode 0700.
    case file(path: String)
    /// The memory of this process, for tests and demonstrations: its content is lost when the club closes.
    case memory

    /// `$XDG_DATA_HOME/clubkit/club.sqlite`, or `~/.local/share/clubkit/club.sqlite` where that is not set to an
    /// absolute path.
    public static func standard(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> DatabaseLocation {
        // The base directory specification states that a relative path is to be ignored.
        let base =
            if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
                data
            } else if let home = environment["HOME"], home.hasPrefix("/") {
                home + "/.local/share"
            } else {
                NSHomeDirectory() + "/.local/share"
            }
        return .file(path: base + "/clubkit/club.sqlite")
    }
}
