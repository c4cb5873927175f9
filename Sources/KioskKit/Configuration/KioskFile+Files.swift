import CardCore
import ClubKit
import ClubScenarios
import Foundation
import ReaderKit

extension KioskFile {
    /// Something that is wrong with a file that the kiosk's file names, or with its name.
    package struct FileFinding: Sendable, Hashable {
        /// The file in which the place is.
        package var file: String
        package var finding: ScenarioConfiguration.Finding
        /// Whether there is no such file, or it may not be read.
        package var isUnreadable: Bool

        package init(file: String, finding: ScenarioConfiguration.Finding, isUnreadable: Bool = false) {
            (self.file, self.finding, self.isUnreadable) = (file, finding, isUnreadable)
        }

        package var text: String { finding.text(in: file) }
    }

    /// What is wrong with the files that are named, each with its own places.
    ///
    /// - Parameters:
    ///   - contents: which files are looked at.
    ///   - root: what stands before each path, of a machine whose files are in a folder.
    package func fileFindings(_ contents: Set<Content> = Content.all, root: String = "") -> [FileFinding] {
        Key.all.flatMap { key -> [FileFinding] in
            guard let content = key.content, contents.contains(content), let setting = settings[key.name] else {
                return []
            }
            return setting.values.flatMap { value -> [FileFinding] in
                if let fault = Self.accessFault(value, content, root) {
                    let finding = ScenarioConfiguration.Finding(
                        line: setting.line,
                        column: setting.column,
                        path: key.name,
                        message: fault,
                        hint: "Check the path, and that the kiosk's user may use the file."
                    )
                    return [FileFinding(file: path, finding: finding, isUnreadable: true)]
                }
                return Self.contentFaults(root + value, content).map { FileFinding(file: value, finding: $0) }
            }
        }
    }

    /// Why a file cannot be opened; `nil` if it can, or need not be there.
    private static func accessFault(_ value: String, _ content: Content, _ root: String) -> String? {
        var status = stat()
        switch content {
        case .database:
            let place = root + FileSteps.absolute(value)
            if stat(place, &status) == 0 {
                guard status.st_mode & S_IFMT == S_IFREG else { return "the database is no file: \(value)" }
                guard isAllowed(place, R_OK | W_OK) else { return "the database may not be changed: \(value)" }
            }
            // SQLite makes files beside it. Folders that are missing are made.
            var folder = FileSteps.folder(of: place)
            while !isAllowed(folder, F_OK), errno == ENOENT { folder = FileSteps.folder(of: String(folder.dropLast())) }
            guard !isAllowed(folder, W_OK | X_OK) else { return nil }
            return "nothing can be made in \(folder.dropFirst(root.count)): \(String(cString: strerror(errno)))"
        case .program:
            let path = String(value.drop { $0 != "=" }.dropFirst())
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
                .split(separator: ":").map { $0 + "/" }
            let isThere = (path.contains("/") ? [""] : folders).contains { folder in
                let path = root + folder + path
                return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && isAllowed(path, X_OK)
            }
            return isThere ? nil : "there is no program \(path) that can be run"
        case .passes, .scenarios, .theme:
            let file = open(root + value, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard file < 0 else {
                close(file)
                return nil
            }
            return "\(value) cannot be read: \(String(cString: strerror(errno)))"
        }
    }

    /// As `access(2)`, for the user whose rights this thread has.
    private static func isAllowed(_ path: String, _ mode: Int32) -> Bool {
        faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
    }

    private static func contentFaults(_ file: String, _ content: Content) -> [ScenarioConfiguration.Finding] {
        switch content {
        case .database, .program: return []
        case .scenarios:
            do throws(ScenarioConfigurationError) {
                _ = try ScenarioConfiguration(path: file)
                return []
            } catch {
                return error.findings
            }
        case .theme:
            do throws(ThemeFileError) {
                _ = try ThemeFile(file).load()
                return []
            } catch {
                return error.findings.map {
                    .init(line: $0.line, column: $0.column, path: $0.place, message: $0.message, hint: $0.hint)
                }
            }
        case .passes:
            do throws(PassConfigurationError) {
                let folder = (file as NSString).deletingLastPathComponent
                _ = try PassConfiguration(path: file).site(folder: folder)
                return []
            } catch {
                return [.init(line: 0, column: 0, path: error.place, message: error.message, hint: error.hint)]
            }
        }
    }
}

extension KioskFile.Content {
    package static let all: Set = [Self.database, .passes, .scenarios, .theme, .program]
}

extension PassConfigurationError {
    /// Where in the file of passes the fault is; empty for the whole.
    fileprivate var place: String { if case .malformed(_, let fault) = self { fault.place } else { "" } }
}
