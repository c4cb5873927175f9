/// A language of the screen.
public enum Language: String, Sendable, Hashable, Codable, CaseIterable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"
    /// Chinese in simplified characters.
    case chinese = "zh-Hans"
    /// Arabic, which is written from right to left.
    case arabic = "ar"

    /// Whether the language is written from right to left.
    public var isRightToLeft: Bool { self == .arabic }
}
