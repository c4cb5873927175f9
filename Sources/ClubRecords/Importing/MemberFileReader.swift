import CardPasses

/// Reads the members of a user list or CSV file as values, some thousand at a time: for programs that look at them
/// before they are merged.
package struct MemberFileReader {
    package let format: TransferFormat

    private var reader: any RowReader
    private var isAtEnd = false

    /// - Throws: ``TransferError``, ``TransferError/Kind/malformed`` for a club's file too, which holds no such rows.
    package init(_ path: String, options: ImportOptions = ImportOptions()) throws(TransferError) {
        let source = try FileSource(path)
        format = try .detect(source, options.format)
        reader = try Self.reader(format, source, options)
    }

    static func reader(
        _ format: TransferFormat,
        _ source: any ByteSource,
        _ options: ImportOptions
    ) throws(TransferError) -> any RowReader {
        var source = source
        if let encoding = options.layout.encoding, !encoding.isUTF8 { source = DecodedSource(source, encoding) }
        switch format {
        case .userList:
            var reader = try UserListReader(source, mappings: options.mappings)
            reader.dateOrder = options.layout.dateOrder
            return reader
        case .csv: return try CSVMemberReader(source, mappings: options.mappings, layout: options.layout)
        case .clubkit:
            throw TransferError(.malformed, file: source.path, detail: "a club's file can only be merged as a whole")
        }
    }

    /// The next members, and the rows between them that could not be read; `nil` at the end.
    package mutating func next() throws(TransferError) -> (members: [ImportedMember], malformed: [ImportedRow])? {
        guard !isAtEnd else { return nil }
        var batch = RowBatch(isUntyped: format == .csv)
        isAtEnd = try !reader.read(into: &batch)
        if isAtEnd, batch.count == 0 { return nil }
        return (
            batch.batch.rows.map { batch.batch.member($0) },
            batch.faults.map { ImportedRow(row: $0.row, fault: $0.fault) }
        )
    }
}

extension ImportedRow {
    init(row: Int, fault: RowFault) {
        let outcome = fault.isSkipped ? Outcome.skipped : .malformed
        self.init(row: row, outcome: outcome, column: fault.column, reason: fault.reason)
    }
}

/// The formats of files of members.
public enum TransferFormat: String, Sendable, Hashable, CaseIterable, Codable {
    /// A JSON array of objects, one a member, with the keys of the original library (`.musrl`).
    case userList
    /// Comma-separated values with a line of column names (`.mucsv`, read also from `.csv`).
    case csv
    /// All data of a club, in JSON Lines that end with a checksum (`.clubkit`): the format for moving members between
    /// clubs without loss.
    case clubkit

    /// The extension of files in this format, without a dot.
    public var pathExtension: String {
        switch self {
        case .userList: "musrl"
        case .csv: "mucsv"
        case .clubkit: "clubkit"
        }
    }

    /// Creates the format of files with that extension (without a dot, ignoring case); `nil` if there is none.
    public init?(pathExtension: String) {
        let name = pathExtension.lowercased()
        guard let format = name == "csv" ? .csv : Self.allCases.first(where: { $0.pathExtension == name }) else {
            return nil
        }
        self = format
    }
}

extension TransferFormat {
    package static let lookahead = 4096

    /// Whether the name of a file is one of the original library's, whose programs read times as numbers alone.
    package static func isOriginal(_ path: String) -> Bool {
        ["musrl", "mucsv"].contains { path.lowercased().hasSuffix(".\($0)") }
    }

    /// The form of a file: the one that is given, else that of its extension, else that of its content.
    ///
    /// - Throws: ``TransferError/Kind/unknownFormat``; ``TransferError/Kind/foreignFormat`` for a file that is none of
    ///   them whatever it is called, such as a spreadsheet's own.
    package static func detect(_ source: FileSource, _ given: TransferFormat?) throws(TransferError) -> TransferFormat {
        let start = try source.peek(lookahead)
        if let detail = ForeignFile.name(start) {
            throw TransferError(.foreignFormat, file: source.path, detail: detail)
        }
        if let given { return given }
        return try detect(path: source.path, start: start)
    }

