import Foundation

/// A selection of the readers that a program serves, of any backend, for all tools and applications.
///
/// ```swift
/// let selection = ReaderSelection([.pcsc(name: nil), .nfc(connection: "pn532_uart:/dev/ttyUSB0")])
/// let backend = try selection.makeBackend()
/// ```
///
/// Without a selector it selects all readers: those of PC/SC, those that libnfc finds without sending anything to
/// serial lines (except an ACR122U, which is PC/SC's), and the lines of readers in Smart Reader mode that have a name
/// under `/dev/clubkit`.
public struct ReaderSelection: Sendable, Hashable {
    /// The selectors; a reader is served if any of them matches, or if there is none but those that leave out
    /// (``ReaderSelector/not(_:)``) or choose cards (``ReaderSelector/technology(_:)``), and nothing leaves it out.
    public var selectors: [ReaderSelector]

    /// The settings of readers in Smart Reader mode: the format of their lines, their templates, speed. Its sources and
    /// its folder are ignored, since the selectors determine the lines.
    public var smartReaders: SmartReaderConfiguration

    /// Creates a selection of readers, or of all readers of this machine.
    public init(
        _ selectors: [ReaderSelector] = [],
        smartReaders: SmartReaderConfiguration = SmartReaderConfiguration()
    ) {
        self.selectors = selectors
        self.smartReaders = smartReaders
    }

    /// The selectors that name readers, without those that leave out and those that choose cards.
    package var named: [ReaderSelector] {
        selectors.filter {
            switch $0 {
            case .not, .technology: false
            default: true
            }
        }
    }

    /// The technologies of the cards that are served; all if empty (``ScannerConfiguration/technologies``).
    public var technologies: Set<Technology> {
        Set(selectors.compactMap { if case .technology(let technology) = $0 { technology } else { nil } })
    }

    /// Returns whether the reader is selected.
    public func matches(_ reader: ReaderInfo) -> Bool {
        (named.isEmpty || named.contains { $0.matches(reader) }) && selectors.allSatisfy { $0.admits(reader) }
    }

    /// Returns the selected recordings; `nil` if live readers are selected.
    ///
    /// - Throws: ``ReaderError/Kind/unsupported`` if both are selected: a recording has its own time and order.
    public func recordings() throws(ReaderError) -> [String]? {
        let paths = selectors.compactMap { selector -> String? in
            if case .replay(let path) = selector { path } else { nil }
        }
        guard !paths.isEmpty else { return nil }
        guard paths.count == named.count else {
            throw ReaderError(
                .unsupported,
                attempting: "choose the readers",
                detail: "recordings and live readers cannot be served at the same time",
                advice: "Replay the recordings by themselves."
            )
        }
        return paths
    }

    /// Creates the backend of the selected readers. They need not be connected, and none is accessed yet.
    ///
    /// It may serve more readers than those selected; see ``matches(_:)``.
    ///
    /// - Parameter now: the clock of presentations.
    /// - Throws: ``ReaderError/Kind/unsupported`` for a backend that this build omits; ``CaptureFileError`` for a
    ///   recording that cannot be read.
    public func makeBackend(now: @escaping @Sendable () -> Date = { Date() }) throws -> any ReaderBackend {
        if let recordings = try recordings() { return ReplayBackend(try CaptureFiles.load(recordings)) }
        let parts = try Way.allCases.compactMap { try backend($0, now) }
        return parts.count == 1 ? parts[0] : CombinedBackend(parts)
    }

    // MARK: - Ways

    private enum Way: CaseIterable {
        case pcsc, nfc, smartReader
    }

    private static func absence(of library: String, trait: String) -> ReaderError {
        ReaderError(
            .unsupported,
            attempting: "use a reader",
            detail: "this build was made without \(library)",
            advice: "Build with the package trait \(trait)."
        )
    }

    /// Whether all readers of a way are meant that are there, and whether the way was asked for by its name.
    private func choice(_ way: Way) -> (takesAll: Bool, isNamed: Bool) {
        var choice = (takesAll: named.isEmpty, isNamed: false)
        for selector in selectors {
            switch (selector, way) {
            case (.not(.pcsc(nil)), .pcsc), (.not(.nfc(nil)), .nfc), (.not(.smartReader(nil)), .smartReader):
                return (false, false)
            case (.named, _): choice.takesAll = true
            case (.pcsc, .pcsc), (.nfc(nil), .nfc), (.smartReader(nil), .smartReader): choice = (true, true)
            case (.nfc, .nfc), (.smartReader, .smartReader): choice.isNamed = true
            default: break
            }
        }
        return choice
    }

    private func backend(_ way: Way, _ now: @escaping @Sendable () -> Date) throws(ReaderError) -> (any ReaderBackend)?
    {
        let choice = choice(way)
        guard choice.takesAll || choice.isNamed else { return nil }
        switch way {
        case .pcsc:
            #if PCSC
            return PCSCBackend(now: now)
            #else
            if choice.isNamed { throw Self.absence(of: "PC/SC", trait: "PCSC") }
            return nil
            #endif
        case .nfc:
            #if NFC
            let connections = selectors.compactMap { selector -> String? in
                if case .nfc(let connection) = selector { connection } else { nil }
            }
            let discovers = named.isEmpty || named.contains { $0.mayMeanNFC }
            guard discovers || !connections.isEmpty else { return nil }
            var configuration = NFCConfiguration(connectionStrings: connections, discoversReaders: discovers)
            #if PCSC
            // Without a choice pcscd has them.
            if named.isEmpty { configuration.driversLeftAlone = NFCConfiguration.driversOfPCSC }
            #endif
            return NFCBackend(configuration: configuration, now: now)
            #else
            if choice.isNamed { throw Self.absence(of: "libnfc", trait: "NFC") }
            return nil
            #endif
        case .smartReader:
            var configuration = smartReaders
            configuration.sources = selectors.compactMap { selector in
                if case .smartReader(let path?) = selector { SmartReaderSource(path) } else { nil }
            }
            configuration.folder = choice.takesAll ? .standard : nil
            return SmartReaderBackend(configuration: configuration, serves: matches, now: now)
        }
    }
}

