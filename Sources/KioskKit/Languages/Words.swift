import ClubKit
import Foundation
import ReaderKit

/// All texts of the screen in one language.
///
/// ```swift
/// let words = Words(theme)
/// words.text(.visitsLeft, [.count: 3])  // "3 visits left"
/// ```
public struct Words: Sendable, Hashable {
    /// The language.
    public let language: Language
    /// The locale of times and numbers.
    public let locale: Locale

    private let overrides: [Key: Phrase]
    private let values: [Placeholder: Value]

    /// Creates the texts of a language.
    ///
    /// - Parameters:
    ///   - language: the language.
    ///   - region: the region for times and numbers, as a code of ISO 3166.
    ///   - overrides: texts in place of those of the table.
    ///   - values: values for every text, such as the club's name.
    public init(
        language: Language,
        region: String? = nil,
        overrides: [Key: Phrase] = [:],
        values: [Placeholder: Value] = [:]
    ) {
        self.language = language
        self.locale = language.locale(region: region)
        self.overrides = overrides
        self.values = values
    }

    /// Creates the texts of a theme's language, with the theme's own words, its club and its place.
    public init(_ theme: Theme) {
        var values: [Placeholder: Value] = [.club: .text(theme.clubName)]
        values[.place] = theme.place.map(Value.text)
        let overrides = theme.texts[theme.language] ?? [:]
        self.init(language: theme.language, region: theme.region, overrides: overrides, values: values)
    }

    /// Returns a text with its placeholders replaced, in the plural form that ``Placeholder/count`` needs.
    ///
    /// A placeholder without a value is replaced by nothing. Control characters and those that change the direction of
    /// writing are removed from values, which may come from cards. A value of the other direction stands between
    /// U+2068 and U+2069, so that it cannot change the order of what surrounds it.
    public func text(_ key: Key, _ values: [Placeholder: Value] = [:]) -> String {
        let phrase = overrides[key] ?? Self.phrase(key, in: language)
        var category = PluralCategory.other
        if case .number(let count) = values[.count] { category = language.pluralCategory(of: count) }
        var text = ""
        for part in Self.parts(phrase.forms[category] ?? phrase.forms[.other] ?? "") {
            switch part {
            case .literal(let literal): text += literal
            case .placeholder(let placeholder):
                switch values[placeholder] ?? self.values[placeholder] {
                case .text(let value): text += isolated(Self.plain(value))
                case .number(let value): text += number(value)
                case nil: break
                }
            }
        }
        return text
    }

    /// Returns the time of day, in hours and minutes.
    public func time(_ date: Date, in timeZone: TimeZone) -> String { date.formatted(style(timeZone).hour().minute()) }

    /// Returns the day with the month's name and the year, of the Gregorian calendar in every region.
    public func day(_ date: Date, in timeZone: TimeZone) -> String {
        date.formatted(style(timeZone).day().month(.wide).year())
    }

    /// Returns a number with the locale's digits and separators.
    public func number(_ number: Int) -> String { number.formatted(.number.locale(locale)) }

    private func style(_ timeZone: TimeZone) -> Date.FormatStyle {
        Date.FormatStyle(locale: locale, calendar: Calendar(identifier: .gregorian), timeZone: timeZone)
    }

    /// The text of the table.
    static func phrase(_ key: Key, in language: Language) -> Phrase {
        switch language {
        case .english: english(key)
        case .german: german(key)
        case .chinese: chinese(key)
        case .arabic: arabic(key)
        }
    }
}

extension Words {
    /// The texts. Their names are the keys of a theme's own texts.
    public enum Key: Sendable, Hashable {
        // At rest.
        /// Where nobody is there: what to do.
        case holdCard
        /// Where the reader is: `{place}`.
        case place
        /// Where nobody was there for a while.
        case idle
        /// How to become a member: at `{address}`, which is ``Theme/joinAddress``.
        case join

