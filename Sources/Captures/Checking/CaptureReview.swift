import CardCore
import Foundation

/// What is in a capture, and what a reviewer would ask about.
public struct CaptureReview: Sendable, Hashable {
    /// The capture.
    public var capture: Capture

    /// What to ask about, in the order of the capture.
    public private(set) var warnings: [CaptureWarning] = []

    /// How many lines the file has, or `nil` for a capture that was not read from a file.
    public private(set) var fileLineCount: Int?

    /// Looks at a capture.
    public init(of capture: Capture) {
        self.capture = capture
        reviewHeader()
        let isHarmless = isHarmless
        for (index, presentation) in capture.presentations.enumerated() {
            var review = PresentationReview(presentation, number: index + 1)
            review.look()
            if !isHarmless { review.lookForSecrets() }
            warnings += review.warnings
        }
        reviewOrder()
    }

    /// Reads a file and looks at it and at the expected taps beside it.
    ///
    /// - Throws: ``CaptureFileError`` if it cannot be read, ``CaptureError`` if it is malformed.
    public init(contentsOf path: String) throws {
        let bytes = try CaptureFiles.bytes(of: path)
        self.init(of: try Capture(parsing: bytes, file: path))
        fileLineCount = bytes.count { $0 == 0x0A } + (bytes.last.map { $0 == 0x0A } ?? true ? 0 : 1)
        reviewExpectation(CaptureFiles.expectation(of: path))
    }

    // MARK: Counting

    /// How many exchanges there are, of all kinds.
    public var exchangeCount: Int { capture.presentations.reduce(0) { $0 + $1.exchanges.count } }

    /// How many of them are raw frames.
    public var rawCount: Int { count { if case .raw = $0.request { true } else { false } } }

    /// How many of them are for the reader itself.
    public var controlCount: Int { count { if case .control = $0.request { true } else { false } } }

    /// How many faults there are, those in place of a conversation included.
    public var faultCount: Int {
        count { if case .fault = $0.answer { true } else { false } }
            + capture.presentations.count { $0.connectFault != nil }
    }

    /// The technologies of the cards, in the order of their names.
    public var technologies: [Technology] {
        let found = capture.presentations.compactMap { $0.facts.shownTechnology }
        return Set(found).sorted { $0.rawValue < $1.rawValue }
    }

    private func count(_ isCounted: (Capture.Exchange) -> Bool) -> Int {
        capture.presentations.reduce(0) { $0 + $1.exchanges.count(where: isCounted) }
    }

    // MARK: The whole

    /// Whether no real card is in it by its own word.
    private var isHarmless: Bool {
        let source = capture.source?.lowercased() ?? ""
        return source.hasPrefix("synthetic") || source.contains(CaptureRedaction.mark)
    }

    private mutating func warn(
        _ code: CaptureWarning.Code,
        line: Int? = nil,
        presentation: Int? = nil,
        _ message: String
    ) {
        warnings.append(CaptureWarning(code: code, line: line, presentation: presentation, message: message))
    }

    private mutating func reviewHeader() {
        if capture.source?.isEmpty != false { warn(.noSource, "nobody can tell where it comes from; add 'source: …'") }
        if capture.license?.isEmpty != false {
            warn(.noLicense, "nobody can tell whether it may be passed on; add 'license: …'")
        }
        if capture.readers.isEmpty { warn(.noReader, "the reader has no name; add 'reader: …'") }
        if capture.presentations.isEmpty, capture.lines.isEmpty { warn(.empty, "nothing is presented") }
    }

    private mutating func reviewOrder() {
        var latest: Duration = .zero
        for (index, presentation) in capture.presentations.enumerated() {
            let removed = presentation.removedAt.map { [$0] } ?? []
            let own = [presentation.at] + presentation.exchanges.compactMap(\.at) + removed
            if presentation.at < latest || zip(own, own.dropFirst()).contains(where: { $1 < $0 }) {
                warn(.timeBackwards, line: presentation.sourceLine, presentation: index + 1, "its times go backwards")
            }
            latest = max(latest, presentation.at)
        }
    }

    private mutating func reviewExpectation(_ path: String) {
        let name = URL(fileURLWithPath: path).lastPathComponent
        guard let bytes = try? CaptureFiles.bytes(of: path) else {
            let advice = "make it with 'readerctl replay --json --start 1970-01-01T00:00:00Z --seed 0'"
            warn(.noExpectation, "there is no \(name) beside it; \(advice)")
            return
        }
        var count = 0
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ CaptureCursor.isSpace($0) || $0 == 0x0D }) {
            count += 1
            guard (try? JSONSerialization.jsonObject(with: Data(line))) is [String: Any] else {
                warn(.malformedExpectation, "line \(index + 1) of \(name) is not a JSON object")
                return
            }
        }
        // A line may also state that a card has gone.
        let reports = capture.lines.count { SmartReaderLine.isTap($0.text) }
        let cards = capture.presentations.count
        guard count != cards + reports else { return }
        let what = reports == 0 ? "\(cards) presentations" : "\(cards) presentations and \(reports) reports"
        warn(.expectationCount, "\(name) has \(count) taps for \(what)")
    }
}

extension CaptureFiles {
    /// Where the taps lie that are expected of a capture: `NAME.expected.jsonl` beside `NAME.capture`.
    public static func expectation(of path: String) -> String {
        (path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path) + ".expected.jsonl"
    }
}

/// Something in a capture that a reviewer would ask about. The capture is well formed all the same.
public struct CaptureWarning: Sendable, Hashable, Codable {
    /// What it is, for programs.
    public var code: Code

    /// The line of the card or the command, where the file is known.
    public var line: Int?

    /// The presentation, from 1, or `nil` if the warning is of the whole capture.
    public var presentation: Int?

    /// What it is, for people.
    public var message: String

    /// What a reviewer asks about.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// There is no `source`: nobody knows whether a real card is in it.
        case noSource
        case noLicense
        case noReader
        case empty
        /// An answer to an APDU does not end in a status word (`61xx` to `6Fxx`, `9xxx`).
        case noStatusWord
        case notRemoved
        /// A time is before one that stands above it. Only a capture made in a program can have it.
        case timeBackwards
        case malformedATR
        /// The check byte of the ATR is wrong or missing.
        case wrongTCK
        /// A check byte of the identifier in pages 0 to 2 is wrong.
        case wrongBCC
        /// Two places of a presentation contain different identifiers.
        case differentUID
        /// The length of the identifier is not what ATQA states.
        case wrongUIDLength
        /// The technology is not the one that the ATR states.
        case differentTechnology
        /// The identifier of a card that is perhaps a real one.
        case identifier
        /// A key or password that is perhaps a real one.
        case key
        /// What a card and a terminal sent to prove that they have a key.
        case authentication
        /// What a pass on somebody's phone answered.
        case passPayload
        case noExpectation
        /// The file of expected taps has a line that is no JSON object.
        case malformedExpectation
        /// The expected taps are not as many as the presentations.
        case expectationCount
    }
}

extension CaptureWarning: CustomStringConvertible {
    /// `line 12: message`.
    public var description: String { (line.map { "line \($0): " } ?? "") + message }
}
