import CardCore

/// Bytes of a MIFARE Classic that cannot be what they should be.
public enum ClassicFormatError: Error, Sendable, Hashable {
    /// There are so many bytes where another number is needed.
    case length(Int, expected: Int)
    /// An access bit contradicts its inverted copy. A card with such a trailer blocks its sector for ever.
    case contradictoryAccessBits
    /// The checksum of an application directory is another.
    case checksum(found: UInt8, computed: UInt8)
}

extension ClassicFormatError: CustomStringConvertible {
    /// One line: what was attempted, what is wrong, and what to do.
    public var description: String {
        switch self {
        case .length(let count, let expected):
            "could not read the bytes: there are \(count) in place of \(expected). Give all of the block."
        case .contradictoryAccessBits:
            "could not read the access bits: they contradict their inverted copies. Do not write them to a card."
        case .checksum(let found, let computed):
            "could not read the directory: its checksum is \([found].hex) where \([computed].hex) fits. "
                + "It may have been torn while it was written; format the card again."
        }
    }
}
