import Foundation

extension Diagnosis {
    /// The machine itself.
    static let machineChecks: [Check] = [
        Check(
            id: "clock.set",
            title: "The clock is set",
            looksAt: "the clock",
            explanation: """
                Visits are counted by the clock. A machine without a battery for it starts in 1970 or on the day that \
                its system was built.
                """
        ) { machine in
            let year = Calendar(identifier: .gregorian).component(.year, from: machine.now)
            if (2026..<2100).contains(year) { return .fine("The clock is set.", evidence: ["year \(year)"]) }
            return .broken(
                "The clock is wrong: it shows the year \(year).",
                remedy: [.command("sudo timedatectl set-ntp true"), .command("timedatectl")],
                repair: [.run(["timedatectl", "set-ntp", "true"], undo: ["timedatectl", "set-ntp", "false"])]
            )
        },
        Check(
            id: "clock.synchronised",
            title: "The clock follows a time server",
            looksAt: "timedatectl show --property=NTPSynchronized",
            explanation: "A clock that drifts puts visits on the wrong day, and devices that are merged disagree."
        ) { machine in
            guard let outcome = machine.run("timedatectl", ["show", "--property=NTPSynchronized", "--value"]),
                outcome.status == 0
            else {
                return .cannotTell("This machine does not report whether its clock is synchronised.")
            }
            if outcome.output.hasPrefix("yes") { return .fine("The clock follows a time server.") }
            return .warning(
                "The clock follows no time server.",
                remedy: [.command("sudo timedatectl set-ntp true")],
                repair: [.run(["timedatectl", "set-ntp", "true"], undo: ["timedatectl", "set-ntp", "false"])]
            )
        },
        Check(
            id: "machine.container",
            title: "The machine's devices are here",
            looksAt: "/run/.containerenv, /.dockerenv, /run/systemd/container",
            explanation: "A container sees readers only if its host shares pcscd's socket with it, in the same version."
        ) { machine in
            let kind = machine.line("/run/systemd/container")
            guard kind != nil || machine.exists("/run/.containerenv") || machine.exists("/.dockerenv") else {
                return .fine("This is no container.")
            }
            let socket = PCSCHandshake.socket(machine.environment)
            if machine.exists(socket) || machine.path(ofProgram: "pcscd") != nil || !machine.readerLines.isEmpty {
                return .note(
                    "This is a container\(kind.map { " (\($0))" } ?? ""): its host has to share pcscd or the readers with it."
                )
            }
            return .broken(
                "This is a container without pcscd's socket: share the host's.",
                remedy: [.word("Start it with: docker run -v /run/pcscd:/run/pcscd …")]
            )
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
            return .warning(
                "The machine slept \(count) times since it started: a reader may be lost by that.",
                remedy: [
                    .command("sudo systemctl mask sleep.target suspend.target hibernate.target"),
                    .command("sudo systemctl restart pcscd"),
                ],
                repair: [
                    .run(
                        ["systemctl", "mask", "sleep.target", "suspend.target", "hibernate.target"],
                        undo: ["systemctl", "unmask", "sleep.target", "suspend.target", "hibernate.target"]
                    )
                ]
            )
        },
    ]
}
