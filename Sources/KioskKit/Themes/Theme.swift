/// How a club's screen looks, sounds and speaks.
public struct Theme: Sendable, Hashable {
    /// The club's name.
    public var clubName = "ClubKit"
    /// Where the card is held, such as "to the left of the door"; `nil` if the screen need not mention it.
    public var place: String?
    /// The language of the screen.
    public var language = Language.english
    /// The colours.
    public var colors = Colors()

    /// The colours of a screen.
    public struct Colors: Sendable, Hashable {
        /// Behind everything.
        public var background = RGBColor(red: 0x10, green: 0x18, blue: 0x28)
        /// Text on the background.
        public var text = RGBColor(red: 0xF5, green: 0xF7, blue: 0xFA)
        /// Secondary text on the background.
        public var muted = RGBColor(red: 0xA9, green: 0xB4, blue: 0xC4)
        /// The club's own colour: names, stamps, borders.
        public var accent = RGBColor(red: 0x5B, green: 0xC0, blue: 0xEB)
        /// A counted visit.
        public var success = RGBColor(red: 0x4A, green: 0xDE, blue: 0x80)
        /// A tap that has to be repeated, or a reader in trouble.
        public var warning = RGBColor(red: 0xFB, green: 0xBF, blue: 0x24)
        /// A refused tap.
        public var failure = RGBColor(red: 0xF8, green: 0x8A, blue: 0x8A)

        /// Creates the default colours.
        public init() {}
    }

    /// Creates the default theme.
    public init() {}
}
