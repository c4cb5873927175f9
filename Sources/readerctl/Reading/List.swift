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

            JSON keys: reader, backend, serial (where known), present, for a card that has them atr and card (its name), \
            where the library tells technologies (of the cards that the reader knows), and for a reader that cannot be \
            used error (why).
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
        var technologies: [Technology]?
        var error: ErrorLine?
    }

    func perform() async throws {
        let out = output.output
        try await out.tellingErrors {
            let present = try await readers.withBackend { backend in
                try await readers.present(of: backend) { out.message("\($0)") }
            }
            if present.isEmpty { out.message("There is no reader.") }
            for status in present {
                let (reader, facts) = (status.reader, status.card?.facts)
                let name = facts?.effectiveATR.flatMap { try? ATR($0) }?.cardName
                let line = Line(
                    reader: reader.name,
                    backend: reader.backend,
                    serial: reader.serial,
                    present: facts != nil,
                    atr: facts?.atr?.hex,
                    card: name,
                    technologies: status.technologies,
                    error: status.unavailability.map { ErrorLine($0) }
                )
                let card = facts == nil ? "" : "  [\(name ?? "a card that does not answer")]"
                try out.result(line, text: reader.label + card)
                if let trouble = status.unavailability { out.message("\(trouble)") }
            }
        }
    }
}
