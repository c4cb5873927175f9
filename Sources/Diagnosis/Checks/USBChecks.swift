import CardCore
import Foundation

extension MachineDiagnosis {
    static let usbChecks: [Check] = [
        Check(
            id: "usb.reader",
            title: "A reader is connected",
            looksAt:
                "/sys/bus/usb/devices, the readers that pcscd lists, serial lines of readers, libnfc's configuration",
            explanation: """
                A reader that the kernel does not see cannot be used by any program: a cable that only charges, a hub \
                without power, an empty battery, or a reader that is linked to a telephone by Bluetooth.
                """
        ) { machine in
            let readers = machine.usbReaders
            if !readers.isEmpty {
                let sentence = "\(readers.map(\.text).joined(separator: ", ")) is on the USB bus."
                return .fine(sentence, evidence: readers.map(describe))
            }
            let lines = machine.nfcConnections.map(\.1).filter { name in
                name.split(separator: ":").dropFirst().first.map {
                    !$0.hasPrefix("/dev/") || machine.exists(String($0))
                }
                    ?? true
            }
            let served = machine.servedReaders + machine.readerLines + lines
            if served.isEmpty, !machine.nfcConnections.isEmpty {
                return .cannotTell("No reader is on the USB bus, and libnfc's is not there: see nfc.configuration.")
            }
            if !served.isEmpty {
                return .note("No reader is on the USB bus; there are others: \(served.joined(separator: ", ")).")
            }
            guard let devices = machine.usbDevices else {
                return .broken(
                    "No reader is connected, and this machine shows no USB bus.",
                    remedy: (machine.daemon != nil
                        ? [
                            .instruction(
                                "Connect a reader, and look whether USB is switched on in the machine's firmware."
                            )
                        ]
                        : [
                            .instruction(
                                "In a container, share the host's socket of pcscd: docker run -v /run/pcscd:/run/pcscd …"
                            ),
                            .instruction("Else look whether USB is switched on in the machine's firmware."),
                        ])
                )
            }
            return .broken(
                "No reader is connected: none of the \(devices.count) devices on the USB bus reads cards.",
                evidence: devices.map(\.text),
                remedy: [
                    .instruction(
                        "Connect the reader with a cable that carries data, directly to the machine, and switch it on."
                    ),
                    .command("lsusb -d 1c34:"),
                ]
            )
        },
        Check(
            id: "usb.profile",
            title: "The reader presents itself as a smart card reader or as a Smart Reader line",
            looksAt: "the interfaces of SpringCard's and Socket Mobile's devices in /sys/bus/usb/devices",
            explanation: """
                An S550 has profiles (register 02C0). Only in the PC/SC profile pcscd sees it, and in the profile for a \
                serial line it reports cards by itself. As a keyboard it types them, in the Direct profile only its \
                maker's programs reach it. Bit 0 of register 02BC hides the PC/SC interface too.
                """
        ) { machine in
            let wrong = machine.usbReaders.filter {
                $0.vendor == USBDevice.springCard && $0.profile != .smartCard && $0.profile != .serial
            }
            if let reader = wrong.first {
                let toPCSC: [Remedy] = [
                    .instruction(
                        "Set the profile PC/SC (register 02C0 to 02), and bit 0 of register 02BC to 0: with Socket "
                            + "Mobile's app, SpringCard's configuration tool or a configuration card."
                    ),
                    .instruction("Then unplug the reader and plug it in again."),
                ]
                if reader.profile == .keyboard {
                    return .warning(
                        "The reader is in its keyboard profile: pcscd cannot see it, and it types at whoever has the focus.",
                        evidence: wrong.map(describe),
                        remedy: toPCSC + [
                            .instruction(
                                "Or open the kiosk with --reader smart-reader:/dev/input/eventN: /dev/input/by-id has its name."
                            )
                        ]
                    )
                }
                let sentence = "The reader is in its \(reader.profile.rawValue) profile, in which pcscd cannot see it."
                return .broken(sentence, evidence: wrong.map(describe), remedy: toPCSC)
            }
            let readers = machine.usbReaders.filter { $0.vendor == USBDevice.springCard }
            guard let reader = readers.first else {
                return .fine("No reader of SpringCard or Socket Mobile is connected.")
            }
            return .fine("The reader is in its \(reader.profile.rawValue) profile.", evidence: readers.map(describe))
        },
        Check(
            id: "usb.power",
            title: "The reader is not suspended",
            looksAt: "power/control of each reader in /sys/bus/usb/devices",
            explanation: """
                A suspended reader has no field, so a card that is held to it is not seen, and some readers do not come \
                back at all. libccid's own rules for udev let the kernel suspend smart card readers.
                """
        ) { machine in
            let readers = machine.usbReaders
            if readers.isEmpty { return .cannotTell("No reader is on the USB bus.") }
            let sleepers = readers.filter { $0.powerControl == "auto" }
            if sleepers.isEmpty {
                return .fine("The kernel does not suspend the reader.", evidence: readers.map(describePower))
            }
            return .warning(
                "The kernel may suspend \(sleepers.map(\.text).joined(separator: ", ")) when nobody uses it.",
                evidence: sleepers.map(describePower),
                remedy: sleepers.map { .command("echo on | sudo tee \($0.folder)/power/control") }
                    + [.instruction("Install ClubKit's rules for udev, which keep it so: see udev.rules.")],
                repair: sleepers.map { .set(path: $0.folder + "/power/control", value: "on") }
            )
        },
        Check(
            id: "usb.access",
            title: "pcscd may open the reader",
            looksAt: "the user and groups of pcscd in /proc, the mode and group of the reader's node in /dev/bus/usb",
            explanation: """
                pcscd 2.4 and later runs as a user of its own and needs the rules of libccid 1.7 or later, which give \
                smart card readers to the group pcscd. With an older libccid it logs LIBUSB_ERROR_ACCESS.
                """
        ) { machine in
            // Whoever connects first has systemd start it.
            _ = machine.probes[.service]
            guard let daemon = machine.daemon, let user = machine.user(of: daemon.pid) else {
                return .cannotTell("pcscd does not run now.")
            }
            let readers = machine.usbReaders.filter(\.isSmartCardReader)
            if readers.isEmpty { return .cannotTell("No smart card reader is on the USB bus.") }
            let closed = readers.filter { machine.mayOpen($0.node, writing: true, as: user) == false }
            if closed.isEmpty { return .fine("pcscd may open \(readers.map(\.text).joined(separator: ", ")).") }
            return .broken(
                "pcscd runs as the user \(user.name) and may not open \(closed[0].text).",
                evidence: closed.map(\.node),
                remedy: [
                    .command("sudo apt-get install --only-upgrade libccid pcscd"),
                    .command("sudo udevadm control --reload"),
                    .command("sudo udevadm trigger --action=add --subsystem-match=usb"),
                ],
                repair: udevSteps
            )
        },
        Check(
            id: "usb.holder",
            title: "No other program has taken the reader",
            looksAt: "/proc/*/fd for the reader's node, the kernel's driver of its smart card interface",
            explanation: """
                Only one program can use a USB interface. While a virtual machine, another driver or a program of the \
                reader's maker has it, pcscd logs LIBUSB_ERROR_BUSY; pcscd and libnfc cannot share an ACR122U either.
                """
        ) { machine in
            let readers = machine.usbReaders
            if readers.isEmpty { return .cannotTell("No reader is on the USB bus.") }
            for reader in readers {
                let claimed = reader.interfaces.first {
                    $0.classCode == USBDevice.smartCard && $0.driver != nil && $0.driver != "usbfs"
                }
                if let driver = claimed?.driver {
                    return .broken(
                        "The kernel's driver \(driver) has taken \(reader.text).",
                        evidence: [describe(reader)],
                        remedy: [.command("sudo rmmod \(driver)")],
                        repair: [.run(["rmmod", driver], undo: ["modprobe", driver])]
                    )
                }
                let holders = machine.holders(of: reader.node).filter { $0.name != "pcscd" }
                if let holder = holders.first {
                    return .broken(
                        "\(holder) has taken \(reader.text), so the kiosk cannot use it.",
                        evidence: holders.map(\.description),
                        remedy: [.command("sudo kill \(holder.pid)")] + machine.restartDaemon
                    )
                }
            }
            let others = machine.isRoot ? "" : " Programs of other users are shown to root only."
            return .fine("No other program has the reader's device open.\(others)")
        },
        Check(
            id: "kernel.modules",
            title: "The kernel's own NFC drivers leave the readers alone",
            looksAt: "/proc/modules, the drivers of the readers' interfaces",
            explanation: """
                The modules pn533_usb, pn533 and nfc take readers with a PN533 chip and the ACR122U, so that pcscd and \
                libnfc find them busy. An S550 is not among them.
                """
        ) { machine in
            let loaded = (machine.text("/proc/modules") ?? "").split(separator: "\n").compactMap {
                $0.split(separator: " ").first
            }
            let wrong = ["pn533_usb", "pn533", "nfc"].filter { name in loaded.contains { $0 == name } }
            if wrong.isEmpty { return .fine("None of the kernel's NFC drivers is loaded.") }
            let modules = wrong.joined(separator: " ")
            let file = "/etc/modprobe.d/blacklist-clubkit-nfc.conf"
            let taken = machine.usbReaders.first { $0.interfaces.contains { $0.driver == "pn533_usb" } }
            guard let taken else {
                return .note("The kernel's NFC drivers are loaded (\(modules)); they have taken no reader.")
            }
            return .broken(
                "The kernel's own NFC driver has taken \(taken.text): libnfc and pcscd find it busy.",
                evidence: ["loaded: \(modules)"],
                remedy: [
                    .command("sudo readerctl doctor --fix --only kernel.modules"),
                    .instruction("Unplug the reader and plug it in again."),
                ],
                repair: [.write(path: file, contents: SystemFile.blacklist.contents)]
                    + wrong.map { .run(["rmmod", $0], undo: ["modprobe", $0]) }
            )
        },
        Check(
            id: "udev.rules",
            title: "ClubKit's rules for udev are installed and current",
            looksAt: "/etc/udev/rules.d, /usr/lib/udev/rules.d",
            explanation: """
                They let the kiosk's user open serial lines and devices of libnfc, give lines names that do not depend \
                on the order of plugging in, keep ModemManager away and readers awake. A reader that is used only \
                through pcscd works without them.
                """
        ) { machine in
            let states = SystemFile.rules.map { rule in
                let installed = ["/etc/udev/rules.d/", "/usr/lib/udev/rules.d/", "/lib/udev/rules.d/"].lazy
                    .compactMap { machine.text($0 + rule.name) }.first
                return (rule, installed.map { rule.isPart(of: $0) })
            }
            let missing = states.filter { $0.1 != true }.map(\.0)
            guard !missing.isEmpty else {
                return .fine("The rules are installed and current.", evidence: states.map(\.0.name))
            }
            let isOld = states.contains { $0.1 == false }
            return Finding(
                machine.usbReaders.isEmpty && machine.readerLines.isEmpty ? .note : .warning,
                isOld
                    ? "ClubKit's rules for udev are installed in another version."
                    : "ClubKit's rules for udev are not installed.",
                evidence: missing.map { "missing or changed: \($0.name)" },
                remedy: [.command("sudo readerctl doctor --fix --only udev.rules")],
                repair: missing.map { .write(path: "/etc/udev/rules.d/" + $0.name, contents: $0.contents) } + udevSteps
            )
        },
    ]

