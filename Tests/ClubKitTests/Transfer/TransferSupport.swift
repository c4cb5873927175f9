import Foundation
import Synchronization

@testable import ClubKit

/// SplitMix64: the same numbers from the same seed everywhere.
struct TransferRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A text of pieces that are trouble for CSV, JSON and spreadsheets.
    mutating func text(upTo count: Int = 8) -> String {
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
    mutating func value(depth: Int = 0) -> FieldValue {
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

/// A sink that takes notes, and gives verdicts that a test can foresee: a member is created once and kept from then on.
final class NotingSink: ImportSink {
    struct Notes {
        var members: [ImportedMember] = []
        var records: [TransferRecord] = []
        var batches: [Int] = []
        var isFinished = false
    }

    let notes = Mutex(Notes())
    /// Thrown by the batch of that number, from 0.
    private let failure: (batch: Int, error: ClubError)?
    private let verdict: (@Sendable (ImportedMember) -> ImportVerdict?)?
    private let known = Mutex<Set<String>>([])

    init(
        failing failure: (batch: Int, error: ClubError)? = nil,
        verdict: (@Sendable (ImportedMember) -> ImportVerdict?)? = nil
    ) {
        self.failure = failure
        self.verdict = verdict
    }

    func apply(_ batch: ImportBatch) throws(ClubError) -> [ImportVerdict] {
        let number = notes.withLock { $0.batches.count }
        if let failure, failure.batch == number { throw failure.error }
        let members = batch.rows.map { batch.member($0) }
        notes.withLock {
            $0.members += members
            $0.batches.append(members.count)
        }
        return members.map { member in
            if let verdict = verdict?(member) { return verdict }
            return known.withLock { $0.insert(member.userId).inserted } ? .created : .kept
        }
    }

    func apply(_ records: [TransferRecord]) throws(ClubError) -> [ImportVerdict] {
        notes.withLock {
            $0.records += records
            $0.batches.append(records.count)
        }
        return records.map { _ in .created }
    }

    func finish() throws(ClubError) {
        notes.withLock { $0.isFinished = true }
    }
}

extension TemporaryDirectory {
    /// Writes a file.
    func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Writes a club's file of these lines, which is whole and has a checksum of its own.
    func writeRecords(_ lines: [String], to name: String = "hostile.clubkit") throws -> String {
        let path = file(name)
        try? FileManager.default.removeItem(atPath: path)
        let output = try OutputFile(path, overwrite: false, hashed: true)
        let header = ClubFile.Header(device: UUIDSource.uuid(5), exportedAt: "", clock: 0)
        try output.write { $0 += (try? ClubFile.line(header)) ?? Data() }
        for line in lines { try output.write { $0 += Array("\n\(line)".utf8) } }
        try output.write { $0.append(0x0A) }
        let sums = ClubFile.Trailer.Sums(
            records: lines.count,
            members: 0,
            visits: 0,
            sha256: try output.checksum().hex
        )
        try output.write { $0 += ((try? ClubFile.line(ClubFile.Trailer(end: sums))) ?? Data()) + [0x0A] }
        _ = try output.finish(overwrite: false)
        return path
    }

    /// Reads a club's file of these lines.
    ///
    /// - Returns: the places of the lines that were taken, and why the others were not.
    func readRecords(_ lines: [String]) throws -> (taken: [Int], faults: [RowFault]) {
        var reader = try ClubFileReader(FileSource(writeRecords(lines))) { _ in }
        let (records, faults) = try reader.next(lines.count)
        return (records.map { $0.line - 2 }, faults.map(\.fault))
    }

    /// The names of all files, sorted.
    func names(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
    }
}

/// The bytes of a file.
func content(of path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}

/// The permissions of a file.
func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}
