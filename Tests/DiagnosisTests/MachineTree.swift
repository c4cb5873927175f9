@testable import Diagnosis
import Foundation
import TestSupport

/// A folder with the files of a machine, made for one test.
final class MachineTree {
    let root: String
    var environment: [String: String] = [:]
    /// One whom access rights stop, also where root runs the tests.
    var user = Machine.User(name: "kiosk", id: geteuid() == 0 ? 4711 : geteuid(), groups: [4711])
    var now = Date(timeIntervalSince1970: 1_790_000_000)
    var lines: [Probe: [ProbeLine]] = [:]
    var log: [Probe: String] = [:]
    var hanging: Set<Probe> = []

    init() throws {
        root = NSTemporaryDirectory() + "machine-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var machine: Machine {
        let (lines, log, hanging) = (lines, log, hanging)
        return Machine(
            root: root,
            environment: environment,
            user: user,
            now: now,
            probe: ProbeRunner { probe, _ in
                let encoded = (lines[probe] ?? []).map { line in
                    (try? JSONEncoder().encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? ""
                }
                return ProgramOutcome(
                    status: hanging.contains(probe) ? nil : 0,
                    output: (log[probe] ?? "") + encoded.map { $0 + "\n" }.joined(),
                    isOverTime: hanging.contains(probe)
                )
            }
        )
    }

    // MARK: - Files

    @discardableResult
    func write(_ path: String, _ text: String = "", mode: Int = 0o644) throws -> MachineTree {
        let file = root + path
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, mode_t(mode))
        return self
    }

    func link(_ path: String, to target: String) throws {
        let file = root + path
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        unlink(file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: target)
    }

    func folder(_ path: String, mode: Int = 0o755) throws {
        try FileManager.default.createDirectory(atPath: root + path, withIntermediateDirectories: true)
        chmod(root + path, mode_t(mode))
    }

    func text(_ path: String) -> String? { try? String(contentsOfFile: root + path, encoding: .utf8) }

    /// A program that prints a text.
    func program(_ name: String, printing text: String, exit code: Int = 0) throws {
        try folder("/usr/bin")
        try writeProgram("#!/bin/sh\ncat <<'END'\n\(text)\nEND\nexit \(code)\n", to: root + "/usr/bin/" + name)
    }

    // MARK: - Parts of a machine

    /// A USB device, by default an S550 in its profile for PC/SC.
    func usb(
        _ number: String = "1c34:6122",
        interfaces: [(String, driver: String?)] = [("0b", "usbfs"), ("ff", nil)],
        power: String = "on",
        nodeMode: Int = 0o666
    ) throws {
        let folder = "/sys/bus/usb/devices/1-1"
        try? FileManager.default.removeItem(atPath: root + "/sys/bus/usb/devices")
        let parts = number.split(separator: ":")
        try write(folder + "/idVendor", "\(parts[0])\n").write(folder + "/idProduct", "\(parts[1])\n")
        try write(folder + "/product", "S550\n").write(folder + "/serial", "A1B2C3D4\n")
        try write(folder + "/busnum", "1\n").write(folder + "/devnum", "4\n")
        try write(folder + "/power/control", power + "\n")
        for (index, interface) in interfaces.enumerated() {
            let path = "/sys/bus/usb/devices/1-1:1.\(index)"
            try write(path + "/bInterfaceClass", interface.0 + "\n")
            if let driver = interface.driver { try link(path + "/driver", to: "../../../bus/usb/drivers/\(driver)") }
        }
        try write("/dev/bus/usb/001/004", mode: nodeMode)
    }

    /// The line of an S550 in Smart Reader mode.
    func line(mode: Int = 0o666) throws {
        try usb(interfaces: [("02", "cdc_acm"), ("0a", "cdc_acm")])
        try link("/sys/class/tty/ttyACM0/device", to: "../../../bus/usb/devices/1-1:1.0")
        try write("/sys/bus/usb/devices/idVendor", "1c34\n")
        try write("/dev/ttyACM0", mode: mode)
        try link("/dev/clubkit/smart-reader", to: "../ttyACM0")
    }

    func process(_ pid: Int, _ name: String, uid: Int = 0, opening node: String? = nil, library: Bool = false) throws {
        try write("/proc/\(pid)/comm", name + "\n")
        try write(
            "/proc/\(pid)/status",
            "Name:\t\(name)\nState:\tS (sleeping)\nUid:\t\(uid)\t\(uid)\t\(uid)\t\(uid)\nGid:\t\(uid)\nGroups:\t\n"
        )
        try write(
            "/proc/\(pid)/maps",
            library ? "7f00-7f01 r-xp 0 08:01 1 /usr/lib/x86_64-linux-gnu/libpcsclite.so.1\n" : ""
        )
        if let node { try link("/proc/\(pid)/fd/7", to: node) }
    }

