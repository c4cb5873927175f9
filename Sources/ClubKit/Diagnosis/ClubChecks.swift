import CardCore
import ClubScenarios
import Diagnosis
import Foundation
import ReaderKit

extension MachineDiagnosis {
    package static let service = "clubkit.service"

    /// What can be seen of a club without opening its database.
    ///
    /// - Parameters:
    ///   - database: where the members are; `nil` if that is not known.
    ///   - snapshots: the folder of the kiosk's snapshots; by default beside the database.
    ///   - passes: the file that configures which passes the kiosk takes, if it has one.
    ///   - scenarios: the file with the kiosk's scenarios, if it has one.
    public static func clubChecks(
        database: DatabaseLocation? = .standard(),
        snapshots: String? = nil,
        passes: String? = nil,
        scenarios: String? = nil
    ) -> [Check] {
        var checks: [Check] = []
        switch database {
        case .file(let path): checks = databaseChecks(URL(fileURLWithPath: path).path, snapshots)
        case .some: break
        case nil:
            checks = databaseChecks("", snapshots).map { check in
                Check(id: check.id, title: check.title, looksAt: check.looksAt, explanation: check.explanation) { _ in
                    .cannotTell("The kiosk's file does not name the club: see club.configuration.")
                }
            }
        }
        return checks + [passesCheck(passes), pollingCheck(passes), scenariosCheck(scenarios), serviceCheck]
    }

    private static func databaseChecks(_ path: String, _ snapshots: String?) -> [Check] {
        [databaseCheck(path), spaceCheck(path), fileSystemCheck(path), backupCheck(path, snapshots)]
    }

    private static func databaseCheck(_ path: String) -> Check {
        Check(
            id: "club.database",
            title: "The club's database is in its place and the kiosk's own",
            looksAt: "the file's kind, owner, mode and first bytes; the folder's mode",
            explanation: """
                The database holds the members. It belongs to the user who runs the kiosk, and nobody else reads it. \
                'clubctl check' looks inside.
                """
        ) { machine in
            guard let status = machine.status(path) else {
                let folder = FileSteps.parent(of: path)
                if machine.exists(folder), machine.mayOpen(folder, writing: true) == false {
                    return .broken(
                        "The user \(machine.user.name) may not create the club's database in \(folder).",
                        remedy: [.command("sudo chown -h \(machine.user.name) \(folder.shellQuoted)")]
                    )
                }
                if let target = machine.link(path) {
                    return .broken(
                        "The club's database is a link that leads nowhere: to \(target).",
                        remedy: [
                            .instruction("Remove the link, or make what it leads to, such as by mounting a disk."),
                            .command("ls -l \(path.shellQuoted)"),
                        ]
                    )
                }
                return .note("There is no club yet at \(path): the kiosk creates it with the first start.")
            }
            let mode = String(status.st_mode & 0o7777, radix: 8)
            let evidence = ["\(path): mode \(mode), owner \(status.st_uid), \(status.st_size) bytes"]
            guard status.st_mode & S_IFMT == S_IFREG else {
                let remedy = [Remedy.command("ls -l \(path.shellQuoted)")]
                return .broken("The club's database is not a file.", evidence: evidence, remedy: remedy)
            }
            let files = ["", "-wal", "-shm"].map { path + $0 }.filter(machine.exists).map(\.shellQuoted)
            let owner = "sudo chown -h \(machine.user.name) " + files.joined(separator: " ")
            guard machine.mayOpen(path, writing: true) == true else {
                return .broken(
                    "The user \(machine.user.name) may not write the club's database.",
                    evidence: evidence,
                    remedy: [
                        .instruction("Give the file to the kiosk's user, if that is \(machine.user.name):"),
                        .command(owner),
                    ]
                )
            }
            let folder = FileSteps.parent(of: path)
            if machine.mayOpen(folder, writing: true) == false {
                return .broken(
                    "The user \(machine.user.name) may not write in \(folder), where SQLite keeps files beside the database.",
                    evidence: evidence,
                    remedy: [.command("sudo chown -h \(machine.user.name) \(folder.shellQuoted)")]
                )
            }
            let beginning = machine.bytes(path, atMost: 16) ?? []
            if status.st_size > 0, beginning != Array("SQLite format 3\0".utf8) {
                return .broken(
                    "The club's database is damaged: it does not begin as one.",
                    evidence: evidence,
                    remedy: [
                        .instruction("Stop the kiosk."),
                        .command("clubctl check --repair --database \(path.shellQuoted)"),
                    ]
                )
            }
            if machine.user.id == 0, status.st_uid != 0 {
                return .note(
                    "The club's database belongs to another user than root: name the kiosk's user with --user.",
                    evidence: evidence
                )
            }
            if status.st_mode & 0o077 != 0 {
                let asOwner = machine.isRoot && machine.user.id != 0 ? ["runuser", "-u", machine.user.name, "--"] : []
                return .warning(
                    "Others may read the club's database, or write it.",
                    evidence: evidence,
                    remedy: [.command("chmod 600 \(path.shellQuoted)")],
                    // As the kiosk's user, whom a link that stands there by then leads no further than anything else.
                    repair: [.run(asOwner + ["chmod", "600", path], undo: asOwner + ["chmod", mode, path])]
                )
            }
            return .fine("The club's database is in its place.", evidence: evidence)
        }
    }

