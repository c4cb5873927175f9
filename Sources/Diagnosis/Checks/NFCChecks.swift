import Foundation

extension MachineDiagnosis {
    static let nfcChecks: [Check] = [
        Check(
            id: "nfc.configuration",
            title: "libnfc's configuration names devices that are there",
            looksAt: "/etc/nfc/libnfc.conf, /etc/nfc/devices.d, the environment (LIBNFC_…)",
            explanation: """
                A reader at a serial port is found only if a file or LIBNFC_DEFAULT_DEVICE names it, as \
                pn532_uart:/dev/ttyUSB0. libnfc does not report names that it does not understand.
                """
        ) { machine in
            let names = machine.nfcConnections
            if let (file, line) = machine.nfcFaults.first {
                return .broken(
                    "A line of libnfc's configuration is not understood: it has to be 'key = \"value\"'.",
                    evidence: ["\(file): \(line)"],
                    remedy: [.command("sudo nano \(file.shellQuoted)")] + machine.restartKiosk
                )
            }
            if names.isEmpty { return .fine("libnfc's configuration names no device; USB readers are found without.") }
            for (place, name) in names {
                let parts = name.split(separator: ":", omittingEmptySubsequences: false)
                guard Self.nfcDrivers.contains(String(parts[0])) else {
                    return .broken(
                        "libnfc has no driver '\(parts[0])', which \(place) names.",
                        evidence: ["\(place): \(name)"],
                        remedy: [.instruction("The drivers are: \(Self.nfcDrivers.joined(separator: ", ")).")]
                            + machine.restartKiosk
                    )
                }
                if parts.count > 1, parts[1].hasPrefix("/dev/"), !machine.exists(String(parts[1])) {
                    return .broken(
                        "\(place) names a device that is not there: \(parts[1]).",
                        evidence: ["\(place): \(name)"],
                        remedy: [
                            .instruction(
                                "Connect it, or write the whole path that this shows behind '\(parts[0]):' in its place:"
                            ), .command("ls -d /dev/serial/by-id/*"),
                        ]
                            + machine.restartKiosk
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
                        .instruction("Install ClubKit's rules for udev: see udev.rules."),
                        .command("sudo usermod -aG \(group) \(machine.user.name)"), .instruction("Then log in again."),
                    ]
                )
            }
            return nodes.isEmpty
                ? .fine("No reader of libnfc is connected.") : .fine("This user may open libnfc's readers.")
        },
        Check(
            id: "nfc.devices",
            title: "libnfc finds its readers",
            looksAt: "nfc_list_devices with the drivers that it logs, nfc_open of devices that its configuration names",
            explanation: """
                libnfc serves readers with a PN53x chip and no S550: its driver for PC/SC is in few builds, and Debian's \
                has none. A reader in pcscd is not found here, which is no trouble.
                """
        ) { machine in
            guard let report = machine.probes[.nfc] else {
                return .cannotTell("This program cannot call libnfc safely.")
            }
            if let failure = report.failure { return .cannotTell(failure) }
            let evidence = drivers(in: report.log)
            let plug = Remedy.instruction("Unplug libnfc's reader, wait some seconds, and plug it in again.")
            if report.isOverTime {
                let name = report.hangs?.name
                let sentence = "libnfc does not answer: \(name ?? "a device") hangs."
                return .broken(sentence, evidence: report.log.suffix(3), remedy: [plug])
            }
            guard let devices = report.result(.devices)?.names else {
                return .cannotTell("This program was built without libnfc.")
            }
            let tried = report.lines.filter { $0.step == .device && !$0.begins }
            if let silent = tried.first(where: { $0.code == UInt32(ENODEV) })?.name {
                return .broken(
                    "libnfc is set to use \(silent), and nothing answers there.",
                    evidence: evidence,
                    remedy: [
                        .instruction("Connect the reader, and look whether its switches are set to this kind of line."),
                        plug,
                    ]
                )
            }
            let busy = tried.filter { $0.code == UInt32(EBUSY) }.compactMap(\.name)
            let missing = devices.isEmpty ? machine.usbReaders.first(where: \.isNFCDevice)?.text : nil
            if let missing {
                let isServed = !machine.servedReaders.isEmpty
                return Finding(
                    isServed ? .note : .broken,
                    isServed
                        ? "libnfc does not find \(missing); pcscd serves it, and only one of them can."
                        : "libnfc does not find \(missing).",
                    evidence: evidence,
                    remedy: isServed ? [] : [.instruction("See kernel.modules, usb.holder and nfc.access.")]
                )
            }
            if devices.isEmpty { return .fine("libnfc has no reader of its own.", evidence: evidence) }
            let inUse = busy.isEmpty ? "" : " Another program has \(busy.joined(separator: ", ")), such as the kiosk."
            return .fine("libnfc finds \(devices.joined(separator: ", ")).\(inUse)", evidence: evidence)
        },
    ]

    /// The drivers that libnfc logs when it starts.
    private static func drivers(in log: [String]) -> [String] {
        let names = log.compactMap { text in
            text.range(of: " driver").map { text[..<$0.lowerBound].split(separator: " ").last.map(String.init) ?? "" }
        }
        return names.isEmpty ? [] : ["drivers: \(Set(names).sorted().joined(separator: ", "))"]
    }

    /// The drivers of libnfc 1.8.
    static let nfcDrivers = [
        "pn53x_usb", "pn532_uart", "pn532_spi", "pn532_i2c", "acr122_usb", "acr122_pcsc", "acr122s", "arygon", "pcsc",
        "pn71xx",
    ]
}

extension Machine {
    var nfcDevices: [String] { probes[.nfc]?.result(.devices)?.names ?? [] }

    /// The devices that libnfc is configured to use: where that stands, and the connection string.
    var nfcConnections: [(String, String)] {
        var found: [(String, String)] = []
        for key in ["LIBNFC_DEFAULT_DEVICE", "LIBNFC_DEVICE"] {
            if let name = environment[key], !name.isEmpty { found.append((key, name)) }
        }
        for file in nfcFiles {
            for line in (text(file) ?? "").split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                // As 'device.connstring = "pn532_uart:/dev/ttyUSB0"', and without 'device.' in a file of its own.
                guard parts.count == 2, parts[0] == "device.connstring" || parts[0] == "connstring" else { continue }
                found.append((file, parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))))
            }
        }
        return found
    }

    private var nfcFiles: [String] {
        ["/etc/nfc/libnfc.conf"]
            + names(in: "/etc/nfc/devices.d").filter { $0.hasSuffix(".conf") }.map { "/etc/nfc/devices.d/" + $0 }
    }

    /// The lines of those files that libnfc passes over: they are no comment, and no key with a value.
    var nfcFaults: [(String, String)] {
        nfcFiles.flatMap { file in
            (text(file) ?? "").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { line in
                    guard !line.isEmpty, !line.hasPrefix("#") else { return false }
                    let value = line.split(separator: "=", maxSplits: 1).dropFirst().first?
                        .trimmingCharacters(in: .whitespaces)
                    guard let value, !value.isEmpty else { return true }
                    return value.hasPrefix("\"") != (value.hasSuffix("\"") && value.count > 1)
                }
                .map { (file, $0) }
        }
    }
}
