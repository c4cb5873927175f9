import Foundation

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
    /// How many lines that is.
    var lines: Int

    init(_ outcome: Outcome, length: Int, lines: Int) {
        self.outcome = outcome
        self.length = length
        self.lines = lines
    }

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
            return isLast ? CSVScan(.end, length: 0, lines: 0) : nil
        }
        let end = bytes.count
        var at = 0
        var innerLines = 0
        while true {
            if at < end, base[at] == quote {
                // In quotes.
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
            guard at < end else {
                return CSVScan(.row, length: end, lines: innerLines + 1)
            }
            if base[at] == delimiter {
                at += 1
                // A delimiter at the very end begins one more field, which is empty.
                if at == end {
                    guard isLast else { return nil }
                    append(at, 0, isQuoted: false, false, limits, &fields)
                    return CSVScan(.row, length: end, lines: innerLines + 1)
                }
                continue
            }
            guard let next = behindLineEnd(base, at, end, isLast) else { return nil }
            let isEmpty = fields.count == 1 && fields[0].count == 0 && !fields[0].isQuoted
            return CSVScan(isEmpty ? .empty : .row, length: next, lines: innerLines + 1)
        }
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
        line(in: bytes, isLast, from: start).map { CSVScan(.broken(kind, field: field), length: $0, lines: 1) }
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
