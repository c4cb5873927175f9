import CardCore
import ClubKit
import ClubScenarios
import Diagnosis
import Foundation
import ReaderKit

extension KioskFile {
    /// Something that is wrong with a file that the kiosk's file names, or with its name.
    package struct FileFinding: Sendable, Hashable {
        /// The file in which the place is.
        package var file: String
        package var finding: YAMLFinding
        /// Whether there is no such file, or it may not be read.
        package var isUnreadable: Bool

        package init(file: String, finding: YAMLFinding, isUnreadable: Bool = false) {
            (self.file, self.finding, self.isUnreadable) = (file, finding, isUnreadable)
        }

        package var text: String { finding.text(in: file) }
    }

    /// What keeps the kiosk from using the file: what is wrong with the files that are named, and with the machine.
    ///
    /// - Parameter contents: which files are looked at.
    package func findings(_ contents: Set<Content> = Content.all, on machine: Machine) -> [FileFinding] {
        let service = MachineDiagnosis.serviceSandbox(reading: path, on: machine)
        let hindrances = hindrances(on: machine, service: service)
        // What the service may not do anyway needs no second reason.
        let named = Set(hindrances.map(\.finding.path))
        return machine.asUser { fileFindings(contents, root: machine.root, service: service) }
            .filter { !$0.isUnreadable || !named.contains($0.finding.path) } + hindrances
    }

    /// What is wrong with the files that are named, each with its own places.
    ///
    /// - Parameters:
    ///   - contents: which files are looked at.
    ///   - root: what stands before each path, of a machine whose files are in a folder.
    ///   - service: the service that reads this file.
    func fileFindings(
        _ contents: Set<Content> = Content.all,
        root: String = "",
        service: ServiceSandbox? = nil
    ) -> [FileFinding] {
        named(contents) { value, content, setting, key in
            if let fault = Self.accessFault(value, content, root, made: service?.made ?? []) {
                let hint = "Check the path, and that the kiosk's user may use the file."
                return [finding(setting, key, fault, hint)]
            }
            return Self.contentFaults(root + value, content).map { FileFinding(file: value, finding: $0) }
        }
    }

    /// What the machine keeps the kiosk from: ports that are root's, and what its service does not see or may not write.
    func hindrances(on machine: Machine, service: ServiceSandbox?) -> [FileFinding] {
        var findings: [FileFinding] = []
        if let service {
            if database == nil {
                findings.append(FileFinding(file: path, finding: Self.missingDatabase, isUnreadable: true))
            }
            findings += named(Content.all) { value, content, setting, key in
                let path = content.path(value)
                // A secret that is there is only read.
                let isWritten = content.isWritten && !(content == .token && machine.exists(path))
                let folder = content == .folder ? path : FileSteps.parent(of: path)
                let isKept = key == "database" || key == "backups.folder"
                guard path.hasPrefix("/"),
                    let fault = service.fault(
                        path,
                        writingIn: isWritten ? folder : nil,
                        keeping: isKept,
                        on: machine
                    )
                else { return [] }
                return [finding(setting, key, fault.message, fault.hint)]
            }
        }
        let lowest = machine.number("/proc/sys/net/ipv4/ip_unprivileged_port_start") ?? 1024
        if machine.user.id != 0, service?.mayUseAllPorts != true, let setting = settings["http.address"],
            let text = setting.values.first,
            let port = ListenAddress(text)?.port, port > 0, port < lowest
        {
            let fault = "only root may listen on ports below \(lowest)"
            findings.append(finding(setting, "http.address", fault, Self.portHint))
        }
        return findings
    }

    /// Without a name the service would have its club in its home, where nobody else looks for it.
    package static let missingDatabase = YAMLFinding(
        line: 0,
        column: 0,
        path: "database",
        message: "the members' database is not named, so that other commands would not find it",
        hint: "Add it, such as 'database: /var/lib/clubkit/club.sqlite'."
    )

