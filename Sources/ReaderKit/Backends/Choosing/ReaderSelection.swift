import Foundation

/// The readers that a program is to serve, in whatever way they are reached: one choice for all tools and applications.
///
/// ```swift
/// let selection = ReaderSelection([.pcsc(name: nil), .nfc(connection: "pn532_uart:/dev/ttyUSB0")])
/// let backend = try selection.makeBackend()
/// ```
///
/// Without a selector it is all that is there: the readers of PC/SC, those that libnfc finds without sending anything to
/// serial lines (but for an ACR122U, which is PC/SC's), and the lines of readers in Smart Reader mode that have a name
/// under `/dev/clubkit`.
public struct ReaderSelection: Sendable, Hashable {
    /// What is meant; a reader is served if one of these means it. All readers of this machine if empty.
    public var selectors: [ReaderSelector]

    /// How the readers in Smart Reader mode are set: the form of their lines, what their templates look for, speed. Its
    /// sources and its folder are of no account, for the selectors name which lines are meant.
    public var smartReaders: SmartReaderConfiguration

    /// A choice of readers.
    ///
    /// - Parameters:
    ///   - selectors: what is meant; all readers of this machine if empty.
    ///   - smartReaders: how the readers in Smart Reader mode are set.
    public init(
        _ selectors: [ReaderSelector] = [],
        smartReaders: SmartReaderConfiguration = SmartReaderConfiguration()
    ) {
        self.selectors = selectors
        self.smartReaders = smartReaders
    }

    /// Whether the reader is one that is meant.
    public func matches(_ reader: ReaderInfo) -> Bool {
        selectors.isEmpty || selectors.contains { $0.matches(reader) }
    }

    /// The recordings that are meant; `nil` if live readers are.
    ///
    /// - Throws: ``ReaderError/Kind/unsupported`` if both are: a recording has a time and an order of its own.
    public func recordings() throws(ReaderError) -> [String]? {
        let paths = selectors.compactMap { selector -> String? in
            if case .replay(let path) = selector { path } else { nil }
        }
        guard !paths.isEmpty else { return nil }
        guard paths.count == selectors.count else {
            throw ReaderError(
                .unsupported,
                attempting: "choose the readers",
                detail: "recordings and live readers cannot be served at the same time",
                advice: "Replay the recordings by themselves."
            )
        }
        return paths
    }

    /// The backend of the readers that are meant. Nothing is asked of them yet, and they need not be there.
    ///
    /// It may serve more readers than are meant: ``matches(_:)`` tells.
    ///
    /// - Parameter now: the clock that dates presentations.
    /// - Throws: ``ReaderError/Kind/unsupported`` for a way that this build was made without; ``CaptureFileError`` for a
    ///   recording that cannot be read.
    public func makeBackend(now: @escaping @Sendable () -> Date = { Date() }) throws -> any ReaderBackend {
        if let recordings = try recordings() { return ReplayBackend(try CaptureFiles.load(recordings)) }
        var parts: [any ReaderBackend] = []
        for way in Way.allCases {
            guard let part = try backend(way, now) else { continue }
            parts.append(part)
        }
        return parts.count == 1 ? parts[0] : CombinedBackend(parts)
    }

    // MARK: - Ways

    private enum Way: CaseIterable {
        case pcsc, nfc, smartReader
    }

    /// The error for a way that this build was made without.
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
        var choice = (takesAll: selectors.isEmpty, isNamed: false)
        for selector in selectors {
            switch (selector, way) {
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
            let discovers = selectors.isEmpty || selectors.contains { $0.mayMeanNFC }
            guard discovers || !connections.isEmpty else { return nil }
            var configuration = NFCConfiguration(connectionStrings: connections, discoversReaders: discovers)
            #if PCSC
            // Without a choice pcscd has them.
            if selectors.isEmpty { configuration.driversLeftAlone = NFCConfiguration.driversOfPCSC }
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

/// Which readers are meant, as a person writes it: `SpringCard`, `pcsc:`, `nfc:pn532_uart:/dev/ttyUSB0`.
public enum ReaderSelector: Sendable, Hashable {
    /// Readers that are reached in any way, whose name begins so, or that have this serial number.
    case named(String)
    /// Readers of PC/SC, all of them or those whose name begins so or that have this serial number: `pcsc:`,
    /// `pcsc:NAME`.
    case pcsc(name: String?)
    /// Readers of libnfc: those that it finds (`nfc:`), or the one at a connection string (`nfc:pn532_uart:/dev/ttyUSB0`),
    /// which need not be there yet.
    case nfc(connection: String?)
    /// Lines of readers in Smart Reader mode: those with a name under `/dev/clubkit` (`smart-reader:`), or the one at a
    /// path (`smart-reader:/dev/ttyACM0`), which need not be there yet.
    case smartReader(path: String?)
    /// The readers of a recording: `replay:FILE`, or a directory of captures.
    case replay(path: String)

    /// Reads what a person wrote. A word that begins with none of the four ways is a name or a serial number.
    ///
    /// - Returns: `nil` for an empty text and for `replay:` without a file.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        func rest(after way: String) -> String? {
            text.lowercased().hasPrefix(way) ? String(text.dropFirst(way.count)) : nil
        }
        if let name = rest(after: "pcsc:") {
            self = .pcsc(name: name.isEmpty ? nil : name)
        } else if let connection = rest(after: "nfc:") {
            self = .nfc(connection: connection.isEmpty ? nil : connection)
        } else if let path = rest(after: "smart-reader:") {
            self = .smartReader(path: path.isEmpty ? nil : path)
        } else if let path = rest(after: "replay:") {
            guard !path.isEmpty else { return nil }
            self = .replay(path: path)
        } else {
            self = .named(text)
        }
    }

    /// Whether the reader is one that is meant.
    public func matches(_ reader: ReaderInfo) -> Bool {
        switch self {
        case .named(let name): Self.matches(reader, name)
        case .pcsc(let name): reader.backend == .pcsc && (name.map { Self.matches(reader, $0) } ?? true)
        case .nfc(let connection): reader.backend == .nfc && (connection.map { $0 == reader.name } ?? true)
        case .smartReader(let path): reader.backend == .smartReader && (path.map { $0 == reader.name } ?? true)
        case .replay: reader.backend == .replay
        }
    }

    /// Whether it can mean only readers that are there, and none of a recording.
    package var isLive: Bool {
        switch self {
        case .pcsc, .nfc, .smartReader: true
        case .named, .replay: false
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
        start.hasPrefix(name) || name.hasPrefix(start)
    }

    private static func matches(_ reader: ReaderInfo, _ name: String) -> Bool {
        reader.serial == name || reader.name.lowercased().hasPrefix(name.lowercased())
    }
}

extension ReaderSelector: CustomStringConvertible {
    /// As a person writes it.
    public var description: String {
        switch self {
        case .named(let name): name
        case .pcsc(let name): "pcsc:" + (name ?? "")
        case .nfc(let connection): "nfc:" + (connection ?? "")
        case .smartReader(let path): "smart-reader:" + (path ?? "")
        case .replay(let path): "replay:" + path
        }
    }
}
