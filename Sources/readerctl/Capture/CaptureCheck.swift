import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

/// `readerctl capture check`
struct CaptureCheck: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Says what is in capture files, and what a reviewer would ask about.",
        discussion: """
            Exit code 0 if all files are well formed, warnings or not; 65 if one is malformed (its line and column are \
            told), 66 if one is missing.

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

    private struct Line: Encodable {
        var file: String
        var valid: Bool
        var title: String?
        var source: String?
        var license: String?
        var started: String?
        var readers: [String]?
        var presentations: Int?
        var exchanges: Int?
        var rawFrames: Int?
        var controls: Int?
        var faults: Int?
        var lines: Int?
        var readerLines: Int?
        var durationMs: Double?
        var technologies: [Technology]?
        var warnings: [CaptureWarning]?
        var error: Fault?
    }

    private struct Fault: Encodable {
        var code: String
        var line: Int?
        var column: Int?
        var message: String
    }

    func perform() async throws {
        let out = output.output
        var worst = ToolExit.success
        func fail(_ file: String, _ error: any Error) throws {
            let code = ToolFailure.exitCode(for: error)
            if worst != ToolExit.malformed { worst = code }
            if out.isJSON {
                try out.result(Line(file: file, valid: false, error: Self.fault(error)), text: "")
            } else {
                out.message("readerctl: \(error)")
            }
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
                try out.result(Self.line(file, review), text: Self.text(file, review))
            }
        }
        if worst != ToolExit.success { throw worst }
    }

    private static func fault(_ error: any Error) -> Fault {
        switch error {
        case let error as CaptureError:
            Fault(code: error.code.rawValue, line: error.line, column: error.column, message: error.message)
        case let error as CaptureFileError: Fault(code: error.kind.rawValue, message: "\(error)")
        default: Fault(code: "other", message: "\(error)")
        }
    }

    private static func line(_ file: String, _ review: CaptureReview) -> Line {
        let capture = review.capture
        return Line(
            file: file,
            valid: true,
            title: capture.title,
            source: capture.source,
            license: capture.license,
            started: capture[header: "started"],
            readers: capture.readers.map(\.name),
            presentations: capture.presentations.count,
            exchanges: review.exchangeCount,
            rawFrames: review.rawCount,
            controls: review.controlCount,
            faults: review.faultCount,
            lines: review.fileLineCount,
            readerLines: capture.lines.count,
            durationMs: (capture.duration / .microseconds(100)).rounded() / 10,
            technologies: review.technologies,
            warnings: review.warnings
        )
    }

    private static func text(_ file: String, _ review: CaptureReview) -> String {
        let capture = review.capture
        var lines = ["\(file): \(capture.title ?? "no title")"]
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            lines.append("  " + name.padding(toLength: 11, withPad: " ", startingAt: 0) + value)
        }
        let seconds = String(format: "%.3f s", capture.duration / .seconds(1))
        add("source", capture.source)
        add("license", capture.license)
        for reader in capture.readers { add("reader", reader.name) }
        add("cards", "\(counted(capture.presentations.count, "presentation")) in \(seconds)")
        add("", review.technologies.map(\.rawValue).joined(separator: ", "))
        add(
            "said",
            counted(review.exchangeCount, "exchange") + ", " + counted(review.rawCount, "raw frame") + ", "
                + counted(review.controlCount, "control") + ", " + counted(review.faultCount, "fault")
        )
        if !capture.lines.isEmpty { add("lines", "\(capture.lines.count)") }
        for warning in review.warnings { lines.append("  warning: \(warning)") }
        return lines.joined(separator: "\n")
    }
}
