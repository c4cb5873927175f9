import Foundation

/// How a club's screen looks, sounds and speaks. ``ThemeFile`` reads it from a file.
public struct Theme: Sendable, Hashable {
    /// The club's name.
    public var clubName = "ClubKit"
    /// Where the card is held, such as "to the left of the door"; `nil` if the screen need not mention it.
    public var place: String?
    /// The language of the screen.
    public var language = Language.english
    /// The region for times and numbers, as a code of ISO 3166 such as `GB`; `nil` for what the language alone suggests.
    public var region: String?
    /// The path of the club's logo; `nil` if there is none.
    public var logo: String?
    /// The colours.
    public var colors = Colors()
    /// The background's second colour; `nil` for a plain background.
    public var gradient: Gradient?
    /// The border of boxes.
    public var border = Border()
    /// The radius of the corners of boxes, in CSS pixels, 0 to 200.
    public var radius = 12
    /// The shadow of boxes; `nil` for none.
    public var shadow: Shadow?
    /// The paths of the sounds, each played with scenes of its tone.
    public var sounds: [VisitorScene.Tone: String] = [:]
    /// The club's own words, in place of those of ``Words``.
    public var texts: [Language: [Words.Key: Words.Phrase]] = [:]
    /// The address for visitors who want to join, which is an `https` URL; `nil` if there is none.
    public var joinAddress: URL?
    /// How long a visitor is greeted, in seconds, 1 to 60.
    public var greetingSeconds = 4.0
    /// After how many seconds a visitor's name is gone from the screen, 1 to 3600.
    public var privacySeconds = 8.0
    /// After how many seconds without a tap the screen is idle, 10 to 86 400.
    public var idleSeconds = 300.0

    /// The colours of a screen.
    public struct Colors: Sendable, Hashable {
        /// Behind everything; with a gradient its beginning.
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

    /// A background that changes from ``Colors/background`` to another colour.
    public struct Gradient: Sendable, Hashable {
        /// Where a gradient ends.
        public enum Direction: String, Sendable, Hashable, Codable, CaseIterable {
            /// At the lower edge.
            case down
            /// At the right edge, in every language.
            case right
            /// In the lower right corner.
            case downRight
            /// In the lower left corner.
            case downLeft
        }

        /// The colour at the end.
        public var end: RGBColor
        /// Where the end is.
        public var direction: Direction

        /// Creates a gradient.
        public init(to end: RGBColor, direction: Direction = .down) {
            self.end = end
            self.direction = direction
        }
    }

    /// The border of boxes.
    public struct Border: Sendable, Hashable {
        /// The width in CSS pixels, 0 (none) to 40.
        public var width = 1
        /// The colour; `nil` for ``Colors/accent``.
        public var color: RGBColor?

        /// Creates the default border.
        public init() {}
    }

    /// The shadow of boxes.
    public struct Shadow: Sendable, Hashable {
        /// The colour.
        public var color = RGBColor(red: 0, green: 0, blue: 0)
        /// The offset to the right in CSS pixels, -100 to 100.
        public var x = 0
        /// The offset downwards in CSS pixels, -100 to 100.
        public var y = 4
        /// The radius of the blur in CSS pixels, 0 to 200.
        public var blur = 12

        /// Creates the default shadow.
        public init() {}
    }

    /// The size of the largest logo or sound, in bytes.
    public static let largestFile = 8 << 20

    /// Creates the default theme.
    public init() {}
}

extension Theme {
    /// What people should know of the theme, one sentence each: ``contrastFindings`` and ``fileFindings``.
    public var findings: [String] { contrastFindings + fileFindings }

    /// Where the contrast is less than WCAG 2.2 requires at level AA, one sentence each, with a colour that would do:
    /// 4.5:1 for texts (success criterion 1.4.3), 3:1 for borders (1.4.11). Stamps have the accent, which is a colour of
    /// texts. Of a gradient every colour counts.
    public var contrastFindings: [String] {
        // Between two colours there may be darker ones than both, so the ends alone are not enough.
        let backgrounds = (0...32).map { step in
            colors.background.mixed(with: gradient?.end ?? colors.background, Double(step) / 32)
        }
        var checks: [(name: String, color: RGBColor, ratio: Double)] = [
            ("text", colors.text, 4.5), ("muted", colors.muted, 4.5), ("accent", colors.accent, 4.5),
            ("success", colors.success, 4.5), ("warning", colors.warning, 4.5), ("failure", colors.failure, 4.5),
        ]
        if border.width > 0, let color = border.color { checks.append(("border", color, 3)) }
        return checks.compactMap { name, color, ratio in
            let found = color.leastContrast(with: backgrounds)
            guard found < ratio else { return nil }
            // Rounded down, so that 4.499 is not shown as the 4.5 that it lacks.
            let shown = String(format: "%.2f", (found * 100).rounded(.down) / 100)
            let nearest = color.nearest(withContrast: ratio, to: backgrounds)
            return "The colour '\(name)' (\(color.hex)) has a contrast of \(shown):1 with the background, and needs "
                + "\(ratio == 3 ? "3" : "4.5"):1. "
                + (nearest.map { "The nearest colour that has it is \($0.hex)." }
                    ?? "No colour has it: let the background change less.")
        }
    }

    /// The logo and the sounds that cannot be read, one sentence each.
    public var fileFindings: [String] {
        let sounds = sounds.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ("sound '\($0.key.rawValue)'", $0.value)
        }
        return ((logo.map { [("logo", $0)] } ?? []) + sounds).compactMap { what, path in
            guard FileManager.default.isReadableFile(atPath: path) else {
                return "The \(what) cannot be read: '\(path)'. Check the path, and that this user may read the file."
            }
            let facts = try? FileManager.default.attributesOfItem(
                atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            )
            if facts?[.type] as? FileAttributeType == .typeRegular, facts?[.size] as? Int ?? 0 <= Self.largestFile {
                return nil
            }
            return "The \(what) cannot be shown: '\(path)' is no file, or larger than \(Self.largestFile >> 20) MB."
        }
    }
}
