import ArgumentParser
import ClubKit
import Diagnosis
import Foundation
import KioskKit
import ToolSupport

/// This user may not use a club, or the kiosk's file that names it: the user to whom it belongs may.
struct AnothersClub: ExitCoded, CustomStringConvertible {
    var path: String
    var user: String
    let exitCode = ToolExit.failure
    let errorCode = "accessDenied"

    /// - Parameter user: who may; by default the file's owner.
    init(path: String, user: String? = nil) {
        (self.path, self.user) = (path, user ?? Self.owner(of: path))
    }

    /// The command that was called, as its owner calls it.
    var description: String {
        let variable = ProcessInfo.processInfo.environment[KioskFile.variable]
            .map { ["env", "\(KioskFile.variable)=\($0)"] }
        var words = (variable ?? []) + CommandLine.arguments
        // Of a home that user sees nothing: the shell opens its files.
        let redirection = user == "root" ? nil : Self.redirect(&words)
        let sudo = user == "root" ? "sudo" : "sudo -u \(user.shellQuoted)"
        let call = words.map(\.shellQuoted).joined(separator: " ")
        var command = "\(sudo) \(call)"
        switch redirection {
        case nil: break
        case .from(let file): command += " < \(file.shellQuoted)"
        // As the tool makes files: for this user alone, and in the place of none.
        case .to(let file):
            command = "(umask 077; \(words.contains("--force") ? "" : "set -C; ")\(command) > \(file.shellQuoted))"
        }
        let files = words.dropFirst().filter { user != "root" && FileManager.default.fileExists(atPath: $0) }
        var hint = files.isEmpty ? "" : "\nIt must be able to read \(files.joined(separator: ", "))."
        // What they make the shell cannot open.
        let verbs = CommandLine.arguments.dropFirst().prefix(2)
        if user != "root", verbs.contains("backup") || verbs.contains("disclose") {
            hint += "\nWhere that user may not write, such as in this one's home, root may:\n  sudo \(call)"
        }
        return "this user may not use \(path), which belongs to the user \(user). Run it as that user:\n  \(command)"
            + hint
    }

    private enum Redirection {
        case from(String)
        case to(String)
    }

    /// Replaces the file of an import or export by a standard stream.
    private static func redirect(_ words: inout [String]) -> Redirection? {
        guard !words.contains("--json"), let verb = words.firstIndex(where: { ["import", "export"].contains($0) }),
            let index = words.lastIndex(where: {
                !$0.hasPrefix("-") && TransferFormat(pathExtension: ($0 as NSString).pathExtension) != nil
            })
        else { return nil }
        let file = words[index]
        words[index] = "-"
        // A stream has no name that identifies the format.
        if words[verb - 1] != "visits", !words.contains(where: { $0.hasPrefix("--type") }) {
            words += ["--type", TransferFormat(pathExtension: (file as NSString).pathExtension)?.rawValue ?? ""]
        }
        if words[verb] == "import" { return .from(file) }
        return .to(file)
    }

    /// Refuses a database that belongs to another user, before anything is made in its place.
    ///
    /// - Parameter mayBeNew: whether it is refused too where it is not there yet and cannot be made.
    static func check(_ path: String, mayBeNew: Bool) throws {
        var folder = FileSteps.folder(of: FileSteps.absolute(path))
        var fault = fault(path, F_OK)
        if fault == 0 {
            // SQLite makes files beside the database.
            fault = max(Self.fault(path, R_OK | W_OK), Self.fault(folder, W_OK | X_OK))
        } else if fault == ENOENT, mayBeNew {
            while Self.fault(folder, F_OK) == ENOENT { folder = FileSteps.folder(of: String(folder.dropLast())) }
            fault = Self.fault(folder, W_OK | X_OK)
        }
        // What this user's own rights, a full disk or a read-only one hinder is reported by whoever opens it.
        guard fault == EACCES, let status = status(path), status.st_uid != geteuid() else { return }
        if status.st_uid == 0, let owner = OtherUser.first(onWayTo: path) {
            throw MisplacedDatabase(path: path, owner: owner)
        }
        throw AnothersClub(path: path)
    }

    /// Why this user may not do that with a file (`errno`); 0 if they may.
    private static func fault(_ path: String, _ mode: Int32) -> Int32 {
        access(path, mode) == 0 ? 0 : errno
    }

    /// What can be seen of a file, or of the nearest folder above it.
    private static func status(_ path: String) -> stat? {
        var (path, status) = (FileSteps.absolute(path), stat())
        while stat(path, &status) != 0 {
            guard path.count > 1 else { return nil }
            path = FileSteps.parent(of: path)
        }
        return status
    }

    /// The user to whom a file belongs; of one of root's the user whose group may use it, if there is one of that name.
    private static func owner(of path: String) -> String {
        guard let status = status(path) else { return "root" }
        if status.st_uid != 0 {
            return getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "#\(status.st_uid)"
        }
        let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "root"
        return status.st_mode & 0o040 != 0 && getpwnam(group) != nil ? group : "root"
    }
}

extension KioskFileError: ExitCoded {
    package var exitCode: ExitCode { unreadable == nil ? ToolExit.malformed : ToolExit.noInput }
    package var errorCode: String { unreadable == nil ? "malformedConfiguration" : "notReadable" }

    /// The error as it is reported to this user: a file that only another may read is that one's.
    var forThisUser: any Error { unreadable == EACCES && geteuid() != 0 ? AnothersClub(path: path) : self }
}
