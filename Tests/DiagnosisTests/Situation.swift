import ClubKit
@testable import Diagnosis
import Foundation
import ReaderKit

/// A trouble that is made on a machine at which nothing is wrong, and what the check has to find.
struct Situation: Sendable {
    var check: String
    /// The trouble, as the documentation's table shows it.
    var trouble: String
    var verdict: Verdict
    /// Words of the finding's sentence.
    var words: String
    var make: @Sendable (MachineTree) throws -> Void

    init(
        _ check: String,
        _ trouble: String,
        _ verdict: Verdict,
        _ words: String,
        _ make: @escaping @Sendable (MachineTree) throws -> Void
    ) {
        (self.check, self.trouble, self.verdict, self.words, self.make) = (check, trouble, verdict, words, make)
    }

    static let virtual = "Virtual PCD 00 00"

    static let all: [Situation] =
        machine + service + usb + driver + readers + lines + club

    private static let machine: [Situation] = [
        Situation("clock.set", "a clock of 1970", .broken, "the year 1970") {
            $0.now = Date(timeIntervalSince1970: 86_400)
        },
        Situation("clock.set", "a clock of 2180", .broken, "the year 2180") {
            $0.now = Date(timeIntervalSince1970: 6_640_000_000)
        },
        Situation("clock.synchronised", "a clock service that is switched off", .warning, "follows no time server") {
            try $0.program("timedatectl", printing: "CanNTP=yes\nNTP=no\nNTPSynchronized=no")
        },
        Situation("clock.synchronised", "a clock service without network", .warning, "No time server answers") {
            try $0.program("timedatectl", printing: "CanNTP=yes\nNTP=yes\nNTPSynchronized=no")
        },
        Situation("clock.synchronised", "no timedatectl", .cannotTell, "does not report") {
            unlink($0.root + "/usr/bin/timedatectl")
        },
        Situation("machine.container", "a container with nothing of pcscd", .broken, "share the host's") {
            try $0.write("/run/systemd/container", "docker\n")
            unlink($0.root + "/run/pcscd/pcscd.comm")
            unlink($0.root + "/usr/bin/pcscd")
        },
        Situation("machine.container", "a container with the host's socket", .note, "(podman)") {
            try $0.write("/run/systemd/container", "podman\n")
        },
        Situation("machine.suspend", "a machine that slept three times", .warning, "slept 3 times") {
            try $0.write("/sys/power/suspend_stats/success", "3\n")
        },
        Situation("machine.suspend", "one that may not sleep any more", .note, "does not any more") {
            try $0.write("/sys/power/suspend_stats/success", "3\n")
            try $0.program("systemctl", printing: "masked", exit: 1)
        },
    ]

