import CardCore
import CardPasses
import Foundation

/// A recorded conversation with cards, as a `.capture` file holds it.
///
/// A capture can be read from a file or made in a program, written with ``text()`` and replayed with
/// ``ReplayBackend``. Two captures are equal when they have the same contents; comments, blank lines, the file's name
/// and line numbers do not count.
///
/// ```
/// capture 1
/// title: Membership card                     # a comment: from a '#' after white space to the end of the line
/// reader: SpringCard H518 [CCID] (000A1B2C) 00 00
/// started: 2026-01-31T09:00:00Z
///
/// card at 0.000 atr 3B8F8001804F0CA0000003060300030000000068
/// > FF CA 00 00 00
/// < 04 A1 B2 C3 D4 E5 80 90 00 @ 0.0041      # the time of the answer, if it is known
/// >> 30 04
/// << 0A/4                                    # a frame of four bits
/// control 0x42000001 > 58 20 04
/// ! timeout                                  # or removed, reset, comm-error: a fault in place of an answer
/// removed at 1.250
/// ```
///
/// - All times are seconds since the start of the capture, with up to nine decimals. Cards and lines stand in the order
///   of their times; an answer is not before the one above it, a removal not before the last answer.
/// - `card at T` may be followed by a fault: no conversation with the card was possible. A card without `removed at T`
///   stays until the next one comes to its reader, or to the end.
/// - In a header's value, `\#` and `\\` stand for the characters `#` and `\`. The text of a Smart Reader line (`line at T
///   text`) is taken as it is from the character after the space behind the time to the end of the line.
/// - With several readers (`reader 1: NAME`, `reader 2: NAME`) it is `card 1 at T`, `removed 1 at T` and `line 1 at T
///   text`. Exchanges belong to the card that came last, until a line `reader 2` states that what follows belongs to
///   the card on that reader.
public struct Capture: Sendable, Hashable {
    /// The header lines in their order, those with keys unknown to this package included.
    public var headers: [Header]

    /// The presentations of cards, in the order of their times.
    public var presentations: [Presentation]

    /// The lines of readers in Smart Reader mode, in the order of their times.
    public var lines: [Line]

    /// The name of the file that this was read from, for messages.
    @NotCompared public var file: String?

    /// One header line, `key: value`.
    public struct Header: Sendable, Hashable {
        /// The key. Keys that this package knows are compared without regard to case.
        public var key: String
        /// The value, without white space around it.
        public var value: String

        /// A header line.
        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }

