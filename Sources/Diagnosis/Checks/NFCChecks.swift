import Foundation

extension Diagnosis {
    /// libnfc, its configuration and what it finds.
    static let nfcChecks: [Check] = [
        Check(
            id: "nfc.configuration",
            title: "libnfc's configuration names devices that are there",
            looksAt: "/etc/nfc/libnfc.conf, /etc/nfc/devices.d, the environment (LIBNFC_…)",
            explanation: """
                A reader at a serial port is found only if a file or LIBNFC_DEFAULT_DEVICE names it, as \
                pn532_uart:/dev/ttyUSB0. libnfc says nothing of names that it does not understand.
                """
        ) { machine in
            let names = machine.nfcConnections
            if names.isEmpty {
                return .fine("libnfc's configuration names no device; USB readers are found without.")
            }
            for (place, name) in names {
                let parts = name.split(separator: ":", omittingEmptySubsequences: false)
                guard Self.nfcDrivers.contains(String(parts[0])) else {
                    return .broken(
                        "libnfc has no driver '\(parts[0])', which \(place) names.",
                        evidence: ["\(place): \(name)"],
                        remedy: [.word("The drivers are: \(Self.nfcDrivers.joined(separator: ", ")).")]
                    )
                }
                if parts.count > 1, parts[1].hasPrefix("/dev/"), !machine.exists(String(parts[1])) {
                    return .broken(
                        "\(place) names a device that is not there: \(parts[1]).",
                        evidence: ["\(place): \(name)"],
                        remedy: [.word("Connect it, or name the device that 'ls /dev/serial/by-id' shows.")]
                    )
                }
            }
            return .fine("libnfc's configuration names devices that are there.", evidence: names.map { "\($0): \($1)" })
        },
        Check(
            id: "nfc.access",
            title: "This user may open libnfc's readers",
            looksAt:
                "the nodes of readers with a PN53x chip in /dev/bus/usb, the lines that libnfc's configuration names",
            explanation: "libnfc opens devices itself: its readers have to belong to a group of the kiosk's user."
        ) { machine in
            let nodes =
                machine.usbReaders.filter(\.isNFCDevice).map(\.node)
                + machine.nfcConnections.compactMap { _, name in
                    name.split(separator: ":").dropFirst().first.flatMap { $0.hasPrefix("/dev/") ? String($0) : nil }
                }
            let closed = nodes.filter { machine.mayOpen($0, writing: true) == false }
            if let node = closed.first {
                let group = node.hasPrefix("/dev/bus/") ? "plugdev" : "dialout"
                return .broken(
                    "The user \(machine.user.name) may not open libnfc's reader \(node).",
                    remedy: [
                        .word("Install ClubKit's rules for udev: see udev.rules."),
                        .command("sudo usermod -aG \(group) \(machine.user.name)"), .word("Then log in again."),
                    ]
                )
            }
            return nodes.isEmpty
                ? .fine("No reader of libnfc is connected.") : .fine("This user may open libnfc's readers.")
        },
        Check(
            id: "nfc.devices",
            title: "libnfc finds its readers",
            looksAt: "nfc_list_devices, with the drivers that it logs",
            explanation: """
                libnfc serves readers with a PN53x chip and no S550: its driver for PC/SC is in few builds, and Debian's \
                has none. A reader in pcscd is not found here, which is no trouble.
                """
        ) { machine in
            guard let report = machine.probes[.nfc] else {
                return .cannotTell("This program cannot call libnfc safely.")
            }
            let expected = machine.usbReaders.filter(\.isNFCDevice).map(\.text) + machine.nfcConnections.map(\.1)
            if report.isOverTime {
                return .broken(
                    "libnfc does not answer: a device hangs.",
                    evidence: report.log.suffix(3),
                    remedy: [.word("Unplug libnfc's reader, wait some seconds, and plug it in again.")]
                )
            }
            guard let line = report.result(.devices) else {
                return .cannotTell("This program was built without libnfc.")
            }
            let drivers = Set(
                report.log.compactMap { text in
                    text.range(of: " driver").map {
                        text[..<$0.lowerBound].split(separator: " ").last.map(String.init) ?? ""
                    }
                }
            ).sorted()
            let evidence = drivers.isEmpty ? [] : ["drivers: \(drivers.joined(separator: ", "))"]
            let devices = line.names ?? []
            if devices.isEmpty, let missing = expected.first {
                let isServed = !machine.servedReaders.isEmpty
                return Finding(
                    isServed ? .note : .broken,
                    isServed
                        ? "libnfc does not find \(missing); pcscd serves it, and only one of them can."
                        : "libnfc does not find \(missing).",
                    evidence: evidence,
                    remedy: isServed ? [] : [.word("See kernel.modules, usb.holder and nfc.access.")]
                )
            }
            if devices.isEmpty { return .fine("libnfc has no reader of its own.", evidence: evidence) }
            return .fine("libnfc finds \(devices.joined(separator: ", ")).", evidence: evidence)
        },
    ]

    /// The drivers of libnfc 1.8.
    static let nfcDrivers = [
        "pn53x_usb", "pn532_uart", "pn532_spi", "pn532_i2c", "acr122_usb", "acr122_pcsc", "acr122s", "arygon", "pcsc",
        "pn71xx",
    ]

    /// Serial lines of readers in Smart Reader mode.
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
                            .command("sudo usermod -aG dialout \(machine.user.name)"), .word("Then log in again."),
                        ]
                    )
                }
                let node = machine.linkName(line).map { "/dev/\($0)" } ?? line
                let holders = machine.holders(of: node).filter { $0.name != "clubctl" && $0.name != "readerctl" }
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
            guard machine.programs().contains(where: { $0.name == "ModemManager" }) else {
                return .fine("ModemManager does not run.")
            }
            let open = lines.filter { line in
                let properties = machine.udevProperties(line)
                return properties["ID_MM_PORT_IGNORE"] != "1" && properties["ID_MM_DEVICE_IGNORE"] != "1"
            }
            guard let line = open.first else { return .fine("ModemManager is told to leave the reader's line alone.") }
            return .warning(
                "ModemManager tries modem commands on the reader's line \(line) whenever it is plugged in.",
                remedy: [
                    .word("Install ClubKit's rules for udev: see udev.rules."),
                    .command("sudo systemctl restart ModemManager"),
                ]
            )
        },
    ]
}

extension Machine {
    /// The devices that libnfc is told to use: where that stands, and the connection string.
    var nfcConnections: [(String, String)] {
        var found: [(String, String)] = []
        for key in ["LIBNFC_DEFAULT_DEVICE", "LIBNFC_DEVICE"] {
            if let name = environment[key], !name.isEmpty { found.append((key, name)) }
        }
        let files =
            ["/etc/nfc/libnfc.conf"]
            + names(in: "/etc/nfc/devices.d").filter { $0.hasSuffix(".conf") }.map { "/etc/nfc/devices.d/" + $0 }
        for file in files {
            for line in (text(file) ?? "").split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                // As 'device.connstring = "pn532_uart:/dev/ttyUSB0"', and without 'device.' in a file of its own.
                guard parts.count == 2, parts[0] == "device.connstring" || parts[0] == "connstring" else { continue }
                found.append((file, parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))))
            }
        }
        return found
    }
}
