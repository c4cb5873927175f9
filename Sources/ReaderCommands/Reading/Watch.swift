import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct Watch: ToolCommand, ReaderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reports what happens to readers and cards, until it is interrupted.",
        discussion: """
            It goes on when pcscd ends and comes back, and when readers are unplugged; it reports both.

            EXAMPLES
              readerctl watch
              readerctl watch --json

            JSON keys: event (serviceLost, serviceBack, readerAdded, readerRemoved, cardInserted, cardRemoved, \
            cardMissed, cardReported, readerStuck, readerRecovered, batteryLevel, failed), at, and where they apply reader, \
            backend, serial, atr, card, percent (of a battery) and error.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions

    func perform() async throws {
        // A recording waits for whoever reads, and loses no line to them.
        try await output.withLines(isLive: readers.replayed == nil) { out in
            try await readers.withBackend { backend in
                if readers.isChoice { _ = try await readers.present(of: backend) }
                for await event in BatteryBackend(backend).events() where readers.matches(event) {
                    let line = event.line(at: Date())
                    try out.result(line.json, text: line.text)
                    if case .failed(let error) = event { throw error }
                }
            }
        }
    }
}
