import ArgumentParser
import Foundation
import ReaderKit
import ReaderKitTesting
import ToolSupport

struct Replay: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Plays capture files back and prints the taps.",
        discussion: """
            With --expect the taps are compared with NAME.expected.jsonl beside each capture: exit code 0 if they are \
            the same, 1 if they differ (with the first line that differs), 65 if a file is malformed. A sidecar is \
            what 'readerctl replay --json --start 1970-01-01T00:00:00Z --seed 0 NAME.capture' prints; of a capture \
            with the header 'started', the same without --start.

            With --passes the passes of phones, signing tags and tokens are read too. How old they are is judged by the \
            time of the recording: --start, or the header 'started'. What was presented before is forgotten with each \
            run, and with --expect with each file.

            What 'scan' passes over, such as a module in the reader (SAM) or an empty slot that reports a card, is printed \
            as the contact card that it is, without a member.

            EXAMPLES
              readerctl replay tap.capture
              readerctl replay --expect Fixtures/cards
              readerctl replay --expect --passes Fixtures/passes/passes.json Fixtures/passes
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var replay: ReplayOptions
    @OptionGroup var passes: PassOptions
    @Flag(help: "Compare with the expected taps beside each capture.")
    var expect = false
    @Argument(help: "Capture files, or directories of them.", completion: .file(extensions: ["capture"]))
    var files: [String]

    func perform() async throws {
        let out = Output(json: output.json, isWhole: true)
        try await out.tellingErrors {
            let site = try passes.site()
            if expect { return try await compare(out, site) }
            let backend = try replay.backend(CaptureFiles.load(files)) { $0.started ?? Date() }
            var configuration = ScannerConfiguration(site: site, makeID: replay.makeID())
            configuration.includesContactCards = true
            let scanner = CardScanner(backend, configuration: configuration)
            for await case .scan(let tap) in scanner.events() { try out.result(tap, text: TapText.describe(tap)) }
            try Task.checkCancellation()
            for difference in backend.differences { out.message("\(difference)") }
            if !backend.differences.isEmpty { throw ToolExit.failure }
        }
    }

    private func compare(_ out: Output, _ site: PassSite?) async throws {
        var worst = ToolExit.success
        for file in try CaptureFiles.expand(files) {
            do {
                let expectation = CaptureExpectation(file: file, mode: replay.mode, site: site, start: replay.start)
                let difference = try await expectation.firstDifference()
                if let difference {
                    // Without a configuration no pass is proven.
                    let isWithoutPasses =
                        site == nil
                        && FileManager.default.contents(atPath: expectation.sidecar).map {
                            String(decoding: $0, as: UTF8.self).contains("\"assurance\":\"cryptographic")
                        } == true
                    let words =
                        "\(difference)" + (isWithoutPasses ? ". The sidecar expects passes; give --passes." : "")
                    if worst == ToolExit.success { worst = ToolExit.failure }
                    try out.result(
                        fields: ["event": "different", "file": file, "line": difference.line, "message": words],
                        text: "\(file): \(words)"
                    )
                } else {
                    try out.result(fields: ["event": "same", "file": file], text: "\(file): as expected")
                }
            } catch let error where !(error is CancellationError) {
                // The others are compared all the same. Malformed files outrank those that cannot be read.
                let code = ToolFailure.exitCode(for: error)
                if worst != ToolExit.malformed, worst.rawValue <= 1 || code == ToolExit.malformed { worst = code }
                try out.result(fields: ["event": "error", "file": file, "message": "\(error)"], text: "\(error)")
            }
        }
        if worst != ToolExit.success { throw worst }
    }
}
