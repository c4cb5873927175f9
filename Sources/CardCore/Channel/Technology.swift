/// The radio technology through which a card talks.
public enum Technology: String, Sendable, Hashable, Codable, CaseIterable {
    /// ISO/IEC 14443 Type A (NFC-A).
    case iso14443a
    /// ISO/IEC 14443 Type B (NFC-B).
    case iso14443b
    /// JIS X 6319-4, Sony FeliCa (NFC-F).
    case felica
    /// ISO/IEC 15693, vicinity cards (NFC-V).
    case iso15693
}
