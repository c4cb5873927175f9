import ArgumentParser
import ClubKit
import Diagnosis
import Foundation
import KioskKit
import ToolSupport

struct Doctor: ReportingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Finds out what is wrong with a kiosk, and how to mend it.",
        discussion: """
            First one sentence, then what is wrong with the commands that mend it, then how many checks are fine (--all \
            shows them). Nothing is changed without --fix. Run it as the kiosk's user, or with sudo: then it judges for that \
            user too, and sees more.

            Exit code: 0 if nothing is worse than a warning and each step of --fix or --undo was done, else 1.

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

    @Option(
        help: ArgumentHelp("Where the kiosk keeps snapshots, beside the database by default.", valueName: "folder"),
        completion: .directory
    )
    var snapshotFolder: String?

    @Option(
        help: ArgumentHelp(
            "The user who runs the kiosk: as root that of its service, else the one who called sudo, by default.",
            valueName: "name"
        )
    )
    var user: String?

    @Flag(help: .hidden) var documentation = false

    func validate() throws {
        if yes, !fix { throw ValidationError("--yes goes with --fix.") }
        if report == "-" { throw ValidationError("--report takes the path of a new file.") }
        if [watch, fix, undo, report != nil].count(where: \.self) > 1 {
            throw ValidationError("--watch, --fix, --undo and --report cannot be given together.")
        }
        let checks =
            MachineDiagnosis.readerChecks + [MachineDiagnosis.configurationCheck(nil)] + MachineDiagnosis.clubChecks()
        for id in only where !checks.contains(where: { $0.id == id || $0.id.hasPrefix(id + ".") }) {
            throw ValidationError("There is no check '\(id)'. There are: \(checks.map(\.id).joined(separator: ", ")).")
        }
    }

    func perform(_ out: Output) async throws {
        let examination = try Examination(self)
        if documentation { return try out.text(examination.diagnosis.documentation) }
        try await examination.run()
    }
}

private struct Examination {
    let command: Doctor
    let diagnosis: MachineDiagnosis
    private let user: Machine.User
    private let out: Output

    init(_ command: Doctor) throws {
        self.command = command
        out = command.output.output
        let kiosk = try Self.kioskUser(command)
        user = kiosk?.user ?? .current
        var environment = ProcessInfo.processInfo.environment
        let configuration = ClubPlace.configuration(environment: environment)
        // The place of the club is a matter of the user who runs the kiosk.
        if let kiosk {
            environment["HOME"] = kiosk.home
            environment["XDG_DATA_HOME"] = nil
        }
        // A file that cannot be used is reported by its check.
        let file = configuration.flatMap { try? KioskFile(path: $0) }
        let place = try? ClubPlace.find(environment: environment).database
        diagnosis = MachineDiagnosis(
            checks: MachineDiagnosis.readerChecks + [MachineDiagnosis.configurationCheck(configuration)]
                + MachineDiagnosis.clubChecks(
                    database: command.database.map { .file(path: $0) } ?? place,
                    snapshots: command.snapshotFolder ?? file?["backups.folder"],
                    passes: command.passes ?? file?["passes"],
                    scenarios: command.scenarios ?? file?["scenarios"]
                )
        )
    }

    /// The user of whom the checks are to judge, unless it is the one who calls.
    private static func kioskUser(_ command: Doctor) throws -> (user: Machine.User, home: String)? {
        if let name = command.user {
            guard let found = Machine.User.named(name) else { throw ValidationError("There is no user '\(name)'.") }
            guard geteuid() == 0 || found.user.id == geteuid() else {
                throw ValidationError("What another user may do is seen by root only: call it with sudo.")
            }
            return found
        }
        if geteuid() != 0 { return nil }
        let name = MachineDiagnosis.serviceUser(on: Machine()) ?? ProcessInfo.processInfo.environment["SUDO_USER"]
        return name.flatMap(Machine.User.named)
    }

    func run() async throws {
        if command.undo { return try undo() }
        var report = await look()
        if let file = command.report {
            try write(report, to: file)
            out.message("The report is in \(file). It has no names and serial numbers; read it before you send it.")
        }
        try output(all: command.all || !command.only.isEmpty).show(report)
        if command.watch { try await follow(report) }
        var isWhole = true
        if command.fix {
            let outcome = try await mend(report)
            isWhole = !outcome.isBroken
            if outcome.isTaken {
                report = await look()
                try out.text("\nNow: \(report.summary)")
            }
        }
        if report.verdict == .broken || !isWhole { throw ToolExit.failure }
    }

    private func output(all: Bool) -> DoctorOutput {
        let options = [
            ("--user", command.user), ("--database", command.database), ("--snapshot-folder", command.snapshotFolder),
            ("--passes", command.passes), ("--scenarios", command.scenarios),
        ]
        let words = options.compactMap { name, value in value.map { " \(name) \($0.shellQuoted)" } }
        return DoctorOutput(out: out, all: all, options: words.joined())
    }

    /// The machine, as it is now: libraries are asked anew.
    private var machine: Machine {
        Machine(user: user, probe: .ownExecutable(as: user.id == geteuid() ? nil : user.name))
    }

    private func look(only ids: [String]? = nil) async -> DiagnosticReport {
        let chosen = ids ?? command.only
        return await diagnosis.run(on: machine, only: chosen.isEmpty ? nil : Set(chosen))
    }

    private func write(_ report: DiagnosticReport, to file: String) throws {
        let text = SupportReport(report, on: machine, by: "readerctl \(ToolVersion.number)").text
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let handle = descriptor < 0 ? nil : FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let handle, (try? handle.write(contentsOf: Data(text.utf8))) != nil else {
            let reason = String(cString: strerror(errno))
            if handle != nil { unlink(file) }
            throw ToolFailure(
                "could not write the report to \(file): \(reason). Name a new file where there is room.",
                exit: ToolExit.inputOutput
            )
        }
    }

    // MARK: - Watching

    /// Reports each check whose finding changes, until it is interrupted.
    private func follow(_ first: DiagnosticReport) async throws {
        out.message("Watching; press Control-C to end.")
        let printer = output(all: true)
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

    /// Takes the steps that the person agrees to, and returns whether any was taken, and whether one could not be.
    private func mend(_ report: DiagnosticReport) async throws -> (isTaken: Bool, isBroken: Bool) {
        let results = report.results.filter { result in
            !result.finding.repair.isEmpty
                && (result.finding.verdict >= .warning || command.only.contains(result.check.id))
        }
        guard !results.isEmpty else {
            out.message("There is nothing that can be mended safely without a person.")
            return (false, false)
        }
        let journal = RepairJournal(machine: machine)
        var (isTaken, isBroken) = (false, false)
        for id in results.map(\.check.id) {
            // What was mended before may have changed the same file, or have put this right too.
            guard let result = await look(only: [id]).results.first, !result.finding.repair.isEmpty else { continue }
            out.message("\n\(id): \(result.finding.sentence)")
            for step in result.finding.repair { out.message("  \(step.text)") }
            guard try await agrees() else { continue }
            for step in result.finding.repair {
                do {
                    try journal.take(step, for: id)
                    isTaken = true
                    try DoctorOutput.step(step.text, of: id, out)
                } catch let failure as RepairJournal.Failure {
                    isBroken = true
                    try DoctorOutput.step(step.text, of: id, out, failure: failure.description)
                    break
                }
            }
        }
        if isTaken { out.message("'\(machine.isRoot ? "sudo " : "")readerctl doctor --undo' undoes it.") }
        return (isTaken, isBroken)
    }

    private func agrees() async throws -> Bool {
        if command.yes { return true }
        guard Terminal.canAsk else {
            throw ToolFailure(
                "nobody can be asked whether to do this: add --yes, or run it in a terminal.",
                exit: ToolExit.usage
            )
        }
        return try await Terminal.agrees(to: "Do this?", out)
    }

    private func undo() throws {
        let journal = RepairJournal(machine: machine)
        var (isEmpty, isWhole) = (true, true)
        do {
            try journal.undo(only: isChosen) { id, step, failure in
                isEmpty = false
                if failure != nil { isWhole = false }
                try? DoctorOutput.step(step, of: id, out, isUndone: true, failure: failure?.description)
            }
        } catch let failure as RepairJournal.Failure {
            throw ToolFailure("could not undo: \(failure.description)", exit: ToolExit.inputOutput)
        }
        if isEmpty { out.message("There is nothing to undo (\(journal.path)).") }
        if journal.isOfRootElsewhere {
            out.message("What was mended as root is undone by 'sudo readerctl doctor --undo'.")
        }
        if !isWhole { throw ToolExit.failure }
    }

    private func isChosen(_ id: String) -> Bool {
        command.only.isEmpty || command.only.contains { id == $0 || id.hasPrefix($0 + ".") }
    }
}

extension Machine {
    fileprivate var connected: [String] { names(in: "/sys/bus/usb/devices") + names(in: "/dev/clubkit") }
}

extension Finding {
    /// Whether it differs in more than evidence that changes all the time.
    fileprivate func isOther(than other: Finding) -> Bool { verdict != other.verdict || sentence != other.sentence }
}
