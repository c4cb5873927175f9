public import KioskKit

/// A grid of cells in which a screen is drawn before it goes to a terminal.
///
/// Everything that is drawn is clipped at the border, and of a wide character never half is left: where its other half
/// is outside or drawn over, a blank stands.
public struct TerminalCanvas: Sendable, Hashable {
    /// The size of a terminal in cells, each from 1 to ``limit``.
    public struct Size: Sendable, Hashable {
        /// The largest number of columns or rows.
        public static let limit = 1000

        /// The number of columns.
        public let columns: Int
        /// The number of rows.
        public let rows: Int

        /// Creates a size; numbers outside of 1 to ``limit`` are set to the nearer end.
        public init(columns: Int, rows: Int) {
            self.columns = min(max(columns, 1), Size.limit)
            self.rows = min(max(rows, 1), Size.limit)
        }
    }

    /// How a cell looks.
    public struct Style: Sendable, Hashable {
        /// The colour of the character; `nil` is the terminal's own.
        public var foreground: RGBColor?
        /// The colour behind it; `nil` is the terminal's own.
        public var background: RGBColor?
        /// Whether the character is bold.
        public var isBold: Bool
        /// Whether the character is faint.
        public var isDim: Bool
        /// Whether the colours are exchanged.
        public var isReverse: Bool

        /// Creates a style, by default the terminal's own.
        public init(
            foreground: RGBColor? = nil,
            background: RGBColor? = nil,
            isBold: Bool = false,
            isDim: Bool = false,
            isReverse: Bool = false
        ) {
            self.foreground = foreground
            self.background = background
            self.isBold = isBold
            self.isDim = isDim
            self.isReverse = isReverse
        }
    }

    /// One cell. A wide character stands in its left cell, and `nil` in the one right of it.
    struct Cell: Sendable, Hashable {
        var grapheme: TextWidth.Grapheme?
        var style: Style
    }

    /// The size.
    public let size: Size
    /// Row by row.
    private(set) var cells: [Cell]

    /// Creates a canvas of blanks.
    public init(size: Size, style: Style = Style()) {
        self.size = size
        cells = Array(repeating: Cell(grapheme: .blank, style: style), count: size.columns * size.rows)
    }

    /// The rows from top to bottom, without the blanks at their ends.
    public var lines: [String] {
        (0..<size.rows).map { row in
            var line = String(self[row: row].compactMap(\.grapheme?.character))
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// The cells of a row, from 0 to `size.rows - 1`.
    subscript(row row: Int) -> ArraySlice<Cell> { cells[row * size.columns..<(row + 1) * size.columns] }

    // MARK: Drawing

    /// Draws a text from that cell to the right. Cells outside of the canvas are passed over.
    ///
    /// - Returns: the column after the text, inside or outside of the canvas.
    @discardableResult
    public mutating func draw(_ text: some StringProtocol, column: Int, row: Int, style: Style) -> Int {
        var column = column
        for grapheme in TextWidth.graphemes(of: text) {
            put(grapheme, column: column, row: row, style: style)
            column += grapheme.columns
        }
        return column
    }

    /// Draws a text inside a part of a row, truncated to it.
    public mutating func draw(
        _ text: some StringProtocol,
        in columns: Range<Int>,
        row: Int,
        _ alignment: TextWidth.Alignment = .left,
        style: Style
    ) {
        draw(TextWidth.padded(text, to: columns.count, alignment), column: columns.lowerBound, row: row, style: style)
    }

    /// Fills a rectangle with blanks.
    public mutating func fill(columns: Range<Int>, rows: Range<Int>, style: Style) {
        for row in rows.clamped(to: 0..<size.rows) {
            for column in columns.clamped(to: 0..<size.columns) {
                put(.blank, column: column, row: row, style: style)
            }
        }
    }

    /// Draws a horizontal rule.
    public mutating func rule(columns: Range<Int>, row: Int, style: Style) {
        draw(String(repeating: "─", count: columns.count), column: columns.lowerBound, row: row, style: style)
    }

    /// Draws the border of a rectangle; one of fewer than two columns or rows has none.
    public mutating func box(columns: Range<Int>, rows: Range<Int>, style: Style) {
        guard columns.count > 1, rows.count > 1 else { return }
        let across = String(repeating: "─", count: columns.count - 2)
        draw("╭" + across + "╮", column: columns.lowerBound, row: rows.lowerBound, style: style)
        draw("╰" + across + "╯", column: columns.lowerBound, row: rows.upperBound - 1, style: style)
        for row in rows.dropFirst().dropLast() {
            draw("│", column: columns.lowerBound, row: row, style: style)
            draw("│", column: columns.upperBound - 1, row: row, style: style)
        }
    }

    private mutating func put(_ grapheme: TextWidth.Grapheme, column: Int, row: Int, style: Style) {
        guard 0..<size.rows ~= row else { return }
        let places = (column..<column + grapheme.columns).clamped(to: 0..<size.columns)
        guard !places.isEmpty else { return }
        let start = row * size.columns
        // The halves of wide characters that are drawn over at either end leave blanks.
        if cells[start + places.lowerBound].grapheme == nil { cells[start + places.lowerBound - 1].grapheme = .blank }
        if places.upperBound < size.columns, cells[start + places.upperBound].grapheme == nil {
            cells[start + places.upperBound].grapheme = .blank
        }
        let isWhole = places.count == grapheme.columns
        for place in places {
            let own: TextWidth.Grapheme? = place == column ? grapheme : nil
            cells[start + place] = Cell(grapheme: isWhole ? own : .blank, style: style)
        }
    }
}
