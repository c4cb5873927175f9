import CLinux
import Glibc

/// Measures and arranges text by the columns that it takes in a terminal.
///
/// The unit is the grapheme cluster. Its width is the sum of `wcwidth(3)` over its scalars, at most 2; an emoji followed
/// by U+FE0F takes 2. All functions draw text as ``graphemes(of:)`` returns it:
/// - White-space controls (tab, line feed, …) are blanks, other control characters are omitted.
/// - Format characters (general category Cf), which include the overrides of bidirectional text, are omitted, except
///   U+200D and U+200C inside a cluster and the tags of a flag. What stands between the characters of an isolate, such as
///   a name, is known as one: whatever is cut or broken, what is left of it stands between them again.
/// - Clusters without a width, such as a lone combining mark, are omitted, and a cluster is cut to
///   ``longestCluster`` scalars.
public enum TextWidth {
    /// The most Unicode scalars of a grapheme cluster that are drawn.
    public static let longestCluster = 16

    /// Where text stands in a wider field.
    public enum Alignment: Sendable, Hashable, CaseIterable {
        /// At the left border.
        case left
        /// In the middle; an odd blank stands on the right.
        case center
        /// At the right border.
        case right
    }

    /// A grapheme cluster as it is drawn.
    public struct Grapheme: Sendable, Hashable {
        /// The cluster, free of control characters.
        public let character: Character
        /// Its width in columns, 1 or 2.
        public let columns: Int
        /// Whether terminals disagree about the width, since they add up the scalars of a cluster or know another
        /// Unicode.
        let isDisputed: Bool
        /// In which isolate of its text it stands, counted from 1, and negative for one that is written from right to left;
        /// 0 for none.
        var isolate = 0

        static let blank = Grapheme(character: " ", columns: 1, isDisputed: false)

        /// Whether it is written from right to left.
        var isRightToLeft: Bool { character.unicodeScalars.first?.isRightToLeft ?? false }
    }

    /// Returns the clusters of a text that are drawn, with their widths.
    public static func graphemes(of text: some StringProtocol) -> [Grapheme] {
        var graphemes: [Grapheme] = []
        var (count, depth, start) = (0, 0, 0)
        var isTurned: Bool?
        func close() {
            // As U+2068 has it, the first letter decides where nothing else does.
            let first = graphemes[start...].first { $0.isRightToLeft || $0.character.isLetter }
            let isolate = isTurned ?? first?.isRightToLeft ?? false ? -count : count
            for index in start..<graphemes.count { graphemes[index].isolate = isolate }
        }
        Locale.withUTF8 {
            for character in text {
                switch character {
                case "\u{2066}", "\u{2067}", "\u{2068}":
                    depth += 1
                    guard depth == 1 else { continue }
                    (count, start) = (count + 1, graphemes.count)
                    isTurned = character == "\u{2068}" ? nil : character == "\u{2067}"
                case "\u{2069}":
                    if depth == 1 { close() }
                    depth = max(0, depth - 1)
                default: if let grapheme = grapheme(character) { graphemes.append(grapheme) }
                }
            }
        }
        if depth > 0 { close() }
        return graphemes
    }

    /// Returns the width of a text in columns.
    public static func columns(_ text: some StringProtocol) -> Int {
        Locale.withUTF8 { text.reduce(0) { $0 + (grapheme($1)?.columns ?? 0) } }
    }

    // MARK: Arranging

    /// Returns the text, or if it is wider than that many columns, its beginning and "…".
    public static func truncated(_ text: some StringProtocol, to columns: Int) -> String {
        let graphemes = graphemes(of: text)
        guard width(graphemes) > columns else { return string(graphemes) }
        guard columns > 0 else { return "" }
        var start = prefix(graphemes, columns: columns - 1)
        while start.last?.character == " " { start.removeLast() }
        return string(start) + "…"
    }

    /// Returns the text truncated or padded with blanks to exactly that many columns.
    public static func padded(
        _ text: some StringProtocol,
        to columns: Int,
        _ alignment: Alignment = .left
    ) -> String {
        let text = truncated(text, to: columns)
        let blanks = max(0, columns - self.columns(text))
        let before =
            switch alignment {
            case .left: 0
            case .center: blanks / 2
            case .right: blanks
            }
        return String(repeating: " ", count: before) + text + String(repeating: " ", count: blanks - before)
    }

    /// Breaks a text into lines of at most that many columns.
    ///
    /// Lines break at line feeds, at blanks, and on both sides of wide characters, as Chinese is written, except before
    /// closing punctuation. A word that is wider than a line is broken anywhere.
    ///
    /// - Parameters:
    ///   - columns: the width of a line; nothing fits into less than 1.
    ///   - limit: the most lines; the last one ends in "…" where text was left over.
    /// - Returns: the lines, without blanks at their ends; none for a text without visible characters.
    public static func wrapped(_ text: some StringProtocol, to columns: Int, limit: Int = .max) -> [String] {
        guard columns > 0, limit > 0 else { return [] }
        var lines: [String] = []
        for paragraph in text.split(whereSeparator: \.isNewline) {
            var line: [Grapheme] = []
            for piece in pieces(graphemes(of: paragraph)) {
                var blank: [Grapheme] = []
                if piece.followsBlank, let last = line.last {
                    blank = [.blank]
                    if last.isolate == piece.graphemes[0].isolate { blank[0].isolate = last.isolate }
                }
                if width(line) + blank.count + width(piece.graphemes) <= columns {
                    line += blank + piece.graphemes
                    continue
                }
                if !line.isEmpty { lines.append(string(line)) }
                var rest = piece.graphemes
                while width(rest) > columns {
                    let part = prefix(rest, columns: columns)
                    // A wide character that is wider than a line is left out.
                    if !part.isEmpty { lines.append(string(part)) }
                    rest.removeFirst(max(1, part.count))
                }
                line = rest
            }
            if !line.isEmpty { lines.append(string(line)) }
            if lines.count > limit { break }
        }
        guard lines.count > limit else { return lines }
        let last = prefix(graphemes(of: lines[limit - 1]), columns: columns - 1)
        return lines.prefix(limit - 1) + [string(last) + "…"]
    }

