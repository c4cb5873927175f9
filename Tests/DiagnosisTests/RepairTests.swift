import ClubKit
import Foundation
import Testing

@testable import Diagnosis

/// What `--fix` does, and how it is undone.
@Suite struct RepairTests {
    private let tree: MachineTree
    private let journal: RepairJournal

    init() throws {
        tree = try MachineTree.healthy()
        journal = RepairJournal(machine: tree.machine)
    }

    /// Takes the steps of a check's finding.
    private func repair(_ id: String) async throws {
        let report = await CheckTests.diagnosis.run(on: tree.machine, only: [id])
        let steps = try #require(report.results.first).finding.repair
        #expect(!steps.isEmpty)
        for step in steps { try journal.take(step, for: id) }
    }

    /// Undoes all, and returns what was reported; a failure stands behind its step.
    private func undo(only id: String? = nil) throws -> [String] {
        var lines: [String] = []
        try journal.undo(only: { id == nil || $0 == id }) { lines.append($1 + ($2.map { ": \($0)" } ?? "")) }
        return lines
    }

    private func verdict(_ id: String) async throws -> Verdict {
        try #require(await CheckTests.diagnosis.run(on: tree.machine, only: [id]).results.first).finding.verdict
    }

    @Test("A reader is added to the driver's list, and taken out again")
    func list() async throws {
        try tree.program("systemctl", printing: "")
        try tree.usb("1c34:abd0")
        let before = tree.text("/etc/libccid_Info.plist")
        #expect(try await verdict("driver.list") == .broken)
        try await repair("driver.list")
        #expect(try await verdict("driver.list") == .fine)
        #expect(try await verdict("driver.escape") == .fine)
        let text = try #require(tree.text("/etc/libccid_Info.plist"))
        #expect(text.contains("\t\t<string>0x6122</string>\n\t\t<string>0xABD0</string>\n\t</array>"))
        #expect(text.contains("\t\t<string>S550</string>\n\t</array>"))
        #expect(try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil) is [String: Any])
        // The list itself is a file of /etc, to which the bundle has a link.
        #expect(try tree.machine.link("/usr/lib/pcsc/drivers/ifd-ccid.bundle/Contents/Info.plist") != nil)

        // What was restored counts once pcscd was started anew.
        #expect(try undo() == ["Restored /etc/libccid_Info.plist.", "Ran: systemctl try-restart pcscd.service"])
        #expect(tree.text("/etc/libccid_Info.plist") == before)
        #expect(try undo().isEmpty)
    }

    /// Whoever undoes it does what it says.
    @Test("A journal that others have written, or may write, is not followed")
    func journalOfOthers() throws {
        try journal.take(.write(path: "/etc/mended", contents: "a"), for: "x")
        let (path, folder) = (journal.path, (journal.path as NSString).deletingLastPathComponent)
        func isRefused(_ change: () throws -> Void, back: () throws -> Void) throws {
            try change()
            #expect(throws: (any Error).self) { try undo() }
            try back()
        }
        try isRefused({ chmod(path, 0o620) }, back: { chmod(path, 0o600) })
        try isRefused({ chmod(folder, 0o702) }, back: { chmod(folder, 0o700) })
        if geteuid() == 0 { try isRefused({ chown(path, 1, 0) }, back: { chown(path, 0, 0) }) }
        let other = path + ".other"
        try isRefused(
            {
                rename(path, other)
                symlink(other, path)
            },
            back: { unlink(path) }
        )
        try isRefused({ mkfifo(path, 0o600) }, back: { rename(other, path) })
        #expect(try undo() == ["Removed /etc/mended."])
    }

    private static func takeTogether(_ count: Int, on machine: Machine) {
        DispatchQueue.concurrentPerform(iterations: count) { number in
            let step = RepairStep.write(path: "/etc/several/\(number)", contents: "\(number)\n")
            try? RepairJournal(machine: machine).take(step, for: "several")
        }
    }

    @Test("Several doctors at once keep each step")
    func severalDoctors() throws {
        let folder = tree.root + "/etc/several"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        Self.takeTogether(16, on: tree.machine)
        #expect(tree.machine.names(in: "/etc/several").count == 16)
        #expect(try undo().count == 16)
        #expect(tree.machine.names(in: "/etc/several").isEmpty)
    }