    /// A pcscd that is installed, runs and answers.
    func daemon(
        version: String = "1.9.9",
        features: String = "Linux serial usb libudev",
        readers: [String] = ["SpringCard H518 [CCID] (A1B2C3D4) 00 00"]
    ) throws {
        try program("pcscd", printing: "pcsc-lite version \(version).\nEnabled features: \(features)")
        try process(20, "pcscd")
        try write("/run/pcscd/pcscd.comm")
        lines[.service] = [
            ProbeLine(step: .connect, begins: true), ProbeLine(step: .connect, code: 0),
            ProbeLine(step: .daemonProtocol, begins: true),
            ProbeLine(step: .daemonProtocol, numbers: [4, 4]), ProbeLine(step: .clientProtocol, numbers: [4, 4]),
        ]
        lines[.readers] =
            [ProbeLine(step: .context, code: 0), ProbeLine(step: .list, code: 0, names: readers)]
            + readers.map { ProbeLine(step: .state, code: 0, name: $0, numbers: [0x10010]) }
            + readers.map {
                ProbeLine(step: .features, code: 0, name: $0, numbers: [0x1C34, 0x6122], passesEscape: true)
            }
    }

    /// The reader of ``daemon(version:features:readers:)``.
    let reader = "SpringCard H518 [CCID] (A1B2C3D4) 00 00"

    /// pcscd lets nobody in: it closes each connection.
    func refuse() throws {
        lines[.service]?[3] = ProbeLine(step: .daemonProtocol, code: UInt32(ECONNRESET))
        lines[.readers] = [ProbeLine(step: .context, code: 0x8010_001D)]
    }

    /// An ACR122U, which a rule for udev leaves to libnfc.
    func ignoredACR122U() throws {
        try usb("072f:2200", interfaces: [("0b", nil)])
        unlink(root + "/dev/bus/usb/001/004")
        try link("/dev/bus/usb/001/004", to: "/dev/null")
        try write("/run/udev/data/c1:3", "E:PCSCLITE_IGNORE=1\n")
        lines[.nfc] = [ProbeLine(step: .devices, code: 0, names: ["acr122_usb:001:004"])]
    }

    /// pcscd's journal with a line.
    func log(_ line: String, minutesAgo minutes: Double) throws {
        try program("journalctl", printing: "\(now.timeIntervalSince1970 - minutes * 60 - 1) pcscd[20]: \(line)")
    }

    /// libccid with a list of readers.
    func driver(knowing numbers: [String] = ["1c34:6122"], options: String = "0x0001") throws {
        func array(_ key: String, _ values: [String]) -> String {
            "\t<key>\(key)</key>\n\t<array>\n" + values.map { "\t\t<string>\($0)</string>\n" }.joined()
                + "\t</array>\n\n"
        }
        let text =
            "<plist>\n<dict>\n\t<key>CFBundleExecutable</key>\n\t<string>libccid.so</string>\n"
            + "\t<key>ifdDriverOptions</key>\n\t<string>\(options)</string>\n\n"
            + array("ifdVendorID", numbers.map { "0x\($0.prefix(4).uppercased())" })
            + array("ifdProductID", numbers.map { "0x\($0.suffix(4).uppercased())" })
            + array("ifdFriendlyName", numbers.map { "Reader \($0)" }) + "</dict>\n</plist>\n"
        try write("/etc/libccid_Info.plist", text)
        try link("/usr/lib/pcsc/drivers/ifd-ccid.bundle/Contents/Info.plist", to: "/etc/libccid_Info.plist")
    }

    static let mounts = "/dev/sda1 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\n"

    /// A machine at which nothing is wrong.
    static func healthy() throws -> MachineTree {
        let tree = try MachineTree()
        try tree.usb()
        try tree.driver()
        try tree.daemon()
        try tree.write("/proc/modules", "usbcore 1 0 - Live 0x0\n")
        try tree.write("/proc/self/mounts", mounts)
        try tree.write("/sys/power/suspend_stats/success", "0\n")
        try tree.program("timedatectl", printing: "CanNTP=yes\nNTP=yes\nNTPSynchronized=yes")
        try tree.program("journalctl", printing: "ccid_usb.c: ready")
        try tree.program(
            "systemctl",
            printing: "LoadState=loaded\nActiveState=active\nSubState=running\nNRestarts=0\nResult=success"
        )
        try tree.installRules()
        try tree.write(club, "SQLite format 3\0" + String(repeating: "x", count: 100), mode: 0o600)
        chown(tree.root + club, tree.user.id, 4711)
        chown(tree.root + (club as NSString).deletingLastPathComponent, tree.user.id, 4711)
        try tree.write(club + ".snapshots/club-20260921T120000Z.sqlite", "x")
        tree.lines[.nfc] = [ProbeLine(step: .devices, code: 0, names: [])]
        return tree
    }

    static let club = "/var/lib/clubkit/club.sqlite"

    func installRules() throws {
        for name in ["70-clubkit-readers.rules", "93-clubkit-readers-power.rules"] {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../udev/\(name)").standardizedFileURL
            try write("/etc/udev/rules.d/" + name, String(contentsOf: file, encoding: .utf8))
        }
    }
}