    private struct Piece {
        var graphemes: [Grapheme]
        var followsBlank: Bool
    }

    /// What a line must not break: words, and single wide characters with the punctuation that closes them.
    private static func pieces(_ graphemes: [Grapheme]) -> [Piece] {
        var pieces: [Piece] = []
        var followsBlank = false
        for grapheme in graphemes {
            if grapheme.character == " " {
                followsBlank = true
                continue
            }
            let isWide = grapheme.columns == 2 && !closing.contains(grapheme.character)
            let joins = !followsBlank && !isWide && pieces.last.map { !mayBreak(after: $0, before: grapheme) } ?? false
            if joins {
                pieces[pieces.count - 1].graphemes.append(grapheme)
            } else {
                pieces.append(Piece(graphemes: [grapheme], followsBlank: followsBlank))
            }
            followsBlank = false
        }
        return pieces
    }

    private static func mayBreak(after piece: Piece, before grapheme: Grapheme) -> Bool {
        piece.graphemes.last?.columns == 2 && !closing.contains(grapheme.character)
    }

    /// What does not begin a line.
    private static let closing = Set("。，、；：？！）」』】》〉”’…,.;:?!)]}")

    static func width(_ graphemes: some Sequence<Grapheme>) -> Int { graphemes.reduce(0) { $0 + $1.columns } }

    private static func string(_ graphemes: some Sequence<Grapheme>) -> String {
        var text = ""
        var isolate = 0
        for grapheme in graphemes {
            if grapheme.isolate != isolate {
                if isolate != 0 { text += "\u{2069}" }
                if grapheme.isolate != 0 { text += grapheme.isolate < 0 ? "\u{2067}" : "\u{2066}" }
                isolate = grapheme.isolate
            }
            text.append(grapheme.character)
        }
        return isolate == 0 ? text : text + "\u{2069}"
    }

    private static func prefix(_ graphemes: [Grapheme], columns: Int) -> [Grapheme] {
        var rest = columns
        return Array(
            graphemes.prefix { grapheme in
                rest -= grapheme.columns
                return rest >= 0
            }
        )
    }

    // MARK: Measuring

    /// The cluster as it is drawn, if it is; to be called with the locale in use.
    private static func grapheme(_ character: Character) -> Grapheme? {
        if let ascii = character.asciiValue, character.utf8.count == 1, 0x20..<0x7F ~= ascii {
            return Grapheme(character: character, columns: 1, isDisputed: false)
        }
        var scalars = String.UnicodeScalarView()
        var sum = 0
        var columns = 0
        for scalar in character.unicodeScalars.prefix(longestCluster) {
            let isFirst = scalars.isEmpty
            switch scalar.properties.generalCategory {
            case .control:
                // A line break of two characters is one blank.
                guard isFirst, scalar.properties.isWhitespace else { continue }
                return .blank
            case .lineSeparator, .paragraphSeparator: return .blank
            case .format:
                let isTag = 0xE0020...0xE007F ~= scalar.value && scalars.first == "\u{1F3F4}"
                guard !isFirst, isTag || scalar == "\u{200D}" || scalar == "\u{200C}" else { continue }
            default: break
            }
            scalars.append(scalar)
            let own = width(of: scalar)
            sum += own
            columns = min(2, columns + own)
            if scalar == "\u{FE0F}", let first = scalars.first, first.properties.isEmoji { columns = 2 }
        }
        guard columns > 0 else { return nil }
        let isKnown = scalars.allSatisfy { wcwidth(wchar_t(bitPattern: $0.value)) >= 0 }
        return Grapheme(
            character: Character(String(scalars)),
            columns: columns,
            isDisputed: !isKnown || sum != columns || (scalars.count > 1 && columns == 2)
        )
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        let columns = wcwidth(wchar_t(bitPattern: scalar.value))
        if columns >= 0 { return Int(columns) }
        // Younger than the tables of the C library, or these were not found.
        return scalar.properties.isEmojiPresentation ? 2 : 1
    }

    /// The locale in which `wcwidth` knows Unicode, whatever the environment asks for.
    private enum Locale {
        // A locale is never changed after it was made, and the C library reads it from any thread.
        nonisolated(unsafe) private static let utf8: locale_t? =
            newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) ?? newlocale(LC_CTYPE_MASK, "en_US.UTF-8", nil)

        private static let LC_CTYPE_MASK = Int32(1) << LC_CTYPE

        /// Runs the body on this thread with the locale in use.
        static func withUTF8<Result>(_ body: () -> Result) -> Result {
            guard let utf8 else { return body() }
            let previous = uselocale(utf8)
            defer { uselocale(previous) }
            return body()
        }
    }
}