    @Test("A journal that names no program, and one that cannot be read, are reported")
    func strangeJournals() throws {
        try tree.write(
            String(journal.path.dropFirst(tree.root.count)),
            #"[{"at":0,"check":"x","step":{"apply":{"_0":[]}}}]"#
        )
        #expect(try undo().first?.contains("names no program") == true)
        unlink(journal.path)
        try FileManager.default.createDirectory(atPath: journal.path, withIntermediateDirectories: true)
        #expect(throws: RepairJournal.Failure.self) { try undo() }
        #expect(throws: RepairJournal.Failure.self) {
            try journal.take(.write(path: "/etc/new", contents: "x\n"), for: "x")
        }
        #expect(!tree.machine.exists("/etc/new"))
    }

    @Test("What stands where the new file is to be is not written through")
    func planted() throws {
        try tree.write("/etc/other", "kept\n")
        try tree.link("/etc/rule.clubkit-new", to: tree.root + "/etc/other")
        try journal.take(.write(path: "/etc/rule", contents: "new\n"), for: "x")
        #expect(tree.text("/etc/other") == "kept\n" && tree.text("/etc/rule") == "new\n")
    }

    @Test("Escape commands are allowed without a change of the driver's other options")
    func escape() async throws {
        try tree.driver(options: "0x0004")
        try tree.program("systemctl", printing: "")
        try await repair("driver.escape")
        #expect(tree.text("/etc/libccid_Info.plist")?.contains("<string>0x0005</string>") == true)
        _ = try undo()
        #expect(tree.text("/etc/libccid_Info.plist")?.contains("<string>0x0004</string>") == true)
    }

    @Test("Rules for udev are installed, and removed again")
    func rules() async throws {
        try FileManager.default.removeItem(atPath: tree.root + "/etc/udev")
        try tree.program("udevadm", printing: "")
        try await repair("udev.rules")
        #expect(try await verdict("udev.rules") == .fine)
        _ = try undo()
        #expect(tree.machine.names(in: "/etc/udev/rules.d").isEmpty)
    }

    @Test("A reader is kept awake, and what was there comes back")
    func power() async throws {
        try tree.usb(power: "auto")
        try await repair("usb.power")
        #expect(try await verdict("usb.power") == .fine)
        _ = try undo()
        #expect(try await verdict("usb.power") == .warning)
    }

    @Test("A file that was changed since is left as it is, and stays in the journal")
    func changedSince() async throws {
        try FileManager.default.removeItem(atPath: tree.root + "/etc/udev")
        try tree.program("udevadm", printing: "")
        try await repair("udev.rules")
        try tree.write("/etc/udev/rules.d/70-clubkit-readers.rules", "# somebody's own\n")
        #expect(try undo().contains { $0.contains("70-clubkit-readers.rules") && $0.contains("it was changed since.") })
        #expect(tree.text("/etc/udev/rules.d/70-clubkit-readers.rules") == "# somebody's own\n")
        #expect(!tree.machine.exists("/etc/udev/rules.d/93-clubkit-readers-power.rules"))
        try tree.write("/etc/udev/rules.d/70-clubkit-readers.rules", SystemFile.rules[0].contents)
        #expect(try undo() == ["Removed /etc/udev/rules.d/70-clubkit-readers.rules."])
    }

    @Test("Two repairs of one file, undone together and one by one")
    func together() async throws {
        try tree.program("systemctl", printing: "")
        for only in [nil, "driver.escape"] {
            try tree.driver(options: "0x0000")
            try tree.usb("1c34:abd0")
            let before = tree.text("/etc/libccid_Info.plist")
            try await repair("driver.list")
            let between = tree.text("/etc/libccid_Info.plist")
            try await repair("driver.escape")
            #expect(try await verdict("driver.list") == .fine)
            #expect(try await verdict("driver.escape") == .fine)
            let lines = try undo(only: only)
            #expect(lines.count { $0 == "Ran: systemctl try-restart pcscd.service" } == 1)
            #expect(tree.text("/etc/libccid_Info.plist") == (only == nil ? before : between))
            _ = try undo()
        }
    }

    @Test("What was kept and not done, by a process that was killed, counts as undone")
    func killed() throws {
        try tree.write("/etc/x", "old\n")
        try journal.take(.write(path: "/etc/x", contents: "new\n"), for: "a.b")
        try tree.write("/etc/x", "old\n")
        #expect(try undo() == ["/etc/x is as it was."])
        #expect(try undo().isEmpty)
    }

    @Test("A step that fails changes nothing and is not in the journal")
    func failing() throws {
        try tree.program("systemctl", printing: "", exit: 1)
        #expect(throws: RepairJournal.Failure.self) {
            try journal.take(.run(["systemctl", "start", "x"], undo: ["systemctl", "stop", "x"]), for: "a.b")
        }
        #expect(throws: RepairJournal.Failure.self) {
            try journal.take(.run(["no-such-program"], undo: []), for: "a.b")
        }
        #expect(throws: RepairJournal.Failure.self) {
            try journal.take(.set(path: "/sys/absent", value: "on"), for: "a.b")
        }
        try tree.write("/blocked", "a file")
        #expect(throws: RepairJournal.Failure.self) {
            try journal.take(.write(path: "/blocked/file", contents: "x\n"), for: "a.b")
        }
        #expect(try undo().isEmpty)
    }

    @Test("A journal that is damaged is no journal: nothing is done without one")
    func damaged() throws {
        try FileManager.default.createDirectory(
            atPath: (journal.path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data("[{".utf8).write(to: URL(fileURLWithPath: journal.path))
        #expect(throws: RepairJournal.Failure.self) {
            try journal.take(.write(path: "/new", contents: "x\n"), for: "a.b")
        }
        #expect(!tree.machine.exists("/new"))
    }
}