        fileprivate var reader: Reader? {
            let words = key.lowercased().split(separator: " ")
            guard words.first == "reader", words.count <= 2 else { return nil }
            return words.count == 1 ? Reader(name: value) : Int(words[1]).map { Reader(number: $0, name: value) }
        }
    }

    /// A reader that the header names.
    public struct Reader: Sendable, Hashable {
        /// Its number in a capture of several readers (`reader N: NAME`), or `nil` for the only one (`reader: NAME`).
        public var number: Int?
        /// Its name, as its backend reported it.
        public var name: String

        /// A reader.
        public init(number: Int? = nil, name: String) {
            self.number = number
            self.name = name
        }
    }

    /// A line that a reader in Smart Reader mode sent: `line at T <text>`.
    public struct Line: Sendable, Hashable {
        /// The number of the reader, or `nil` if there is only one.
        public var reader: Int?
        /// The time since the start of the capture.
        public var at: Duration
        /// The text without its line end, character for character.
        public var text: String

        /// A line.
        public init(reader: Int? = nil, at: Duration, text: String) {
            self.reader = reader
            self.at = at
            self.text = text
        }
    }

    /// A capture.
    public init(headers: [Header] = [], presentations: [Presentation] = [], lines: [Line] = [], file: String? = nil) {
        self.headers = headers
        self.presentations = presentations
        self.lines = lines
        self.file = file
    }

    /// The value of the first header of that name, whatever its case; setting `nil` removes the header.
    public subscript(header key: String) -> String? {
        get { headers.first { $0.key.lowercased() == key.lowercased() }?.value }
        set {
            let index = headers.firstIndex { $0.key.lowercased() == key.lowercased() }
            switch (index, newValue) {
            case (let index?, let value?): headers[index].value = value
            case (let index?, nil): headers.remove(at: index)
            case (nil, let value?): headers.append(Header(key, value))
            case (nil, nil): break
            }
        }
    }

    /// What the capture shows, for people.
    public var title: String? {
        get { self[header: "title"] }
        set { self[header: "title"] = newValue }
    }

    /// Where it comes from: `synthetic`, or the device and the date.
    public var source: String? {
        get { self[header: "source"] }
        set { self[header: "source"] = newValue }
    }

    /// The licence, as an SPDX identifier such as `CC0-1.0`.
    public var license: String? {
        get { self[header: "license"] }
        set { self[header: "license"] = newValue }
    }

    /// The moment of time 0, written as ISO 8601 in UTC with milliseconds.
    public var started: Date? {
        get { self[header: "started"].flatMap(ISO8601.date) }
        set { self[header: "started"] = newValue.map(ISO8601.text) }
    }

    /// The readers of the header, in their order.
    public var readers: [Reader] {
        get { headers.compactMap(\.reader) }
        set {
            let place = headers.firstIndex { $0.reader != nil } ?? headers.endIndex
            let lines = newValue.map { Header($0.number.map { "reader \($0)" } ?? "reader", $0.name) }
            headers = headers[..<place] + lines + headers[place...].filter { $0.reader == nil }
        }
    }

    /// The names of all readers, those that have a card or a line without being named by a header included.
    package var readerNames: [String] {
        let used = presentations.map(\.reader) + lines.map(\.reader)
        return (readers.map(\.number) + used).reduce(into: []) { names, number in
            let name = readerName(number)
            if !names.contains(name) { names.append(name) }
        }
    }

    /// The name of the reader with that number (`nil`: the only one), or ``unnamedReader``.
    public func readerName(_ number: Int?) -> String {
        readers.first { $0.number == number }?.name ?? Self.unnamedReader
    }

    /// The name that stands for a reader that the capture does not name.
    public static let unnamedReader = "replay"

    /// The last time that the capture mentions.
    public var duration: Duration {
        let ends = presentations.map { presentation in
            max(presentation.at, presentation.removedAt ?? .zero, presentation.exchanges.last?.at ?? .zero)
        }
        return max(ends.max() ?? .zero, lines.last?.at ?? .zero)
    }
}

/// A property that does not count when values are compared.
@propertyWrapper public struct NotCompared<Value: Sendable>: Sendable, Hashable {
    /// The property.
    public var wrappedValue: Value

    /// A property of that value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// All are equal.
    public static func == (left: Self, right: Self) -> Bool { true }

    /// Adds nothing.
    public func hash(into hasher: inout Hasher) {}
}

extension Capture {
    /// Reads the text of a capture.
    ///
    /// - Parameter text: UTF-8; line ends may be CRLF, and a byte order mark may stand before it.
    /// - Throws: ``CaptureError`` with the place of the first fault.
    public init(parsing text: some Sequence<UInt8>, file: String? = nil) throws(CaptureError) {
        var parser = CaptureParser(file: file)
        self = try parser.parse(Array(text))
    }

    /// Reads the text of a capture, as ``init(parsing:file:)`` reads its bytes.
    public init(parsing text: String, file: String? = nil) throws(CaptureError) {
        try self.init(parsing: text.utf8, file: file)
    }
}

extension Capture {
    /// Something that was sent, and what came back.
    public struct Exchange: Sendable, Hashable {
        /// What was sent.
        public var request: Request

        /// What came back, or why nothing did.
        public var answer: Answer

        /// When the answer came, since the start of the capture, if that is known.
        public var at: Duration?

        /// The line of the file that holds the request. It does not count when exchanges are compared.
        @NotCompared public var sourceLine: Int?

        /// What was sent.
        public enum Request: Sendable, Hashable {
            /// A command APDU: `> HEX`.
            case apdu([UInt8])
            /// A raw frame without checksum: `>> HEX`.
            case raw(RawFrame)
            /// An escape command to the reader itself: `control CODE > HEX`.
            case control(code: UInt32, data: [UInt8])
        }

