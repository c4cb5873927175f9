import ClubKit
import Foundation
import KioskKit
import Testing

@testable import Diagnosis

/// The checks, each on the files of a machine with the trouble, and on one without any.
@Suite struct CheckTests {
    /// All checks, on the club of ``MachineTree``.
    static let diagnosis = patient(
        checks: MachineDiagnosis.readerChecks + [MachineDiagnosis.configurationCheck(KioskFile.standardPath)]
            + MachineDiagnosis.clubChecks(
                database: .file(path: MachineTree.club),
                passes: "/etc/passes.json",
                scenarios: "/etc/scenarios.yaml"
            )
    )

    /// The checks without the files that not every kiosk has.
    private static let healthy = patient(
        checks: MachineDiagnosis.readerChecks + [MachineDiagnosis.configurationCheck(nil)]
            + MachineDiagnosis.clubChecks(database: .file(path: MachineTree.club))
    )

    /// Checks that have as long as a busy machine takes.
    private static func patient(checks: [Check]) -> MachineDiagnosis {
        var diagnosis = MachineDiagnosis(checks: checks)
        diagnosis.timeLimit = .seconds(60)
        return diagnosis
    }

    @Test("A machine without trouble: every check is fine, one by one")
    func fine() async throws {
        let tree = try MachineTree.healthy()
        defer { withExtendedLifetime(tree) {} }
        let report = await Self.healthy.run(on: tree.machine)
        for result in report.results {
            #expect(result.finding.verdict == .fine, "\(result.check.id): \(result.finding)")
            #expect(result.finding.remedy.isEmpty && result.finding.repair.isEmpty)
        }
        #expect(report.results.count == Self.healthy.checks.count)
        #expect(report.summary == "Nothing is wrong. pcscd serves SpringCard H518 [CCID] (A1B2C3D4) 00 00.")
    }

    @Test("A trouble is found by its check", arguments: Situation.all.indices)
    func trouble(_ index: Int) async throws {
        let situation = Situation.all[index]
        let tree = try MachineTree.healthy()
        defer { withExtendedLifetime(tree) {} }
        try situation.make(tree)
        let report = await Self.diagnosis.run(on: tree.machine, only: [situation.check])
        let finding = try #require(report.results.first).finding
        #expect(finding.verdict == situation.verdict, "\(situation.check), \(situation.trouble): \(finding)")
        #expect(finding.sentence.contains(situation.words), "\(situation.check), \(situation.trouble): \(finding)")
        if situation.verdict >= .warning { #expect(!finding.remedy.isEmpty, "\(situation.check): nothing to do") }
    }

    @Test("Every check has a trouble in the table, but for the one of the free space, which takes a real disk")
    func complete() {
        let missing = Set(Self.diagnosis.checks.map(\.id)).subtracting(Situation.all.map(\.check))
        #expect(missing == ["club.space"])
        #expect(Set(Self.diagnosis.checks.map(\.id)).count == Self.diagnosis.checks.count)
    }

    @Test("Called as root, the files of passes are judged as the kiosk's user sees them", .enabled(if: geteuid() == 0))
    func passesOfAnother() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        chmod(folder, 0o755)
        let file = folder + "/passes.json"
        try Data("{}".utf8).write(to: URL(fileURLWithPath: file))
        let rows: [(owner: uid_t, mode: mode_t, verdict: Verdict)] = [
            (4711, 0o600, .fine), (0, 0o644, .fine), (0, 0o600, .broken), (4712, 0o644, .broken),
        ]
        for row in rows {
            chown(file, row.owner, 0)
            chmod(file, row.mode)
            let machine = Machine(user: .init(name: "kiosk", id: 4711, groups: [4711]))
            let finding = try #require(
                await MachineDiagnosis(checks: MachineDiagnosis.clubChecks(passes: file)).run(
                    on: machine,
                    only: ["club.passes"]
                )
                .results.first
            ).finding
            #expect(finding.verdict == row.verdict, "\(row): \(finding)")
        }
    }

    @Test("What is wrong first is the summary: the cause, not what follows from it")
    func summaries() async throws {
        let tree = try MachineTree.healthy()
        unlink(tree.root + "/run/pcscd/pcscd.comm")
        unlink(tree.root + "/proc/20/comm")
        tree.lines[.service] = [ProbeLine(step: .connect, code: UInt32(ENOENT))]
        tree.lines[.readers] = [ProbeLine(step: .context, code: 0x8010_001D)]
        #expect(await Self.healthy.run(on: tree.machine).summary == "pcscd does not run: start it.")

        let unlisted = try MachineTree.healthy()
        try unlisted.usb("1c34:abd0")
        try unlisted.daemon(readers: [])
        let words = "The reader is on the bus, but pcscd does not list its number: add 1c34:abd0 to the driver's list."
        #expect(await Self.healthy.run(on: unlisted.machine).summary == words)
        withExtendedLifetime((tree, unlisted)) {}
    }

    @Test("The pcscd that another check asks for its version is not taken for the service")
    func askedDaemon() async throws {
        let tree = try MachineTree.healthy()
        unlink(tree.root + "/run/pcscd/pcscd.comm")
        try tree.write("/proc/20/status", "Name:\tpcscd\nState:\tR (running)\nPid:\t20\nPPid:\t\(getpid())\n")
        let report = await Self.healthy.run(on: tree.machine, only: ["pcsc.service"])
        #expect(report.summary == "pcscd does not run: start it.")
        withExtendedLifetime(tree) {}
    }

    @Test("A check that hangs, and one that fails, keep no other waiting")
    func apart() async throws {
        let hanging = Check(id: "a.hangs", title: "", looksAt: "", explanation: "") { _ in
            while true { sleep(60) }
        }
        let failing = Check(id: "a.fails", title: "", looksAt: "", explanation: "") { _ in throw CancellationError() }
        let fine = Check(id: "a.works", title: "", looksAt: "", explanation: "") { _ in .fine("It works.") }
        var diagnosis = MachineDiagnosis(checks: [hanging, failing, fine])
        diagnosis.timeLimit = .seconds(3)
        let report = await diagnosis.run(on: Machine(root: "/nowhere"))
        #expect(report.results.map(\.finding.verdict) == [.cannotTell, .cannotTell, .fine])
        #expect(report.results[0].finding.sentence.contains("does not answer"))
        #expect(report.results[2].finding.sentence == "It works.")
        // One that has not returned yet is not begun once more.
        diagnosis.timeLimit = .seconds(3600)
        let again = await diagnosis.run(on: Machine(root: "/nowhere"), only: ["a.hangs"])
        #expect(again.results[0].finding.sentence.contains("does not answer"))
    }

    @Test("Looking changes nothing: every file before and after")
    func unchanged() async throws {
        let tree = try MachineTree.healthy()
        let before = try contents(tree)
        _ = await Self.diagnosis.run(on: tree.machine)
        #expect(try contents(tree) == before)
    }

    private func contents(_ tree: MachineTree) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: tree.root)
        return names.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: tree.root + "/" + $1) ?? Data() }
    }
}
