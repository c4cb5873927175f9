import ClubKit
import Foundation
import Testing

@testable import Diagnosis

/// The report that leaves the house.
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
            printing: "frontdesk bert 192.168.7.20 LIBUSB_ERROR_BUSY on /home/carla/x banana"
        )
        try tree.process(30, "anna", opening: "/dev/bus/usb/001/004")
        let text = await text(tree)
        for word in ["anna ", "anna/", "bert", "frontdesk", "A1B2C3D4", "192.168", "carla"] {
            #expect(!text.contains(word) || word == "anna " && text.contains("banana"), "\(word): \(text)")
        }
        #expect(text.contains("‹serial›") && text.contains("‹host›") && text.contains("‹address›"))
        #expect(text.contains("banana"))
    }

    @Test("It ends with what to ask next")
    func questions() async throws {
        let tree = try MachineTree.healthy()
        try tree.usb("1c34:abd0")
        let text = await text(tree)
        let end = try #require(text.components(separatedBy: "What to ask next:").last)
        #expect(end.contains("driver.list: what does 'sudo systemctl restart pcscd' print?"))
        #expect(end.contains("Which reader is it"))
        #expect(text.contains("summary: The reader is on the bus"))
    }

    @Test(arguments: [
        ("SpringCard H518 [CCID] (12345678) 00 01 is busy", "SpringCard H518 [CCID] (‹serial›) 00 01 is busy"),
        ("/dev/clubkit/smart-reader-A1B2", "/dev/clubkit/smart-reader-‹serial›"),
        ("00:1A:2b:3c:4d:5e and 10.0.0.1", "‹address› and ‹address›"),
        ("pcscd 1.9.9 (4:4)", "pcscd 1.9.9 (4:4)"),
    ])
    func patterns(_ line: String, _ redacted: String) throws {
        #expect(Redactor(try MachineTree().machine).redact(line) == redacted)
    }
}
