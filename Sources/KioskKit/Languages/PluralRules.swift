/// A plural category of Unicode CLDR.
public enum PluralCategory: String, Sendable, Hashable, Codable, CaseIterable {
    /// None, where a language has a form of its own for it.
    case zero
    /// One, and what is counted like it.
    case one
    /// Two, where a language has a dual.
    case two
    /// Few, such as 3 to 10 in Arabic.
    case few
    /// Many, such as 11 to 99 in Arabic.
    case many
    /// All others; every language has it.
    case other
}

extension Language {
    /// The plural categories of the language, each with the whole numbers that are in it; the first match counts.
    ///
    /// They are CLDR's cardinal rules, as far as they are about whole numbers.
    private var pluralRules: [(category: PluralCategory, contains: (UInt) -> Bool)] {
        switch self {
        case .english, .german: [(.one, { $0 == 1 }), (.other, { _ in true })]
        case .chinese: [(.other, { _ in true })]
        case .arabic:
            [
                (.zero, { $0 == 0 }), (.one, { $0 == 1 }), (.two, { $0 == 2 }),
                (.few, { (3...10).contains($0 % 100) }), (.many, { (11...99).contains($0 % 100) }),
                (.other, { _ in true }),
            ]
        }
    }

    /// The categories of whole numbers in the language.
    public var pluralCategories: [PluralCategory] { pluralRules.map(\.category) }

    /// The category of a whole number; that of a negative number is that of its magnitude.
    public func pluralCategory(of number: Int) -> PluralCategory {
        pluralRules.first { $0.contains(number.magnitude) }?.category ?? .other
    }
}
