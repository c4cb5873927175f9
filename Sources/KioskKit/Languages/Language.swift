import Foundation

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

    /// The locale for times and numbers in a region, a code of ISO 3166 such as `GB`.
    public func locale(region: String? = nil) -> Locale {
        Locale(identifier: rawValue + (region.map { "-" + $0 } ?? ""))
    }
}