    private static let service: [Situation] = [
        Situation("pcsc.installed", "no pcscd in the folders of programs", .broken, "not installed") {
            unlink($0.root + "/usr/bin/pcscd")
            unlink($0.root + "/run/pcscd/pcscd.comm")
        },
        Situation("pcsc.installed", "no pcscd, and a Smart Reader line", .note, "does without") {
            unlink($0.root + "/usr/bin/pcscd")
            unlink($0.root + "/run/pcscd/pcscd.comm")
            try $0.line()
        },
        Situation("pcsc.installed", "no pcscd, and its socket", .note, "its socket is") {
            unlink($0.root + "/usr/bin/pcscd")
        },
        Situation("pcsc.service", "no socket and no process", .broken, "does not run: start it") {
            unlink($0.root + "/run/pcscd/pcscd.comm")
            unlink($0.root + "/proc/20/comm")
        },
        Situation("pcsc.service", "a process without its socket", .broken, "is not there") {
            unlink($0.root + "/run/pcscd/pcscd.comm")
        },
        Situation("pcsc.service", "a socket that refuses", .broken, "was killed") {
            $0.lines[.service] = [ProbeLine(step: .connect, code: UInt32(ECONNREFUSED))]
        },
        Situation("pcsc.service", "a socket that this user may not open", .broken, "may not connect") {
            $0.lines[.service] = [ProbeLine(step: .connect, code: UInt32(EACCES))]
        },
        Situation("pcsc.service", "a pcscd that accepts and is silent", .broken, "does not answer") {
            $0.lines[.service] = [ProbeLine(step: .connect, code: 0), ProbeLine(step: .daemonProtocol, begins: true)]
            $0.hanging = [.service]
        },
        Situation("pcsc.service", "a pcscd that does not accept", .broken, "does not accept") {
            $0.lines[.service] = [ProbeLine(step: .connect, begins: true)]
            $0.hanging = [.service]
        },
        Situation("pcsc.protocol", "a pcscd of 2.3 and a libpcsclite of 1.9", .broken, "another protocol (4:5)") {
            $0.lines[.service]?[3] = ProbeLine(step: .daemonProtocol, numbers: [4, 5])
            $0.lines[.readers] = [ProbeLine(step: .context, code: 0x8010_001E)]
        },
        Situation("pcsc.protocol", "another protocol that pcscd takes", .fine, "understand each other") {
            $0.lines[.service]?[3] = ProbeLine(step: .daemonProtocol, numbers: [4, 5])
        },
        Situation("pcsc.service", "a probe that cannot be started", .cannotTell, "cannot be asked") {
            $0.lines[.service] = []
        },
        Situation("pcsc.service", "a pcscd that closes the connection", .fine, "it closed the connection") {
            try $0.refuse()
        },
        Situation("pcsc.access", "a pcscd with polkit that refuses", .broken, "refuses the user kiosk") {
            try $0.daemon(features: "Linux serial usb libudev polkit")
            try $0.refuse()
        },
        Situation("pcsc.access", "a pcscd without polkit that cannot be used", .broken, "SCARD_E_NO_MEMORY") {
            $0.lines[.readers] = [ProbeLine(step: .context, code: 0x8010_0006)]
        },
        Situation("pcsc.access", "polkit without a rule for services", .note, "would need a rule") {
            try $0.daemon(features: "Linux serial usb libudev polkit")
        },
        Situation("pcsc.version", "pcscd 1.8.8", .warning, "1.8.8 is old") { try $0.daemon(version: "1.8.8") },
    ]

    private static let usb: [Situation] = [
        Situation("usb.reader", "a bus without a reader", .broken, "none of the 1 devices") {
            try $0.usb("046d:c31c", interfaces: [("03", "usbhid")])
            try $0.daemon(readers: [])
        },
        Situation("usb.reader", "the same, and libnfc is set to a line that is not there", .cannotTell, "see nfc.conf")
        {
            try $0.usb("046d:c31c", interfaces: [("03", "usbhid")])
            try $0.daemon(readers: [])
            try $0.write("/etc/nfc/libnfc.conf", "device.connstring = \"pn532_uart:/dev/ttyUSB1\"\n")
        },
        Situation("usb.reader", "no USB bus", .broken, "no USB bus") {
            try FileManager.default.removeItem(atPath: $0.root + "/sys/bus")
            try $0.daemon(readers: [])
        },
        Situation("usb.reader", "a bus without a reader, and pcscd has one", .note, virtual) {
            try $0.usb("046d:c31c", interfaces: [("03", "usbhid")])
            try $0.daemon(readers: [virtual])
        },
        Situation("usb.profile", "a reader in its keyboard profile", .warning, "keyboard profile") {
            try $0.usb("1c34:6123", interfaces: [("03", "usbhid"), ("ff", nil)])
        },
        Situation("usb.profile", "a reader in its Direct profile", .broken, "Direct profile") {
            try $0.usb("1c34:6120", interfaces: [("ff", nil), ("ff", nil)])
        },
        Situation("usb.power", "power/control that is auto", .warning, "may suspend") { try $0.usb(power: "auto") },
        Situation("usb.access", "a pcscd of a user of its own, a node of root", .broken, "as the user 107") {
            try $0.process(20, "pcscd", uid: 107)
            try $0.usb(nodeMode: 0o600)
        },
        Situation("usb.holder", "a program that has the node open", .broken, "VBoxSVC (pid 30)") {
            try $0.process(30, "VBoxSVC", opening: "/dev/bus/usb/001/004")
        },
        Situation("usb.holder", "a driver of the kernel on the interface", .broken, "driver usbip-host") {
            try $0.usb(interfaces: [("0b", nil), ("ff", nil)])
            unlink($0.root + "/sys/bus/usb/devices/1-1:1.0/driver")
            try $0.link("/sys/bus/usb/devices/1-1:1.0/driver", to: "../usbip-host")
        },
        Situation("kernel.modules", "pn533_usb has an ACR122U", .broken, "has taken S550 (072f:2200)") {
            try $0.write("/proc/modules", "pn533_usb 1 0\npn533 1 1\nnfc 1 1\n")
            try $0.usb("072f:2200", interfaces: [("0b", "pn533_usb")])
        },
        Situation("kernel.modules", "pn533_usb is loaded, an S550 on the bus", .note, "have taken no reader") {
            try $0.write("/proc/modules", "pn533_usb 1 0\n")
        },
        Situation("udev.rules", "no rules", .warning, "are not installed") {
            try FileManager.default.removeItem(atPath: $0.root + "/etc/udev")
        },
        Situation("udev.rules", "a rule of ours that was switched on", .fine, "installed and current") {
            let path = "/etc/udev/rules.d/70-clubkit-readers.rules"
            try $0.write(path, ($0.text(path) ?? "").replacingOccurrences(of: "#ATTR{", with: "ATTR{"))
        },
        Situation("udev.rules", "rules of another version", .warning, "in another version") {
            try $0.write("/etc/udev/rules.d/70-clubkit-readers.rules", "# old\n")
        },
    ]

