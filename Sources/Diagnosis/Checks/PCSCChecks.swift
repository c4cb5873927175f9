import Foundation
import ReaderKit

extension MachineDiagnosis {
    /// pcscd itself: whether it is there, and lets this user in.
    static let serviceChecks: [Check] = [
        Check(
            id: "pcsc.installed",
            title: "pcscd is installed",
            looksAt: "pcscd in the folders of programs, its version and features, the versions of Debian's packages",
            explanation:
                "pcscd serves smart card readers to all programs. A kiosk with Smart Reader lines alone needs none."
        ) { machine in
            guard machine.path(ofProgram: "pcscd") != nil else {
                if machine.exists(PCSCHandshake.socket(machine.environment)) {
                    return .note(
                        "pcscd is not installed here; its socket is, as in a container that shares its host's."
                    )
                }
                let remedy = [Remedy.command("sudo apt-get install pcscd libccid")]
                guard machine.needsDaemon else {
                    return .note("pcscd is not installed; this reader does without.", remedy: remedy)
                }
                return .broken("pcscd is not installed: install it.", remedy: remedy)
            }
            let version = machine.daemonVersion
            let packages = ["pcscd", "libpcsclite1", "libccid"].compactMap { name in
                machine.version(ofPackage: name).map { "package \(name) \($0)" }
            }
            let sentence = "pcscd \(version.map { "\($0) " } ?? "")is installed."
            return .fine(sentence, evidence: packages + [machine.daemonFeatures].compactMap(\.self))
        },
        Check(
            id: "pcsc.service",
            title: "pcscd answers",
            looksAt: "its socket (PCSCLITE_CSOCK_NAME, else /run/pcscd/pcscd.comm), /proc, a connection to the socket",
            explanation: """
                Programs reach pcscd by its socket. systemd keeps the socket and starts pcscd when somebody connects; \
                pcscd ends after a minute without clients, which is no trouble.
                """
        ) { machine in
            let socket = PCSCHandshake.socket(machine.environment)
            let isRunning = machine.daemon != nil
            guard machine.exists(socket) else {
                if isRunning {
                    return .broken(
                        "pcscd runs, but its socket \(socket) is not there: this program is in another container, or "
                            + "pcscd listens elsewhere.",
                        evidence: environmentEvidence(machine),
                        remedy: [
                            .instruction("In a container, share the socket: docker run -v /run/pcscd:/run/pcscd …")
                        ] + (machine.hasSystemd ? machine.restartDaemon : [])
                    )
                }
                if machine.path(ofProgram: "pcscd") == nil { return .cannotTell("pcscd is not installed.") }
                guard machine.needsDaemon else { return .note("pcscd does not run; this reader does without.") }
                return .broken(
                    "pcscd does not run: start it.",
                    evidence: ["\(socket) is not there"] + environmentEvidence(machine),
                    remedy: [.command(machine.hasSystemd ? "sudo systemctl enable --now pcscd.socket" : "sudo pcscd")],
                    repair: machine.hasSystemd
                        ? [.run(["systemctl", "start", "pcscd.socket"], undo: ["systemctl", "stop", "pcscd.socket"])]
                        : []
                )
            }
            let restart = machine.restartDaemon
            guard let report = machine.probes[.service] else {
                return .cannotTell("This program cannot call pcscd safely.")
            }
            if let failure = report.failure { return .cannotTell(failure) }
            switch report.result(.connect)?.code {
            case 0?: break
            case UInt32(ECONNREFUSED)?:
                let sentence = "pcscd's socket is there, and nobody answers: pcscd was killed. Start it again."
                return .broken(sentence, remedy: restart)
            case UInt32(EACCES)?, UInt32(EPERM)?:
                return .broken(
                    "The user \(machine.user.name) may not connect to pcscd's socket.",
                    evidence: [describeMode(machine, socket)],
                    remedy: machine.hasSystemd
                        ? machine.socketMode + restart : [.command("sudo chmod 0666 \(socket.shellQuoted)")]
                )
            case let code?:
                let sentence = "pcscd's socket cannot be connected to: \(String(cString: strerror(Int32(code))))."
                return .broken(sentence, remedy: restart)
            case nil:
                return .broken("pcscd does not accept connections: it hangs. Restart it.", remedy: restart)
            }
            let answer = report.result(.daemonProtocol)
            if answer?.numbers == nil, answer?.code != UInt32(ECONNRESET) {
                return .broken("pcscd accepts connections and does not answer: it hangs. Restart it.", remedy: restart)
            }
            // Whom polkit does not allow, pcscd refuses so before it has read a word: see pcsc.access.
            if answer?.numbers == nil {
                return .fine("pcscd runs; it closed the connection.", evidence: environmentEvidence(machine))
            }
            return .fine("pcscd answers.", evidence: ["socket \(socket)"] + environmentEvidence(machine))
        },
        Check(
            id: "pcsc.protocol",
            title: "pcscd and libpcsclite speak the same protocol",
            looksAt: "the first messages of both on a socket; SCardEstablishContext",
            explanation: """
                The two come from one source and have to match: 4:3 from 1.8.9, 4:4 from 1.8.24, 4:5 from 2.3.0; pcscd \
                2.4.1 and later takes both 4:4 and 4:5. They differ in containers, Flatpak and Nix, and after an upgrade \
                without a restart; programs then see that the service stopped.
                """
        ) { machine in
            guard let report = machine.probes[.service], let daemon = report.result(.daemonProtocol)?.numbers else {
                return .cannotTell("pcscd does not answer.")
            }
            guard let client = report.result(.clientProtocol)?.numbers else {
                return .cannotTell("libpcsclite did not report which protocol it speaks.")
            }
            let (theirs, ours) = (text(daemon), text(client))
            let evidence = ["pcscd speaks \(theirs)", "libpcsclite speaks \(ours)"]
            let context = machine.probes[.readers]?.result(.context)?.code
            if theirs == ours || context == 0 {
                return .fine("pcscd and libpcsclite understand each other.", evidence: evidence)
            }
            return .broken(
                "pcscd speaks another protocol (\(theirs)) than libpcsclite (\(ours)): install both in the same version.",
                evidence: evidence,
                remedy: [
                    .command("sudo apt-get install --only-upgrade pcscd libpcsclite1"),
                    .instruction("In a container, use the same version of Debian as the host."),
                ] + machine.restartDaemon
            )
        },
        Check(
            id: "pcsc.access",
            title: "pcscd lets this user in",
            looksAt: "SCardEstablishContext, pcscd's features, /etc/polkit-1/rules.d",
            explanation: """
                A pcscd that is built with polkit admits whoever sits at the machine, and refuses a service, an ssh \
                login or a cron job until a rule allows it. Programs then see that there is no service. Debian 12's \
                pcscd is built without polkit; pcscd from Debian 13 on has it.
                """
        ) { machine in
            guard let service = machine.probes[.service], let answer = service.result(.daemonProtocol) else {
                return .cannotTell("pcscd does not answer.")
            }
            let (user, rule) = (machine.user.name, machine.polkitRule)
            let hasPolkit = machine.daemonFeatures?.split(separator: " ").contains {
                $0 == "polkit" || $0 == "libpolkit"
            }
            let code = machine.probes[.readers]?.result(.context)?.code
            let evidence =
                (code.map { ["SCardEstablishContext: \(PCSCCode(rawValue: $0).name)"] } ?? [])
                + (hasPolkit.map { [$0 ? "pcscd is built with polkit" : "pcscd is built without polkit"] } ?? [])
            let isClosed = answer.numbers == nil && answer.code == UInt32(ECONNRESET)
            let allow: [Remedy] = [
                .instruction("Write \(SystemFile.polkitPath):\n\(SystemFile.polkit(user: user))"),
                .command("sudo systemctl restart polkit"),
            ]
            if isClosed || code == PCSCCode.noService.rawValue && answer.numbers != nil, hasPolkit != false {
                return .broken(
                    "pcscd refuses the user \(user): allow it by a rule of polkit.",
                    evidence: evidence,
                    remedy: allow,
                    repair: [.write(path: SystemFile.polkitPath, contents: SystemFile.polkit(user: user))]
                )
            }
            guard let code else { return .cannotTell("libpcsclite did not answer.") }
            // Another protocol is refused with the same codes, and has a check of its own.
            if code != 0, let client = service.result(.clientProtocol)?.numbers, client != answer.numbers, !isClosed {
                return .cannotTell("libpcsclite and pcscd do not understand each other.")
            }
            if code != 0 {
                return .broken(
                    "libpcsclite cannot use pcscd: \(PCSCCode(rawValue: code).name).",
                    evidence: evidence,
                    remedy: machine.restartDaemon + [.command("sudo journalctl -u pcscd -b -n 50")]
                )
            }
            if hasPolkit == true, machine.user.id != 0, rule == nil {
                return machine.canSeePolkitRules
                    ? .note(
                        "pcscd lets this user in; a service or an ssh login would need a rule of polkit.",
                        evidence: evidence,
                        remedy: allow
                    )
                    : .note(
                        "pcscd lets this user in; whether a rule of polkit lets a service in is shown to root only.",
                        evidence: evidence
                    )
            }
            return .fine("pcscd lets this user in.", evidence: evidence + (rule.map { ["rule \($0)"] } ?? []))
        },
        Check(
            id: "pcsc.version",
            title: "pcscd is new enough",
            looksAt: "pcscd --version",
            explanation: """
                Before 1.9.0 each transaction ended with a pause of up to 11 ms, and before 1.9.2 two readers that were \
                plugged in at once could leave one unseen.
                """
        ) { machine in
            guard let version = machine.daemonVersion else { return .cannotTell("pcscd does not report its version.") }
            if version.compare("1.9.2", options: .numeric) == .orderedAscending {
                let sentence = "pcscd \(version) is old: readers that are plugged in together may be missed."
                return .warning(sentence, remedy: [.command("sudo apt-get install --only-upgrade pcscd libccid")])
            }
            return .fine("pcscd \(version) is new enough.")
        },
    ]

