import Foundation

extension MachineDiagnosis {
    static let driverChecks: [Check] = [
        Check(
            id: "driver.installed",
            title: "The driver for smart card readers is installed",
            looksAt: "Info.plist of the drivers in pcscd's folder",
            explanation: "pcscd itself drives no reader: libccid does, by a list of the readers that it knows."
        ) { machine in
            let drivers = machine.drivers
            guard !drivers.isEmpty else {
                if machine.path(ofProgram: "pcscd") == nil { return .cannotTell("pcscd is not installed.") }
                let sentence = "pcscd has no driver for smart card readers."
                return .broken(sentence, remedy: [.command("sudo apt-get install libccid")] + machine.restartDaemon)
            }
            let sentence = "\(drivers.count == 1 ? "A driver is" : "\(drivers.count) drivers are") installed."
            return .fine(sentence, evidence: drivers.map { "\($0.path), \($0.numbers.count) readers" })
        },
        Check(
            id: "driver.list",
            title: "The driver's list has the reader's number",
            looksAt: "ifdVendorID and ifdProductID in Info.plist of pcscd's drivers, the readers on the USB bus",
            explanation: """
                pcscd serves a reader only if its vendor and product are in a driver's Info.plist, even if the reader \
                reports itself as a smart card reader. Units of Socket Mobile's own range (1c34:abd0 to 1c34:abdf) are in \
                no list of 2026.
                """
        ) { machine in
            let readers = machine.pcscReaders
            if readers.isEmpty { return .cannotTell("No smart card reader is on the USB bus.") }
            let drivers = machine.drivers
            // Others, such as ACS's own, have their lists too.
            guard let first = drivers.first(where: \.isCCID) ?? drivers.first else {
                return .cannotTell("No driver is installed.")
            }
            let unknown = readers.filter { reader in
                !drivers.contains { $0.numbers.contains(reader.vendor << 16 | reader.product) }
            }
            guard let reader = unknown.first else {
                return .fine("The driver knows \(readers.map(\.text).joined(separator: ", ")).")
            }
            var contents: String? = first.text
            for reader in unknown { contents = contents.flatMap { DriverList.adding(reader, to: $0) } }
            return .broken(
                "The reader is on the bus, but pcscd does not list its number: add \(reader.number) to the driver's list.",
                evidence: unknown.map { "\($0.text) is not in \(first.path)" },
                remedy: [
                    .instruction(
                        "Add 0x\(reader.number.prefix(4).uppercased()) to ifdVendorID, "
                            + "0x\(reader.number.suffix(4).uppercased()) to ifdProductID and a name to ifdFriendlyName, "
                            + "each as the last of its list, in \(first.path)."
                    )
                ] + machine.restartDaemon,
                repair: contents.map { [.write(path: first.path, contents: $0)] + restart } ?? []
            )
        },
        Check(
            id: "driver.escape",
            title: "The driver passes commands to the reader itself",
            looksAt: "ifdDriverOptions in libccid's Info.plist, and what the driver reports of each reader",
            explanation: """
                Light, sound, settings and identity of a reader are reached by escape commands, which libccid refuses \
                unless bit 0 of ifdDriverOptions is set. Cards are read without it.
                """
        ) { machine in
            guard let driver = machine.drivers.first(where: \.isCCID), let options = driver.options else {
                return .cannotTell("libccid is not installed.")
            }
            let isAllowed = options & 1 == 1
            let refused = (machine.probes[.readers]?.lines ?? []).filter { $0.passesEscape == false }.compactMap(\.name)
            let evidence = ["ifdDriverOptions is 0x\(String(options, radix: 16)) in \(driver.path)"]
            if isAllowed, !refused.isEmpty, !refused.allSatisfy(\.isVirtualReader) {
                return .note(
                    "The driver may pass commands to the reader, but pcscd was started before that was allowed.",
                    evidence: evidence + refused.map { "not passed: \($0)" },
                    remedy: machine.restartDaemon
                )
            }
            if isAllowed { return .fine("The driver passes commands to the reader itself.", evidence: evidence) }
            return Finding(
                .note,
                "The driver does not pass commands for light, sound and settings to the reader; cards are read without.",
                evidence: evidence,
                remedy: [.command("sudo readerctl doctor --fix --only driver.escape")],
                repair: DriverList.allowingEscape(driver.text, options).map {
                    [.write(path: driver.path, contents: $0)] + restart
                } ?? []
            )
        },
        Check(
            id: "driver.ignored",
            title: "pcscd is not set to ignore the reader",
            looksAt: "PCSCLITE_IGNORE in udev's database, PCSCLITE_FILTER_IGNORE_READER_NAMES in /etc/default/pcscd",
            explanation:
                "A rule for udev, or pcscd's environment, can leave a reader to another program, such as libnfc."
        ) { machine in
            let ignored = machine.usbReaders.filter { $0.isSmartCardReader && machine.isIgnored($0) }
            if let reader = ignored.first(where: { !$0.isNFCDevice }) {
                return .broken(
                    "A rule for udev makes pcscd ignore \(reader.text).",
                    remedy: [
                        .command("grep -rn PCSCLITE_IGNORE /etc/udev/rules.d /usr/lib/udev/rules.d"),
                        .instruction("Remove the rule, and plug the reader in again."),
                    ]
                )
            }
            if let filter = machine.readerFilter {
                // Where a reader is connected and pcscd serves none, it is likely the one that is meant.
                let reader = machine.pcscReaders.first
                let isCause = reader != nil && machine.servedReaders.allSatisfy(\.isVirtualReader)
                return Finding(
                    isCause ? .broken : .warning,
                    isCause
                        ? "pcscd is set to ignore readers, and serves none: \(reader?.text ?? "") is connected."
                        : "pcscd is set to ignore some readers.",
                    evidence: [filter],
                    remedy: [
                        .instruction("Remove that line from /etc/default/pcscd if it means this reader.")
                    ] + machine.restartDaemon
                )
            }
            if let reader = ignored.first { return .note("A rule for udev leaves \(reader.text) to libnfc.") }
            return .fine("pcscd ignores no reader.")
        },
    ]

