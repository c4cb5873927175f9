import Foundation

extension MachineDiagnosis {
    /// 1 September 2026 in UTC, before this version: a clock that shows an earlier day is not set.
    package static let released = Date(timeIntervalSince1970: 1_788_220_800)

    static let machineChecks: [Check] = [
        Check(
            id: "clock.set",
            title: "The clock is set",
            looksAt: "the clock",
            explanation: """
                Visits are counted by the clock. A machine without a battery for it starts in 1970 or on the day that \
                its system was built. Visits that were recorded meanwhile have the wrong time: 'clubctl members \
                history' shows them, 'members undo' and 'members visit --at' put them right. A clock that is ahead, but \
                before 2100, is not seen here; 'clubctl check' names records that it dated ahead.
                """
        ) { machine in
            let year = Calendar(identifier: .gregorian).component(.year, from: machine.now)
            if machine.now >= released, year < 2100 { return .fine("The clock is set.", evidence: ["year \(year)"]) }
            return .broken(
                "The clock is wrong: it shows the year \(year).",
                remedy: (TimeService(machine)?.remedy ?? [])
                    + [.instruction("Without a network set it by hand: sudo date -s 'YYYY-MM-DD hh:mm'")],
                repair: TimeService(machine)?.repair ?? []
            )
        },
        Check(
            id: "clock.synchronised",
            title: "The clock follows a time server",
            looksAt: "timedatectl show",
            explanation: "A clock that drifts puts visits on the wrong day, and devices that are merged disagree."
        ) { machine in
            guard let service = TimeService(machine) else {
                return .cannotTell("This machine does not report whether its clock is synchronised.")
            }
            if service.isSynchronised { return .fine("The clock follows a time server.") }
            return .warning(
                service.isOn ? "No time server answers the clock's service." : "The clock follows no time server.",
                remedy: service.remedy,
                repair: service.repair
            )
        },
        Check(
            id: "machine.container",
            title: "The machine's devices are here",
            looksAt: "/run/.containerenv, /.dockerenv, /run/systemd/container",
            explanation: "A container sees readers only if its host shares pcscd's socket with it, in the same version."
        ) { machine in
            let kind = machine.line("/run/systemd/container")
            guard machine.isContainer else { return .fine("This is not a container.") }
            let socket = PCSCHandshake.socket(machine.environment)
            if machine.exists(socket) || machine.path(ofProgram: "pcscd") != nil || !machine.readerLines.isEmpty {
                return .note(
                    "This is a container\(kind.map { " (\($0))" } ?? ""): its host has to share pcscd or the readers with it."
                )
            }
            let sentence = "This is a container without pcscd's socket: share the host's."
            return .broken(sentence, remedy: [.instruction("Start it with: docker run -v /run/pcscd:/run/pcscd …")])
        },
        Check(
            id: "machine.suspend",
            title: "The machine does not sleep",
            looksAt: "/sys/power/suspend_stats/success",
            explanation: "Some readers do not come back when a machine wakes up, or come back without their field."
        ) { machine in
            guard let count = machine.number("/sys/power/suspend_stats/success") else {
                return .cannotTell("This machine does not report whether it slept.")
            }
            if count == 0 { return .fine("The machine did not sleep since it started.") }
            let open = sleepTargets.filter { machine.run("systemctl", ["is-enabled", $0])?.output != "masked\n" }
            if open.isEmpty {
                return .note("The machine slept \(count) times since it started, and does not any more.")
            }
            return .warning(
                "The machine slept \(count) times since it started: a reader may be lost by that.",
                remedy: [.command("sudo systemctl mask " + open.joined(separator: " "))] + machine.restartDaemon,
                repair: [.run(["systemctl", "mask"] + open, undo: ["systemctl", "unmask"] + open)]
            )
        },
    ]

    private static let sleepTargets = ["sleep", "suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate"]
        .map { $0 + ".target" }
}

/// What systemd reports of the service that sets the clock.
private struct TimeService {
    var isSynchronised: Bool
    var isOn: Bool
    var isThere: Bool

    init?(_ machine: Machine) {
        guard let outcome = machine.run("timedatectl", ["show"]), outcome.status == 0 else { return nil }
        let lines = Set(outcome.output.split(separator: "\n"))
        isSynchronised = lines.contains("NTPSynchronized=yes")
        isOn = lines.contains("NTP=yes")
        isThere = lines.contains("CanNTP=yes")
    }

    var remedy: [Remedy] {
        if isOn {
            return [.instruction("Connect the machine to the network."), .command("timedatectl timesync-status")]
        }
        return (isThere ? [] : [.command("sudo apt-get install systemd-timesyncd")])
            + [.command("sudo timedatectl set-ntp true")]
    }

    var repair: [RepairStep] {
        isThere && !isOn
            ? [.run(["timedatectl", "set-ntp", "true"], undo: ["timedatectl", "set-ntp", "false"])] : []
    }
}

extension Machine {
    package var isContainer: Bool {
        ["/run/systemd/container", "/run/.containerenv", "/.dockerenv"].contains(where: exists)
    }
}
