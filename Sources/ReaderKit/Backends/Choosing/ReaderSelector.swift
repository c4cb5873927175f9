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
