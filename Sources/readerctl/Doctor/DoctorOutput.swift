import Diagnosis
import Foundation
import ToolSupport

/// What the doctor prints, for people and as JSON.
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
            try out.result(SummaryLine(report, next: next), text: "")
            for result in report.results { try out.result(CheckLine("check", result), text: "") }
            return
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

    /// Shows a finding that has changed.
    func change(from old: Verdict, to result: DiagnosticReport.Result) throws {
        var line = CheckLine("change", result)
        line.was = old.rawValue
        if out.isJSON { try out.result(line, text: "") } else { try show(result) }
    }

    /// Shows a step of a repair.
    static func step(_ text: String, of id: String, _ out: Output, isUndone: Bool = false, failure: String? = nil)
        throws
    {
        let line = StepLine(id: id, step: text, isDone: failure == nil, message: failure)
        let words = failure.map { "Not \(isUndone ? "undone" : "done"): \(text): \($0)" }
        try out.result(line, text: words ?? (isUndone ? text : "Done: \(text)"))
    }

    private func headline(_ result: DiagnosticReport.Result) throws {
        let verdict = result.finding.verdict
        let id = result.check.id.padding(toLength: 20, withPad: " ", startingAt: 0)
        try out.text(
            verdict.words.padding(toLength: 12, withPad: " ", startingAt: 0),
            in: verdict.colour,
            id + result.finding.sentence
        )
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

private struct SummaryLine: Encodable {
    var event = "summary"
    var severity: String
    var summary: String
    var next: [String]?

    init(_ report: DiagnosticReport, next: [String]) {
        severity = report.verdict.rawValue
        summary = report.summary
        self.next = next.isEmpty ? nil : next
    }
}

private struct CheckLine: Encodable {
    struct RemedyLine: Encodable {
        var command: String?
        var words: String?
    }

    var event: String
    var id: String
    var title: String
    var severity: String
    var was: String?
    var message: String
    var evidence: [String]
    var remedy: [RemedyLine]
    var repair: [String]

    init(_ event: String, _ result: DiagnosticReport.Result) {
        self.event = event
        id = result.check.id
        title = result.check.title
        severity = result.finding.verdict.rawValue
        message = result.finding.sentence
        evidence = result.finding.evidence
        remedy = result.finding.remedy.map { remedy in
            switch remedy {
            case .command(let command): RemedyLine(command: command)
            case .instruction(let word): RemedyLine(words: word)
            }
        }
        repair = result.finding.repair.map(\.text)
    }
}

private struct StepLine: Encodable {
    var event = "step"
    var id: String
    var step: String
    var isDone: Bool
    var message: String?
}