    private static let driver: [Situation] = [
        Situation("driver.installed", "a pcscd without drivers", .broken, "no driver") {
            try FileManager.default.removeItem(atPath: $0.root + "/usr/lib/pcsc")
        },
        Situation("driver.list", "a reader of Socket Mobile's own range", .broken, "add 1c34:abd2 to the driver's list")
        {
            try $0.usb("1c34:abd2")
        },
        Situation("driver.escape", "ifdDriverOptions 0x0000", .note, "does not pass commands") {
            try $0.write(
                "/etc/libccid_Info.plist",
                ($0.text("/etc/libccid_Info.plist") ?? "").replacingOccurrences(of: "0x0001", with: "0x0000")
            )
        },
        Situation("driver.escape", "ifdDriverOptions 0x0001 since pcscd started", .note, "before that was allowed") {
            let name = "SpringCard H518 00 00"
            try $0.daemon(readers: [name])
            $0.lines[.readers]?[3] = ProbeLine(step: .features, code: 0, name: name, passesEscape: false)
        },
        Situation("driver.ignored", "PCSCLITE_IGNORE in udev's database", .broken, "makes pcscd ignore") {
            unlink($0.root + "/dev/bus/usb/001/004")
            try $0.link("/dev/bus/usb/001/004", to: "/dev/null")
            try $0.write("/run/udev/data/c1:3", "E:PCSCLITE_IGNORE=1\n")
        },
        Situation("driver.ignored", "an ACR122U that is left to libnfc", .note, "to libnfc") {
            try $0.ignoredACR122U()
        },
        Situation("pcsc.readers", "an ACR122U that is left to libnfc", .note, "serves no reader") {
            try $0.ignoredACR122U()
            try $0.daemon(readers: [])
        },
        Situation("driver.list", "another driver's list before libccid's", .broken, "add 1c34:abd2") {
            try $0.write("/usr/lib/pcsc/drivers/ifd-acsccid.bundle/Contents/Info.plist", "<plist></plist>")
            try $0.usb("1c34:abd2")
        },
        Situation("driver.ignored", "a filter, and pcscd serves no reader", .broken, "and serves none") {
            try $0.write("/etc/default/pcscd", "PCSCLITE_FILTER_IGNORE_READER_NAMES=SpringCard\n")
            try $0.daemon(readers: [])
        },
        Situation("pcsc.readers", "a filter, and pcscd serves no reader", .cannotTell, "see driver.ignored") {
            try $0.write("/etc/default/pcscd", "PCSCLITE_FILTER_IGNORE_READER_NAMES=SpringCard\n")
            try $0.daemon(readers: [])
        },
        Situation("driver.ignored", "a filter in /etc/default/pcscd", .warning, "set to ignore") {
            try $0.write("/etc/default/pcscd", "PCSCLITE_FILTER_IGNORE_READER_NAMES=SpringCard\n")
        },
    ]

