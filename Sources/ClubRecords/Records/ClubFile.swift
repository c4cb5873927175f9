import CardCore
import Cryptography
import Foundation

/// The club's own form: JSON Lines of what merges, so that nothing is lost and a file that was cut off or changed is
/// noticed.
///
/// The first line is the ``Header``. Each line behind it is a ``TransferRecord``: an object with one key. Erasures stand
/// before all others, in the order of their salts, so that members are looked through once for each. The last line is the
/// ``Trailer``, with the number of lines and the SHA-256 of all bytes before it.
///
/// Whoever may write a file must not be able to keep a kiosk busy for hours, so a record beyond the limits below is
/// skipped, and the import explains why. They are far from what a club comes to: ten thousand totals are those of a
/// file that was imported every day for 27 years.
package enum ClubFile {
    /// The version of the form that is written, and the latest that is read.
    static let version = 1

    package static let longestLine = 4 * 1024 * 1024

    /// How deep the JSON of a line may be nested: as deep as a value of any file, behind the six levels in which a
    /// member's values stand.
    static let depth = JSONReader.depth + 6

    /// How many creations, totals of files, sales of visits, removals of visits and values a member may have of each.
    package static let mostParts = 10_000

    /// How many devices' erasures are taken in, each of which hashes with a salt of its own: whoever is looked for
    /// among those who were erased has to be hashed with all of them. No club has so many.
    package static let mostSalts = 64

    static let mostParticulars = 100

    static let name = "clubkit"

    package struct Header: Codable, Sendable, Hashable {
        package var format = ClubFile.name
        package var version = ClubFile.version
        package var device: UUID
        /// ISO 8601, UTC, with milliseconds.
        package var exportedAt: String
        package var clock: Int64

        package init(device: UUID, exportedAt: String, clock: Int64) {
            self.device = device
            self.exportedAt = exportedAt
            self.clock = clock
        }
    }

    /// What the last line has, under the name `end`.
    package struct Trailer: Codable, Sendable, Hashable {
        /// Lines between the first and the last.
        package var records: Int
        package var members: Int
        package var visits: Int
        package var sha256: String

        package init(records: Int, members: Int, visits: Int, sha256: String) {
            self.records = records
            self.members = members
            self.visits = visits
            self.sha256 = sha256
        }
    }

    /// JSON with sorted keys, so that equal values are equal bytes.
    package static func line(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}

/// The lines of a club's file, with the checksum of those before the one that was read last.
struct ClubFileLines {
    private var window: ByteWindow
    private var digest = SHA256()
    /// The line that was read last, which is not in the checksum yet.
    private var last: [UInt8] = []
    private(set) var count = 0

    enum Line {
        case bytes([UInt8])
        /// One of more than ``ClubFile/longestLine`` bytes, which was passed over.
        case overlong
    }

    init(_ source: FileSource) throws(TransferError) {
        try source.rewind()
        window = ByteWindow(source)
        // A byte order mark that a program put there is no part of what the checksum is of.
        try window.skipMark { _ in false }
    }

    var offset: Int { window.offset }

    /// The SHA-256 of all lines before the one that was read last.
    var sumBefore: [UInt8] { digest.digest }

    /// The SHA-256 of all lines that were read.
    var sum: [UInt8] {
        var digest = digest
        digest.update(last)
        return digest.digest
    }

    /// The next line, or `nil` behind the last one. A line without an end was cut off.
    mutating func next() throws(TransferError) -> Line? {
        var length = 0
        while true {
            let end = window.withBytes { bytes -> Int? in
                guard let first = bytes.baseAddress, let end = memchr(first, 0x0A, bytes.count) else { return nil }
                return UnsafeRawPointer(end) - UnsafeRawPointer(first)
            }
            if let end, length == 0, end < ClubFile.longestLine {
                let line = window.withBytes { Array($0[...end]) }
                window.take(line.count)
                digest.update(last)
                last = line
                count += 1
                return .bytes(line)
            }
            let isAtEnd = window.isAtEnd
            if end == nil, isAtEnd {
                if length == 0, window.start == window.end { return nil }
                let detail = "the last line has no end"
                throw TransferError(.truncated, file: window.path, line: count + 1, detail: detail)
            }
            // Only what is longer than it may be is taken before its end is known.
            if length > 0 || end != nil || window.end - window.start > ClubFile.longestLine {
                if length == 0 {
                    digest.update(last)
                    last = []
                }
                let taken = end.map { $0 + 1 } ?? (window.end - window.start)
                window.withBytes { digest.update($0[..<taken]) }
                window.take(taken)
                length += taken
                if end != nil {
                    count += 1
                    return .overlong
                }
            }
            if end == nil { try window.fill() }
        }
    }
}

/// Reads a club's file: once to see that it is whole and unchanged, then again for its records.
package struct ClubFileReader {
    private let source: FileSource
    private var lines: ClubFileLines
    private var order = RecordOrder()

    let header: ClubFile.Header
    let trailer: ClubFile.Trailer

    /// Reads all of the file and compares its checksum; then stands before the first record.
    ///
    /// - Parameter progress: called with the number of bytes that were looked at; throwing ends it.
    package init(_ source: FileSource, progress: (Int) throws(TransferError) -> Void) throws(TransferError) {
        self.source = source
        let path = source.path
        lines = try ClubFileLines(source)
        header = try Self.header(&lines, path)
        var last: [UInt8] = []
        while let line = try lines.next() {
            last = if case .bytes(let bytes) = line { bytes } else { [] }
            if lines.count.isMultiple(of: 10_000) { try progress(lines.offset) }
        }
        guard let trailer = try? JSONDecoder().decode([String: ClubFile.Trailer].self, from: Data(last))["end"] else {
            let detail = "expected a line with the checksum at the end"
            throw TransferError(.truncated, file: path, line: lines.count, detail: detail)
        }
        guard trailer.records == lines.count - 2 else {
            let detail = "there are \(lines.count - 2) records, not \(trailer.records)"
            throw TransferError(.altered, file: path, detail: detail)
        }
        guard lines.sumBefore == (try? Hex.decode(trailer.sha256)) else {
            throw TransferError(.altered, file: path, detail: "the checksum differs")
        }
        self.trailer = trailer
        lines = try ClubFileLines(source)
        guard try Self.header(&lines, path) == header else { throw TransferError(.altered, file: path) }
    }

    var offset: Int { lines.offset }

    /// The next records, up to so many, each with its line; nothing at the end. Throws ``TransferError/Kind/altered``
    /// if the file is no longer what it was when it was looked at.
    package mutating func next(
        _ count: Int
    ) throws(TransferError) -> (records: [(line: Int, record: TransferRecord)], faults: [(row: Int, fault: RowFault)]) {
        var records: [(line: Int, record: TransferRecord)] = []
        var faults: [(row: Int, fault: RowFault)] = []
        let decoder = JSONDecoder()
        while records.count + faults.count < count, lines.count - 1 < trailer.records {
            guard let line = try lines.next() else {
                throw TransferError(.altered, file: source.path, line: lines.count + 1)
            }
            let number = lines.count
            do {
                guard case .bytes(let line) = line else { throw RowFault.tooLong }
                guard JSONScan.isWithin(ClubFile.depth, line) else { throw RowFault.tooDeep }
                let record = try decoder.decode(TransferRecord.self, from: Data(line))
                if let fault = record.fault ?? order.fault(of: record) { throw fault }
                records.append((number, record))
            } catch let fault as RowFault {
                faults.append((number, fault))
            } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
                faults.append((number, RowFault(nil, "the line is not valid JSON")))
            } catch {
                faults.append((number, RowFault(nil, RecordDecoder.summary(error))))
            }
        }
        if lines.count - 1 == trailer.records, lines.sum != (try? Hex.decode(trailer.sha256)) {
            throw TransferError(.altered, file: source.path, detail: "it changed while it was read")
        }
        return (records, faults)
    }

    private static func header(_ lines: inout ClubFileLines, _ path: String) throws(TransferError) -> ClubFile.Header {
        let detail = "expected the first line of a club's file"
        let malformed = TransferError(.malformed, file: path, line: 1, detail: detail)
        guard let first = try lines.next() else { throw TransferError(.truncated, file: path, line: 1) }
        guard case .bytes(let line) = first else { throw malformed }
        // What any version has.
        struct Start: Decodable {
            var format: String
            var version: Int
        }
        guard let start = try? JSONDecoder().decode(Start.self, from: Data(line)), start.format == ClubFile.name else {
            throw malformed
        }
        guard start.version <= ClubFile.version else {
            let detail = "its version is \(start.version), and \(ClubFile.version) is known here"
            throw TransferError(.newerVersion, file: path, line: 1, detail: detail)
        }
        guard let header = try? JSONDecoder().decode(ClubFile.Header.self, from: Data(line)) else { throw malformed }
        return header
    }
}
