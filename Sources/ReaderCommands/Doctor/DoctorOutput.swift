import Diagnosis
import Foundation
import ToolSupport

struct DoctorOutput {
    var out: Output
    /// Whether checks are shown in full that found nothing wrong.
    var all: Bool
    /// The options with which a command has to be called again, with a space before each.
    var options = ""

    /// Shows a report: the summary first, then what is wrong.
    func show(_ report: DiagnosticReport) throws {
        let next = (report.first?.finding.remedy ?? []).map(\.text)
        if out.isJSON {
            try out.json(fields: [
                "event": "summary", "severity": report.verdict, "summary": report.summary,
                "next": next.isEmpty ? nil : next,
            ])
            return try report.results.forEach { try out.json($0.json()) }
        }
        try out.text(report.summary, in: report.verdict.colour)
        for verdict in Verdict.allCases.reversed() {
            let results = report.results.filter { $0.finding.verdict == verdict }
            if results.isEmpty { continue }
            if verdict >= .warning || all {
                for result in results { try show(result) }
            } else if verdict == .note {
                try out.text("")
                for result in results { try headline(result) }
            } else {
                let count = results.count == 1 ? "1 check" : "\(results.count) checks"
                let what = verdict == .cannotTell ? "could not look" : results.count == 1 ? "is fine" : "are fine"
                try out.text("\n\(count) \(what) (--all shows \(results.count == 1 ? "it" : "them")).")
            }
        }
    }

    func change(from old: Verdict, to result: DiagnosticReport.Result) throws {
        if out.isJSON { try out.json(result.json(changedFrom: old)) } else { try show(result) }
    }

    static func step(_ text: String, of id: String, _ out: Output, isUndone: Bool = false, failure: String? = nil)
        throws
    {
        let words = failure.map { "Not \(isUndone ? "undone" : "done"): \(text): \($0)" }
        try out.result(
            fields: ["event": "step", "id": id, "step": text, "isDone": failure == nil, "message": failure],
            text: words ?? (isUndone ? text : "Done: \(text)")
        )
    }

    private func headline(_ result: DiagnosticReport.Result) throws {
        let verdict = result.finding.verdict
        let id = result.check.id.padding(toLength: 20, withPad: " ", startingAt: 0)
        try out.text(verdict.words.padded(to: 12), in: verdict.colour, id + result.finding.sentence)
    }

    /// Shows a finding with what was seen and what is to be done.
    private func show(_ result: DiagnosticReport.Result) throws {
        try out.text("")
        try headline(result)
        let finding = result.finding
        let margin = String(repeating: " ", count: 12)
        for line in finding.evidence { try out.text("\(margin)seen  \(line)") }
        let fix = "sudo readerctl doctor --fix --only \(result.check.id)"
        for remedy in finding.remedy {
            switch remedy {
            case .command(let command): try out.text("\(margin)run   \(command)\(command == fix ? options : "")")
            case .instruction(let word):
                try out.text("\(margin)do    " + word.replacingOccurrences(of: "\n", with: "\n\(margin)      "))
            }
        }
        if !finding.repair.isEmpty, !finding.remedy.contains(.command(fix)) {
            try out.text("\(margin)or    \(fix)\(options)")
        }
    }
}

extension Verdict {
    fileprivate var colour: Colour {
        switch self {
        case .broken: .red
        case .warning: .yellow
        case .fine: .green
        case .note, .cannotTell: .plain
        }
    }
}

extension DiagnosticReport.Result {
    /// - Parameter former: the verdict before, of a check whose finding has changed.
    fileprivate func json(changedFrom former: Verdict? = nil) -> JSONObject {
        let remedy = finding.remedy.map { remedy in
            if case .command(let command) = remedy { ["command": command] } else { ["words": remedy.text] }
        }
        return [
            "event": former == nil ? "check" : "change", "id": check.id, "title": check.title,
            "severity": finding.verdict, "was": former, "message": finding.sentence, "evidence": finding.evidence,
            "remedy": remedy, "repair": finding.repair.map(\.text),
        ]
    }
}