    static let pcscReaderChecks: [Check] = [
        Check(
            id: "pcsc.answers",
            title: "Each reader answers",
            looksAt:
                "SCardListReaders, SCardGetStatusChange, SCardConnect without a card, SCardControl for its features",
            explanation: """
                A reader whose driver hangs keeps every program waiting that asks it, and often pcscd itself. A bad \
                cable, a hub without power or a virtual machine are the usual reasons.
                """
        ) { machine in
            guard let report = machine.probes[.readers] else {
                return .cannotTell("This program cannot call pcscd safely.")
            }
            if let failure = report.failure { return .cannotTell(failure) }
            if let hanging = report.hangs {
                let reader = hanging.name.map { "The reader \($0)" } ?? "pcscd"
                let call = hanging.step.rawValue
                let unplug = Remedy.instruction(
                    "Unplug the reader, wait some seconds, and connect it directly to the machine, without a hub."
                )
                // pcscd keeps everybody waiting while a program has a transaction, which is not the reader's fault.
                let state = report.lines.first { $0.step == .state && !$0.begins && $0.name == hanging.name }
                if hanging.name != nil, let flags = state?.numbers?.first, flags & 0x100 != 0 {
                    let others = machine.pcscClients.others()
                    return .broken(
                        "\(reader) does not answer: a program that uses it keeps it in a transaction, or the reader hangs.",
                        evidence: others.map(\.description),
                        remedy: [.instruction("End the program that uses the reader, if it is not the kiosk."), unplug]
                            + machine.restartDaemon
                    )
                }
                let sentence = "\(reader) does not answer: \(call) did not return."
                return .broken(sentence, remedy: (hanging.name == nil ? [] : [unplug]) + machine.restartDaemon)
            }
            guard report.result(.context)?.code == 0 else { return .cannotTell("pcscd cannot be asked.") }
            let faults = report.lines.filter { line in
                (line.step == .state || line.step == .features) && !line.begins && line.code != 0
                    && line.code != PCSCCode.sharingViolation.rawValue
            }
            if let fault = faults.first, let name = fault.name, let code = fault.code {
                return .warning(
                    "The reader \(name) does not answer as it should: \(PCSCCode(rawValue: code).name).",
                    evidence: faults.map {
                        "\($0.name ?? ""): \($0.step.rawValue): \(PCSCCode(rawValue: $0.code ?? 0).name)"
                    },
                    remedy: [.instruction("Unplug the reader, wait some seconds, and plug it in again.")]
                )
            }
            let count = machine.servedReaders.count
            return count == 0
                ? .cannotTell("pcscd serves no reader.")
                : .fine("\(count == 1 ? "The reader answers" : "All \(count) readers answer").")
        },
        Check(
            id: "pcsc.readers",
            title: "pcscd serves a reader",
            looksAt: "SCardListReaders, the readers on the USB bus",
            explanation:
                "What pcscd serves is what programs find. A reader that is on the bus and not here has a trouble above."
        ) { machine in
            guard let report = machine.probes[.readers], report.result(.context)?.code == 0 else {
                return .cannotTell("pcscd cannot be asked.")
            }
            guard let list = report.result(.list) else { return .cannotTell("pcscd did not answer.") }
            let names = list.names ?? []
            let expected = machine.pcscReaders.filter { reader in
                !names.contains { !$0.isVirtualReader && report.isOther($0, than: reader) == false }
            }
            if let reader = expected.first {
                let number = reader.vendor << 16 | reader.product
                if !machine.drivers.isEmpty, !machine.drivers.contains(where: { $0.numbers.contains(number) }) {
                    return .cannotTell("pcscd's driver does not know \(reader.text): see driver.list.")
                }
                if reader.isNFCDevice, !machine.nfcDevices.isEmpty {
                    return .note("libnfc has \(reader.text); pcscd does not serve it.")
                }
                if machine.readerFilter != nil {
                    return .cannotTell("pcscd is set to ignore some readers: see driver.ignored.")
                }
                return .broken(
                    "\(reader.text) is on the USB bus, and pcscd does not serve it.",
                    evidence: names,
                    remedy: [.instruction("Unplug the reader and plug it in again.")] + machine.restartDaemon
                        + [.command("sudo journalctl -u pcscd -b")]
                )
            }
            let physical = names.filter { !$0.isVirtualReader }
            if names.isEmpty { return .note("pcscd runs and serves no reader: connect one.") }
            if physical.isEmpty {
                return .note("pcscd serves virtual readers only: \(names.joined(separator: ", ")).", evidence: names)
            }
            return .fine("pcscd serves \(physical.joined(separator: ", ")).", evidence: names)
        },
        Check(
            id: "pcsc.holder",
            title: "No other program keeps the reader to itself",
            looksAt:
                "the state of each reader (SCARD_STATE_EXCLUSIVE), SCardConnect, programs with libpcsclite in /proc",
            explanation: """
                GnuPG's scdaemon, a browser's security module or a second kiosk can hold a reader for itself; all \
                others then get a sharing violation.
                """
        ) { machine in
            let lines = machine.probes[.readers]?.lines ?? []
            if machine.servedReaders.isEmpty { return .cannotTell("pcscd serves no reader.") }
            let held = lines.first(where: \.isHeld)
            let clients = machine.pcscClients
            let others = clients.others()
            let evidence = others.map(\.description)
            if let name = held?.name {
                let error = clients.sharingError(attempting: "use the reader")
                let program = others.first.map { ": \($0)" } ?? ""
                var remedy = [Remedy.instruction(error.advice ?? "End the program that uses the reader.")]
                remedy += others.map { .command("sudo kill \($0.pid)") }
                if others.isEmpty, !machine.isRoot {
                    remedy.append(.command("sudo readerctl doctor --only pcsc.holder"))
                }
                return .broken("Another program keeps \(name) to itself\(program).", evidence: evidence, remedy: remedy)
            }
            if let other = others.first {
                return .note("\(other) uses PC/SC too; nobody keeps a reader to itself now.", evidence: evidence)
            }
            return .fine("Nobody keeps a reader to itself.")
        },
        Check(
            id: "pcsc.virtual",
            title: "No virtual reader is open to the network",
            looksAt: "/etc/reader.conf.d, listening ports in /proc/net/tcp",
            explanation: """
                The virtual reader of vsmartcard, made for tests, listens on every network interface: whoever reaches \
                the machine could insert cards, and with them visits.
                """
        ) { machine in
            let configured = machine.names(in: "/etc/reader.conf.d").filter {
                machine.text("/etc/reader.conf.d/" + $0)?.split(separator: "\n").contains { line in
                    line.contains("libifdvpcd") && !line.drop(while: \.isWhitespace).hasPrefix("#")
                } == true
            }
            // vpcd's ports 0x8C7B and the next, one for each slot.
            let ports = machine.openPorts().intersection([35963, 35964])
            if configured.isEmpty, ports.isEmpty { return .fine("There is no virtual reader.") }
            return Finding(
                .warning,
                ports.isEmpty
                    ? "A virtual reader is installed; when pcscd runs, anybody on the network can insert cards."
                    : "A virtual reader listens on the network: anybody can insert cards, and with them visits.",
                evidence: configured.map { "/etc/reader.conf.d/\($0)" }
                    + ports.sorted().map { "TCP port \($0) is open" },
                remedy: [.command("sudo apt-get purge vsmartcard-vpcd")] + machine.restartDaemon
            )
        },
        Check(
            id: "pcsc.log",
            title: "pcscd's log has no trouble",
            looksAt: "the journal of pcscd since the machine started (journalctl)",
            explanation: """
                What pcscd and libccid log of a reader names causes that nothing else shows. What is older than ten \
                minutes may have been put right since.
                """
        ) { machine in
            let arguments = ["-u", "pcscd", "-b", "-n", "500", "-o", "short-unix", "--no-hostname", "--no-pager", "-q"]
            guard let outcome = machine.run("journalctl", arguments), outcome.status == 0 else {
                return .cannotTell("The journal cannot be read.")
            }
            let lines = outcome.output.split(separator: "\n").map(String.init)
            if lines.isEmpty { return .cannotTell("The journal has nothing of pcscd that this user may read.") }
            for trouble in LogTrouble.known {
                guard let line = lines.last(where: { $0.contains(trouble.words) }) else { continue }
                let time = line.split(separator: " ").first.flatMap { Double($0) } ?? 0
                let minutes = Int((machine.now.timeIntervalSince1970 - time) / 60)
                let remedy = trouble.remedy + (trouble.isMendedByRestart ? machine.restartDaemon : [])
                if minutes < 10 { return .warning(trouble.meaning, evidence: [line], remedy: remedy) }
                return .note("\(minutes) minutes ago: \(trouble.meaning)", evidence: [line], remedy: remedy)
            }
            return .fine("pcscd's log of this start has no known trouble.", evidence: ["\(lines.count) lines"])
        },
    ]

