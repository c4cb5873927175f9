/// A reader driven by libnfc, and the card on it.
public struct NFCReaderStatus: Sendable, Hashable {
    /// The reader. Its name is its connection string.
    public var reader: ReaderInfo

    /// The card on it, if there is one.
    public var card: CardPresence?

    /// The radio technologies that it sees. ISO 15693 is never among them: libnfc does not know it.
    public var technologies: [Technology]

    /// What libnfc tells of the device (`nfc_device_get_information_about`): chip, firmware, modulations; several lines.
    public var details: String?
}
