/// Where the column names of a CSV file are, and what stands between its fields.
///
/// Both are found by the names that are looked for, in whole records: names may contain other delimiters and line
/// breaks, and there may be lines above them, such as a title. Where no name is found it is the first record that is no
/// title, and the delimiter of which it has the most.
struct CSVHeader: Hashable {
    var delimiter: UInt8
    /// Bytes before the record.
    var offset = 0
    /// The line on which it begins, from 1.
    var line = 1

    /// So many records are looked at.
    private static let mostRecords = 100

    /// The delimiters that are taken without a known name.
    private static let usual = Array(",;\t|".utf8)
    private static let others = Array(":^~".utf8) + [0x1F]

    static func find(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ isLast: Bool,
        _ limits: CSVReader.Limits,
        _ given: UInt8?,
        skipping lines: Int,
        _ score: ([String]) -> Int
    ) -> CSVHeader {
        var start = CSVHeader(delimiter: given ?? usual[0])
        func rest() -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[start.offset...]) }
        func skipLine() {
            start.offset += CSVScan.line(in: rest(), true) ?? 0
            start.line += 1
        }
        for _ in 0..<lines where start.offset < bytes.count { skipLine() }
        let first = start
        while start.offset < bytes.count, CSVScan.line(in: rest(), true) ?? 0 <= 2, rest()[0] < 0x20, rest()[0] != 0x09
        {
            skipLine()
        }
        let (isSeparator, said) = separator(in: rest().prefix { $0 != 0x0A && $0 != 0x0D })
        if isSeparator { skipLine() } else { start = first }
        let begin = start

        let choices = given.map { [$0] } ?? Array([said].compactMap(\.self) + (usual + others).filter { $0 != said })
        var best: (header: CSVHeader, score: Int)?
        var fallback: (header: CSVHeader, rank: (Int, Int))?
        for choice in choices {
            let records = Self.records(
                bytes,
                isLast,
                limits,
                CSVHeader(choice, begin),
                most: lines > 0 ? 1 : mostRecords
            )
            for record in records {
                let score = score(record.names)
                let isBetter = best.map { (score, -record.header.line) > ($0.score, -$0.header.line) }
                if isBetter ?? (score > 0) { best = (record.header, score) }
            }
            // What a line 'sep=' says is believed where no name says otherwise.
            guard said.map({ choice == $0 }) ?? (choice == given || usual.contains(choice)) else { continue }
            let plain = records.first { !$0.isTitle }
            guard let record = plain ?? records.first else { continue }
            // Of what is no title the first one, and of two delimiters the one of which it has the most.
            let rank = (plain == nil ? Int.min : -record.header.line, record.names.count)
            if fallback.map({ rank > $0.rank }) ?? true { fallback = (record.header, rank) }
        }
        return best?.header ?? fallback?.header ?? begin
    }

    private init(delimiter: UInt8) { self.delimiter = delimiter }

    private init(_ delimiter: UInt8, _ place: CSVHeader) {
        self = place
        self.delimiter = delimiter
    }

    private struct Record {
        var header: CSVHeader
        /// Without the blanks around them; nothing of a record that cannot be read.
        var names: [String]
        /// Whether nothing but its first field has something in it.
        var isTitle: Bool { names.first?.isEmpty == false && names.dropFirst().allSatisfy(\.isEmpty) }
    }

    private static func records(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ isLast: Bool,
        _ limits: CSVReader.Limits,
        _ start: CSVHeader,
        most: Int
    ) -> [Record] {
        var place = start
        var records: [Record] = []
        while records.count < most {
            let rest = UnsafeBufferPointer(rebasing: bytes[place.offset...])
            var fields: [CSVReader.Field] = []
            // Of a record that is longer than what is looked at, its beginning.
            let isLast = isLast || records.isEmpty
            guard let scan = CSVScan.row(in: rest, isLast, start.delimiter, limits, &fields) else { break }
            if case .end = scan.outcome { break }
            if case .row = scan.outcome {
                let names = fields.map { name(rest, $0) }
                if names.contains(where: { !$0.isEmpty }) || fields.contains(where: \.isQuoted) {
                    records.append(Record(header: place, names: names))
                }
            } else if case .broken = scan.outcome {
                records.append(Record(header: place, names: []))
            }
            place.offset += scan.length
            place.line += scan.lines
        }
        return records
    }

    private static func name(_ bytes: UnsafeBufferPointer<UInt8>, _ field: CSVReader.Field) -> String {
        var text = String(decoding: UnsafeBufferPointer(rebasing: bytes[field.range]), as: UTF8.self)
        if field.hasPairs { text.replace("\"\"", with: "\"") }
        if text.hasPrefix("=\""), text.hasSuffix("\""), text.utf8.count > 3 {
            text = String(text.dropFirst(2).dropLast())
        }
        return ColumnPlan.trimmed(text)
    }

    /// Whether a line says what stands between fields, as Excel wants it (`sep=;`): in any case, in quotes, with blanks,
    /// and with the delimiters with which programs fill it up. And what that is.
    static func separator(in line: some Sequence<UInt8>) -> (isSeparator: Bool, delimiter: UInt8?) {
        let no: (Bool, UInt8?) = (false, nil)
        var text = Substring(String(decoding: Array(line), as: UTF8.self))
        func skip(_ characters: String) { text = text.drop { characters.contains($0) } }
        skip(" \t\u{FEFF}\"")
        guard text.prefix(3).lowercased() == "sep" else { return no }
        text = text.dropFirst(3)
        skip(" ")
        guard text.first == "=" else { return no }
        text = text.dropFirst()
        // Blanks and quotes before it; a tab may be it.
        while let first = text.first, first == " " || first == "\"", text.contains(where: { $0 != " " && $0 != "\"" }) {
            text = text.dropFirst()
        }
        for word in ["\\t", "tab"] where text.lowercased().hasPrefix(word) { text = "\t" + text.dropFirst(word.count) }
        guard let first = text.first else { return (true, nil) }
        guard let byte = first.asciiValue, !byte.isASCIIAlphanumeric, byte != CSVScan.quote else { return no }
        let fill: Set<Character> = [first, " ", "\"", ",", ";", "\t", "|"]
        return text.allSatisfy(fill.contains) ? (true, byte) : no
    }
}
