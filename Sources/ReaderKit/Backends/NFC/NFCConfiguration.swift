/// The configuration of the libnfc backend: the readers to serve, and time limits.
public struct NFCConfiguration: Sendable, Hashable {
    /// The connection strings of the readers to serve, such as `pn532_uart:/dev/ttyUSB0`, `pn532_spi:/dev/spidev0.0`,
    /// `pn532_i2c:/dev/i2c-1` or `acr122_usb:001:004`. A reader need not be connected yet.
    public var connectionStrings: [String]

    /// Whether to serve every reader on USB that libnfc finds, and those in its own configuration
    /// (`/etc/nfc/libnfc.conf`, `LIBNFC_DEVICE`).
    public var discoversReaders: Bool

    /// The drivers of libnfc whose readers are ignored when found, such as `acr122_usb`.
    ///
    /// pcscd serves an ACR122U too; opening it by libnfc resets it under pcscd, even if opening then fails.
    public var driversLeftAlone: Set<String>

    /// The drivers of readers that pcscd serves as well.
    public static let driversOfPCSC: Set<String> = ["acr122_usb", "acr122_pcsc"]

    /// Whether to look for readers on serial lines too. This sends data to every device on any of them.
    public var scansSerialPorts: Bool

    /// The interval of polling for cards. A card that comes and goes between two polls is not detected.
    public var pollInterval: Duration

    /// The interval of looking for newly connected readers.
    public var discoveryInterval: Duration

    /// The maximum time of a card's answer to an APDU; for a raw frame at most a second.
    public var answerTimeout: Duration

    /// The maximum time of one call to libnfc, after which its thread is abandoned and the reader is reported as stuck.
    public var callDeadline: Duration

    /// The first pause before opening a failed reader is retried; each further pause is twice as long.
    public var firstBackOff: Duration

    /// The longest pause between two attempts to open a reader.
    public var lastBackOff: Duration

    /// The number of consecutive failed polls after which the reader is reopened.
    public var looksBeforeReopening: Int

    /// Creates a configuration. Without connection strings readers on USB are discovered.
    public init(
        connectionStrings: [String] = [],
        discoversReaders: Bool? = nil,
        driversLeftAlone: Set<String> = [],
        scansSerialPorts: Bool = false,
        pollInterval: Duration = .milliseconds(150),
        discoveryInterval: Duration = .seconds(2),
        answerTimeout: Duration = .seconds(5),
        callDeadline: Duration = .seconds(10),
        firstBackOff: Duration = .milliseconds(100),
        lastBackOff: Duration = .seconds(1),
        looksBeforeReopening: Int = 4
    ) {
        self.connectionStrings = connectionStrings
        self.discoversReaders = discoversReaders ?? connectionStrings.isEmpty
        self.driversLeftAlone = driversLeftAlone
        self.scansSerialPorts = scansSerialPorts
        self.pollInterval = pollInterval
        self.discoveryInterval = discoveryInterval
        self.answerTimeout = answerTimeout
        self.callDeadline = callDeadline
        self.firstBackOff = firstBackOff
        self.lastBackOff = lastBackOff
        self.looksBeforeReopening = looksBeforeReopening
    }
}