    private static func text(_ version: [UInt32]) -> String { version.map(String.init).joined(separator: ":") }

    private static func environmentEvidence(_ machine: Machine) -> [String] {
        machine.environment.keys.filter { $0.hasPrefix("PCSCLITE_") }.sorted().map {
            "\($0) is set: \(machine.environment[$0] ?? "")"
        }
    }

    private static func describeMode(_ machine: Machine, _ path: String) -> String {
        guard let status = machine.status(path) else { return path }
        return
            "\(path): mode \(String(status.st_mode & 0o7777, radix: 8)), owner \(status.st_uid), group \(status.st_gid)"
    }
}

/// A line of pcscd's log whose cause is known.
struct LogTrouble: Sendable {
    var words: String
    var meaning: String
    var remedy: [Remedy]
    var isMendedByRestart = false

    private static let cable = Remedy.instruction(
        "Connect the reader directly to the machine, with another cable, without a hub."
    )

    /// The worst first.
    static let known = [
        LogTrouble(
            words: "NOT authorized for action",
            meaning: "pcscd refused a program since the machine started, because polkit did not allow it.",
            remedy: [.instruction("Write a rule of polkit for the kiosk's user: see pcsc.access.")]
        ),
        LogTrouble(
            words: "LIBUSB_ERROR_ACCESS",
            meaning: "pcscd was not allowed to open the reader.",
            remedy: [
                .command("sudo apt-get install --only-upgrade libccid pcscd"),
                .command("sudo udevadm trigger --action=add --subsystem-match=usb"),
            ],
            isMendedByRestart: true
        ),
        LogTrouble(
            words: "LIBUSB_ERROR_BUSY",
            meaning: "Another driver or program had the reader when pcscd wanted it.",
            remedy: [.instruction("See kernel.modules and usb.holder.")],
            isMendedByRestart: true
        ),
        LogTrouble(
            words: "LIBUSB_ERROR_TIMEOUT",
            meaning: "The reader did not answer pcscd in time.",
            remedy: [cable],
            isMendedByRestart: true
        ),
        LogTrouble(
            words: "LIBUSB_ERROR_NO_DEVICE",
            meaning: "The reader went away while pcscd used it.",
            remedy: [cable]
        ),
        LogTrouble(
            words: "LIBUSB_ERROR_PIPE",
            meaning: "The USB connection to the reader failed.",
            remedy: [cable],
            isMendedByRestart: true
        ),
        LogTrouble(
            words: "PowerUp failed",
            meaning: "A reader could not switch a card on.",
            remedy: [cable],
            isMendedByRestart: true
        ),
        LogTrouble(
            words: "Rejected unauthorized PC/SC client",
            meaning: "pcscd refused a program since the machine started.",
            remedy: [.instruction("Write a rule of polkit for the kiosk's user: see pcsc.access.")]
        ),
        LogTrouble(
            words: "Escape command) not allowed",
            meaning: "A program sent a command to the reader itself, which the driver does not pass.",
            remedy: [.instruction("See driver.escape.")]
        ),
    ]
}

