import ArgumentParser
import ClubKit
import Diagnosis
import Foundation
import ToolSupport

/// `readerctl doctor`
struct Doctor: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Finds out what is wrong with a kiosk, and how to mend it.",
        discussion: """
            First one sentence, then what is wrong with the commands that mend it, then how many checks are fine (--all \
            shows them). Nothing is changed without --fix. Run it as the kiosk's user; some checks see more as root.

            Exit code: 0 if nothing is worse than a warning, else 1.

            JSON: first a line with event "summary": severity (fine, note, cannotTell, warning, broken: the worst), \
            summary, and next (commands) if something is wrong; then for each check a line with event "check": id, \
            title, severity, message, evidence, remedy (each with command or words), and repair (what --fix would do). \
            With --watch a line with event "change" for each check whose finding changed, with was (its severity before). \
            With --fix and --undo each step is a line with event "step": id, step, isDone, message.

            EXAMPLES
              readerctl doctor
              readerctl doctor --only pcsc --all
              sudo readerctl doctor --fix
              readerctl doctor --report doctor.txt
            """
    )

    @OptionGroup var output: OutputOptions

    @Flag(help: "Show the checks too that are fine, and those that could not look.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Run only this check; 'pcsc' means all of pcscd. May be given several times.",
            valueName: "id"
        )
    )
    var only: [String] = []

    @Flag(help: "Go on, and report each change, while readers are plugged in and out.")
    var watch = false

    @Flag(help: "Mend what can be mended safely: each step is shown, and taken if you agree.")
    var fix = false

    @Flag(help: "With --fix, agree to every step.")
    var yes = false

    @Flag(help: "Undo what --fix did.")
    var undo = false

    @Option(
        help: ArgumentHelp(
            "Write all findings to a new file, without names and serial numbers, for somebody who helps.",
            valueName: "file"
        ),
        completion: .file()
    )
    var report: String?

    @Option(help: ArgumentHelp("The club's database, clubctl's by default.", valueName: "path"), completion: .file())
    var database: String?

    @Option(help: ArgumentHelp("The kiosk's file of passes.", valueName: "file"), completion: .file())
    var passes: String?

    @Option(help: ArgumentHelp("The kiosk's file of scenarios.", valueName: "file"), completion: .file())
    var scenarios: String?

    @Flag(help: .hidden) var documentation = false

    private var diagnosis: Diagnosis {
        Diagnosis(
            checks: Diagnosis.readerChecks
                + Diagnosis.clubChecks(
                    database: database.map { .file(path: $0) } ?? .standard(),
                    passes: passes,
                    scenarios: scenarios
                )
        )
    }

    func validate() throws {
        if yes, !fix { throw ValidationError("--yes goes with --fix.") }
        if [watch, fix, undo, report != nil].count(where: \.self) > 1 {
            throw ValidationError("--watch, --fix, --undo and --report cannot be given together.")
        }
        let checks = diagnosis.checks
        for id in only where !checks.contains(where: { $0.id == id || $0.id.hasPrefix(id + ".") }) {
            throw ValidationError("There is no check '\(id)'. There are: \(checks.map(\.id).joined(separator: ", ")).")
        }
    }

    func perform() async throws {
        if documentation { return try output.output.text(diagnosis.documentation) }
        try await output.output.tellingErrors { try await examine(output.output) }
    }

    private func examine(_ out: Output) async throws {
        if undo { return try undoSteps(out) }
        var report = await look()
        if let file = self.report {
            try write(report, to: file)
            out.message("The report is in \(file). It has no names and serial numbers; read it before you send it.")
        }
        try DoctorOutput(out: out, all: all || !only.isEmpty).show(report)
        if watch { try await follow(report, out) }
        if fix, try await mend(report, out) {
            report = await look()
            try out.text("\nNow: \(report.summary)")
        }
        if report.verdict == .broken { throw ToolExit.failure }
    }

    private func look() async -> DiagnosticReport {
        await diagnosis.run(on: Machine(probe: .ownExecutable), only: only.isEmpty ? nil : Set(only))
    }

    private func write(_ report: DiagnosticReport, to file: String) throws {
        let text = SupportReport(report, on: Machine(), by: "readerctl \(ToolVersion.number)").text
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let isWritten =
            descriptor >= 0
            && (try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8)))
                != nil
        guard isWritten else {
            let reason = String(cString: strerror(errno))
            throw ToolFailure(
                "could not write the report to \(file): \(reason). Name a new file.",
                exit: ToolExit.inputOutput
            )
        }
    }

    // MARK: - Watching

    /// Reports each check whose finding changes, until it is interrupted.
    private func follow(_ first: DiagnosticReport, _ out: Output) async throws {
        out.message("Watching; press Control-C to end.")
        let printer = DoctorOutput(out: out, all: true)
        var last = first
        while true {
            try await waitForChange()
            let next = await look()
            try Task.checkCancellation()
            for (old, new) in zip(last.results, next.results) where old.finding.isOther(than: new.finding) {
                try printer.change(from: old.finding.verdict, to: new)
            }
            if last.summary != next.summary { try out.text("→ \(next.summary)") }
            last = next
        }
    }

    /// Waits until something is plugged in or out, or for three seconds.
    private func waitForChange() async throws {
        let machine = Machine()
        let before = machine.connected
        for _ in 0..<10 {
            try await Task.sleep(for: .milliseconds(300))
            if machine.connected != before { return try await Task.sleep(for: .milliseconds(500)) }
        }
    }

    // MARK: - Mending

    /// Takes the steps that the person agrees to.
    ///
    /// - Returns: whether any was taken.
    private func mend(_ report: DiagnosticReport, _ out: Output) async throws -> Bool {
        let results = report.results.filter { result in
            !result.finding.repair.isEmpty && (result.finding.verdict >= .warning || only.contains(result.check.id))
        }
        guard !results.isEmpty else {
            out.message("There is nothing that can be mended safely without a person.")
            return false
        }
        let journal = RepairJournal(machine: Machine())
        var taken: Set<RepairStep> = []
        for result in results {
            out.message("\n\(result.check.id): \(result.finding.sentence)")
            for step in result.finding.repair { out.message("  \(step.text)") }
            guard try await agrees(out) else { continue }
            for step in result.finding.repair where !taken.contains(step) {
                do {
                    try journal.take(step)
                    taken.insert(step)
                    try DoctorOutput.step(step.text, of: result.check.id, out)
                } catch let failure as RepairJournal.Failure {
                    try DoctorOutput.step(step.text, of: result.check.id, out, failure: failure.description)
                    break
                }
            }
        }
        if !taken.isEmpty { out.message("'readerctl doctor --undo' undoes it.") }
        return !taken.isEmpty
    }

    private func agrees(_ out: Output) async throws -> Bool {
        if yes { return true }
        guard Terminal.canAsk else {
            throw ToolFailure(
                "nobody can be asked whether to do this: add --yes, or run it in a terminal.",
                exit: ToolExit.usage
            )
        }
        return try await Terminal.agrees(to: "Do this?", out)
    }

    private func undoSteps(_ out: Output) throws {
        let journal = RepairJournal(machine: Machine())
        var isEmpty = true
        let isWhole: Bool
        do {
            isWhole = try journal.undo { line in
                isEmpty = false
                try? DoctorOutput.step(line, of: nil, out, isUndone: true)
            }
        } catch let failure as RepairJournal.Failure {
            throw ToolFailure("could not undo: \(failure.description)", exit: ToolExit.inputOutput)
        }
        if isEmpty { out.message("There is nothing to undo (\(journal.path)).") }
        if !isWhole { throw ToolExit.failure }
    }
}

extension Machine {
    /// What is plugged in.
    fileprivate var connected: [String] { names(in: "/sys/bus/usb/devices") + names(in: "/dev/clubkit") }
}

extension Finding {
    /// Whether it differs in more than evidence that changes all the time.
    fileprivate func isOther(than other: Finding) -> Bool { verdict != other.verdict || sentence != other.sentence }
}