        // A tap.
        /// A card is being read.
        case reading
        /// A card was removed before it was read.
        case holdLonger
        /// The greeting of somebody whose name is not known.
        case welcome
        /// The greeting of `{name}`.
        case welcomeName
        /// The notice at the first visit.
        case firstVisit
        /// The visit's `{number}`.
        case visitNumber
        /// The notice at a round `{number}`.
        case milestone
        /// The wish for somebody whose name is not known.
        case birthday
        /// The wish for `{name}`.
        case birthdayName
        /// The title at a tap inside the cooldown.
        case alreadyCounted
        /// What a tap inside the cooldown means.
        case alreadyCountedNote
        /// A card that belongs to nobody.
        case notRecognised

        // What the visit brought.
        /// `{count}` bought visits are left.
        case visitsLeft
        /// The membership ends on `{date}`.
        case membershipEnds
        /// `{count}` visits are missing until `{reward}`.
        case stampsLeft
        /// The title of a message for everybody.
        case announcement

        // Trouble.
        /// The title where readers cannot be used.
        case outOfOrder
        /// What to do where only the staff can help.
        case askAtDesk
        /// The title where visits cannot be recorded.
        case cannotRecord
        /// The title under maintenance.
        case maintenance
        /// For the staff: there is no reader.
        case noReader
        /// For the staff: the service of the readers was lost.
        case serviceLost
        /// For the staff: the reader `{reader}` is stuck.
        case readerStuck
        /// For the staff: the clock cannot be right, it shows `{date}`.
        case clockWrong

        // The list of taps.
        /// Somebody whose name is not known, or not shown any more.
        case someone
        /// A member's first visit.
        case outcomeFirstVisit
        /// A visit.
        case outcomeVisit
        /// A tap inside the cooldown.
        case outcomeRepeat
        /// A tap that was ignored.
        case outcomeIgnored
        /// A tap that was refused.
        case outcomeRefused
        /// `{count}` visits of today.
        case visitsToday
        /// The title of the latest taps.
        case latestTaps
        /// The title of the taps of today, for the staff.
        case tapsToday

        // A screen that is elsewhere than the kiosk.
        /// The kiosk was not reached yet.
        case connecting
        /// The kiosk is not reached any more.
        case disconnected
        /// The label of the switch by which sounds are played.
        case soundOn
        /// The label of the switch by which no sounds are played.
        case soundOff

        // A refusal.
        /// Why a tap was refused or ignored.
        case reason(Receipt.Reason.Code)
        /// What to do about that reason.
        case advice(Receipt.Reason.Code)
    }

    /// What stands in braces in a text.
    public enum Placeholder: String, Sendable, Hashable, CaseIterable {
        /// An address for a browser.
        case address
        /// The club's name.
        case club
        /// A number that decides the plural form.
        case count
        /// A day.
        case date
        /// A person's name.
        case name
        /// A number that decides nothing.
        case number
        /// Where the card is held.
        case place
        /// The name of a reader.
        case reader
        /// The name of a reward.
        case reward
    }

    /// The value of a placeholder.
    public enum Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        /// A text.
        case text(String)
        /// A whole number, which is formatted by the locale.
        case number(Int)

        /// Creates a text.
        public init(stringLiteral value: String) { self = .text(value) }
        /// Creates a number.
        public init(integerLiteral value: Int) { self = .number(value) }
    }

    /// A text with placeholders such as `{name}`, in the plural forms that its language needs.
    public struct Phrase: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
        /// The forms; a text without plural forms has ``PluralCategory/other`` only, which all need.
        public var forms: [PluralCategory: String]

        /// Creates a text from its forms.
        public init(_ forms: [PluralCategory: String]) { self.forms = forms }
        /// Creates a text without plural forms.
        public init(stringLiteral value: String) { forms = [.other: value] }
        /// Creates a text from its forms.
        public init(dictionaryLiteral elements: (PluralCategory, String)...) {
            forms = Dictionary(elements) { first, _ in first }
        }
    }
}

