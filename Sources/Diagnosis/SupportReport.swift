import Foundation

/// A report for somebody who is not there: all findings without what identifies people, machines and readers, and what
/// to ask next.
public struct SupportReport: Sendable {
    /// The text, with line ends.
    public let text: String

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - report: what was found.
    ///   - machine: where it was found.
    ///   - program: the program and its version.
    public init(_ report: DiagnosticReport, on machine: Machine, by program: String) {
        let system = (machine.text("/etc/os-release") ?? "").split(separator: "\n")
            .first { $0.hasPrefix("PRETTY_NAME=") }.map {
                $0.dropFirst(12).trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            }
        var lines = [
            "A report of ClubKit's doctor", "",
            "made:    \(machine.now.formatted(.iso8601)) by \(program)",
            "system:  \(system ?? "unknown"), Linux \(machine.line("/proc/sys/kernel/osrelease") ?? "unknown")",
            "user:    \(machine.isRoot ? "root" : "not root")",
            "summary: \(report.summary)", "",
        ]
        for verdict in Verdict.allCases.reversed() {
            for result in report.results where result.finding.verdict == verdict {
                lines.append("[\(verdict.words)] \(result.check.id): \(result.finding.sentence)")
                lines += result.finding.evidence.map { "    seen: \($0)" }
                lines += result.finding.remedy.map {
                    "    do:   \($0.text.replacingOccurrences(of: "\n", with: "\n          "))"
                }
            }
        }
        let devices = machine.usbDevices ?? []
        lines += ["", "USB devices:"] + devices.map { "    \($0.number) \($0.name ?? "")" }
        let variables = machine.environment.keys.filter { $0.hasPrefix("PCSCLITE_") || $0.hasPrefix("LIBNFC_") }
            .sorted()
        lines += ["Environment:"] + variables.map { "    \($0)=\(machine.environment[$0] ?? "")" }
        lines += ["", "What to ask next:"] + Self.questions(report).map { "  - \($0)" } + [""]
        let redactor = Redactor(machine, sparing: report.results.map(\.check))
        text = lines.map(redactor.redact).joined(separator: "\n")
    }

    /// What a supporter cannot know from the findings.
    static func questions(_ report: DiagnosticReport) -> [String] {
        let wrong = report.results.filter { $0.finding.verdict >= .warning }
        let blind = report.results.filter { $0.finding.verdict == .cannotTell }.map(\.check.id)
        var questions = wrong.prefix(5).map { result in
            "\(result.check.id): was it done as described, and what does 'readerctl doctor --only \(result.check.id)' "
                + "print since?"
        }
        if wrong.isEmpty {
            questions.append("What does the kiosk do when a card is held to the reader, and what does it print?")
            questions.append("What does 'readerctl watch --json' print while a card is laid down and taken away?")
        }
        if !blind.isEmpty {
            questions.append("Is it the same with sudo? These could not look: \(blind.joined(separator: ", ")).")
        }
        return questions + [
            "Which reader is it, which lamps does it show, and is it charged?",
            "Did it work before, and what was changed since: cable, hub, update, another program?",
        ]
    }
}

extension Verdict {
    /// For people.
    public var words: String { self == .cannotTell ? "cannot tell" : rawValue }
}

/// Replaces what identifies a person, a machine or a reader.
struct Redactor: Sendable {
    private let names: [(String, String)]

    /// Creates a redactor.
    ///
    /// - Parameter checks: whose words stay: a user 'kiosk' is nobody, and a report without that word is hard to read.
    init(_ machine: Machine, sparing checks: [Check] = []) {
        var names: [(String, String)] = []
        if let home = machine.environment["HOME"], home.count > 1, home != "/root" { names.append((home, "~")) }
        let people = (machine.text("/etc/passwd") ?? "").split(separator: "\n").compactMap { line -> String? in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            return fields.count > 2 && (1000..<65_000).contains(Int(fields[2]) ?? 0) ? String(fields[0]) : nil
        }
        for user in people + [machine.user.name, machine.environment["SUDO_USER"] ?? "root"] where user != "root" {
            names.append((user, "‹user›"))
        }
        if let host = machine.line("/etc/hostname") { names.append((host, "‹host›")) }
        let own = checks.flatMap { [$0.title, $0.looksAt, $0.explanation] }.joined(separator: " ").lowercased()
        let words = Set(own.split { !$0.isLetter && !$0.isNumber }.map(String.init))
        names.removeAll { words.contains($0.0.lowercased()) }
        for serial in (machine.usbDevices ?? []).compactMap(\.serial) where serial.count > 3 {
            names.append((serial, "‹serial›"))
        }
        // What is part of something longer goes after it.
        self.names = names.filter { !$0.0.isEmpty }.sorted { $0.0.count > $1.0.count }
    }

    func redact(_ line: String) -> String {
        var line = line
        for (name, placeholder) in names {
            // Whole words only: a user 'a' is not every 'a'.
            let pattern = "(?<![A-Za-z0-9])" + NSRegularExpression.escapedPattern(for: name) + "(?![A-Za-z0-9])"
            line = line.replacingOccurrences(of: pattern, with: placeholder, options: .regularExpression)
        }
        for (pattern, placeholder) in Self.patterns {
            line = line.replacingOccurrences(of: pattern, with: placeholder, options: .regularExpression)
        }
        return line
    }

    private static let patterns = [
        // The serial number that pcscd puts into a reader's name, before the numbers of reader and slot.
        (#"\([^()]{3,}\)(?= [0-9A-F]{2} [0-9A-F]{2})"#, "(‹serial›)"),
        (#"smart-reader-[A-Za-z0-9]+"#, "smart-reader-‹serial›"),
        (#"(/by-id/[^\s:]*)_[^\s:_]+?(-if[0-9]+|-port[0-9]+|-event-kbd|(?=[\s:]|$))"#, "$1_‹serial›$2"),
        (#"(/home|/media|/run/media)/[^/\s]+"#, "$1/‹user›"),
        (#"\b(\d{1,3}\.){3}\d{1,3}\b"#, "‹address›"),
        (#"\b([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b"#, "‹address›"),
        // IPv6, which a time of day is not.
        (
            #"(?<![0-9A-Za-z:])(?=\S*([A-Fa-f]|::))([0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(%\w+)?(?![0-9A-Za-z:])"#,
            "‹address›"
        ),
        (#"(?<![0-9A-Za-z:])[fF][cdeCDE][0-9A-Fa-f]{2}::[0-9A-Fa-f:]+(%\w+)?"#, "‹address›"),
    ]
}
