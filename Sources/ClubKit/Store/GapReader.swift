import GRDBSQLite

/// Reads what can be read of a table that is damaged in places.
///
/// A table is a tree of pages. Reading in order ends at the first page that is damaged; reading from the other end
/// gives what is behind the last one. What lies between two of them is found by asking for what follows the middle of
/// the gap, and so on for both halves.
struct GapReader {
    private let source: RawDatabase
    private let table: String
    private let columns: [String]
    /// No row takes less than that many bytes, so there cannot be more rows than the file has room for.
    private let mostRows: Int

    /// How often a table is asked for what is in a gap.
    private static let probes = 200_000

    init(_ source: RawDatabase, _ table: String, _ columns: [String], fileSize: Int) {
        self.source = source
        self.table = table
        self.columns = columns
        mostRows = max(fileSize / 16, 1)
    }

    /// What a table is sorted by.
    enum Order {
        /// Whole numbers from there on, mostly one after the other.
        case int(Int64)
        /// Random bytes.
        case bytes
    }

    /// Reads a table that is sorted by one column.
    ///
    /// - Returns: whether nothing was left out.
    func read(by key: String, _ order: Order, _ copier: RowCopier) -> Bool {
        let isRowid = if case .int = order { true } else { false }
        let list = ([key] + columns).joined(separator: ", ")
        let select = """
            SELECT \(list) FROM \(table) \(isRowid ? "NOT INDEXED" : "") WHERE \(key) >= ?1 AND \(key) <= ?2 ORDER BY \(key)
            """
        guard let up = source.statement(select), let down = source.statement(select + " DESC") else { return false }
        let all: Gap
        switch order {
        case .int(let first):
            all = Gap(low: .int(first), high: .int(.max), smallest: 1)
        case .bytes:
            let high = [UInt8](repeating: 0xFF, count: 17)
            all = Gap(low: .bytes([]), high: .bytes(high), smallest: UInt64.max / UInt64(mostRows))
        }
        let (low, isWhole) = read(up, all, copier, isRising: true)
        if isWhole, copier.ignored == 0 { return true }
        var gap = all
        if let low { gap.low = low.key }
        if let high = read(down, gap, copier, isRising: false).last { gap.high = max(gap.low, high.key) }
        if case .int(let low) = gap.low, case .int(.max) = gap.high {
            // The end could not be read; it cannot be further away than that.
            let (end, overflow) = low.addingReportingOverflow(Int64(mostRows))
            gap.high = .int(overflow ? .max : end)
        }
        var gaps = [gap]
        var probes = Self.probes
        while let gap = gaps.popLast(), probes > 0 {
            guard let (lower, upper) = gap.halves else { continue }
            probes -= 2
            // The lower one is looked at first: behind the end of the table is nothing to be found.
            if let rest = narrowed(upper, up, down, copier) { gaps.append(rest) }
            if let rest = narrowed(lower, up, down, copier) { gaps.append(rest) }
        }
        return false
    }

    /// Reads a table that is sorted by columns between whose values none can be named, from both ends.
    ///
    /// - Returns: whether nothing was left out.
    func readEnds(by key: String, _ copier: RowCopier) -> Bool {
        let backwards = key.split(separator: ",").map { $0 + " DESC" }.joined(separator: ",")
        for order in [key, backwards] {
            let select = "SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY \(order)"
            guard let rows = source.statement(select) else { return false }
            var code = rows.step()
            var rest = mostRows
            while code == SQLITE_ROW, rest > 0 {
                copier.take(rows, from: 0)
                rest -= 1
                code = rows.step()
            }
            if code == SQLITE_DONE { return true }
        }
        return false
    }

    /// Reads a gap from both ends.
    ///
    /// A damaged key that is outside the gap looks like its end, so there is nothing left only where both ways give the
    /// same rows.
    ///
    /// - Returns: what could not be read, or `nil` if all was.
    private func narrowed(_ gap: Gap, _ up: RawStatement, _ down: RawStatement, _ copier: RowCopier) -> Gap? {
        let (low, isUpWhole) = read(up, gap, copier, isRising: true)
        let (high, isDownWhole) = read(down, gap, copier, isRising: false)
        if isUpWhole, isDownWhole, low?.count == high?.count { return nil }
        var rest = gap
        // Each only moves inwards, so that every step makes the gap smaller.
        if let low { rest.low = max(gap.low, low.key) }
        if let high { rest.high = min(gap.high, high.key) }
        return rest.low < rest.high ? rest : nil
    }

    /// Reads until the end, the first error, or a key that is not behind the one before: damaged pages may lead in
    /// circles. Then one of the two keys is damaged, and the last one that is given is the last that is surely right: if
    /// the new one is behind the one before the last, the last was too far ahead.
    ///
    /// - Returns: the last key that was read and how many there were, and whether the end was reached.
    private func read(
        _ rows: RawStatement,
        _ gap: Gap,
        _ copier: RowCopier,
        isRising: Bool
    ) -> (last: (key: RawStatement.Key, count: Int)?, isWhole: Bool) {
        rows.bind(gap.low, at: 1)
        rows.bind(gap.high, at: 2)
        defer { rows.reset() }
        typealias Place = (key: RawStatement.Key, count: Int)
        var (last, before): (Place?, Place?)
        func isBehind(_ key: RawStatement.Key, _ other: RawStatement.Key) -> Bool {
            isRising ? other < key : key < other
        }
        while true {
            switch rows.step() {
            case SQLITE_ROW:
                let key: RawStatement.Key
                if case .int = gap.low { key = .int(rows.int(0)) } else { key = .bytes(rows.bytes(0)) }
                guard key >= gap.low, key <= gap.high else { return (last, false) }
                if let last, !isBehind(key, last.key) {
                    // Of the first two nobody can name which is right.
                    guard let before else { return (nil, false) }
                    guard isBehind(key, before.key) else { return (last, false) }
                    if case (.int(let one), .int(let other)) = (before.key, key) {
                        // Only one number fits where one is missing.
                        let (distance, overflow) = max(one, other).subtractingReportingOverflow(min(one, other))
                        copier.renumberLast(!overflow && distance == 2 ? min(one, other) + 1 : nil)
                    }
                    return (before, false)
                }
                copier.take(rows, from: 1)
                before = last
                last = (key, (last?.count ?? 0) + 1)
            case SQLITE_DONE: return (last, true)
            default: return (last, false)
            }
        }
    }

    /// Keys from one to another, both included.
    private struct Gap {
        var low: RawStatement.Key
        var high: RawStatement.Key
        /// What is not wider is not looked into.
        var smallest: UInt64

        /// Both halves, which have the middle in common; `nil` if there is nothing between.
        var halves: (lower: Gap, upper: Gap)? {
            let (low, high) = (number(self.low), number(self.high))
            guard high > low, high - low > smallest else { return nil }
            let middle = low + (high - low) / 2
            let key: RawStatement.Key =
                switch self.low {
                case .int: .int(Int64(clamping: middle))
                case .bytes: .bytes((0..<8).map { UInt8(truncatingIfNeeded: middle >> (56 - 8 * $0)) })
                }
            return (
                Gap(low: self.low, high: key, smallest: smallest), Gap(low: key, high: self.high, smallest: smallest)
            )
        }

        private func number(_ key: RawStatement.Key) -> UInt64 {
            switch key {
            case .int(let number): UInt64(clamping: number)
            case .bytes(let bytes): (0..<8).reduce(0) { $0 << 8 | UInt64($1 < bytes.count ? bytes[$1] : 0) }
            }
        }
    }
}
