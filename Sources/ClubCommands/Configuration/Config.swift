import ArgumentParser
import ClubKit
import Diagnosis
import Foundation
import KioskKit
import ToolSupport

struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The file that configures the kiosk.",
        subcommands: [ConfigCheck.self, ConfigExample.self]
    )
}

struct ConfigCheck: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks the kiosk's file, and names file, line and column of all that is wrong.",
        discussion: """
            Files that it names are checked too: passes, scenarios, the theme, the programs of messages, and whether \
            what the kiosk writes can be there, also under the restrictions of its service. Run it as the kiosk's user, or as root: then it judges for the user of the service.

            Exit code 0 when the kiosk can use the file, 65 when something is malformed, 66 when the file, or one that it \
            names, is not there or may not be used by the kiosk, 1 when it may not be read by the user who asks.

            JSON keys of a finding: severity (error), file (in which it is), line and column (from 1; 0 for the file as a \
            whole), path (the key, empty for the whole), message, hint. A file without findings prints nothing on \
            standard output.

            EXAMPLES
              clubctl config check
              clubctl config check kiosk.conf
            """
    )

    @OptionGroup var output: OutputOptions

    @Argument(
        help: ArgumentHelp(
            "The file.",
            discussion: "By default that which \(KioskFile.variable) names, or \(KioskFile.standardPath)."
        ),
        completion: .file()
    )
    var file: String?

    func perform(_ out: Output) async throws {
        let environment = ProcessInfo.processInfo.environment
        let path = file ?? ClubPlace.configuration(environment: environment) ?? KioskFile.standardPath
        let user = OtherUser.service?.user
        let machine = Machine(user: user ?? .current)
        let faults: [KioskFile.FileFinding]
        do {
            let (file, token) = try machine.asUser {
                let file = try KioskFile.ofKiosk(path)
                return (file, file.tokenFindings)
            }
            faults = file.findings(on: machine) + token
        } catch let error as KioskFileError {
            if error.forThisUser is AnothersClub { throw error.forThisUser }
            let isUnreadable = error.unreadable != nil
            faults = error.findings.map { .init(file: path, finding: $0, isUnreadable: isUnreadable) }
        }
        for fault in faults {
            let finding = fault.finding
            try out.result(
                fields: [
                    "severity": "error", "file": fault.file, "line": finding.line, "column": finding.column,
                    "path": finding.path, "message": finding.message, "hint": finding.hint,
                ],
                text: fault.text
            )
        }
        let whose = user.map { " by the user \($0.name)" } ?? ""
        guard !faults.isEmpty else { return out.message("\(path) can be used\(whose).") }
        out.message("\(path) cannot be used\(whose): \(Count.text(faults.count, "fault")).")
        throw faults.allSatisfy(\.isUnreadable) ? ToolExit.noInput : ToolExit.malformed
    }
}

struct ConfigExample: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "example",
        abstract: "Prints a file with every key and what it is for.",
        discussion: """
            It has no JSON: what it prints is YAML.

            EXAMPLES
              clubctl config example > kiosk.conf
            """
    )

    func perform() async throws {
        #if NETWORK
        let text = KioskFile.example()
        #else
        let text = KioskFile.example(omitting: ["http.address"])
        #endif
        try Output(json: false).text(String(text.dropLast()))
    }
}

extension KioskFile {
    /// A file as this build of the tool can use it.
    static func ofKiosk(_ path: String) throws(KioskFileError) -> KioskFile {
        let file = try KioskFile(path: path)
        #if !NETWORK
        if let setting = file.settings["http.address"] {
            let finding = YAMLFinding(
                line: setting.line,
                column: setting.column,
                path: "http.address",
                message: "this clubctl was built without the network",
                hint: "Remove 'http', or build it with the trait Network, as 'Scripts/kiosk --http ADDRESS' does."
            )
            throw KioskFileError(path: path, findings: [finding])
        }
        #endif
        return file
    }

    /// What is wrong with the token that other machines need; nothing if it is yet to be made.
    fileprivate var tokenFindings: [FileFinding] {
        #if NETWORK
        guard let file = self["http.tokenFile"], FileManager.default.fileExists(atPath: file) else { return [] }
        do throws(ToolFailure) {
            _ = try HTTPOptions.existingToken(file)
            return []
        } catch {
            let finding = YAMLFinding(
                line: settings["http.tokenFile"]?.line ?? 0,
                column: settings["http.tokenFile"]?.column ?? 0,
                path: "http.tokenFile",
                message: error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message,
                hint: "Or remove the file, and a new token is made."
            )
            return [FileFinding(file: path, finding: finding, isUnreadable: error.exit == ToolExit.noInput)]
        }
        #else
        return []
        #endif
    }
}
