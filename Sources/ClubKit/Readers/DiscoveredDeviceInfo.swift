import ReaderKit

/// A reader that ``Club/startAutoDiscovery(numSeconds:completion:)`` found.
///
/// Two are equal if they represent the same device, whatever its name.
public struct DiscoveredDeviceInfo: Sendable {
    /// Identifies the reader on this machine, also after it is reconnected. It is no UUID, which readers on Linux do
    /// not have, but the backend and the reader's name without the parts that reconnecting may change.
    public let identifierUUID: String

    /// The reader's name.
    public let deviceName: String

    /// The name of the `BackendKind` of the reader.
    public let serviceUUID: String

    /// Creates a device from its three values, as an application may have stored them.
    public init(identifierUUID: String, deviceName: String, serviceUUID: String) {
        self.identifierUUID = identifierUUID
        self.deviceName = deviceName
        self.serviceUUID = serviceUUID
    }

    /// Creates a device for a reader.
    public init(_ reader: ReaderInfo) {
        serviceUUID = reader.backend.rawValue
        deviceName = reader.name
        identifierUUID = "\(serviceUUID):\(reader.deviceName)"
    }
}

extension DiscoveredDeviceInfo: Hashable {
    /// Returns whether both have the same ``identifierUUID``.
    public static func == (one: DiscoveredDeviceInfo, other: DiscoveredDeviceInfo) -> Bool {
        one.identifierUUID == other.identifierUUID
    }

    /// Hashes ``identifierUUID``.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identifierUUID)
    }
}

/// What is known of a backend that is being served.
struct ReaderService: Sendable {
    /// `nil` until the backend reports it.
    var isUp: Bool?
    var readers: [ReaderInfo] = []
}
