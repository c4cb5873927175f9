/// What a connection string says: `driver:device` or `driver:device:speed`, or `driver:bus:device` for USB.
struct NFCConnectionString: Sendable, Hashable {
    /// The whole string.
    let text: String
    /// The driver, such as `pn532_uart`.
    let driver: String
    /// The device node of a serial line or a bus, or `nil` for USB.
    let path: String?
    /// The speed of a serial line in bit/s, if it is given.
    let speed: Int?

    init(_ text: String) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        driver = parts[0]
        path = parts.count > 1 && parts[1].hasPrefix("/") ? parts[1] : nil
        speed = path != nil && parts.count > 2 ? Int(parts[2]) : nil
    }

    /// Whether the wake-up of a PN532 may be sent to the line before libnfc opens it.
    var isSerialPN532: Bool { driver == "pn532_uart" }
}
