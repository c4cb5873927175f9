/// Reads the text of a capture, line by line.
struct CaptureParser {
    let file: String?
    var capture: Capture
    var hasVersion = false
    /// Whether a card or a line came, so that the header is over.
    var isInBody = false
    var readers: Set<Int?> = []
    /// The presentation to which the next exchange belongs.
    var current: Int?
    /// The open presentation of each reader.
    var open: [Int?: Int] = [:]
    /// The last time of a card or a line, and the last removal of each reader.
    var latest: Duration = .zero
    var removals: [Int?: Duration] = [:]
    /// The last time of each open presentation: of its card or an answer.
    var times: [Int: Duration] = [:]
    /// A command whose answer has not come yet, and its place.
    var pending: (request: Capture.Exchange.Request, cursor: CaptureCursor)?

    init(file: String?) {
        self.file = file
        capture = Capture(file: file)
    }

    mutating func parse(_ bytes: [UInt8]) throws(CaptureError) -> Capture {
        guard bytes.count <= CaptureLimits.fileLength else {
            let limit = CaptureLimits.fileLength
            throw CaptureError(
                file: file,
                line: 1,
                column: 1,
                code: .fileTooLong,
                message: "the file has \(bytes.count) bytes, \(limit) are allowed"
            )
        }
        var rest = bytes[...]
        // A byte order mark, which some editors write.
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        var number = 0
        while !rest.isEmpty {
            number += 1
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            var line = rest[..<end]
            rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            try check(line, number: number)
            try statement(CaptureCursor(Array(line), line: number, file: file))
        }
        try finishCommand()
        guard hasVersion else {
            throw CaptureError(
                file: file,
                line: max(number, 1),
                column: 1,
                code: .notACapture,
                message: "the file is empty; a capture begins with 'capture \(CaptureLimits.version)'"
            )
        }
        return capture
    }

    /// Refuses lines that are too long or not UTF-8.
    private func check(_ line: ArraySlice<UInt8>, number: Int) throws(CaptureError) {
        guard line.count <= CaptureLimits.lineLength else {
            throw CaptureError(
                file: file,
                line: number,
                column: CaptureLimits.lineLength + 1,
                code: .lineTooLong,
                message: "the line has \(line.count) bytes, \(CaptureLimits.lineLength) are allowed"
            )
        }
        guard line.contains(where: { $0 >= 0x80 }) else { return }
        var decoder = UTF8()
        var iterator = line.makeIterator()
        var column = 1
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: column += 1
            case .emptyInput: return
            case .error:
                throw CaptureError(
                    file: file,
                    line: number,
                    column: column,
                    code: .invalidUTF8,
                    message: "the text is not UTF-8"
                )
            }
        }
    }

    mutating func statement(_ line: CaptureCursor) throws(CaptureError) {
        guard let first = line.current, first != UInt8(ascii: "#") else { return }
        guard hasVersion else { return try version(line.withoutComment()) }
        switch first {
        case UInt8(ascii: ">"): return try command(line.withoutComment())
        case UInt8(ascii: "<"): return try answer(line.withoutComment())
        case UInt8(ascii: "!"): return try fault(line.withoutComment())
        default: break
        }
        try finishCommand()
        var words = line
        let word = String(decoding: line.peekWord(stops: [UInt8(ascii: ":")]), as: UTF8.self)
        words.advance(word.utf8.count)
        switch word {
        case _ where words.current == UInt8(ascii: ":"): try header(line)
        case "card": try card(line.withoutComment())
        case "removed": try removed(line.withoutComment())
        case "line": try smartReaderLine(line)
        case "control": try command(line.withoutComment())
        case "reader" where isInBody && !line.withoutComment().rest.contains(UInt8(ascii: ":")):
            try change(line.withoutComment())
        default:
            if line.rest.contains(UInt8(ascii: ":")) { return try header(line) }
            guard isInBody else {
                throw line.error(.invalidHeader, "'\(CaptureCursor.text(line.rest))' is no header 'key: value'")
            }
            throw line.error(.unknownStatement, "'\(CaptureCursor.text(line.peekWord()))' is not known")
        }
    }
}
