import Foundation

/// Reads comma-separated values (RFC 4180) row by row, in memory that does not depend on the size of the file.
///
/// It is more patient than the standard: rows end with LF, CR LF or CR, the last one also without; empty lines are
/// skipped; there may be a byte order mark; a quote inside a field that does not begin with one is a character like any
/// other, as the original library writes it; `="0042"`, by which programs keep a spreadsheet from changing a text, is
/// that text. Text behind a closing quote, a quote that is never closed, what is not UTF-8 and what exceeds the limits
/// is a ``problem`` of its row: the rows behind it are read all the same. A quote that was opened and swallowed lines
/// gives them back.
///
/// Why no library: SwiftCSV, the one that is kept up, wants the whole text in memory as a `String`, goes through it
/// character by character, and gives up at the first fault without reporting where; white space at the beginning of
/// fields is dropped, and texts with line breaks are written without quotes.
struct CSVReader: Sendable {
    struct Limits: Sendable {
        var fieldBytes = 64 * 1024
        var rowBytes = 1024 * 1024
        /// The same where columns are left out, such as photos.
        var longestRowBytes = 16 * 1024 * 1024
        /// As many as a spreadsheet has.
        var fields = 16_384
    }

    struct Field: Sendable, Hashable {
        var start: Int
        var count: Int
        var range: Range<Int> { start..<start + count }
        /// Whether it stands in quotes, which distinguishes an empty text from none.
        var isQuoted: Bool
        var hasPairs: Bool
    }

    struct Problem: Sendable, Hashable {
        var kind: Kind
        /// The number of the field, from 1.
        var field: Int

        enum Kind: Sendable, Hashable {
            case notUTF8, nul, unterminatedQuote, textBehindQuote, fieldTooLong, rowTooLong, tooManyFields
        }
    }

    private(set) var limits: Limits

    private(set) var delimiter: UInt8

    /// The fields that are looked at; `nil` for all.
    private var taken: [Bool]?

    private(set) var fields: [Field] = []

    /// The line on which the current row begins, from 1.
    private(set) var line = 1

    /// What is wrong with the current row, whose ``fields`` are not to be used then.
    private(set) var problem: Problem?

    private var window: ByteWindow
    private var nextLine = 1
    /// The length of the current row in the window, which is taken when the next one is asked for.
    private var rowLength = 0

    /// Begins to read.
    ///
    /// - Parameter delimiter: what stands between fields; `nil` finds it, and goes to the line of the column names, as
    ///   ``findHeader(_:skipping:score:)`` does.
    /// - Throws: ``TransferError/Kind/wrongEncoding`` for UTF-16 and UTF-32.
    init(_ source: any ByteSource, delimiter: UInt8? = nil, limits: Limits = Limits()) throws(TransferError) {
        self.limits = limits
        self.delimiter = delimiter ?? UInt8(ascii: ",")
        window = ByteWindow(source)
        // Every other byte is zero of Latin letters in UTF-16 without a mark.
        try window.skipMark { start in start.count == 4 && start.count { $0 == 0 } >= 2 }
        if delimiter == nil { try findHeader() }
    }

    /// Goes to the line of the column names.
    ///
    /// - Parameters:
    ///   - delimiter: what stands between fields, where somebody said so.
    ///   - lines: so many are passed over; the names are in the first one behind them that has something in it.
    ///   - score: how many of the names that are looked for a row has; 0 for none.
    mutating func findHeader(
        _ delimiter: UInt8? = nil,
        skipping lines: Int = 0,
        score: ([String]) -> Int = { _ in 0 }
    ) throws(TransferError) {
        try window.fill(upTo: ByteWindow.piece / 2)
        let (limits, isLast) = (limits, window.isAtEnd)
        let found = window.withBytes { bytes in
            CSVHeader.find(UnsafeBufferPointer(bytes), isLast, limits, delimiter, skipping: lines, score)
        }
        window.take(found.offset)
        nextLine = found.line
        self.delimiter = found.delimiter
    }

    /// From now on only these columns are looked at: of others nothing is too long, and nothing no text.
    mutating func check(only columns: [Bool]) {
        taken = columns
        if columns.contains(false) { limits.rowBytes = max(limits.rowBytes, limits.longestRowBytes) }
    }

    var offset: Int { window.offset + rowLength }
    var totalBytes: Int? { window.totalBytes }

    var path: String { window.path }

    /// Goes to the next row. Returns false at the end.
    mutating func next() throws(TransferError) -> Bool {
        while true {
            window.take(rowLength)
            rowLength = 0
            line = nextLine
            problem = nil
            fields.removeAll(keepingCapacity: true)
            let scan = try scanRow()
            rowLength = scan.length
            nextLine += scan.lines
            switch scan.outcome {
            case .end: return false
            case .empty: continue
            case .row:
                check()
                if problem == nil {
                    for index in fields.indices where fields[index].hasPairs { joinPairs(index) }
                    unwrapTexts()
                }
                return true
            case .broken(let kind, let field):
                problem = Problem(kind: kind, field: field)
                fields.removeAll(keepingCapacity: true)
                return true
            }
        }
    }

