import ClubKit
import Diagnosis
import Foundation

extension MachineDiagnosis {
    /// Whether the kiosk's file can be used, and the files that it names, besides passes and scenarios.
    ///
    /// - Parameter path: the file; `nil` if the kiosk has none.
    package static func configurationCheck(_ path: String?) -> Check {
        Check(
            id: "club.configuration",
            title: "The kiosk's file can be used",
            looksAt:
                "\(KioskFile.standardPath), or the file of \(KioskFile.variable); what it names; the service's unit",
            explanation: "A wrong word in it, or a file that it names and is not there, keeps the kiosk from opening."
        ) { machine in
            guard let path else { return .fine("The kiosk has no file: its options are all there is.") }
            let faults: [String]
            do {
                let file = try machine.asUser { try KioskFile(path: path, root: machine.root) }
                // Passes and scenarios have checks of their own.
                let contents = KioskFile.Content.all.subtracting([.passes, .scenarios])
                faults = file.findings(contents, on: machine).map(\.text)
            } catch let error as KioskFileError {
                if error.unreadable == EACCES, geteuid() != 0, machine.root.isEmpty {
                    return .cannotTell(
                        "This user may not read \(path).",
                        remedy: [.command("sudo readerctl doctor")]
                    )
                }
                faults = error.findings.map { $0.text(in: path) }
            }
            guard let first = faults.first else { return .fine("The kiosk's file can be used.") }
            return .broken(
                "The kiosk's file cannot be used: \(first)",
                evidence: Array(faults.dropFirst()),
                remedy: [
                    .instruction("Mend that; this repeats the check:"),
                    .command("sudo clubctl config check \(path.shellQuoted)"),
                ] + machine.restartKiosk
            )
        }
    }
}
