/// Which readers the libnfc backend serves, and its time limits.
public struct NFCConfiguration: Sendable, Hashable {
    /// Connection strings of the readers to serve, such as `pn532_uart:/dev/ttyUSB0`, `pn532_spi:/dev/spidev0.0`,
    /// `pn532_i2c:/dev/i2c-1` or `acr122_usb:001:004`. A reader need not be there yet.
    public var connectionStrings: [String]

    /// Whether to serve every reader on USB that libnfc finds, and those that its own configuration names
    /// (`/etc/nfc/libnfc.conf`, `LIBNFC_DEVICE`).
    public var discoversReaders: Bool

    /// Drivers of libnfc whose readers are not served when they are found, as `acr122_usb`.
    ///
    /// pcscd serves an ACR122U too, and to open it by libnfc resets it under pcscd's hands even where that fails then.
    public var driversLeftAlone: Set<String>

    /// The drivers of readers that pcscd serves as well.
    public static let driversOfPCSC: Set<String> = ["acr122_usb", "acr122_pcsc"]

    /// Whether to look for readers on serial lines too. Something is then sent to whatever is connected to any of them.
    public var scansSerialPorts: Bool

    /// How often to look whether there is a card. A card that comes and goes between two looks is not seen.
    public var pollInterval: Duration

    /// How often to look for readers that were plugged in.
    public var discoveryInterval: Duration

    /// How long a card may take for its answer to an APDU; a raw frame has a second at most.
    public var answerTimeout: Duration

    /// How long one call to libnfc may take before its thread is abandoned and the reader is published as stuck.
    public var callDeadline: Duration

    /// The first pause before a reader that cannot be opened is tried again; each further pause is twice as long.
    public var firstBackOff: Duration

    /// The longest pause between two attempts to open a reader.
    public var lastBackOff: Duration

    /// How many looks in a row may fail before the reader is opened anew.
    public var looksBeforeReopening: Int

    /// Which readers to serve, and time limits. Without connection strings readers on USB are discovered.
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
