import CardPasses

extension TransferFormat {
    /// How much of a file is looked at.
    package static let lookahead = 4096

    /// The form of a file, by its extension, or by its content where that says nothing.
    ///
    /// - Throws: ``TransferError/Kind/unknownFormat``.
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