    /// Below this many bytes taps may soon not be recorded.
    private static let littleSpace: UInt64 = 64 << 20

    private static func spaceCheck(_ path: String) -> Check {
        Check(
            id: "club.space",
            title: "The disk has room",
            looksAt: "free blocks of the file system of the database (statvfs)",
            explanation:
                "On a full disk taps wait, and are recorded once there is room. Snapshots leave 16 MB to the taps."
        ) { machine in
            var status = statvfs()
            let folder = machine.nearestFolder(path)
            guard statvfs(machine.root + folder, &status) == 0 else {
                return .cannotTell("The disk's free space cannot be read.")
            }
            let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
            let inodes = status.f_files > 0 && status.f_favail == 0
            let evidence = ["\(free / 1_000_000) MB free for \(folder)"]
            let place = machine.mount(of: folder)?.place ?? folder
            let remedy: [Remedy] =
                [
                    .command("df -h \(folder.shellQuoted)"),
                    .command("sudo du -ahx \(place.shellQuoted) | sort -h | tail"),
                    .instruction(
                        "Delete what is not needed of the largest files, until more than \(littleSpace >> 20) MB are free; "
                            + "not the database, nor what stands beside it under its name."
                    ),
                ]
                + (machine.mount(of: "/var/log")?.place != place
                    ? []
                    : [
                        .command("sudo journalctl --vacuum-size=100M"), .command("sudo apt-get clean"),
                    ])
            if free < 1 << 20 || inodes {
                let sentence = "The disk of the club's database is full: taps cannot be recorded."
                return .broken(sentence, evidence: evidence, remedy: remedy)
            }
            if free < littleSpace {
                return .warning("The disk of the club's database is nearly full.", evidence: evidence, remedy: remedy)
            }
            return .fine("The disk has room.", evidence: evidence)
        }
    }