    private static let readers: [Situation] = [
        Situation("pcsc.answers", "a reader whose driver hangs", .broken, "SCardConnect or SCardControl did not return")
        {
            $0.lines[.readers] =
                ($0.lines[.readers] ?? []).dropLast() + [
                    ProbeLine(step: .features, begins: true, name: "SpringCard 00 00")
                ]
            $0.hanging = [.readers]
        },
        Situation("pcsc.answers", "a pcscd that hangs", .broken, "pcscd does not answer: SCardListReaders") {
            $0.lines[.readers] = [ProbeLine(step: .context, code: 0), ProbeLine(step: .list, begins: true)]
            $0.hanging = [.readers]
        },
        Situation("pcsc.answers", "a reader that is in use and does not answer", .broken, "in a transaction") {
            $0.lines[.readers]?[2].numbers = [0x122]
            $0.lines[.readers]?[3] = ProbeLine(step: .features, begins: true, name: $0.reader)
            $0.hanging = [.readers]
        },
        Situation("pcsc.answers", "a reader that answers with a fault", .warning, "SCARD_E_READER_UNAVAILABLE") {
            $0.lines[.readers]?[2].code = 0x8010_0017
        },
        Situation("pcsc.readers", "a reader on the bus and none in pcscd", .broken, "does not serve it") {
            try $0.daemon(readers: [])
        },
        Situation("pcsc.readers", "another reader in pcscd than the one on the bus", .broken, "does not serve it") {
            $0.lines[.readers]?[3].numbers = [0x04E6, 0x5116]
        },
        Situation("pcsc.readers", "a reader that the driver does not know", .cannotTell, "see driver.list") {
            try $0.usb("1c34:abd2")
            try $0.daemon(readers: [])
        },
        Situation("pcsc.readers", "virtual readers only", .note, "virtual readers only") {
            try $0.usb("046d:c31c", interfaces: [("03", "usbhid")])
            try $0.daemon(readers: [virtual])
        },
        Situation("pcsc.holder", "a reader that scdaemon holds", .broken, "scdaemon (pid 31)") {
            $0.lines[.readers]?[2].numbers = [0x100A0]
            try $0.process(31, "scdaemon", library: true)
        },
        Situation("pcsc.holder", "a sharing violation of somebody unseen", .broken, "keeps SpringCard") {
            $0.lines[.readers]?[3] = ProbeLine(step: .features, code: 0x8010_000B, name: "SpringCard H518 00 00")
        },
        Situation("pcsc.holder", "another program that shares", .note, "uses PC/SC too") {
            try $0.process(31, "opensc-tool", library: true)
        },
        Situation("pcsc.virtual", "vpcd in reader.conf.d", .warning, "when pcscd runs") {
            try $0.write(
                "/etc/reader.conf.d/vpcd",
                "FRIENDLYNAME \"Virtual PCD\"\nLIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\n"
            )
        },
        Situation("pcsc.virtual", "port 35963 that is open", .warning, "listens on the network") {
            try $0.write(
                "/proc/net/tcp",
                "  sl  local_address rem_address   st\n   0: 00000000:8C7B 00000000:0000 0A 00000000:00000000\n"
            )
        },
        Situation("pcsc.log", "LIBUSB_ERROR_BUSY in the journal", .warning, "Another driver or program") {
            try $0.log("ccid_usb.c:1() Can't claim interface: LIBUSB_ERROR_BUSY", minutesAgo: 1)
        },
        Situation("pcsc.log", "LIBUSB_ERROR_NO_DEVICE an hour ago", .note, "60 minutes ago") {
            try $0.log("ccid_usb.c:1() LIBUSB_ERROR_NO_DEVICE", minutesAgo: 60)
        },
        Situation("nfc.configuration", "a driver that libnfc has not", .broken, "no driver 'pn523_uart'") {
            try $0.write("/etc/nfc/libnfc.conf", "device.connstring = \"pn523_uart:/dev/ttyUSB0\"\n")
        },
        Situation("nfc.configuration", "a line without a value", .broken, "not understood") {
            try $0.write("/etc/nfc/libnfc.conf", "# readers\nallow_autoscan true\n")
        },
        Situation("nfc.configuration", "a value whose quotation mark is not closed", .broken, "not understood") {
            try $0.write("/etc/nfc/libnfc.conf", "device.connstring = \"pn532_uart:/dev/ttyUSB0\n")
        },
        Situation("nfc.configuration", "a serial port that is not there", .broken, "not there: /dev/ttyUSB0") {
            $0.environment["LIBNFC_DEFAULT_DEVICE"] = "pn532_uart:/dev/ttyUSB0"
        },
        Situation("nfc.access", "a serial port of the group dialout", .broken, "may not open libnfc's reader") {
            $0.environment["LIBNFC_DEFAULT_DEVICE"] = "pn532_uart:/dev/ttyUSB0"
            try $0.write("/dev/ttyUSB0", mode: 0o000)
        },
        Situation("nfc.devices", "a device that is named and does not answer", .broken, "nothing answers there") {
            let name = "pn532_uart:/dev/ttyUSB0"
            $0.lines[.nfc] = [
                ProbeLine(step: .devices, code: 0, names: [name]),
                ProbeLine(step: .device, code: UInt32(ENODEV), name: name),
            ]
        },
        Situation("nfc.devices", "a device that the kiosk has", .fine, "Another program has pn532_uart") {
            let name = "pn532_uart:/dev/ttyUSB0"
            $0.lines[.nfc] = [
                ProbeLine(step: .devices, code: 0, names: [name]),
                ProbeLine(step: .device, code: UInt32(EBUSY), name: name),
            ]
        },
        Situation("nfc.devices", "an ACR122U that nothing serves", .broken, "does not find S550 (072f:2200)") {
            try $0.usb("072f:2200")
            try $0.daemon(readers: [])
        },
        Situation("nfc.devices", "a libnfc that hangs", .broken, "libnfc does not answer") { $0.hanging = [.nfc] },
    ]

