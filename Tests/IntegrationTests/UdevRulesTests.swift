import Foundation
import TestSupport
import Testing

/// The rules in `udev/`: that udev can read them, and that each reader gets what it needs.
@Suite(.timeLimit(.minutes(10))) struct UdevRulesTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("udev")

    private static let files = ["70-clubkit-readers.rules", "93-clubkit-readers-power.rules"]

    private func rules(_ file: String) throws -> UdevRules {
        try UdevRules(parsing: String(contentsOf: Self.folder.appendingPathComponent(file), encoding: .utf8))
    }

    private func assignments(_ device: UdevRules.Device) throws -> Set<String> {
        var made: Set<String> = []
        for file in Self.files {
            for token in try rules(file).assignments(for: device) {
                let attribute = token.attribute.map { "{\($0)}" } ?? ""
                made.insert("\(token.key)\(attribute)\(token.operation)\(token.value)")
            }
        }
        return made
    }

    private func usb(_ vendor: String, _ product: String) -> UdevRules.Device {
        UdevRules.Device(attributes: ["idVendor": vendor, "idProduct": product])
    }

    // MARK: Syntax

    @Test(arguments: files)
    func areWellFormed(file: String) throws {
        #expect(try !rules(file).rules.isEmpty)
    }

    /// systemd 254 and later check rules themselves. Elsewhere the strict parser above has to do.
    @Test(.enabled(if: udevadmVerifies, "this udevadm has no 'verify'"), arguments: files)
    func areAcceptedByUdevadm(file: String) throws {
        let path = Self.folder.appendingPathComponent(file).path
        let outcome = try Self.udevadm("verify", "--resolve-names=never", path)
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    private static let udevadmVerifies = (try? udevadm("verify", "--help").status == 0) ?? false

    private static func udevadm(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["udevadm"] + arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.start()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    /// The parser refuses what udev would pass over in silence.
    @Test(arguments: [
        (#"ATTRS{idVendor}="1c34", TAG+="uaccess""#, "ATTRS does not take '='"),
        (#"SUBSYSTEM="usb", TAG+="uaccess""#, "SUBSYSTEM does not take '='"),
        (#"ATTR{idVendor}=="1c34" TAG+="uaccess""#, "one comma stands between two keys"),
        (#"ATTR{idVendor}=="1c34",, TAG+="uaccess""#, "one comma stands between two keys"),
        (#"ATTR{idVendor}=="1c34", TAG+="uaccess","#, "a comma and nothing behind it"),
        (#"ATTR{idVendor}=="1c34", TAG+="uaccess"#, "the value of TAG is not closed"),
        (#"ATTR{idVendor}==1c34, TAG+="uaccess""#, "the value of ATTR has no quotation mark"),
        (#"ATTR{idVendor}=="1C34", TAG+="uaccess""#, "'1C34' is no number of four lower-case hexadecimal digits"),
        (#"ATTR{idProduct}=="0x6122", TAG+="uaccess""#, "'0x6122' is no number of four lower-case hexadecimal digits"),
        (#"ATTR{idVendor=="1c34", TAG+="uaccess""#, "the brace behind ATTR is not closed or empty"),
        (#"ATTR=="1c34", TAG+="uaccess""#, "ATTR needs a name in braces"),
        (#"KERNEL{name}=="ttyACM0", TAG+="uaccess""#, "KERNEL takes nothing in braces"),
        (#"VENDOR=="1c34", TAG+="uaccess""#, "'VENDOR' is no key"),
        (#"SYSFS{idVendor}=="1c34", TAG+="uaccess""#, "'SYSFS' is no key"),
        (#"SUBSYSTEM=="usb", MODE="0888""#, "'0888' is no octal mode"),
        (#"SUBSYSTEM=="usb", MODE+="0664""#, "MODE does not take '+='"),
        (#"SUBSYSTEM=="usb", TAG:="uaccess""#, "TAG does not take ':='"),
        (#"SUBSYSTEM=="usb", ENV{ID_MM_DEVICE_IGNORE}:="1""#, "ENV does not take ':='"),
        (#"SUBSYSTEM=="tty", SYMLINK+="/dev/reader""#, "a link is relative to /dev"),
        (#"SUBSYSTEM=="usb", OPTIONS+="last_rule""#, "'last_rule' is no option"),
        (#"SUBSYSTEM=="usb", RUN{shell}+="true""#, "RUN does not take 'shell'"),
        (#"SUBSYSTEM=="usb", ATTR{idVendor}=="1c34""#, "the rule does nothing"),
        (#"ACTION!="add", GOTO="end""#, "there is no label 'end' behind this line"),
        (#"SUBSYSTEM=="usb", TAG+="uaccess", \"#, "the rule is not finished"),
    ])
    func brokenRuleIsRefused(rule: String, reason: String) {
        #expect(throws: UdevRules.Failure(line: 2, reason: reason)) {
            try UdevRules(parsing: "# a comment\n" + rule)
        }
    }

    @Test func labelsAreChecked() throws {
        #expect(throws: UdevRules.Failure(line: 2, reason: "there is no label 'end' behind this line")) {
            try UdevRules(parsing: "LABEL=\"end\"\nACTION!=\"add\", GOTO=\"end\"")
        }
        #expect(throws: UdevRules.Failure(line: 1, reason: "nothing jumps to the label 'end'")) {
            try UdevRules(parsing: "LABEL=\"end\"")
        }
        #expect(throws: UdevRules.Failure(line: 3, reason: "the label 'end' is there already")) {
            try UdevRules(parsing: "ACTION!=\"add\", GOTO=\"end\"\nLABEL=\"end\"\nLABEL=\"end\"")
        }
    }

    @Test func aRuleMayGoOverSeveralLines() throws {
        let rules = try UdevRules(parsing: "\n  # comment\nSUBSYSTEM==\"usb\", \\\n  TAG+=\"a\\\"b\"\n").rules
        #expect(rules.map(\.line) == [3])
        #expect(rules.first?.assignments.map(\.value) == ["a\"b"])
    }

    // MARK: What the rules do

    @Test(arguments: ["6120", "6121", "6122", "6123", "6124", "612a", "abd0", "abd2", "abdf", "601a"])
    func springCardReadersAreAwakeAndOpen(product: String) throws {
        #expect(
            try assignments(usb("1c34", product)) == [
                "TAG+=uaccess", "ENV{ID_MM_DEVICE_IGNORE}=1", "ATTR{power/control}=on",
            ]
        )
    }

    @Test(arguments: [
        ("04cc", "0531"), ("054c", "0193"), ("04cc", "2533"), ("04e6", "5591"), ("04e6", "5594"), ("1fd3", "0608"),
        ("054c", "02e1"), ("072f", "2200"), ("072f", "90cc"),
    ])
    func libnfcReadersAreOpen(vendor: String, product: String) throws {
        #expect(try assignments(usb(vendor, product)) == ["GROUP=plugdev", "MODE=0664", "TAG+=uaccess"])
    }

    @Test func smartReaderLineHasItsNames() throws {
        var line = UdevRules.Device(
            kernel: "ttyACM3",
            subsystem: "tty",
            parentAttributes: ["idVendor": "1c34", "idProduct": "6124", "serial": "000A1B2C"],
            properties: [:],
            files: []
        )
        #expect(
            try assignments(line) == [
                "SYMLINK+=clubkit/smart-reader", "SYMLINK+=clubkit/smart-reader-$attr{serial}", "TAG+=uaccess",
                "ENV{ID_MM_PORT_IGNORE}=1",
            ]
        )
        line.parentAttributes["serial"] = nil
        #expect(try !assignments(line).contains("SYMLINK+=clubkit/smart-reader-$attr{serial}"))
        line.parentAttributes["idVendor"] = "0403"
        #expect(try assignments(line).isEmpty)
        line.parentAttributes["idVendor"] = "1c34"
        line.kernel = "ttyUSB0"
        #expect(try assignments(line).isEmpty)
    }

    @Test func otherDevicesAreLeftAlone() throws {
        #expect(try assignments(usb("046d", "c31c")).isEmpty)
        // Another product of the same maker.
        #expect(try assignments(usb("04cc", "2536")).isEmpty)
        var interface = usb("1c34", "6122")
        interface.properties["DEVTYPE"] = "usb_interface"
        #expect(try assignments(interface).isEmpty)
        var removal = usb("1c34", "6122")
        removal.action = "remove"
        #expect(try assignments(removal).isEmpty)
        var other = usb("1c34", "6122")
        other.subsystem = "block"
        #expect(try assignments(other).isEmpty)
        var old = usb("1c34", "6122")
        old.files = []
        #expect(try !assignments(old).contains("ATTR{power/control}=on"))
    }

    /// udev reads all files in the order of their names, whatever folder they are in.
    @Test func comeBeforeAndAfterTheRulesThatTheyDependOn() {
        #expect(Self.files[0] < "73-seat-late.rules")
        #expect(Self.files[1] > "92-libccid.rules" && Self.files[1] > "92_pcscd_ccid.rules")
    }

    @Test func modulesAreBlacklisted() throws {
        let file = Self.folder.appendingPathComponent("blacklist-clubkit-nfc.conf")
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["blacklist pn533_usb", "blacklist pn533", "blacklist nfc"])
    }
}