    private static func fileSystemCheck(_ path: String) -> Check {
        Check(
            id: "club.filesystem",
            title: "The file system keeps what was written",
            looksAt: "the kind and options of the file system of the database in /proc/self/mounts",
            explanation: """
                A tap is acknowledged when the disk has it (fsync). File systems in memory, of a network, or mounted \
                without barriers do not keep that promise when the power fails.
                """
        ) { machine in
            guard let mount = machine.mount(of: machine.nearestFolder(path)) else {
                return .cannotTell("The file system of the club's database cannot be found.")
            }
            let dangers = mount.options.filter { ["nobarrier", "barrier=0", "ro"].contains($0) }
            let evidence = ["\(mount.kind) on \(mount.place)" + dangers.map { ", \($0)" }.joined()]
            let isInLayer = mount.kind == "overlay" && machine.isContainer
            let danger: String? =
                switch mount.kind {
                case "tmpfs", "ramfs": "in memory only: a restart of the machine loses it"
                case "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "vboxsf", "afs", "ceph":
                    "on a network file system, on which SQLite's locks and writes are not safe"
                case "vfat", "msdos", "exfat": "on a file system (\(mount.kind)) that a power cut can damage"
                case "overlay" where isInLayer: "in a container's own layer: it goes when the container goes"
                case "overlay": "on a disk whose changes may be dropped when the machine starts (overlay)"
                default: nil
                }
            if let danger {
                let advice =
                    isInLayer
                    ? "Mount a folder of the host for it: docker run -v /srv/club:/var/lib/clubkit …"
                    : "Move the club to a disk of this machine, with --database, or XDG_DATA_HOME."
                return .warning("The club's database is \(danger).", evidence: evidence, remedy: [.instruction(advice)])
            }
            if dangers.contains("ro") {
                let advice =
                    "The kernel does so after faults of a disk: have it checked (fsck) before it is written again."
                return .broken(
                    "The disk of the club's database is mounted read-only: taps cannot be recorded.",
                    evidence: evidence,
                    remedy: [.command("sudo dmesg | tail"), .instruction(advice)]
                )
            }
            if !dangers.isEmpty {
                return .warning(
                    "The disk of the club's database is mounted without barriers: a power cut can damage it.",
                    evidence: evidence,
                    remedy: [.instruction("Remove '\(dangers[0])' from /etc/fstab, and start the machine anew.")]
                )
            }
            return .fine("The file system keeps what was written.", evidence: evidence)
        }
    }

    private static func backupCheck(_ path: String, _ folder: String?) -> Check {
        Check(
            id: "club.backup",
            title: "There is a recent backup",
            looksAt: "the snapshots beside the database, which the kiosk made and checked",
            explanation:
                "The kiosk makes a snapshot each day and keeps seven. Without one a damaged database cannot be repaired fully."
        ) { machine in
            guard let status = machine.status(path), status.st_size > 0 else {
                return .cannotTell("There is no club yet.")
            }
            let folder = folder ?? SnapshotFolder(ofDatabase: path).url.path
            if let status = machine.status(folder), status.st_mode & S_IFMT != S_IFDIR {
                let sentence = "No snapshot can be kept: \(folder) is no folder."
                return .broken(sentence, remedy: [.command("ls -ld \(folder.shellQuoted)")])
            }
            let url = URL(fileURLWithPath: machine.root + folder, isDirectory: true)
            let snapshots = SnapshotFolder(ofDatabase: machine.root + path, in: url).snapshots(now: machine.now)
                .filter { $0.madeAt <= machine.now }
            let remedy = [
                Remedy.instruction(
                    "Start the kiosk and leave it running: it makes a snapshot when the last is a day old."
                ),
                .instruction("Until then keep a copy on another disk:"),
                .command("clubctl backup --database \(path.shellQuoted) /media/backup/club.sqlite"),
            ]
            guard let latest = snapshots.first else {
                // The first snapshot comes with the first day.
                let age = machine.creation(of: path).map { machine.now.timeIntervalSince1970 - $0 } ?? 86_400
                if age < 86_400 { return .note("There is no snapshot of the club yet.") }
                return .warning("There is no snapshot of the club's database.", remedy: remedy)
            }
            let days = Int(machine.now.timeIntervalSince(latest.madeAt) / 86_400)
            let evidence = ["snapshots: \(snapshots.count), the latest of \(latest.madeAt.formatted(.iso8601))"]
            if days >= 3 {
                let sentence = "The latest snapshot of the club's database is \(days) days old."
                return .warning(sentence, evidence: evidence, remedy: remedy)
            }
            let age = days == 0 ? "of the last day" : "\(days) days old"
            return .fine("The latest snapshot is \(age).", evidence: evidence)
        }
    }

    private static func passesCheck(_ passes: String?) -> Check {
        Check(
            id: "club.passes",
            title: "The file of the passes and its keys can be used",
            looksAt: "the file of --passes and the files of keys that it names, with owners and modes",
            explanation: "A key that others may read, or a wrong word in the file, keeps the kiosk from opening."
        ) { machine in
            guard let passes else { return .fine("No file of passes was named (--passes).") }
            do {
                let folder = URL(fileURLWithPath: machine.root + passes).deletingLastPathComponent().path
                _ = try machine.asUser {
                    try PassConfiguration(path: machine.root + passes).site(folder: folder)
                }
                return .fine("The file of the passes and its keys can be used.")
            } catch {
                return .broken(
                    "The passes cannot be used: \(error)",
                    remedy: [
                        .instruction("Mend that; this repeats the check:"),
                        .command("readerctl pass check-config \(passes.shellQuoted)"),
                    ] + machine.restartKiosk
                )
            }
        }
    }