    static func detect(path: String, start: [UInt8]) throws(TransferError) -> TransferFormat {
        let name = path.split(separator: "/").last ?? ""
        if let dot = name.lastIndex(of: "."),
            let format = TransferFormat(pathExtension: String(name[name.index(after: dot)...]))
        {
            return format
        }
        guard let format = detect(start) else { throw TransferError(.unknownFormat, file: path) }
        return format
    }

    /// The form of content that begins so, or `nil`.
    static func detect(_ start: [UInt8]) -> TransferFormat? {
        var text = start[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        let line = String(decoding: text.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        text = text.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        switch text.first {
        case UInt8(ascii: "["): return .userList
        case UInt8(ascii: "{"): return line.contains("\"\(ClubFile.name)\"") ? .clubkit : nil
        default:
            let columns = line.split { ",;\t|".contains($0) }.map { $0.filter { $0 != "\"" && $0 != " " } }
            let known = ["userid", "passid", "memberid"]
            let isKnown = columns.contains { known.contains($0.lowercased()) }
            return isKnown || CSVHeader.separator(in: line.utf8).isSeparator ? .csv : nil
        }
    }
}

/// Files of other programs, by what they begin with.
enum ForeignFile {
    /// What the file is; `nil` if it may be of members.
    static func name(_ start: [UInt8]) -> String? {
        if let known = marks.first(where: { start.starts(with: $0.mark) }) {
            return known.name.isEmpty ? archive(start) : known.name
        }
        var text = start[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let beginning = String(decoding: text.prefix(1024), as: UTF8.self).lowercased()
        if beginning.hasPrefix("<?xml") || beginning.hasPrefix("<workbook") {
            return beginning.contains("office:spreadsheet") ? "it is an XML spreadsheet of Excel" : "it is XML"
        }
        let page = ["<!doctype html", "<html", "<head", "<body", "<table", "<meta", "<!--", "<style"]
        if page.contains(where: beginning.hasPrefix) {
            return "it is a page of the web (HTML), as some programs export"
        }
        return texts.first { beginning.hasPrefix($0.0) }?.1
    }

    private static func archive(_ start: [UInt8]) -> String {
        let parts: [(String, String)] = [
            ("opendocument.spreadsheet", "it is a spreadsheet of LibreOffice (.ods)"),
            ("opendocument", "it is a document of LibreOffice"), ("word/", "it is a document of Word (.docx)"),
            (".iwa", "it is a document of Apple Numbers (.numbers)"), ("xl/", "it is a workbook of Excel (.xlsx)"),
            ("[Content_Types].xml", "it is a workbook of Excel (.xlsx)"),
            ("_rels/", "it is a workbook of Excel (.xlsx)"),
        ]
        let text = String(decoding: start, as: UTF8.self)
        return parts.first { text.contains($0.0) }?.1 ?? "it is an archive (.zip)"
    }

    private static let marks: [(mark: [UInt8], name: String)] = [
        (Array("PK".utf8) + [3, 4], ""), (Array("PK".utf8) + [5, 6], ""),
        ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "it is a workbook of Excel (.xls), or one with a password"),
        ([0x09, 0x08, 0x10, 0x00], "it is a workbook of an old Excel (.xls)"),
        (Array("%PDF".utf8), "it is a PDF"), ([0x1F, 0x8B], "it is compressed (.gz)"),
        (Array("BZh".utf8), "it is compressed (.bz2)"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "it is compressed (.xz)"),
        ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed (.zst)"),
        ([0x37, 0x7A, 0xBC, 0xAF], "it is an archive (.7z)"), (Array("Rar!".utf8), "it is an archive (.rar)"),
        (Array("SQLite format 3".utf8), "it is a database (SQLite), such as a club's own"),
        ([0, 1, 0, 0] + Array("Standard".utf8), "it is a database of Access"),
        ([0x89] + Array("PNG".utf8), "it is a picture"), ([0xFF, 0xD8, 0xFF], "it is a picture"),
    ]

    private static let texts: [(String, String)] = [
        ("{\\rtf", "it is a document (RTF)"), ("begin:vcard", "it is an address book (vCard)"),
        ("id;p", "it is a SYLK file of a spreadsheet"), ("mime-version:", "it is a page of the web (MHTML)"),
        ("begin:vcalendar", "it is a calendar"),
    ]
}
