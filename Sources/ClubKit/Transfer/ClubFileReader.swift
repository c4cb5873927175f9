import Crypto
import Foundation
import ReaderKit

/// Reads a club's file: once to see that it is whole and unchanged, then again for its records.
struct ClubFileReader {
    private let source: FileSource
    private var window: ByteWindow
    private var number = 0
    private var digest = SHA256()
    private var order = RecordOrder()

    /// What the first line tells.
    let header: ClubFile.Header

    /// What the last line tells.
    let trailer: ClubFile.Trailer.Sums

    /// Reads all of the file and compares its checksum; then stands before the first record.
    ///
    /// - Parameter progress: told the bytes that were looked at; throwing ends it.
    init(_ source: FileSource, progress: (Int) throws(TransferError) -> Void) throws(TransferError) {
        self.source = source
        try source.rewind()
        window = ByteWindow(source)
        header = try Self.header(window: &window, &digest, source.path)
        var lines = 1
        var last: [UInt8] = []
        while let line = try Self.line(&window, source.path, lines + 1) {
            if !last.isEmpty { digest.update(data: last) }
            last = line
            lines += 1
            if lines.isMultiple(of: 10_000) { try progress(window.offset) }
        }
        let path = source.path
        guard let trailer = try? JSONDecoder().decode(ClubFile.Trailer.self, from: Data(last)).end else {
            let detail = "expected a line with the checksum at the end"
            throw TransferError(.truncated, file: path, line: lines, detail: detail)
        }
        guard trailer.records == lines - 2 else {
            let detail = "there are \(lines - 2) records, not \(trailer.records)"
            throw TransferError(.altered, file: path, detail: detail)
        }
        guard digest.finalize().elementsEqual((try? Hex.decode(trailer.sha256)) ?? []) else {
            throw TransferError(.altered, file: path, detail: "the checksum differs")
        }
        self.trailer = trailer
        try source.rewind()
        window = ByteWindow(source)
        digest = SHA256()
        guard try Self.header(window: &window, &digest, path) == header else {
            throw TransferError(.altered, file: path)
        }
        number = 1
    }

    var offset: Int { window.offset }

    /// The next records, up to so many, each with its line; nothing at the end.
    ///
    /// - Throws: ``TransferError/Kind/altered`` if the file is no longer what it was when it was looked at.
    mutating func next(
        _ count: Int
    ) throws(TransferError) -> (records: [(line: Int, record: TransferRecord)], faults: [(row: Int, fault: RowFault)]) {
        var records: [(line: Int, record: TransferRecord)] = []
        var faults: [(row: Int, fault: RowFault)] = []
        let decoder = JSONDecoder()
        while records.count + faults.count < count, number - 1 < trailer.records {
            guard let line = try Self.line(&window, source.path, number + 1) else {
                throw TransferError(.altered, file: source.path, line: number + 1)
            }
            digest.update(data: line)
            number += 1
            do {
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
        if number - 1 == trailer.records {
            guard digest.finalize().elementsEqual((try? Hex.decode(trailer.sha256)) ?? []) else {
                throw TransferError(.altered, file: source.path, detail: "it changed while it was read")
            }
        }
        return (records, faults)
    }

    private static func header(
        window: inout ByteWindow,
        _ digest: inout SHA256,
        _ path: String
    ) throws(TransferError) -> ClubFile.Header {
        let expected = "expected the first line of a club's file"
        guard let line = try line(&window, path, 1) else { throw TransferError(.truncated, file: path, line: 1) }
        digest.update(data: line)
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

    /// The next line with its end, or `nil` behind the last one. A line without an end was cut off.
    private static func line(
        _ window: inout ByteWindow,
        _ path: String,
        _ number: Int
    ) throws(TransferError) -> [UInt8]? {
        while true {
            let line = window.withBytes { bytes in
                bytes.firstIndex(of: 0x0A).map { Array(bytes[...$0]) }
            }
            if let line {
                window.take(line.count)
                return line
            }
            if window.isAtEnd {
                guard window.start == window.end else {
                    throw TransferError(.truncated, file: path, line: number, detail: "the last line has no end")
                }
                return nil
            }
            guard window.end - window.start <= ClubFile.longestLine else {
                let detail = "the line is longer than \(ClubFile.longestLine) bytes"
                throw TransferError(.malformed, file: path, line: number, detail: detail)
            }
            try window.fill()
        }
    }
}