    private static func pollingCheck(_ passes: String?) -> Check {
        Check(
            id: "phones.polling",
            title: "The reader asks iPhones for passes",
            looksAt: "whether the file of --passes has Apple passes",
            explanation: """
                An iPhone offers a pass by itself only to a reader whose firmware sends Apple's polling annotation \
                before it looks for cards: on an S550 bit 0 of register 023A, with the frame of register 0239. No \
                program can add it by PC/SC, and none can see whether it is sent; without it the member opens the pass \
                by hand.
                """
        ) { machine in
            guard let passes else { return .fine("No file of passes was named (--passes).") }
            guard let configuration = try? machine.asUser({ try PassConfiguration(path: machine.root + passes) }) else {
                return .cannotTell("The file of the passes cannot be used: see club.passes.")
            }
            if configuration.appleVAS == nil { return .fine("The kiosk takes no passes of Apple.") }
            return .note(
                "Apple passes appear by themselves only if the reader sends Apple's polling annotation.",
                remedy: [
                    .instruction(
                        "On an S550, set bit 0 of register 023A with its maker's tool; other readers: ask their maker."
                    ),
                    .instruction(
                        "Without it, let members open the pass in Wallet before they hold the phone to the reader."
                    ),
                ]
            )
        }
    }

    private static func scenariosCheck(_ scenarios: String?) -> Check {
        Check(
            id: "club.scenarios",
            title: "The file of the scenarios can be used",
            looksAt: "the file of --scenarios",
            explanation: "A kiosk whose scenarios cannot be read does not open."
        ) { machine in
            guard let scenarios else { return .fine("No file of scenarios was named (--scenarios).") }
            do {
                let configuration = try machine.asUser { try ScenarioConfiguration(path: machine.root + scenarios) }
                let evidence = ["\(configuration.scenarios.count) scenarios"]
                return .fine("The file of the scenarios can be used.", evidence: evidence)
            } catch {
                return .broken(
                    "The scenarios cannot be used: \(error)",
                    remedy: [
                        .instruction("Mend that line; this repeats the check:"),
                        .command("clubctl scenarios check \(scenarios.shellQuoted)"),
                    ] + machine.restartKiosk
                )
            }
        }
    }

    /// Properties that systemd has of the service, but for those that are empty; `nil` without systemd.
    private static func serviceProperties(_ machine: Machine, _ names: String = state) -> [String: String]? {
        guard let outcome = machine.run("systemctl", ["show", service, "--property=" + names]), outcome.status == 0
        else { return nil }
        return outcome.output.split(separator: "\n").reduce(into: [:]) { properties, line in
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, !parts[1].isEmpty { properties[String(parts[0])] = String(parts[1]) }
        }
    }

    private static let state = "LoadState,ActiveState,SubState,NRestarts,Result,UnitFileState,User"
    private static let restrictions =
        "ExecStart,ProtectSystem,ProtectHome,PrivateTmp,ReadWritePaths,ReadOnlyPaths,InaccessiblePaths,BindPaths,"
        + "StateDirectory,RuntimeDirectory,CacheDirectory,LogsDirectory,AmbientCapabilities,CapabilityBoundingSet"