    private func named(
        _ contents: Set<Content>,
        _ look: (String, Content, Setting, String) -> [FileFinding]
    ) -> [FileFinding] {
        Key.all.flatMap { key -> [FileFinding] in
            guard let content = key.content, contents.contains(content), let setting = settings[key.name] else {
                return []
            }
            return setting.values.flatMap { look($0, content, setting, key.name) }
        }
    }

    /// What to do where the service may not listen on a port.
    package static let portHint =
        "Choose another port, such as 8080, or allow it: 'sudo systemctl edit \(MachineDiagnosis.service)', and there "
        + "[Service], AmbientCapabilities=CAP_NET_BIND_SERVICE and CapabilityBoundingSet=CAP_NET_BIND_SERVICE"

    private func finding(_ setting: Setting, _ key: String, _ message: String, _ hint: String) -> FileFinding {
        let (line, column) = (setting.line, setting.column)
        return FileFinding(
            file: path,
            finding: .init(line: line, column: column, path: key, message: message, hint: hint),
            isUnreadable: true
        )
    }

    /// Why a file cannot be opened; `nil` if it can, or need not be there.
    private static func accessFault(
        _ value: String,
        _ content: Content,
        _ root: String,
        made: [String]
    ) -> String? {
        var status = stat()
        let place = root + FileSteps.absolute(value)
        switch content {
        case .database:
            if stat(place, &status) == 0 {
                guard status.st_mode & S_IFMT == S_IFREG else { return "the database is no file: \(value)" }
                guard isAllowed(place, R_OK | W_OK) else {
                    let owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) }
                    return "the database, which belongs to \(owner ?? "\(status.st_uid)"), may not be changed: \(value)"
                }
            }
            // SQLite makes files beside it.
            return makingFault(FileSteps.folder(of: place), root, made)
        case .socket: return makingFault(FileSteps.folder(of: place), root, made)
        case .token: return stat(place, &status) == 0 ? nil : makingFault(FileSteps.folder(of: place), root, made)
        case .folder: return makingFault(place + "/", root, made)
        case .program:
            let path = content.path(value)
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

    /// Why nothing can be made in a folder; those that are missing are made, the `made` ones before the kiosk starts.
    private static func makingFault(_ folder: String, _ root: String, _ made: [String]) -> String? {
        var folder = folder
        while !isAllowed(folder, F_OK) {
            let reason = errno
            if made.contains(where: { folder == root + $0 + "/" }) { return nil }
            guard reason == ENOENT else { break }
            folder = FileSteps.folder(of: String(folder.dropLast()))
        }
        guard !isAllowed(folder + ".", W_OK | X_OK) else { return nil }
        return "nothing can be made in \(folder.dropFirst(root.count)): \(String(cString: strerror(errno)))"
    }

    /// As `access(2)`, for the user whose rights this thread has.
    private static func isAllowed(_ path: String, _ mode: Int32) -> Bool {
        faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
    }

    private static func contentFaults(_ file: String, _ content: Content) -> [YAMLFinding] {
        switch content {
        case .database, .program, .socket, .token, .folder: return []
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
                return error.findings
            }
        case .passes:
            do throws(PassConfigurationError) {
                let folder = FileSteps.parent(of: file)
                _ = try PassConfiguration(path: file).site(folder: folder)
                return []
            } catch {
                return [.init(line: 0, column: 0, path: error.place, message: error.message, hint: error.hint)]
            }
        }
    }
}

extension KioskFile.Content {
    package static let all: Set = [Self.database, .passes, .scenarios, .theme, .program, .socket, .token, .folder]

    /// Whether the kiosk makes it, or files in it or beside it.
    var isWritten: Bool { [.database, .socket, .token, .folder].contains(self) }

    /// The path in a value.
    func path(_ value: String) -> String { self == .program ? String(value.drop { $0 != "=" }.dropFirst()) : value }
}

extension PassConfigurationError {
    /// Where in the file of passes the fault is; empty for the whole.
    fileprivate var place: String { if case .malformed(_, let fault) = self { fault.place } else { "" } }
}
