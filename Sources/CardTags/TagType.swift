/// The kinds of tags that can hold an NDEF message, as the NFC Forum numbers them.
public enum TagType: String, Sendable, Hashable, Codable, CaseIterable {
    /// Topaz and Jewel.
    case type1
    /// MIFARE Ultralight, NTAG21x and their kin: pages of four bytes.
    case type2
    /// FeliCa: blocks of sixteen bytes.
    case type3
    /// A smart card with files (ISO/IEC 7816-4): NTAG 4xx, DESFire, phones.
    case type4
    /// ISO 15693, vicinity cards.
    case type5
    /// MIFARE Classic with a MIFARE application directory. Not one of the NFC Forum's.
    case mifareClassic

    /// The name for people: "Type 2", "MIFARE Classic".
    public var name: String {
        switch self {
        case .type1: "Type 1"
        case .type2: "Type 2"
        case .type3: "Type 3"
        case .type4: "Type 4"
        case .type5: "Type 5"
        case .mifareClassic: "MIFARE Classic"
        }
    }
}
