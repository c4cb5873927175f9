import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

/// `readerctl watch`
struct Watch: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tells what happens to readers and cards, until it is interrupted.",
        discussion: """
            It goes on when pcscd ends and comes back, and when readers are unplugged; it tells both.

            EXAMPLES
              readerctl watch
              readerctl watch --json

            JSON keys: event (serviceLost, serviceBack, readerAdded, readerRemoved, cardInserted, cardRemoved, \
            cardMissed, readerStuck, readerRecovered, failed), at, and where they apply reader, backend, serial, atr, \
            card and error.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var readers: ReaderOptions

    func perform() async throws {
        let out = output.output
        let backend = try LiveReaders.backend()
        if readers.reader != nil, try await !LiveReaders.list(backend).contains(where: { readers.matches($0.reader) }) {
            throw readers.absence
        }
        for await event in backend.events() where event.reader.map(readers.matches) ?? true {
            let line = ReaderEventLine(event, at: Date())
            try out.result(line, text: line.text)
            if case .failed(let error) = event { throw error }
        }
    }
}

extension ReaderEvent {
    /// The reader that the event is about, or `nil` if it is about all.
    var reader: ReaderInfo? {
        switch self {
        case .serviceLost, .serviceBack, .failed: nil
        case .readerAdded(let info), .readerRemoved(let info), .readerStuck(let info, _), .readerRecovered(let info):
            info
        case .cardInserted(let presence), .cardRemoved(let presence), .cardMissed(let presence): presence.reader
        }
    }
}
