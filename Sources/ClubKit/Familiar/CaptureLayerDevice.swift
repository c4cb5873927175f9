import ReaderKit

/// A reader, as the callbacks of ``CaptureMiddlewareDelegate`` name it.
public struct CaptureLayerDevice: Sendable, Hashable {
    /// The reader.
    public let reader: ReaderInfo

    /// What is known of the reader.
    public var deviceInfo: DeviceInfo {
        DeviceInfo(name: reader.name, guid: DiscoveredDeviceInfo(reader).identifierUUID)
    }

    /// What is known of a reader.
    public struct DeviceInfo: Sendable, Hashable {
        /// The reader's name.
        public let name: String
        /// Tells it from the other ones: ``DiscoveredDeviceInfo/identifierUUID``.
        public let guid: String
    }

    /// A reader.
    public init(_ reader: ReaderInfo) {
        self.reader = reader
    }
}