    /// Returns what the kiosk's service may use of the files of the machine; `nil` if it does not read that file.
    package static func serviceSandbox(reading file: String, on machine: Machine) -> ServiceSandbox? {
        guard let properties = serviceProperties(machine, restrictions),
            let command = properties["ExecStart"]?.replacing("--config=", with: "--config "),
            command.contains("--config \(file) ")
        else { return nil }
        func words(_ name: String) -> [String] {
            (properties[name] ?? "").split(separator: " ").map { String($0.drop { "-+".contains($0) }) }
        }
        var sandbox = ServiceSandbox()
        let homes = ["/home", "/root", "/run/user"]
        sandbox.hidden = words("InaccessiblePaths")
        if ["yes", "tmpfs"].contains(properties["ProtectHome"]) { sandbox.hidden += homes }
        if properties["PrivateTmp"] == "yes" { sandbox.hidden += ["/tmp", "/var/tmp"] }
        sandbox.temporary = words("RuntimeDirectory").map { "/run/" + $0 }
        let lasting = [("State", "/var/lib/"), ("Cache", "/var/cache/"), ("Logs", "/var/log/")]
        sandbox.made =
            sandbox.temporary + lasting.flatMap { kind, place in words(kind + "Directory").map { place + $0 } }
        // Each is SOURCE, or SOURCE:PLACE with options.
        sandbox.bound = words("BindPaths").map { path in
            let parts = path.split(separator: ":")
            return String(parts.count > 1 ? parts[1] : parts.first ?? "")
        }
        sandbox.writable = words("ReadWritePaths") + sandbox.made + sandbox.bound
        sandbox.readOnly = words("ReadOnlyPaths") + (properties["ProtectHome"] == "read-only" ? homes : [])
        switch properties["ProtectSystem"] {
        case "strict": sandbox.readOnly.append("/")
        case "full": sandbox.readOnly += ["/usr", "/boot", "/efi", "/etc"]
        case "yes": sandbox.readOnly += ["/usr", "/boot", "/efi"]
        default: break
        }
        // The kiosk's user has it only where both let it.
        sandbox.mayUseAllPorts = ["AmbientCapabilities", "CapabilityBoundingSet"].allSatisfy {
            words($0).contains("cap_net_bind_service")
        }
        return sandbox
    }

    /// Returns the user whom the kiosk's service runs as; `nil` if it is not installed, or runs as root.
    public static func serviceUser(on machine: Machine) -> String? {
        serviceProperties(machine).flatMap { $0["LoadState"] == "loaded" ? $0["User"] : nil }
    }

    private static let serviceCheck = Check(
        id: "club.service",
        title: "The kiosk's service runs",
        looksAt: "systemctl show \(service), the last lines of its journal",
        explanation: "A kiosk that starts with the machine is a service of systemd, which restarts it when it fails."
    ) { machine in
        guard let properties = serviceProperties(machine) else { return .cannotTell("systemd does not run here.") }
        let load = properties["LoadState"] ?? "not-found"
        let remedy: [Remedy] = [
            .command("sudo systemctl restart \(service)"), .command("sudo journalctl -u \(service) -b -n 50"),
        ]
        if load == "not-found" { return .note("The kiosk is not installed as a service.") }
        guard load == "loaded" else {
            let command = load == "masked" ? "systemctl unmask" : "systemd-analyze verify"
            let remedy = [Remedy.command("sudo \(command) \(service)")]
            return .broken("The kiosk's service cannot be started: it is \(load).", remedy: remedy)
        }
        let log = machine.run("journalctl", ["-u", service, "-b", "-n", "3", "-o", "short-iso", "--no-pager", "-q"])
        let evidence =
            properties.keys.sorted().map { "\($0) is \(properties[$0] ?? "")" }
            + (log?.output.split(separator: "\n").map { "log: \($0)" } ?? [])
        let (state, result) = (properties["ActiveState"] ?? "", properties["Result"] ?? "")
        let restarts = properties["NRestarts"].flatMap { Int($0) } ?? 0
        if state == "failed" {
            return .broken("The kiosk's service failed (\(result)).", evidence: evidence, remedy: remedy)
        }
        if properties["SubState"] == "auto-restart" {
            let sentence = "The kiosk's service ends again and again (\(result), \(restarts) times)."
            return .broken(sentence, evidence: evidence, remedy: remedy)
        }
        let enable = Remedy.command("sudo systemctl enable --now \(service)")
        guard state == "active" || state == "activating" else {
            return .broken(
                "The kiosk's service does not run.",
                evidence: evidence,
                remedy: [enable],
                repair: [.run(["systemctl", "start", service], undo: ["systemctl", "stop", service])]
            )
        }
        if properties["UnitFileState"] == "disabled" {
            return .warning(
                "The kiosk's service runs, and does not start with the machine.",
                evidence: evidence,
                remedy: [enable],
                repair: [.run(["systemctl", "enable", service], undo: ["systemctl", "disable", service])]
            )
        }
        if restarts > 0 {
            let sentence = "The kiosk's service was restarted \(restarts) times since it was started."
            return .warning(sentence, evidence: evidence, remedy: remedy)
        }
        return .fine("The kiosk's service runs.", evidence: evidence)
    }
}

