import ArgumentParser
import ReaderKit
import ToolSupport

/// `readerctl uid`
struct DescribeUID: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "uid",
        abstract: "Shows a card's identifier in every form in which systems print it.",
        discussion: """
            The Wiegand forms take the last three and the last four bytes.

            EXAMPLES
              readerctl uid 04A1B2C3D4E580
              readerctl uid --technology iso15693 E0 04 01 00 12 34 56 78

            JSON keys: kind (fixed, random, nonUnique), manufacturer, hex, hexReversed, decimal, decimalReversed, \
            wiegand26, wiegand34; null where a form does not apply.
            """
    )

    @OptionGroup var output: OutputOptions
    @Option(help: "The technology of the card: iso14443a, iso14443b, felica or iso15693.")
    var technology: Technology?
    @Argument(help: "The identifier in hexadecimal; spaces and colons are allowed.")
    var hex: [String]

    func perform() async throws {
        let uid = try CardUID(text: hex.joined(separator: " "), technology: technology)
        let summary = UIDSummary(uid)
        try output.output.result(
            summary,
            text: """
                kind              \(summary.kind.rawValue)
                manufacturer      \(summary.manufacturer ?? "unknown")
                hex               \(summary.hex)
                hex reversed      \(summary.hexReversed)
                decimal           \(summary.decimal)
                decimal reversed  \(summary.decimalReversed)
                Wiegand 26        \(summary.wiegand26 ?? "-")
                Wiegand 34        \(summary.wiegand34 ?? "-")
                """
        )
    }
}

extension Technology: ExpressibleByArgument {}
