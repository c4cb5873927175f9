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
                  check byte  \(atr.isTCKValid.map { $0 ? "right" : atr.tck == nil ? "missing" : "wrong" } ?? "none")
                """
        )
        for warning in atr.warnings { out.message("warning: \(warning)") }
    }
}

struct DescribeUID: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "uid",
        abstract:
            "Shows a card's identifier in every form in which systems print it, and finds what a number stands for.",
        discussion: """
            Door controllers, lockers and keyboard readers show a card by a number of their own: some bytes of its \
            identifier, in one of two orders, in decimal. The forms have the names that makers of readers give them: \
            8H10D are eight hexadecimal digits (four bytes) as ten decimal ones, 2H4D facility code and number as in \
            Wiegand 26, 3H5D the same in one, H10302 and H10304 Wiegand 37. Behind it stands which bytes, if not all, and \
            whether the last one comes first: 2H4D-first3-reversed. 'cascade' is 88 and three bytes, which old readers \
            show of seven, 'cascade3' 88 and two, 'check' the first with the check byte. The keys wiegand26 and wiegand34 \
            have the last three and the last four bytes with parity.

            To find out which form an old list has, read one card of it that is at hand: 'readerctl uid HEX --from NUMBER' \
            names the forms in which that card is that number. Two cards make it sure. 'clubctl import' reads a column \
            of that form: --map 'Card=userId:8H10D'.

            EXAMPLES
              readerctl uid 04A1B2C3D4E580
              readerctl uid --technology iso15693 E0 04 01 00 12 34 56 78
              readerctl uid --from 0003685287
              readerctl uid AA3F9B1A --from 155,16298

            JSON keys: kind (fixed, random, nonUnique), manufacturer, hex, hexReversed, decimal, decimalReversed, \
            wiegand26, wiegand34; null where a form does not apply; forms (form and text of each that does). With --from: \
            number, fits (identifier, with ?? for each byte that the number does not show; isComplete; kind, if it is; \
            forms). Exit code 65 for a number that no form has, 1 if it is not the identifier's.
            """
    )

    @OptionGroup var output: OutputOptions
    @Option(help: "The technology of the card: iso14443a, iso14443b, felica or iso15693.")
    var technology: Technology?
    @Option(
        help: "A number that a reader printed or that stands on a card: which identifiers it can be, in which forms."
    )
    var from: String?
    @Argument(help: "The identifier in hexadecimal; spaces and colons are allowed.")
    var hex: [String] = []

    func perform() async throws {
        if let from { return try find(from) }
        guard !hex.isEmpty else {
            throw ValidationError("Missing expected argument: an identifier in hexadecimal, or --from NUMBER.")
        }
        let uid = try identifier()
        var lines = [
            "kind              \(uid.kind.rawValue)",
            "manufacturer      \(uid.manufacturer ?? "unknown")",
            "hex               \(uid.hex)",
            "hex reversed      \(uid.hexReversed)",
            "decimal           \(uid.decimal)",
            "decimal reversed  \(uid.decimalReversed)",
            "Wiegand 26        \(uid.wiegand26 ?? "-")",
            "Wiegand 34        \(uid.wiegand34 ?? "-")",
        ]
        for table in PrintedFormTable.tables(of: uid) { lines += [""] + table.lines }
        try output.output.result(UIDSummary(uid, forms: uid.printedForms), text: lines.joined(separator: "\n"))
    }

    private func identifier() throws -> CardUID {
        try CardUID(text: hex.joined(separator: " "), technology: technology)
    }

    private func find(_ number: String) throws {
        let number = number.trimmed
        let uid = try hex.isEmpty ? nil : identifier()
        var fits: [(identifier: String, uid: CardUID?, forms: [PrintedForm])] = []
        if let uid {
            let forms = uid.printedForms.filter { $0.matches(number, uid) }
            if !forms.isEmpty { fits = [(uid.hex, uid, forms)] }
        } else {
            for match in PrintedForm.matches(of: number) {
                if let index = fits.firstIndex(where: { $0.identifier == match.pattern }) {
                    fits[index].forms.append(match.form)
                } else {
                    fits.append((match.pattern, match.uid, [match.form]))
                }
            }
        }
        let isKnown = !fits.isEmpty || uid != nil && !PrintedForm.matches(of: number).isEmpty
        guard isKnown else {
            let advice = "Copy it as it is printed: a number in decimal or hexadecimal, or two, as 155,16298."
            throw ToolFailure("In no form is this the number of a card. " + advice, exit: ToolExit.malformed)
        }
        let result: JSONObject = [
            "number": number,
            "fits": fits.map { fit in
                [
                    "identifier": fit.identifier, "isComplete": fit.uid != nil, "kind": fit.uid?.kind,
                    "forms": fit.forms.map(\.name),
                ] as JSONObject
            },
        ]
        guard !fits.isEmpty else {
            try output.output.json(fields: result)
            throw ToolFailure("In no form is this the number of that card: of another one, or with something added.")
        }
        let width = fits.map(\.identifier.count).max() ?? 0
        let lines = fits.map { fit in
            "\(fit.identifier.padded(to: width))  \(fit.forms.map(\.name).joined(separator: ", "))"
        }
        try output.output.result(fields: result, text: lines.joined(separator: "\n"))
        if fits.contains(where: { $0.uid == nil }) {
            output.output.message(
                "?? is a byte that the number does not show. A card at hand tells: readerctl uid HEX --from NUMBER"
            )
        }
    }
}

/// The forms that show as many bytes: a line for each way to write them, a column for each part and order.
private struct PrintedFormTable {
    var columns: [String] = []
    var rows: [(name: String, cells: [String])] = []

    static func tables(of uid: CardUID) -> [PrintedFormTable] {
        var tables: [(size: Int, table: PrintedFormTable)] = []
        for form in uid.printedForms {
            guard let text = uid.text(as: form), let size = form.byteCount(of: uid) else { continue }
            let index = tables.firstIndex { $0.size == size } ?? tables.endIndex
            if index == tables.endIndex { tables.append((size, PrintedFormTable())) }
            tables[index].table.add(form, text)
        }
        return tables.map(\.table)
    }

    private mutating func add(_ form: PrintedForm, _ text: String) {
        let column = columns.firstIndex(of: form.partName) ?? columns.endIndex
        if column == columns.endIndex { columns.append(form.partName) }
        let row = rows.firstIndex { $0.name == form.notationName } ?? rows.endIndex
        if row == rows.endIndex { rows.append((form.notationName, [])) }
        rows[row].cells += Array(repeating: "", count: column - rows[row].cells.count) + [text]
    }

    var lines: [String] {
        let all = [("form", columns)] + rows
        let widths = columns.indices.map { column in
            all.map { $0.1.indices.contains(column) ? $0.1[column].count : 0 }.max() ?? 0
        }
        return all.map { name, cells in
            (name.padded(to: 18) + zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ")).trimmedEnd
        }
    }
}

extension Technology: ExpressibleByArgument {}