    /// What makes udev's rules count for what is plugged in already: they ask for the action 'add'.
    private static let udevSteps: [RepairStep] = [
        .apply(["udevadm", "control", "--reload"]),
        .apply(["udevadm", "trigger", "--action=add", "--subsystem-match=usb", "--subsystem-match=tty"]),
    ]

    private static func describe(_ reader: USBDevice) -> String {
        let serial = reader.serial.map { ", serial number \($0)" } ?? ""
        let classes = reader.interfaces.map { interface in
            [UInt8(truncatingIfNeeded: interface.classCode)].hex.lowercased()
                + (interface.driver.map { " (\($0))" } ?? "")
        }
        return "\(reader.text)\(serial), interface classes \(classes.joined(separator: ", ")), \(reader.folder)"
    }

    private static func describePower(_ reader: USBDevice) -> String {
        "\(reader.text): power/control is \(reader.powerControl ?? "not there")"
    }
}

extension Machine {
    func user(of pid: Int32) -> User? {
        guard let text = text("/proc/\(pid)/status") else { return nil }
        let lines = text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
        guard let ids = lines.first(where: { $0.first == "Uid:" }), ids.count > 2, let id = UInt32(ids[2]) else {
            return nil
        }
        let groups = lines.filter { $0.first == "Groups:" || $0.first == "Gid:" }.flatMap { $0.dropFirst() }
        let entry = (self.text("/etc/passwd") ?? "").split(separator: "\n").map { $0.split(separator: ":") }
            .first { $0.count > 2 && $0[2] == ids[2] }
        return User(name: entry.map { String($0[0]) } ?? "\(id)", id: id, groups: Set(groups.compactMap { UInt32($0) }))
    }
}
