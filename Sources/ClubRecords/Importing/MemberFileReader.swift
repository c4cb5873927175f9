import CardPasses

/// Reads the members of a user list or CSV file as values, some thousand at a time: for programs that look at them
/// before they are merged.
package struct MemberFileReader {
    package let format: TransferFormat

    private var reader: any RowReader
    private var isAtEnd = false

    /// - Throws: ``TransferError``, ``TransferError/Kind/malformed`` for a club's file too, which holds no such rows.
    package init(_ path: String, format: TransferFormat? = nil, mappings: [ColumnMapping] = []) throws(TransferError) {
        let source = try FileSource(path)
        if let format {
            self.format = format
        } else {
            self.format = try .detect(path: path, start: source.peek(TransferFormat.lookahead))
        }
        reader = try Self.reader(self.format, source, mappings)
    }

    static func reader(
        _ format: TransferFormat,
        _ source: any ByteSource,
        _ mappings: [ColumnMapping]
    ) throws(TransferError) -> any RowReader {
        switch format {
        case .userList: return try UserListReader(source, mappings: mappings)
        case .csv: return try CSVMemberReader(source, mappings: mappings)
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
        self.init(row: row, outcome: .malformed, column: fault.column, reason: fault.reason)
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

    /// The form of a file, by its extension, or by its content where that states nothing. Throws
    /// ``TransferError/Kind/unknownFormat``.
    package static func detect(path: String, start: @autoclosure () throws(TransferError) -> [UInt8])
        throws(TransferError)
        -> TransferFormat
    {
        let name = path.split(separator: "/").last ?? ""
        if let dot = name.lastIndex(of: "."),
            let format = TransferFormat(pathExtension: String(name[name.index(after: dot)...]))
        {
            return format
        }
        guard let format = detect(try start()) else { throw TransferError(.unknownFormat, file: path) }
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
            let columns = line.split { ",;\t".contains($0) }.map { $0.filter { $0 != "\"" && $0 != " " } }
            let known = ["userid", "passid", "memberid"]
            return columns.contains { known.contains($0.lowercased()) } || line.hasPrefix("sep=") ? .csv : nil
        }
    }
}