extension Words.Key: CaseIterable, RawRepresentable {
    private static let names: [String: Words.Key] = Dictionary(allCases.map { ($0.rawValue, $0) }) { first, _ in first }

    /// All texts.
    public static let allCases: [Words.Key] =
        [
            .holdCard, .place, .idle, .join, .reading, .holdLonger, .welcome, .welcomeName, .firstVisit, .visitNumber,
            .milestone, .birthday, .birthdayName, .alreadyCounted, .alreadyCountedNote, .notRecognised, .visitsLeft,
            .membershipEnds, .stampsLeft, .announcement, .outOfOrder, .askAtDesk, .cannotRecord, .maintenance,
            .noReader, .serviceLost, .readerStuck, .clockWrong, .someone, .outcomeFirstVisit, .outcomeVisit,
            .outcomeRepeat,
            .outcomeIgnored, .outcomeRefused, .visitsToday, .latestTaps, .tapsToday, .connecting, .disconnected,
            .soundOn, .soundOff,
        ] + Receipt.Reason.Code.allCases.flatMap { [.reason($0), .advice($0)] }

    /// The name of the case; `reason.` or `advice.` and the code of a reason.
    public var rawValue: String {
        switch self {
        case .reason(let code): "reason.\(code.rawValue)"
        case .advice(let code): "advice.\(code.rawValue)"
        default: "\(self)"
        }
    }

    /// Creates the key with that name; `nil` if unknown.
    public init?(rawValue: String) {
        guard let key = Self.names[rawValue] else { return nil }
        self = key
    }

    /// The placeholders for which the text has values: its own, and those of every text.
    public var placeholders: Set<Words.Placeholder> {
        Set(Words.phrase(self, in: .english).forms.values.flatMap(Words.placeholders)).union([.club, .place])
    }

    /// Whether a number decides the form of the text.
    public var isPlural: Bool { placeholders.contains(.count) }
}

extension Words {
    enum Part: Hashable {
        case literal(Substring)
        case placeholder(Placeholder)
    }

    /// A text in parts. Braces round anything but the name of a placeholder are part of the text.
    static func parts(_ text: String) -> [Part] {
        var parts: [Part] = []
        var start = text.startIndex
        for match in text.matches(of: /\{([A-Za-z]+)\}/) {
            guard let placeholder = Placeholder(rawValue: String(match.1)) else { continue }
            parts.append(.literal(text[start..<match.range.lowerBound]))
            parts.append(.placeholder(placeholder))
            start = match.range.upperBound
        }
        return parts + [.literal(text[start...])]
    }

    static func placeholders(_ text: String) -> [Placeholder] {
        parts(text).compactMap { part in
            if case .placeholder(let placeholder) = part { placeholder } else { nil }
        }
    }

    /// The names in braces that are those of no placeholder.
    static func unknownPlaceholders(_ text: String) -> [String] {
        text.matches(of: /\{([^{}]*)\}/).map { String($0.1) }.filter { Placeholder(rawValue: $0) == nil }
    }

    /// A value on one line, without what changes the direction of writing.
    static func plain(_ value: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in PlainText.line(value).unicodeScalars {
            switch scalar.value {
            case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x206F: break
            case 0x2028, 0x2029: plain.append(" ")
            default: plain.append(scalar)
            }
        }
        return String(plain)
    }

    /// The value, between isolates if it has letters of the other direction.
    private func isolated(_ value: String) -> String {
        let isOther = value.unicodeScalars.contains { scalar in
            scalar.properties.isAlphabetic && scalar.isRightToLeft != language.isRightToLeft
        }
        return isOther ? "\u{2068}\(value)\u{2069}" : value
    }
}

extension Unicode.Scalar {
    /// Whether it is in a block of scripts that are written from right to left (the defaults of Unicode's
    /// `DerivedBidiClass`), and no digit.
    package var isRightToLeft: Bool {
        switch value {
        case 0x0660...0x0669, 0x06F0...0x06F9: false
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}
