import KioskKit

/// Which colours a terminal shows, and the escape sequences for them.
public enum TerminalColors: Sendable, Hashable, CaseIterable {
    /// None; bold, faint and reversed characters remain.
    case none
    /// The 16 colours of ECMA-48 with their bright variants, in the values of xterm.
    case standard
    /// The colour cube and the greys of xterm's 256 colours.
    case indexed
    /// 24 bits for each colour.
    case trueColor

    /// Chooses by the environment of a program: none where `NO_COLOR` is set and not empty or `TERM` is `dumb` or not
    /// set; otherwise by `COLORTERM` (`truecolor` or `24bit`) and `TERM` (`256color` in it), otherwise 16.
    public init(environment: [String: String]) {
        let terminal = environment["TERM"] ?? ""
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false || terminal.isEmpty || terminal == "dumb" {
            self = .none
        } else if ["truecolor", "24bit"].contains(environment["COLORTERM"]?.lowercased()) {
            self = .trueColor
        } else {
            self = terminal.contains("256color") ? .indexed : .standard
        }
    }

    /// Returns the escape sequence (SGR) that sets the style, whatever was set before.
    func sequence(for style: TerminalCanvas.Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isReverse { codes.append("7") }
        switch self {
        case .none: break
        case .trueColor:
            for (color, layer) in [(style.foreground, 38), (style.background, 48)] {
                guard let color else { continue }
                codes.append("\(layer);2;\(color.red);\(color.green);\(color.blue)")
            }
        case .indexed, .standard:
            let background = style.background.map(nearest)
            var foreground = style.foreground.map(nearest)
            if let color = foreground, color == background {
                // Colours of which only one is left would hide the text.
                foreground = nearest(contrast(to: color))
            }
            if let foreground { codes.append(code(foreground, isBackground: false)) }
            if let background { codes.append(code(background, isBackground: true)) }
        }
        return "\u{1B}[" + codes.joined(separator: ";") + "m"
    }

    private func code(_ index: Int, isBackground: Bool) -> String {
        if self == .indexed { return "\(isBackground ? 48 : 38);5;\(index)" }
        // 30 to 37 and 90 to 97, and 10 more behind the text.
        return String((index < 8 ? 30 + index : 82 + index) + (isBackground ? 10 : 0))
    }

    private func contrast(to index: Int) -> RGBColor {
        let (red, green, blue) = TerminalColors.palette[index]
        let isLight = 299 * red + 587 * green + 114 * blue > 128_000
        return isLight ? RGBColor(red: 0, green: 0, blue: 0) : RGBColor(red: 255, green: 255, blue: 255)
    }

    /// The index of the nearest colour of the palette.
    func nearest(_ color: RGBColor) -> Int {
        // People choose the first 16 for their own terminal, so they are exact nowhere.
        let range = self == .standard ? 0..<16 : 16..<256
        return range.min { distance(color, $0) < distance(color, $1) } ?? 0
    }

    /// The squared distance, weighted by how well each component is seen.
    private func distance(_ color: RGBColor, _ index: Int) -> Int {
        let (red, green, blue) = TerminalColors.palette[index]
        let (r, g, b) = (Int(color.red) - red, Int(color.green) - green, Int(color.blue) - blue)
        return 3 * r * r + 6 * g * g + b * b
    }

    /// xterm's 256 colours: 16 of its own, a cube of 6×6×6, 24 greys.
    private static let palette: [(Int, Int, Int)] = {
        var palette = [
            (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205),
            (229, 229, 229),
            (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
            (255, 255, 255),
        ]
        let levels = [0, 95, 135, 175, 215, 255]
        for red in levels {
            for green in levels {
                for blue in levels { palette.append((red, green, blue)) }
            }
        }
        for grey in stride(from: 8, to: 248, by: 10) { palette.append((grey, grey, grey)) }
        return palette
    }()
}
