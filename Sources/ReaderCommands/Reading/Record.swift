import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct Record: ReportingCommand, ReaderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records the conversation of cards and this program in a capture file.",
        discussion: """
            Each presented card is read as 'scan' does and printed the same way; 'replay' of the file, with the same \
            --passes, gives the same taps, but for passes of Google Wallet, whose keys end with the tap; 'pass explain' \
            shows what can be seen of them. The file holds what the cards answer, identifiers included. It is written as it goes. \
            What 'scan' passes over, such as a module in the reader (SAM), is recorded and printed too.

            EXAMPLES
              readerctl record --once tap.capture
              readerctl record --timeout 60 --title "Front desk" desk.capture
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @OptionGroup var limit: ScanLimitOptions
    @OptionGroup var passes: PassOptions
    @Option(help: "A title for the capture.")
    var title: String?
    @Flag(help: "Replace the file if it exists.")
    var force = false
    @Argument(help: "The capture file to write.", completion: .file(extensions: ["capture"]))
    var file: String

    func perform(_ out: Output) async throws {
        try await readers.withBackend { try await record($0) }
    }

    private func record(_ backend: any ReaderBackend) async throws {
        // Before there is a file.
        let site = try passes.site()
        let writer = try CaptureWriter(creating: file, overwrite: force)
        var headers: [Capture.Header] = []
        if let title { headers.append(Capture.Header("title", title)) }
        headers.append(Capture.Header("source", "recorded, readerctl \(ToolVersion.number)"))
        let recorder = CaptureRecorder(headers: headers, writer: writer)
        let recording = RecordingBackend(backend, recorder: recorder)
        defer {
            let count = recorder.capture.presentations.count + recorder.capture.lines.count
            if recorder.failure != nil {
                output.output.message("The recording in \(file) is not complete.")
            } else if count == 0 {
                writer.discardIfEmpty()
                output.output.message("No card was presented, and nothing was written.")
            } else {
                output.output.message("Recorded \(count) presentation\(count == 1 ? "" : "s") in \(file).")
            }
        }
        let check: @Sendable () throws -> Void = {
            if let failure = recorder.failure { throw failure }
        }
        let loop = TapLoop(
            output: output.output,
            readers: readers,
            limit: limit,
            site: site,
            includesContactCards: true,
            check: check
        )
        try await loop.run(recording)
        try check()
    }
}
