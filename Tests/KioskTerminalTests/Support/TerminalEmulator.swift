import KioskTerminal

/// A terminal that knows what ``TerminalCanvas`` writes and nothing else, and measures as ``TextWidth`` does.
struct TerminalEmulator {
    struct Cell: Equatable {
        /// The character; empty right of a wide one.
        var text: String
        /// The last SGR sequence.
        var style: String
    }

    let columns: Int
    private(set) var rows: [[Cell]]
    /// What it did not understand.
    private(set) var complaints: [String] = []
    /// How often the cursor was placed and the style set.
    private(set) var moves = 0
    private(set) var styles = 0
    private(set) var clears = 0
    private var style = ""
    private var cursor = (column: 0, row: 0)

    /// Begins full of what was there before.
    init(size: TerminalCanvas.Size, filledWith text: String = "#") {
        columns = size.columns
        rows = Array(repeating: Array(repeating: Cell(text: text, style: "?"), count: columns), count: size.rows)
    }

    mutating func feed(_ bytes: [UInt8]) {
        var rest = Substring(String(decoding: bytes, as: UTF8.self))
        var isolates = 0
        while let character = rest.popFirst() {
            if character == "\u{1B}" {
                let end = rest.dropFirst().firstIndex { $0.asciiValue.map { 0x40...0x7E ~= $0 } ?? false }
                guard rest.first == "[", let end else { return complaints.append("a torn sequence") }
                perform(rest[end], rest[..<end].dropFirst())
                rest = rest[rest.index(after: end)...]
            } else if ["\u{2066}", "\u{2067}", "\u{2069}"].contains(character) {
                isolates += character == "\u{2069}" ? -1 : 1
                if !(0...2 ~= isolates) { complaints.append("isolates do not match") }
            } else {
                put(character)
            }
        }
        if isolates != 0 { complaints.append("an isolate stays open") }
    }

    private mutating func perform(_ name: Character, _ parameters: Substring) {
        switch name {
        case "H":
            let numbers = parameters.split(separator: ";").compactMap { Int($0) }
            guard numbers.count == 2, 1...columns ~= numbers[1], 1...rows.count ~= numbers[0] else {
                return complaints.append("a move to \(parameters)")
            }
            cursor = (numbers[1] - 1, numbers[0] - 1)
            moves += 1
        case "J":
            for row in rows.indices { rows[row] = Array(repeating: Cell(text: " ", style: style), count: columns) }
            clears += 1
        case "m":
            style = "\u{1B}[\(parameters)m"
            styles += 1
        default: complaints.append("\(parameters)\(name)")
        }
    }

    private mutating func put(_ character: Character) {
        let width = TextWidth.columns(String(character))
        guard width > 0, cursor.column + width <= columns else {
            return complaints.append("text outside: \(character)")
        }
        for column in cursor.column..<cursor.column + width {
            // The other half of a wide character goes.
            if rows[cursor.row][column].text.isEmpty { rows[cursor.row][column - 1].text = " " }
            if column + 1 < columns, rows[cursor.row][column + 1].text.isEmpty {
                rows[cursor.row][column + 1].text = " "
            }
            rows[cursor.row][column] = Cell(text: column == cursor.column ? String(character) : "", style: style)
        }
        cursor.column += width
        // Where the cursor is after the last column is different from terminal to terminal.
        if cursor.column >= columns { cursor = (columns, cursor.row) }
    }
}
