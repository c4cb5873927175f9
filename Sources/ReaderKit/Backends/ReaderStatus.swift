/// A reader and the card on it, at one moment.
public struct ReaderStatus: Sendable, Hashable {
    /// The reader.
    public var reader: ReaderInfo

    /// The card on it, if there is one.
    public var card: CardPresence?

    /// The radio technologies that it reads, or `nil` where neither it nor its library tells.
    public var technologies: [Technology]?

    /// What the library tells of the device, for people, several lines: chip, firmware, protocols. `nil` where it tells
    /// nothing.
    public var details: String?

    /// Why the reader cannot be used although it is there: another program holds it, say. `nil` for one that can be used,
    /// or of which that shows only when it is watched.
    public var trouble: ReaderError?

    /// A reader.
    public init(
        reader: ReaderInfo,
        card: CardPresence? = nil,
        technologies: [Technology]? = nil,
        details: String? = nil,
        trouble: ReaderError? = nil
    ) {
        self.reader = reader
        self.card = card
        self.technologies = technologies
        self.details = details
        self.trouble = trouble
    }
}