    /// Calls the body with the bytes in which the ``fields`` of the current row lie.
    mutating func withRow<Result, Failure>(
        _ body: (UnsafeBufferPointer<UInt8>, [Field]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let fields = fields
        return try window.withBytes { bytes throws(Failure) in try body(UnsafeBufferPointer(bytes), fields) }
    }

    /// Makes one quote of each two, in place.
    private mutating func joinPairs(_ index: Int) {
        let field = fields[index]
        let count = window.withBytes { bytes -> Int in
            let end = field.start + field.count
            var (from, to) = (field.start, field.start)
            while from < end {
                bytes[to] = bytes[from]
                from += bytes[from] == CSVScan.quote ? 2 : 1
                to += 1
            }
            return to - field.start
        }
        fields[index].count = count
        fields[index].hasPairs = false
    }

    /// Makes texts of the formulas that are a text, `="0042"`.
    private mutating func unwrapTexts() {
        let fields = fields
        let formulas = window.withBytes { bytes in
            let bytes = UnsafeBufferPointer(bytes)
            return fields.indices.filter { CSVScan.isWrapped(bytes, fields[$0]) }
        }
        for index in formulas {
            self.fields[index].start += 2
            self.fields[index].count -= 3
            self.fields[index].isQuoted = true
            joinPairs(index)
        }
    }

    private mutating func scanRow() throws(TransferError) -> CSVScan {
        while true {
            let (isLast, delimiter, limits) = (window.isAtEnd, delimiter, limits)
            var found: [Field] = []
            swap(&found, &fields)
            found.removeAll(keepingCapacity: true)
            let scan = window.withBytes { bytes in
                CSVScan.row(in: UnsafeBufferPointer(bytes), isLast, delimiter, limits, &found)
            }
            swap(&found, &fields)
            if let scan { return scan }
            if window.end - window.start > limits.rowBytes { return try skipLine() }
            try window.fill()
        }
    }

    /// Gets past a row that is too long: to the end of its first line.
    private mutating func skipLine() throws(TransferError) -> CSVScan {
        let field = max(fields.count, 1)
        while true {
            let isLast = window.isAtEnd
            if let length = window.withBytes({ CSVScan.line(in: UnsafeBufferPointer($0), isLast) }) {
                return CSVScan(outcome: .broken(.rowTooLong, field: field), length: length, lines: 1)
            }
            // The last byte may be the CR of a CR LF.
            window.take(window.end - window.start - 1)
            try window.fill()
        }
    }

    private func isTaken(_ index: Int) -> Bool {
        guard let taken else { return true }
        return index < taken.count && taken[index]
    }

    private mutating func check() {
        if fields.count > limits.fields {
            problem = Problem(kind: .tooManyFields, field: limits.fields + 1)
        } else if let index = fields.indices.first(where: { fields[$0].count > limits.fieldBytes && isTaken($0) }) {
            problem = Problem(kind: .fieldTooLong, field: index + 1)
        } else if let last = fields.last {
            let length = last.start + last.count
            let isPlain = window.withBytes { bytes in
                let row = UnsafeBufferPointer(rebasing: bytes[..<length])
                return !row.contains(0) && row.isUTF8
            }
            guard !isPlain else { return }
            for index in fields.indices where problem == nil && isTaken(index) {
                let range = fields[index].range
                problem = window.withBytes { bytes in
                    let content = UnsafeBufferPointer(rebasing: bytes[range])
                    if content.contains(0) { return Problem(kind: .nul, field: index + 1) }
                    return content.isUTF8 ? nil : Problem(kind: .notUTF8, field: index + 1)
                }
            }
        }
    }
}

/// What was found at the beginning of a stretch of CSV.
struct CSVScan {
    static let quote = UInt8(ascii: "\"")
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    enum Outcome {
        /// Nothing is left.
        case end
        /// A line with nothing in it.
        case empty
        case row
        case broken(CSVReader.Problem.Kind, field: Int)
    }

    var outcome: Outcome
    /// Bytes up to what follows, the line's end included.
    var length: Int
    var lines: Int

