import ArgumentParser
import ReaderKit
import ToolSupport

/// `readerctl list`
struct List: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the readers that are there, each with its card.",
        discussion: """
            No reader is a state, not a failure: nothing is printed on standard output and the exit code is 0.

            EXAMPLES
              readerctl list
              readerctl list --json

            JSON keys: reader, backend, serial (where known), present, and for a card atr and card (its name).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var readers: ReaderOptions

    private struct Line: Encodable {
        var reader: String
        var backend: BackendKind
        var serial: String?
        var present: Bool
        var atr: String?
        var card: String?
    }

    func perform() async throws {
        let out = output.output
        try await out.tellingErrors {
            let all = try await LiveReaders.list(try LiveReaders.backend())
            let chosen = all.filter { readers.matches($0.reader) }
            if chosen.isEmpty, readers.reader != nil { throw readers.absence }
            if all.isEmpty { out.message("There is no reader.") }
            for (reader, presence) in chosen {
                let name = presence?.facts.atr.flatMap { try? ATR($0) }?.cardName
                let line = Line(
                    reader: reader.name,
                    backend: reader.backend,
                    serial: reader.serial,
                    present: presence != nil,
                    atr: presence?.facts.atr?.hex,
                    card: name
                )
                let card = presence == nil ? "" : "  [\(name ?? "a card that does not answer")]"
                try out.result(line, text: reader.name + card)
            }
        }
    }
}