extension ProbeLine {
    fileprivate var isHeld: Bool {
        // SCARD_STATE_EXCLUSIVE
        if step == .state, let state = numbers?.first, state & 0x80 != 0 { return true }
        return step == .features && code == PCSCCode.sharingViolation.rawValue
    }
}

extension String {
    var isVirtualReader: Bool { hasPrefix("Virtual PCD") }
}

extension Machine {
    var servedReaders: [String] { probes[.readers]?.result(.list)?.names ?? [] }

    var hasSystemd: Bool { exists("/run/systemd/system") }

    var restartDaemon: [Remedy] {
        hasSystemd
            ? [.command("sudo systemctl restart pcscd.socket pcscd.service")]
            : (daemon.map { [.command("sudo kill -KILL \($0.pid)")] } ?? []) + [.command("sudo pcscd")]
    }

    /// What lets systemd make the socket of pcscd for everybody, if it is configured otherwise.
    fileprivate var socketMode: [Remedy] {
        let mode = run("systemctl", ["show", "--property=SocketMode", "--value", "pcscd.socket"])?.output
        if mode?.trimmingCharacters(in: .whitespacesAndNewlines) == "0666" { return [] }
        let folder = "/etc/systemd/system/pcscd.socket.d"
        return [
            .command("sudo mkdir -p \(folder)"),
            .command("printf '[Socket]\\nSocketMode=0666\\n' | sudo tee \(folder)/zz-everybody.conf"),
            .command("sudo systemctl daemon-reload"),
        ]
    }