/// A selector of readers, in its text form: `SpringCard`, `pcsc:`, `nfc:pn532_uart:/dev/ttyUSB0`, `pcsc:*PICC*`, `not:*SAM*`.
public indirect enum ReaderSelector: Sendable, Hashable {
    /// Readers of any backend whose name has this prefix, or with this serial number. With a `*` in it, which stands for any
    /// characters, it is the whole name.
    case named(String)
    /// Readers of PC/SC: all, or those of a name as in ``named(_:)``: `pcsc:`, `pcsc:NAME`.
    case pcsc(name: String?)
    /// Readers of libnfc: those that it finds (`nfc:`), or the one at a connection string
    /// (`nfc:pn532_uart:/dev/ttyUSB0`), which need not be connected yet.
    case nfc(connection: String?)
    /// Lines of readers in Smart Reader mode: those with a name under `/dev/clubkit` (`smart-reader:`), or the one at a
    /// path (`smart-reader:/dev/ttyACM0`), which need not be connected yet.
    case smartReader(path: String?)
    /// The readers of a recording: `replay:FILE`, or a directory of captures.
    case replay(path: String)
    /// All readers but these: `not:*SAM*`, `not:nfc:`.
    case not(ReaderSelector)
    /// Only cards of this technology: `technology:felica`. Several of them add up.
    case technology(Technology)

    /// Parses the text form. A text without one of the prefixes is a name or a serial number.
    ///
    /// - Returns: `nil` for an empty text, for `replay:` without a file, for a technology that there is not, and for `not:`
    ///   without readers.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.dropFirst().first.flatMap { $0.isEmpty ? nil : String($0) }
        switch parts.count == 2 ? parts[0].lowercased() : "" {
        case "pcsc": self = .pcsc(name: rest)
        case "nfc": self = .nfc(connection: rest)
        case "smart-reader": self = .smartReader(path: rest)
        case "replay":
            guard let rest else { return nil }
            self = .replay(path: rest)
        case "not":
            switch rest.flatMap(ReaderSelector.init) {
            case .replay?, .not?, .technology?, nil: return nil
            case let inner?: self = .not(inner)
            }
        case "technology":
            guard let technology = rest.flatMap({ Technology(rawValue: $0.lowercased()) }) else { return nil }
            self = .technology(technology)
        default: self = .named(text)
        }
    }

    /// Returns whether the reader is selected.
    public func matches(_ reader: ReaderInfo) -> Bool {
        switch self {
        case .named(let name): Self.matches(reader, name)
        case .pcsc(let name): reader.backend == .pcsc && (name.map { Self.matches(reader, $0) } ?? true)
        case .nfc(let connection): reader.backend == .nfc && (connection.map { $0 == reader.name } ?? true)
        case .smartReader(let path): reader.backend == .smartReader && (path.map { $0 == reader.name } ?? true)
        case .replay: reader.backend == .replay
        case .not(let others): !others.matches(reader)
        case .technology: true
        }
    }

    /// Whether it does not leave the reader out.
    fileprivate func admits(_ reader: ReaderInfo) -> Bool {
        if case .not = self { matches(reader) } else { true }
    }

    /// Whether it can mean only readers that are there, and none of a recording.
    package var isLive: Bool {
        switch self {
        case .pcsc, .nfc, .smartReader: true
        case .named, .replay, .not, .technology: false
        }
    }

    /// Whether readers that libnfc finds may be meant. Their names are connection strings, which begin with the driver.
    var mayMeanNFC: Bool {
        switch self {
        case .nfc(nil): true
        case .named(let name): ["pn53", "pn71", "acr122", "arygon"].contains { Self.share($0, name.lowercased()) }
        default: false
        }
    }

    private static func share(_ start: String, _ name: String) -> Bool {
        name.contains("*") ? name.contains(start) : start.hasPrefix(name) || name.hasPrefix(start)
    }

    private static func matches(_ reader: ReaderInfo, _ wanted: String) -> Bool {
        let (text, name) = (reader.name.lowercased(), wanted.lowercased())
        guard name.contains("*") else { return reader.serial == wanted || text.hasPrefix(name) }
        // The parts in their order: the first at the beginning, the last at the end, the others as early as they come.
        let parts = name.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, text.hasPrefix(first) else { return false }
        var rest = text.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}

extension ReaderSelector: CustomStringConvertible {
    /// The text form.
    public var description: String {
        switch self {
        case .named(let name): name
        case .pcsc(let name): "pcsc:" + (name ?? "")
        case .nfc(let connection): "nfc:" + (connection ?? "")
        case .smartReader(let path): "smart-reader:" + (path ?? "")
        case .replay(let path): "replay:" + path
        case .not(let others): "not:\(others)"
        case .technology(let technology): "technology:" + technology.rawValue
        }
    }
}