    /// Reads the row at the beginning of the bytes.
    ///
    /// - Parameters:
    ///   - isLast: whether nothing follows these bytes.
    ///   - fields: gets the fields, up to one more than the limit.
    /// - Returns: `nil` if the row may go on behind these bytes.
    static func row(
        in bytes: UnsafeBufferPointer<UInt8>,
        _ isLast: Bool,
        _ delimiter: UInt8,
        _ limits: CSVReader.Limits,
        _ fields: inout [CSVReader.Field]
    ) -> CSVScan? {
        guard let base = bytes.baseAddress, bytes.count > 0 else {
            return isLast ? CSVScan(outcome: .end, length: 0, lines: 0) : nil
        }
        let end = bytes.count
        var at = 0
        var innerLines = 0
        while true {
            if at < end, base[at] == quote {
                let start = at + 1
                var hasPairs = false
                var close = start
                while true {
                    guard let found = memchr(base + close, Int32(quote), end - close) else {
                        guard isLast else { return nil }
                        return broken(.unterminatedQuote, fields.count + 1, bytes, isLast)
                    }
                    close = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                    guard close + 1 < end else {
                        guard isLast else { return nil }
                        break
                    }
                    guard base[close + 1] == quote else { break }
                    hasPairs = true
                    close += 2
                }
                innerLines += lineEnds(base, start, close)
                append(start, close - start, isQuoted: true, hasPairs, limits, &fields)
                at = close + 1
                if at < end, base[at] != delimiter, base[at] != lineFeed, base[at] != carriageReturn {
                    return broken(.textBehindQuote, fields.count, bytes, isLast, from: innerLines == 0 ? at : 0)
                }
            } else {
                let start = at
                while at < end {
                    let byte = base[at]
                    // What ends a field is small, and most text is not.
                    if byte <= 0x3B || byte == delimiter {
                        if byte == delimiter || byte == lineFeed || byte == carriageReturn { break }
                    }
                    at += 1
                }
                if at == end, !isLast { return nil }
                append(start, at - start, isQuoted: false, false, limits, &fields)
            }
            guard at < end else { return CSVScan(outcome: .row, length: end, lines: innerLines + 1) }
            if base[at] == delimiter {
                at += 1
                // A delimiter at the very end begins one more field, which is empty.
                if at == end {
                    guard isLast else { return nil }
                    append(at, 0, isQuoted: false, false, limits, &fields)
                    return CSVScan(outcome: .row, length: end, lines: innerLines + 1)
                }
                continue
            }
            guard let next = behindLineEnd(base, at, end, isLast) else { return nil }
            let isEmpty = fields.count == 1 && fields[0].count == 0 && !fields[0].isQuoted
            return CSVScan(outcome: isEmpty ? .empty : .row, length: next, lines: innerLines + 1)
        }
    }

    /// Whether the field is a formula that is a text: `="0042"`, with two quotes for each one within.
    static func isWrapped(_ bytes: UnsafeBufferPointer<UInt8>, _ field: CSVReader.Field) -> Bool {
        guard field.count > 2, bytes[field.start] == UInt8(ascii: "="), bytes[field.start + 1] == quote else {
            return false
        }
        let last = field.start + field.count - 1
        guard last > field.start + 1, bytes[last] == quote else { return false }
        var at = field.start + 2
        while at < last {
            if bytes[at] == quote {
                guard at + 1 < last, bytes[at + 1] == quote else { return false }
                at += 1
            }
            at += 1
        }
        return true
    }

    /// The length of the line at the beginning of the bytes, its end included; `nil` if it may go on behind them.
    static func line(in bytes: UnsafeBufferPointer<UInt8>, _ isLast: Bool, from start: Int = 0) -> Int? {
        guard let base = bytes.baseAddress else { return isLast ? 0 : nil }
        var at = start
        while at < bytes.count, base[at] != lineFeed, base[at] != carriageReturn { at += 1 }
        guard at < bytes.count else { return isLast ? bytes.count : nil }
        return behindLineEnd(base, at, bytes.count, isLast)
    }

    private static func append(
        _ start: Int,
        _ count: Int,
        isQuoted: Bool,
        _ hasPairs: Bool,
        _ limits: CSVReader.Limits,
        _ fields: inout [CSVReader.Field]
    ) {
        guard fields.count <= limits.fields else { return }
        fields.append(CSVReader.Field(start: start, count: count, isQuoted: isQuoted, hasPairs: hasPairs))
    }

    /// A row with a fault: what follows is read from the end of its first line on, so that a quote that should not be
    /// there takes no other rows along.
    private static func broken(
        _ kind: CSVReader.Problem.Kind,
        _ field: Int,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ isLast: Bool,
        from start: Int = 0
    ) -> CSVScan? {
        line(in: bytes, isLast, from: start).map { CSVScan(outcome: .broken(kind, field: field), length: $0, lines: 1) }
    }

    private static func behindLineEnd(_ base: UnsafePointer<UInt8>, _ at: Int, _ end: Int, _ isLast: Bool) -> Int? {
        guard base[at] == carriageReturn else { return at + 1 }
        guard at + 1 < end else { return isLast ? at + 1 : nil }
        return base[at + 1] == lineFeed ? at + 2 : at + 1
    }

    /// How many lines end between the two.
    private static func lineEnds(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var count = 0
        var at = start
        while at < end {
            if base[at] == lineFeed || base[at] == carriageReturn && !(at + 1 < end && base[at + 1] == lineFeed) {
                count += 1
            }
            at += 1
        }
        return count
    }
}