    /// The line of pcscd's environment by which it ignores readers.
    var readerFilter: String? {
        (text("/etc/default/pcscd") ?? "").split(separator: "\n")
            .first { $0.hasPrefix("PCSCLITE_FILTER_IGNORE_READER_NAMES=") }.map(String.init)
    }

    /// What makes the kiosk look at what it read when it started.
    package var restartKiosk: [Remedy] {
        // Of an administrator, or of a package.
        hasSystemd && ["/etc", "/usr/lib", "/lib"].contains { exists($0 + "/systemd/system/clubkit.service") }
            ? [.command("sudo systemctl restart clubkit.service")] : [.instruction("Then start the kiosk anew.")]
    }

    private var daemonText: String? {
        probes.daemonText.withLock { text in
            if let text { return text }
            let new = run("pcscd", ["--version"])?.output
            text = .some(new)
            return new
        }
    }

    /// Its version, as `1.9.9`.
    var daemonVersion: String? {
        daemonText?.split(separator: "\n").first { $0.contains("version ") }?.split(separator: " ").last
            .map { String($0).trimmingCharacters(in: CharacterSet(charactersIn: ".")) }
    }

    var daemonFeatures: String? {
        daemonText?.split(separator: "\n").first { $0.hasPrefix("Enabled features:") }.map(String.init)
    }

    var polkitRule: String? {
        Self.polkitFolders.flatMap { folder in names(in: folder).map { "\(folder)/\($0)" } }
            .first { text($0)?.contains("org.debian.pcsc-lite.") == true }
    }

    /// Whether the rules may be read, which Debian allows polkit and root only.
    var canSeePolkitRules: Bool { Self.polkitFolders.allSatisfy { mayOpen($0, writing: false) != false } }

    private static let polkitFolders = ["/etc/polkit-1/rules.d", "/usr/share/polkit-1/rules.d"]
}

extension ProbeReport {
    /// Whether a reader of pcscd is another one than a device on the bus; `nil` if its driver does not report what it is.
    fileprivate func isOther(_ name: String, than device: USBDevice) -> Bool {
        let numbers = lines.first { $0.step == .features && !$0.begins && $0.name == name }?.numbers
        return numbers.map { $0 != [UInt32(device.vendor), UInt32(device.product)] } ?? false
    }
}
