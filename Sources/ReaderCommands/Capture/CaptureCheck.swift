import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct CaptureCheck: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Describes capture files, and what a reviewer would ask about.",
        discussion: """
            Exit code 0 if all files are well formed, warnings or not; 65 if one is malformed (with its \
            line and column), 66 if one is missing.

            EXAMPLES
              readerctl capture check tap.capture
              readerctl capture redact tap.capture -o given.capture && readerctl capture check given.capture

            JSON keys, one object a file: file, valid; title, source, license, started, readers, presentations, \
            exchanges, rawFrames, controls, faults, lines (of the file), readerLines (of readers in Smart Reader mode), \
            durationMs, technologies, warnings (each with code, message \
            and where they apply line, presentation); for a file that is not valid error, with code, message and where \
            they apply line, column.
            """
    )

    @OptionGroup var output: OutputOptions
    @Argument(help: "Capture files, or directories of them.", completion: .file(extensions: ["capture"]))
    var files: [String]

    func perform(_ out: Output) async throws {
        var worst = ToolExit.success
        func fail(_ file: String, _ error: any Error) throws {
            let code = ToolFailure.exitCode(for: error)
            if worst != ToolExit.malformed { worst = code }
            try out.json(fields: ["file": file, "valid": false, "error": Self.fault(error)])
            if !out.isJSON { out.message("readerctl: \(error)") }
        }
        for path in files {
            let names: [String]
            do {
                names = try CaptureFiles.expand([path])
            } catch {
                try fail(path, error)
                continue
            }
            for file in names {
                try Task.checkCancellation()
                let review: CaptureReview
                do {
                    review = try CaptureReview(contentsOf: file)
                } catch {
                    try fail(file, error)
                    continue
                }
                try out.result(Self.json(file, review), text: Self.text(file, review))
            }
        }
        if worst != ToolExit.success { throw worst }
    }

    private static func fault(_ error: any Error) -> JSONObject {
        guard let error = error as? CaptureError else {
            return ["code": (error as? CaptureFileError)?.kind.rawValue ?? "other", "message": "\(error)"]
        }
        return ["code": error.code.rawValue, "line": error.line, "column": error.column, "message": error.message]
    }

    private static func json(_ file: String, _ review: CaptureReview) -> JSONObject {
        let capture = review.capture
        return [
            "file": file, "valid": true, "title": capture.title, "source": capture.source, "license": capture.license,
            "started": capture[header: "started"], "readers": capture.readers.map(\.name),
            "presentations": capture.presentations.count, "exchanges": review.exchangeCount,
            "rawFrames": review.rawCount, "controls": review.controlCount, "faults": review.faultCount,
            "lines": review.fileLineCount, "readerLines": capture.lines.count,
            "durationMs": (capture.duration / .microseconds(100)).rounded() / 10,
            "technologies": review.technologies, "warnings": review.warnings,
        ]
    }

    private static func text(_ file: String, _ review: CaptureReview) -> String {
        let capture = review.capture
        func given(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
        var lines: InfoLines = ["source": given(capture.source), "license": given(capture.license)]
        for reader in capture.readers { lines.add("reader", given(reader.name)) }
        let seconds = String(format: "%.3f s", capture.duration / .seconds(1))
        let counts = [
            counted(review.exchangeCount, "exchange"), counted(review.rawCount, "raw frame"),
            counted(review.controlCount, "control"), counted(review.faultCount, "fault"),
        ]
        lines.add([
            "cards": "\(counted(capture.presentations.count, "presentation")) in \(seconds)",
            "": given(review.technologies.map(\.rawValue).joined(separator: ", ")),
            "said": counts.joined(separator: ", "), "lines": capture.lines.isEmpty ? nil : "\(capture.lines.count)",
        ])
        let warnings = review.warnings.map { "  warning: \($0)" }
        return (["\(file): \(capture.title ?? "no title")"] + lines.rows() + warnings).joined(separator: "\n")
    }
}
