import ClubKit
import Foundation
import Testing

@testable import Diagnosis

/// The report that leaves the site.
@Suite struct SupportReportTests {
    private func text(_ tree: MachineTree) async -> String {
        defer { withExtendedLifetime(tree) {} }
        return SupportReport(await CheckTests.diagnosis.run(on: tree.machine), on: tree.machine, by: "readerctl 0").text
    }

    @Test("Names, serial numbers and addresses are replaced, also inside of other words' neighbours")
    func redacted() async throws {
        let tree = try MachineTree.healthy()
        tree.user.name = "anna"
        tree.environment = [
            "HOME": "/home/anna", "LIBNFC_DEFAULT_DEVICE": "pn532_uart:/home/anna/tty", "SUDO_USER": "bert",
        ]
        try tree.write("/etc/hostname", "frontdesk\n")
        try tree.program(
            "journalctl",
            printing:
                "\(tree.now.timeIntervalSince1970) frontdesk bert 192.168.7.20 LIBUSB_ERROR_BUSY on /home/carla/x banana"
        )
        try tree.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\ndoris:x:1001:1001::/home/doris:/bin/sh\n")
        try tree.process(34, "doris", opening: "/dev/bus/usb/001/004")
        try tree.process(30, "anna", opening: "/dev/bus/usb/001/004")
        let text = await text(tree)
        for word in ["bert", "frontdesk", "A1B2C3D4", "192.168", "carla", "doris"] {
            #expect(!text.contains(word), "\(word): \(text)")
        }
        #expect(!text.replacingOccurrences(of: "banana", with: "").contains("anna"), "\(text)")
        #expect(text.contains("‹serial›") && text.contains("‹host›") && text.contains("‹address›"))
        #expect(text.contains("banana"))
    }

    @Test("It ends with what to ask next")
    func questions() async throws {
        let tree = try MachineTree.healthy()
        try tree.usb("1c34:abd0")
        let text = await text(tree)
        let end = try #require(text.components(separatedBy: "What to ask next:").last)
        #expect(end.contains("what does 'readerctl doctor --only driver.list' print since?"))
        #expect(end.contains("Which reader is it"))
        #expect(text.contains("summary: The reader is on the bus"))
    }

    @Test(arguments: [
        ("SpringCard H518 [CCID] (12345678) 00 01 is busy", "SpringCard H518 [CCID] (‹serial›) 00 01 is busy"),
        ("/dev/clubkit/smart-reader-A1B2", "/dev/clubkit/smart-reader-‹serial›"),
        ("00:1A:2b:3c:4d:5e and 10.0.0.1", "‹address› and ‹address›"),
        ("pcscd 1.9.9 (4:4)", "pcscd 1.9.9 (4:4)"),
        ("at 2026-11-24T12:00:00Z, 12:00:00", "at 2026-11-24T12:00:00Z, 12:00:00"),
        ("fe80::1%eth0 and 2001:db8::17:1", "‹address› and ‹address›"),
        ("/media/anna/stick and /run/media/bert/x", "/media/‹user›/stick and /run/media/‹user›/x"),
        (
            "pn532_uart:/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0",
            "pn532_uart:/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_‹serial›-if00-port0"
        ),
    ])
    func patterns(_ line: String, _ redacted: String) throws {
        #expect(Redactor(try MachineTree().machine).redact(line) == redacted)
    }

    @Test("A user whose name is one of the doctor's own words is nobody")
    func ownWords() async throws {
        let tree = try MachineTree.healthy()
        tree.user.name = "kiosk"
        try tree.program("systemctl", printing: "LoadState=loaded\nActiveState=inactive")
        #expect(await text(tree).contains("The kiosk's service does not run."))
    }
}