    static let restart = [RepairStep.apply(["systemctl", "try-restart", "pcscd.service"])]
}

/// A driver of pcscd, by its Info.plist.
struct DriverList: Sendable {
    var path: String
    var text: String
    /// Vendor and product of each reader that it knows, in one number.
    var numbers: Set<Int>
    /// `ifdDriverOptions`.
    var options: Int?
    var isCCID: Bool

    init(path: String, text: String) {
        (self.path, self.text) = (path, text)
        let (vendors, products) = (Self.values("ifdVendorID", text), Self.values("ifdProductID", text))
        numbers = Set(zip(vendors, products).compactMap { vendor, product in vendor << 16 | product })
        options = Self.values("ifdDriverOptions", text).first
        isCCID = text.contains("<string>libccid.so</string>")
    }

    /// The numbers that follow a key, be it one or a list.
    private static func values(_ key: String, _ text: String) -> [Int] {
        guard let place = text.range(of: "<key>\(key)</key>") else { return [] }
        let rest = text[place.upperBound...]
        let end = rest.range(of: "<key>")?.lowerBound ?? rest.endIndex
        return rest[..<end].components(separatedBy: "<string>").dropFirst().compactMap { part in
            let number = part.components(separatedBy: "</string>")[0].trimmingCharacters(in: .whitespaces)
            return Int(number.lowercased().hasPrefix("0x") ? String(number.dropFirst(2)) : number, radix: 16)
        }
    }

    /// Returns the list with one more reader; `nil` if it is not written as libccid's.
    static func adding(_ reader: USBDevice, to text: String) -> String? {
        var text = text
        for (key, value) in [
            ("ifdVendorID", "0x" + reader.number.prefix(4).uppercased()),
            ("ifdProductID", "0x" + reader.number.suffix(4).uppercased()),
            ("ifdFriendlyName", reader.name.map(plain) ?? "Smart Card Reader"),
        ] {
            guard let place = text.range(of: "<key>\(key)</key>"),
                let end = text.range(of: "</array>", range: place.upperBound..<text.endIndex)
            else { return nil }
            let indent = text[..<end.lowerBound].reversed().prefix { $0 == "\t" || $0 == " " }
            text.insert(
                contentsOf: "\(String(indent))<string>\(value)</string>\n\(String(indent.reversed()))",
                at: end.lowerBound
            )
        }
        return text
    }

    /// A device chooses its name itself, which may hold anything.
    private static func plain(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : " " })
    }

    /// Returns the file with bit 0 of the options set.
    static func allowingEscape(_ text: String, _ options: Int) -> String? {
        guard let place = text.range(of: "<key>ifdDriverOptions</key>"),
            let value = text.range(
                of: #"0x[0-9A-Fa-f]+"#,
                options: .regularExpression,
                range: place.upperBound..<text.endIndex
            )
        else { return nil }
        return text.replacingCharacters(in: value, with: String(format: "0x%04X", options | 1))
    }
}

extension Machine {
    /// The drivers for USB readers in the folders where pcscd looks for them.
    var drivers: [DriverList] {
        let folders =
            ["/usr/lib/pcsc/drivers"]
            + names(in: "/usr/lib").filter { $0.hasSuffix("-linux-gnu") }.map { "/usr/lib/\($0)/pcsc/drivers" }
        return folders.flatMap { folder in
            names(in: folder).filter { $0.hasSuffix(".bundle") }.compactMap { name in
                let path = "\(folder)/\(name)/Contents/Info.plist"
                // Debian keeps libccid's own list in /etc, to which the bundle's is a link.
                let target = link(path).flatMap { $0.hasPrefix("/") ? $0 : nil } ?? path
                return text(target).map { DriverList(path: target, text: $0) }
            }
        }
    }

    func udevProperties(_ node: String) -> [String: String] {
        guard let status = status(node), status.st_mode & S_IFMT == S_IFCHR else { return [:] }
        // As `gnu_dev_major` and `gnu_dev_minor`, macros that Swift does not see.
        let number = status.st_rdev
        let (major, minor) = (number >> 8 & 0xFFF | number >> 32 & ~0xFFF, number & 0xFF | number >> 12 & 0xFFF_FF00)
        let lines = (text("/run/udev/data/c\(major):\(minor)") ?? "").split(separator: "\n")
        return lines.reduce(into: [:]) { properties, line in
            guard line.hasPrefix("E:"), let equals = line.firstIndex(of: "=") else { return }
            properties[String(line[..<equals].dropFirst(2))] = String(line[equals...].dropFirst())
        }
    }
}
