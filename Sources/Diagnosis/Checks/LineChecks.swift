import Foundation

extension MachineDiagnosis {
    static let lineChecks: [Check] = [
        Check(
            id: "line.access",
            title: "This user may open the reader's line, and nobody else has it",
            looksAt: "/dev/clubkit, serial lines of SpringCard's devices, their modes and holders",
            explanation: """
                A reader in Smart Reader mode writes what it reads to a serial line. The line belongs to the group \
                dialout; only one program can read it.
                """
        ) { machine in
            let lines = machine.readerLines
            for line in lines {
                if machine.mayOpen(line, writing: true) == false {
                    return .broken(
                        "The user \(machine.user.name) may not open the reader's line \(line).",
                        remedy: [
                            .command("sudo usermod -aG dialout \(machine.user.name)"),
                            .instruction("Then log in again."),
                        ]
                    )
                }
                let node = machine.linkName(line).map { "/dev/\($0)" } ?? line
                let holders = machine.holders(of: node)
                if let holder = holders.first {
                    return .broken(
                        "\(holder) has opened the reader's line \(line).",
                        evidence: holders.map(\.description),
                        remedy: [.command("sudo kill \(holder.pid)")]
                    )
                }
            }
            return lines.isEmpty
                ? .fine("No reader in Smart Reader mode is connected.")
                : .fine("This user may open \(lines.joined(separator: ", ")).")
        },
        Check(
            id: "line.modem",
            title: "ModemManager leaves the reader's line alone",
            looksAt: "the programs in /proc, ID_MM_PORT_IGNORE and ID_MM_DEVICE_IGNORE in udev's database",
            explanation: """
                A reader with a serial line looks like a modem, and ModemManager sends modem commands to every new one \
                for half a minute, in which no card is seen.
                """
        ) { machine in
            let lines = machine.readerLines
            if lines.isEmpty { return .fine("No reader in Smart Reader mode is connected.") }
            guard machine.programs.all().contains(where: { $0.name == "ModemManager" }) else {
                return .fine("ModemManager does not run.")
            }
            let open = lines.filter { line in
                let properties = machine.udevProperties(line)
                return properties["ID_MM_PORT_IGNORE"] != "1" && properties["ID_MM_DEVICE_IGNORE"] != "1"
            }
            guard let line = open.first else { return .fine("ModemManager is set to leave the reader's line alone.") }
            return .warning(
                "ModemManager tries modem commands on the reader's line \(line) whenever it is plugged in.",
                remedy: [
                    .instruction("Install ClubKit's rules for udev: see udev.rules."),
                    .command("sudo systemctl restart ModemManager"),
                ]
            )
        },
    ]
}
