import Foundation

/// Where exports of a program go that does not say so itself.
enum ExportsDirectory {
    /// `$XDG_DOCUMENTS_DIR`, else `$XDG_DATA_HOME/clubkit/exports` (`~/.local/share/clubkit/exports`). As the base
    /// directory specification says, a variable counts only if it holds an absolute path.
    ///
    /// The file `user-dirs.dirs`, in which desktops keep the name of the documents' folder, is not looked into: a kiosk's
    /// user has no desktop, and members should not be written into a folder that a desktop shows and copies elsewhere
    /// unless that was asked for.
    static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        func directory(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let documents = directory("XDG_DOCUMENTS_DIR") { return documents }
        let data = directory("XDG_DATA_HOME") ?? (directory("HOME") ?? NSHomeDirectory()) + "/.local/share"
        return data + "/clubkit/exports"
    }

    /// Makes the directory, where it is missing, for this user alone. One that is there stays as it is.
    static func prepare(_ path: String) throws(ClubError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw ClubError(.cannotCreate, attempting: "make the directory of exports", detail: "\(path)")
        }
    }
}
