import ClubRecords
import Cryptography
import Foundation
import ReaderKit
import Synchronization
import TestSupport

extension SeededNumbers {
    /// A text of pieces that are trouble for CSV, JSON and spreadsheets.
    package mutating func text(upTo count: Int = 8) -> String {
        let pieces = [
            "=", "+", "-", "@", "\t", "\r", "\n", "\r\n", "'", "''", "\"", "\"\"", ",", ";", "|", " ", "<null>", "[1]",
            "[", "]", "{", "}", "{\"a\":[]}", "a", "Zoë", "é", "e\u{301}", "😀", "0", "1.5", "null", "true", "\\", "/",
            "\u{FEFF}", "\u{1}", "\u{7F}", "\u{2028}", "＝", "＠", "sep=;", "#",
        ]
        return (0..<Int.random(in: 0...count, using: &self)).map { _ in
            pieces[Int.random(in: 0..<pieces.count, using: &self)]
        }.joined()
    }

    /// Any value that JSON can hold.
    package mutating func value(depth: Int = 0) -> FieldValue {
        switch Int.random(in: 0..<(depth < 3 ? 8 : 6), using: &self) {
        case 0: .null
        case 1: .bool(.random(using: &self))
        case 2: .int(Int.random(in: -1000...1000, using: &self))
        case 3: .double(Double(Int.random(in: -1_000_000...1_000_000, using: &self)) / 1024 + 0.0001)
        case 4, 5: .string(text())
        case 6: .array((0..<Int.random(in: 0...3, using: &self)).map { _ in value(depth: depth + 1) })
        default:
            .object(
                Dictionary(
                    (0..<Int.random(in: 0...3, using: &self)).map { _ in (text(upTo: 2), value(depth: depth + 1)) },
                    uniquingKeysWith: { first, _ in first }
                )
            )
        }
    }
}

/// A directory of its own that is removed at the end.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("club-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package func file(_ name: String = "club.sqlite") -> String { path + "/" + name }
}

/// 1 September 2026, 10:00 UTC: the beginning of time in these tests.
package let start = Date(timeIntervalSince1970: 1_788_256_800)

/// Counts up: the same identifiers in each test.
package final class UUIDSource: Sendable {
    private let next = Atomic<UInt64>(1)

    package init() {}

    package func callAsFunction() -> UUID {
        Self.uuid(next.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    package static func uuid(_ number: UInt64) -> UUID {
        let bytes = withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
        return UUID(
            uuid: (
                0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]
            )
        )
    }
}

extension TemporaryDirectory {
    /// Writes a file.
    package func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Writes a club's file of these lines, which is whole and has a checksum of its own.
    package func writeRecords(_ lines: [String], to name: String = "hostile.clubkit") throws -> String {
        let path = file(name)
        var bytes = try ClubFile.line(ClubFile.Header(device: UUIDSource.uuid(5), exportedAt: "", clock: 0))
        for line in lines { bytes += Data("\n\(line)".utf8) }
        bytes.append(0x0A)
        let sums = ClubFile.Trailer(
            records: lines.count,
            members: 0,
            visits: 0,
            sha256: SHA256.hash(bytes).hex
        )
        bytes += try ClubFile.line(["end": sums]) + [0x0A]
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Reads a club's file of these lines.
    ///
    /// - Returns: the places of the lines that were taken, and why the others were not.
    package func readRecords(_ lines: [String]) throws -> (taken: [Int], faults: [RowFault]) {
        var reader = try ClubFileReader(FileSource(writeRecords(lines))) { _ in }
        let (records, faults) = try reader.next(lines.count)
        return (records.map { $0.line - 2 }, faults.map(\.fault))
    }

    /// The names of all files, sorted.
    package func names(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
    }
}

/// The bytes of a file.
package func content(of path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}

/// The permissions of a file.
package func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

extension AsyncStream where Element: Sendable {
    /// The first elements; waits until there are so many, or the sequence ends.
    package func first(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        guard count > 0 else { return [] }
        for await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
