/// A reader, identified by the name that its backend reports.
public struct ReaderInfo: Sendable, Hashable, Codable {
    /// The whole name, unique among the readers of its backend at one time.
    public var name: String

    /// The way by which it is reached.
    public var backend: BackendKind

    /// The serial number, if the name or the reader provides it. Unlike the name it survives replugging.
    public var serial: String?

    /// A reader.
    public init(name: String, backend: BackendKind, serial: String? = nil) {
        self.name = name
        self.backend = backend
        self.serial = serial
    }
}

extension ReaderInfo {
    /// Whether both are the same device, which may have got another name when it was plugged in again.
    ///
    /// PC/SC names end in two numbers, that of the reader and that of its slot (` 00 00`), and the first depends on which
    /// readers came before. A device that reports its serial number is identified by it, any other by its name alone.
    public func isSameDevice(as other: ReaderInfo) -> Bool {
        backend == other.backend && deviceName == other.deviceName
    }

    /// The name without what plugging in again may change.
    package var deviceName: String {
        guard backend == .pcsc, serial != nil else { return name }
        let words = name.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 2, words.suffix(2).allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            return name
        }
        return (words.dropLast(2) + words.suffix(1)).joined(separator: " ")
    }
}

extension ReaderInfo {
    /// A reader by the name that pcscd reports: `<product> [<interface>] (<serial>) RR SS`.
    package init(pcscName name: String) {
        self.init(name: name, backend: .pcsc, serial: Self.serial(inPCSCName: name))
    }

    /// Whether its name states that it is the slot for cards with contacts or for modules of a reader that has several, as
    /// `[ACR1252 Dual Reader SAM]` or `[Prox-DU Contact_10701234]`. Most names state nothing.
    package var isContactSlot: Bool {
        name.uppercased().split { !$0.isLetter }.contains { ["SAM", "ICC", "CONTACT"].contains($0) }
    }

    /// A reader of a recording, which keeps the name that it had.
    package init(recordedName name: String) {
        self.init(name: name, backend: .replay, serial: Self.serial(inPCSCName: name))
    }

    private static func serial(inPCSCName name: String) -> String? {
        guard let close = name.lastIndex(of: ")"), let open = name[..<close].lastIndex(of: "(") else { return nil }
        let text = name[name.index(after: open)..<close]
        return text.isEmpty ? nil : String(text)
    }
}

/// The way by which a reader is reached.
public enum BackendKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// A reader served by pcscd, through libpcsclite.
    case pcsc
    /// A reader driven by libnfc.
    case nfc
    /// An S550 in Smart Reader mode, on a serial line.
    case smartReader
    /// A recorded capture.
    case replay
    /// A simulated card in this process.
    case simulated
}
