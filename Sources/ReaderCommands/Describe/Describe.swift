import ArgumentParser
import ReaderKit
import ToolSupport

struct DescribeATR: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "atr",
        abstract: "Explains an answer to reset.",
        discussion: """
            A wrong check byte (TCK) is a warning: some readers make one up.

            EXAMPLES
              readerctl atr 3B80800101
              readerctl atr --json 3B 80 80 01 01

            JSON keys: valid, card, technology, protocols, historicalBytes, tckValid; for a malformed one valid and \
            error, with exit code 65.
            """
    )

    @OptionGroup var output: OutputOptions
    @Argument(help: "The answer to reset in hexadecimal; spaces and colons are allowed.")
    var hex: [String]

    func perform() async throws {
        let out = output.output
        let atr: ATR
        do {
            atr = try ATR(try Hex.decode(hex.joined(separator: " ")))
        } catch {
            let offset = (error as? Hex.Failure)?.offset ?? (error as? ATRError)?.offset
            let fault: JSONObject = ["offset": offset, "message": "\(error)"]
            try out.json(fields: ["valid": false, "error": fault])
            throw ToolFailure("\(error)", exit: ToolExit.malformed)
        }
        let protocols = atr.protocols.map { "T=\($0)" }
        let historical = atr.historicalBytes.hex
        try out.result(
            fields: [
                "valid": true, "card": atr.cardName, "technology": atr.technology, "protocols": protocols,
                "historicalBytes": historical, "tckValid": atr.isTCKValid,
                "warnings": atr.warnings.isEmpty ? nil : atr.warnings.map { "\($0)" },
            ],
            text: """
                \(atr)
                  card        \(atr.cardName)
                  technology  \(atr.technology?.rawValue ?? "unknown")
                  protocols   \(protocols.joined(separator: ", "))
                  historical  \(historical.isEmpty ? "none" : historical)
                  check byte  \(atr.isTCKValid.map { $0 ? "right" : "wrong" } ?? "none")
                """
        )
        for warning in atr.warnings { out.message("warning: \(warning)") }
    }
}

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
        try output.output.result(
            UIDSummary(uid),
            text: """
                kind              \(uid.kind.rawValue)
                manufacturer      \(uid.manufacturer ?? "unknown")
                hex               \(uid.hex)
                hex reversed      \(uid.hexReversed)
                decimal           \(uid.decimal)
                decimal reversed  \(uid.decimalReversed)
                Wiegand 26        \(uid.wiegand26 ?? "-")
                Wiegand 34        \(uid.wiegand34 ?? "-")
                """
        )
    }
}

extension Technology: ExpressibleByArgument {}
