import Foundation
import ReaderKit

/// Compares the taps of a capture with those that are expected of it.
///
/// The expected taps lie beside the capture, as `NAME.expected.jsonl`: one JSON object a line, as the tools print them
/// when the ids are made from seed 0 and time 0 is the capture's own (``Capture/started``) or, without one,
/// 1970-01-01T00:00:00Z. A key that the expectation leaves out is not
/// compared, so that files written earlier hold when later versions add keys; only `technology`, `uid`, `uidKind`, `atr`,
/// `ndef` and `memberKey` must be absent where the expectation has none.
///
/// ```swift
/// @Test func membershipCard() async throws {
///     #expect(try await CaptureExpectation(file: "Fixtures/cards/member.capture").firstDifference() == nil)
/// }
/// ```
public struct CaptureExpectation: Sendable {
    /// The capture.
    public var file: String

    /// How its answers are found.
    public var mode: ReplayMode

    /// What passes are read and accepted, or `nil` for what is written on cards and their identifiers. Its memory is not
    /// used: each comparison begins with an empty one, for a recording is the same presentation each time.
    public var site: PassSite?

    /// The moment of the capture's time 0, by which the age of passes is judged; `nil` for the capture's own.
    public var start: Date?

    /// The comparison of a capture with the sidecar beside it.
    public init(file: String, mode: ReplayMode = .byCommand, site: PassSite? = nil, start: Date? = nil) {
        self.file = file
        self.mode = mode
        self.site = site
        self.start = start
    }

    /// Where the expected taps of that capture lie.
    public var sidecar: String {
        (file.hasSuffix(CaptureFiles.suffix) ? String(file.dropLast(CaptureFiles.suffix.count)) : file)
            + ".expected.jsonl"
    }

    /// The first line in which the taps differ from what is expected.
    public struct Difference: Error, Sendable, Hashable, CustomStringConvertible {
        /// The line of the sidecar, from 1.
        public var line: Int
        /// Where in the line's object: keys and indexes, as in `ndef[0].uri`; empty for the whole line.
        public var path: String
        /// What is expected there, or `nil` if nothing is.
        public var expected: String?
        /// What was found there, or `nil` if nothing was.
        public var found: String?

        /// One line for people.
        public var description: String {
            "line \(line)\(path.isEmpty ? "" : ", \(path)"): expected \(expected ?? "nothing"), found \(found ?? "nothing")"
        }
    }

    /// The taps of the capture, as the comparison sees them.
    public func taps() async throws -> [ScanEvent] {
        let capture = try Capture(contentsOf: file)
        let backend = ReplayBackend([capture], mode: mode) { [start] in
            start ?? $0.started ?? Date(timeIntervalSince1970: 0)
        }
        let ids = SeededUUIDs(seed: 0)
        var site = site
        site?.memory = VolatilePassMemory()
        var configuration = ScannerConfiguration(site: site, makeID: { ids.next() })
        configuration.includesContactCards = true
        let scanner = CardScanner(backend, configuration: configuration)
        var taps: [ScanEvent] = []
        for await case .scan(let tap) in scanner.events() { taps.append(tap) }
        if let difference = backend.differences.first { throw difference }
        return taps
    }

    /// Replays the capture and returns the first difference, if any.
    ///
    /// - Throws: `CaptureError` for a malformed capture, `CaptureFileError` for one that cannot be read or has no
    ///   sidecar, `ReaderError` of kind `replayMismatch` in strict mode.
    public func firstDifference() async throws -> Difference? {
        let taps = try await taps()
        guard let data = FileManager.default.contents(atPath: sidecar) else {
            throw CaptureFileError(path: sidecar, kind: .notFound)
        }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        var expected: [(line: Int, value: [String: Any])] = []
        for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
            guard let value = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                throw CaptureError(
                    file: sidecar,
                    line: index + 1,
                    column: 1,
                    code: .malformedExpectation,
                    message: "this line is not a JSON object"
                )
            }
            expected.append((index + 1, value))
        }
        let encoder = JSONEncoder()
        for (index, tap) in taps.enumerated() {
            let found = try JSONSerialization.jsonObject(with: encoder.encode(tap))
            guard index < expected.count else {
                let line = (expected.last?.line ?? 0) + 1
                return Difference(line: line, path: "", expected: nil, found: Self.text(found))
            }
            let (line, value) = expected[index]
            if var difference = Self.compare(value, found, path: "") {
                difference.line = line
                return difference
            }
        }
        if expected.count > taps.count {
            let (line, value) = expected[taps.count]
            return Difference(line: line, path: "", expected: Self.text(value), found: nil)
        }
        return nil
    }

    /// Keys whose absence states something.
    private static let meaningfulByAbsence = ["technology", "uid", "uidKind", "atr", "ndef", "memberKey"]

    private static func compare(_ expected: Any, _ found: Any?, path: String) -> Difference? {
        if let left = expected as? [String: Any], let right = found as? [String: Any] {
            for (key, value) in left.sorted(by: { $0.key < $1.key }) {
                let inner = path.isEmpty ? key : "\(path).\(key)"
                if let difference = compare(value, right[key], path: inner) { return difference }
            }
            guard path.isEmpty, let extra = meaningfulByAbsence.first(where: { left[$0] == nil && right[$0] != nil })
            else { return nil }
            return Difference(line: 0, path: extra, expected: nil, found: text(right[extra]))
        }
        if let left = expected as? [Any], let right = found as? [Any] {
            for index in 0..<max(left.count, right.count) {
                let inner = "\(path)[\(index)]"
                guard index < left.count else {
                    return Difference(line: 0, path: inner, expected: nil, found: text(right[index]))
                }
                let other = index < right.count ? right[index] : nil
                if let difference = compare(left[index], other, path: inner) { return difference }
            }
            return nil
        }
        let (left, right) = (text(expected), text(found))
        return left == right ? nil : Difference(line: 0, path: path, expected: left, found: right)
    }

    private static func text(_ value: Any?) -> String? {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed]
        let data = value.flatMap { try? JSONSerialization.data(withJSONObject: $0, options: options) }
        return data.map { String(decoding: $0, as: UTF8.self) }
    }
}
