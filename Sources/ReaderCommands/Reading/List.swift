import ArgumentParser
import ReaderKit
import ToolSupport

struct List: ReportingCommand, ReaderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the readers that are there, each with its card.",
        discussion: """
            No reader is a state, not a failure: nothing is printed on standard output and the exit code is 0.

            EXAMPLES
              readerctl list
              readerctl list --json

            JSON keys: reader, backend, serial (where known), present, for a card that has them atr and card (its name), \
            where the library reports technologies (of the cards that the reader knows), and for a reader that cannot be \
            used error (why).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions

    func perform(_ out: Output) async throws {
        let present = try await readers.withBackend { backend in
            try await readers.present(of: backend) { out.message("\($0)") }
        }
        if present.isEmpty { out.message("There is no reader.") }
        for status in present {
            let (reader, facts) = (status.reader, status.card?.facts)
            let card = facts.map { "  [\($0.cardName ?? "a card that does not answer")]" } ?? ""
            try out.result(
                fields: [
                    "reader": reader.name, "backend": reader.backend, "serial": reader.serial, "present": facts != nil,
                    "atr": facts?.atr?.hex, "card": facts?.cardName, "technologies": status.technologies,
                    "error": status.unavailability.map { ErrorLine($0) },
                ],
                text: reader.label + card
            )
            if let trouble = status.unavailability { out.message("\(trouble)") }
        }
    }
}