    private static let lines: [Situation] = [
        Situation("line.access", "a line of the group dialout", .broken, "may not open the reader's line") {
            try $0.line(mode: 0o000)
        },
        Situation("line.access", "a line that minicom has open", .broken, "minicom (pid 33)") {
            try $0.line()
            try $0.process(33, "minicom", opening: "/dev/ttyACM0")
        },
        Situation("line.modem", "ModemManager, and no rule against it", .warning, "tries modem commands") {
            try $0.line()
            try $0.process(34, "ModemManager")
        },
    ]

    private static let club: [Situation] = [
        Situation("club.database", "no club yet", .note, "no club yet") { unlink($0.root + MachineTree.club) },
        Situation("club.database", "a link to itself", .broken, "leads nowhere") {
            unlink($0.root + MachineTree.club)
            try $0.link(MachineTree.club, to: "club.sqlite")
        },
        Situation("club.database", "a folder that this user may not write", .broken, "may not create") {
            unlink($0.root + MachineTree.club)
            try $0.folder("/var/lib/clubkit", mode: 0o555)
        },
        Situation("club.database", "a folder where this user makes no files", .broken, "files beside the database") {
            try $0.folder("/var/lib/clubkit", mode: 0o555)
        },
        Situation("club.database", "a file that this user may not write", .broken, "may not write") {
            chmod($0.root + MachineTree.club, 0o400)
        },
        Situation("club.database", "a file that is no database", .broken, "does not begin as one") {
            try $0.write(MachineTree.club, "PK\u{3}\u{4} an archive of something", mode: 0o600)
            chown($0.root + MachineTree.club, $0.user.id, 4711)
        },
        Situation("club.database", "mode 0644", .warning, "Others may read") {
            chmod($0.root + MachineTree.club, 0o644)
        },
        Situation("club.filesystem", "a database in memory", .warning, "in memory only") {
            try $0.write("/proc/self/mounts", MachineTree.mounts + "tmpfs /var/lib tmpfs rw 0 0\n")
        },
        Situation("club.filesystem", "a network file system", .warning, "network file system") {
            try $0.write("/proc/self/mounts", MachineTree.mounts + "server:/club /var/lib/clubkit nfs4 rw 0 0\n")
        },
        Situation("club.filesystem", "a stick with vfat", .warning, "(vfat)") {
            try $0.write("/proc/self/mounts", MachineTree.mounts + "/dev/sdb1 /var/lib/clubkit vfat rw 0 0\n")
        },
        Situation("club.filesystem", "a container's own layer", .warning, "own layer") {
            try $0.write("/proc/self/mounts", "overlay / overlay rw 0 0\n")
            try $0.write("/.dockerenv")
        },
        Situation("club.filesystem", "a system that forgets its changes", .warning, "may be dropped") {
            try $0.write("/proc/self/mounts", "overlayroot / overlay rw 0 0\n")
        },
        Situation("club.filesystem", "ext4 with barrier=0", .warning, "without barriers") {
            try $0.write("/proc/self/mounts", "/dev/sda1 / ext4 rw,barrier=0 0 0\n")
        },
        Situation("club.filesystem", "a disk that is read-only", .broken, "mounted read-only") {
            try $0.write("/proc/self/mounts", "/dev/sda1 / ext4 ro 0 0\n")
        },
        Situation("club.backup", "a snapshot of twenty days ago", .warning, "20 days old") {
            let folder = $0.root + MachineTree.club + ".snapshots/"
            rename(folder + "club-20260921T120000Z.sqlite", folder + "club-20260901T120000Z.sqlite")
        },
        Situation("club.backup", "a file in place of the folder", .broken, "is no folder") {
            let folder = $0.root + MachineTree.club + ".snapshots"
            try FileManager.default.removeItem(atPath: folder)
            mkfifo(folder, 0o600)
        },
        Situation("club.backup", "a club of three days without a snapshot", .warning, "no snapshot") {
            $0.now = Date(timeIntervalSinceNow: 3 * 86_400)
            try FileManager.default.removeItem(atPath: $0.root + MachineTree.club + ".snapshots")
        },
        Situation("club.backup", "a new club without a snapshot", .note, "no snapshot of the club yet") {
            $0.now = Date(timeIntervalSinceNow: 60)
            try FileManager.default.removeItem(atPath: $0.root + MachineTree.club + ".snapshots")
        },
        Situation("club.configuration", "a wrong word in the kiosk's file", .broken, "kiosk.conf:1:1: there is no key")
        {
            try $0.write("/etc/clubkit/kiosk.conf", "databse: club.sqlite\n")
        },
        Situation("club.configuration", "a theme that is not there", .broken, "kiosk.conf:1:11: screen.theme:") {
            try $0.write("/etc/clubkit/kiosk.conf", "screen: { theme: theme.yaml }\n")
        },
        Situation("club.configuration", "no file where one is named", .broken, "cannot be read") { _ in },
        Situation("club.passes", "a file of passes that is none", .broken, "The passes cannot be used") {
            try $0.write("/etc/passes.json", "{\"appleVAS\": 1}", mode: 0o600)
        },
        Situation("phones.polling", "a file of passes that is none", .cannotTell, "see club.passes") {
            try $0.write("/etc/passes.json", "{\"appleVAS\": 1}", mode: 0o600)
        },
        Situation("phones.polling", "a file with Apple passes", .note, "polling annotation") {
            try $0.write(
                "/etc/passes.json",
                #"{"appleVAS":{"passes":[{"passTypeIdentifier":"pass.com.example.club","keys":["vas.pem"]}]}}"#,
                mode: 0o600
            )
        },
        Situation("club.scenarios", "a file of scenarios that is none", .broken, "The scenarios cannot be used") {
            try $0.write("/etc/scenarios.yaml", "scenarios: 1\n")
        },
        Situation("club.service", "a service that failed", .broken, "failed (exit-code)") {
            try $0.program("systemctl", printing: "LoadState=loaded\nActiveState=failed\nResult=exit-code\nNRestarts=5")
        },
        Situation("club.service", "a service that is not started", .broken, "does not run") {
            try $0.program("systemctl", printing: "LoadState=loaded\nActiveState=inactive\nResult=success\nNRestarts=0")
        },
        Situation("club.service", "a service that ends again and again", .broken, "again and again") {
            try $0.program(
                "systemctl",
                printing:
                    "LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nNRestarts=9"
            )
        },
        Situation("club.service", "a service that is masked", .broken, "it is masked") {
            try $0.program("systemctl", printing: "LoadState=masked\nActiveState=inactive")
        },
        Situation("club.service", "a service that is not enabled", .warning, "does not start with the machine") {
            try $0.program("systemctl", printing: "LoadState=loaded\nActiveState=active\nUnitFileState=disabled")
        },
        Situation("club.service", "no service", .note, "not installed") {
            try $0.program("systemctl", printing: "LoadState=not-found")
        },
        Situation("club.service", "a service that was restarted", .warning, "restarted 5 times") {
            try $0.program("systemctl", printing: "LoadState=loaded\nActiveState=active\nResult=success\nNRestarts=5")
        },
    ]
}