/// What a service of systemd may use of the files of the machine.
package struct ServiceSandbox: Sendable {
    /// Below which it may write although it is below a ``readOnly`` folder: the longer path counts.
    var writable: [String] = []
    var readOnly: [String] = []
    /// Below which it sees other files, or none.
    var hidden: [String] = []
    /// Where it sees other folders of the machine after all.
    var bound: [String] = []
    /// The folders that systemd makes for it when it starts.
    package var made: [String] = []
    /// Those that go when it ends.
    var temporary: [String] = []
    package var mayUseAllPorts = false

    /// Why it cannot use a path, and what to do.
    ///
    /// - Parameters:
    ///   - folder: the folder in which it makes files; `nil` if it only reads.
    ///   - isKept: whether these are to be there after its end.
    package func fault(
        _ path: String,
        writingIn folder: String?,
        keeping isKept: Bool,
        on machine: Machine
    ) -> (message: String, hint: String)? {
        func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        func isBelow(_ path: String, _ place: String) -> Bool {
            place == "/" || (path + "/").hasPrefix(place + "/")
        }
        if !bound.contains(where: { isBelow(path, $0) }),
            hidden.contains(where: { isBelow(path, $0) || isBelow(resolved(path), $0) })
        {
            return (
                "the service sees neither homes nor temporary files: \(path)",
                "Move it, such as to /etc/clubkit or /var/lib/clubkit."
            )
        }
        guard let folder else { return nil }
        let place = resolved(folder)
        if isKept, temporary.contains(where: { isBelow(place, $0) }) {
            return ("what is in \(folder) goes when the service ends", "Choose a place in /var/lib/clubkit.")
        }
        func longest(_ places: [String]) -> Int {
            places.map(resolved).filter { isBelow(place, $0) }.map(\.utf8.count).max() ?? 0
        }
        guard longest(readOnly) > 0, longest(readOnly) >= longest(writable) else { return nil }
        let making =
            machine.exists(folder)
            ? "" : "'sudo install -d -o \(machine.user.name) -m 700 \(folder.shellQuoted)', then "
        return (
            "the service may not write in \(folder)",
            // Without the '-' a disk that is away would keep the service from starting.
            "Choose a place in /var/lib/clubkit, or allow it: \(making)'sudo systemctl edit \(MachineDiagnosis.service)', "
                + "and there [Service] and ReadWritePaths=-\(folder)"
        )
    }
}

extension Machine {
    struct Mount {
        var place: String
        var kind: String
        var options: [String]
    }

    func mount(of path: String) -> Mount? {
        let mounts = (text("/proc/self/mounts") ?? "").split(separator: "\n").compactMap { line -> Mount? in
            let fields = line.split(separator: " ")
            guard fields.count >= 4 else { return nil }
            return Mount(
                place: fields[1].replacingOccurrences(of: "\\040", with: " "),
                kind: String(fields[2]),
                options: fields[3].split(separator: ",").map(String.init)
            )
        }
        // Of mounts at one place the last one counts.
        return mounts.filter { $0.place == "/" || path == $0.place || path.hasPrefix($0.place + "/") }
            .enumerated().max { ($0.element.place.count, $0.offset) < ($1.element.place.count, $1.offset) }?.element
    }

    /// When a file was made, in seconds since 1970; `nil` if the file system does not keep that.
    func creation(of path: String) -> Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: root + path)
        return (attributes?[.creationDate] as? Date)?.timeIntervalSince1970
    }

    /// The folder of a file, or the nearest above it that is there.
    func nearestFolder(_ path: String) -> String {
        var folder = FileSteps.parent(of: path)
        while folder.count > 1, !exists(folder) { folder = FileSteps.parent(of: folder) }
        return folder
    }
}
