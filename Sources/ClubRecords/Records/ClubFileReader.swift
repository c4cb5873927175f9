import CardCore
import Foundation

/// Reads a club's file: once to see that it is whole and unchanged, then again for its records.
package struct ClubFileReader {
    private let source: FileSource
    private var lines: ClubFileLines
    private var order = RecordOrder()

    /// What the first line tells.
    let header: ClubFile.Header

    /// What the last line tells.
    let trailer: ClubFile.Trailer.Sums

    /// Reads all of the file and compares its checksum; then stands before the first record.
    ///
    /// - Parameter progress: told the bytes that were looked at; throwing ends it.
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
        guard let trailer = try? JSONDecoder().decode(ClubFile.Trailer.self, from: Data(last)).end else {
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

    /// The next records, up to so many, each with its line; nothing at the end.
    ///
    /// - Throws: ``TransferError/Kind/altered`` if the file is no longer what it was when it was looked at.
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
                guard JSONDepth.isWithin(ClubFile.depth, line) else { throw RowFault.tooDeep }
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
        let expected = "expected the first line of a club's file"
        guard let first = try lines.next() else { throw TransferError(.truncated, file: path, line: 1) }
        guard case .bytes(let line) = first else {
            throw TransferError(.malformed, file: path, line: 1, detail: expected)
        }
        // What any version has.
        struct Start: Decodable {
            var format: String
            var version: Int
        }
        guard let start = try? JSONDecoder().decode(Start.self, from: Data(line)), start.format == ClubFile.name else {
            throw TransferError(.malformed, file: path, line: 1, detail: expected)
        }
        guard start.version <= ClubFile.version else {
            let detail = "its version is \(start.version), and \(ClubFile.version) is known here"
            throw TransferError(.newerVersion, file: path, line: 1, detail: detail)
        }
        guard let header = try? JSONDecoder().decode(ClubFile.Header.self, from: Data(line)) else {
            throw TransferError(.malformed, file: path, line: 1, detail: expected)
        }
        return header
    }
}