        /// What came back.
        public enum Answer: Sendable, Hashable {
            /// A response APDU with its status word, or the answer to an escape command: `< HEX`.
            case bytes([UInt8])
            /// A raw frame without checksum: `<< HEX`.
            case raw(RawFrame)
            /// Nothing, for a reason: `! removed`.
            case fault(Fault)
        }

        /// An exchange.
        public init(_ request: Request, _ answer: Answer, at: Duration? = nil, sourceLine: Int? = nil) {
            self.request = request
            self.answer = answer
            self.at = at
            self.sourceLine = sourceLine
        }
    }
}

extension Capture {
    /// A fault in place of an answer.
    public enum Fault: String, Sendable, Hashable, CaseIterable {
        /// The card left the field; nothing after it succeeds.
        case removed
        /// The card was reset: what was selected is gone.
        case reset
        /// No answer came in time.
        case timeout
        /// The radio link failed.
        case commError = "comm-error"

        /// The fault under which a recording keeps an error. What has no name of its own is a failure of the link.
        public init(_ error: ReaderError) {
            switch error.kind {
            case .cardRemoved: self = .removed
            case .cardReset: self = .reset
            case .timeout: self = .timeout
            default: self = .commError
            }
        }

        /// The error that a replay throws for it.
        public var kind: ReaderError.Kind {
            switch self {
            case .removed: .cardRemoved
            case .reset: .cardReset
            case .timeout: .timeout
            case .commError: .communication
            }
        }
    }
}

extension Capture {
    /// One presentation of a card: from `card at T` to `removed at T`.
    public struct Presentation: Sendable, Hashable {
        /// The number of the reader, or `nil` if the capture has only one.
        public var reader: Int?

        /// When the card was seen, since the start of the capture.
        public var at: Duration

        /// What the reader knew of the card.
        public var facts: CardFacts

        /// Why no conversation with the card was possible (a fault directly after `card`), or `nil`.
        public var connectFault: Fault?

        /// What was exchanged, in order.
        public var exchanges: [Exchange]

        /// When the card left, or `nil` if the capture omits it: then it stays until the next card comes to its reader,
        /// or to the end.
        public var removedAt: Duration?

        /// The line of the file that opened the presentation. It does not count when presentations are compared.
        @NotCompared public var sourceLine: Int?

        /// A presentation.
        public init(
            reader: Int? = nil,
            at: Duration,
            facts: CardFacts = CardFacts(),
            connectFault: Fault? = nil,
            exchanges: [Exchange] = [],
            removedAt: Duration? = nil,
            sourceLine: Int? = nil
        ) {
            self.reader = reader
            self.at = at
            self.facts = facts
            self.connectFault = connectFault
            self.exchanges = exchanges
            self.removedAt = removedAt
            self.sourceLine = sourceLine
        }
    }
}

/// The names of a card's facts that stand on a `card` line.
public enum CaptureFacts {
    /// The facts of each technology, with libnfc's names for them.
    public static let ofTechnology: [Technology: [String]] = [
        // ATQA in the order of AN10833 (0044), SELECT acknowledge, identifier, answer to select.
        .iso14443a: ["atqa", "sak", "uid", "ats"],
        // Pseudo-unique identifier, application data, protocol information, card identifier.
        .iso14443b: ["pupi", "appdata", "protinfo", "cid"],
        // Manufacture identifier and parameters, system code.
        .felica: ["idm", "pmm", "syscode"],
        // Identifier with E0 first, data storage format identifier.
        .iso15693: ["uid", "dsfid"],
    ]

    /// All names, of whatever technology.
    public static let names = Set(ofTechnology.values.joined())

    /// Whether a fact of that name may stand on the line of a card of that technology.
    ///
    /// What is known of type A before anything was asked is settled; of the others a backend may know more, under names
    /// of lower-case letters, one of them at least behind `f`.
    public static func allows(_ name: String, of technology: Technology?) -> Bool {
        if names.contains(name) { return true }
        guard let technology, technology != .iso14443a, name != "atr", Technology(rawValue: name) == nil else {
            return false
        }
        // Of hexadecimal digits alone it would be taken for the bytes of the fact before.
        return name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            && name.utf8.contains { $0 > UInt8(ascii: "f") }
    }
}
