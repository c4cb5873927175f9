/// A reader, by the name that its backend gives it.
public struct ReaderInfo: Sendable, Hashable, Codable {
    /// The whole name, unique among the readers of its backend at one time.
    public var name: String

    /// The way by which it is reached.
    public var backend: BackendKind

    /// The serial number, where the name or the reader tells it. Unlike the name it survives replugging.
    public var serial: String?

    /// A reader.
    public init(name: String, backend: BackendKind, serial: String? = nil) {
        self.name = name
        self.backend = backend
        self.serial = serial
    }
}
