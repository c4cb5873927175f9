import Foundation
import ReaderKit

/// A colour of the sRGB colour space, without transparency.
public struct RGBColor: Sendable, Hashable {
    /// The red component, 0 to 255.
    public var red: UInt8
    /// The green component, 0 to 255.
    public var green: UInt8
    /// The blue component, 0 to 255.
    public var blue: UInt8

    /// Creates a colour from its components.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Creates a colour from hexadecimal digits: `#rgb` or `#rrggbb`, the `#` being optional. With a component for
    /// opacity (`#rgba`, `#rrggbbaa`) it must be opaque.
    ///
    /// - Throws: ``RGBColorError`` for any other text.
    public init(hex: String) throws(RGBColorError) {
        let digits = Array(hex.unicodeScalars.drop { $0 == "#" }.map(\.value))
        let start = hex.unicodeScalars.count - digits.count
        guard start <= 1, [3, 4, 6, 8].contains(digits.count) else {
            let count = digits.count
            throw RGBColorError(.length, offset: start, message: "a colour has 3 or 6 digits, this text has \(count)")
        }
        var values: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            guard let scalar = Unicode.Scalar(digit), scalar.isASCII, let value = Character(scalar).hexDigitValue else {
                let offset = start + index
                let message = "a character of the colour is no hexadecimal digit"
                throw RGBColorError(.digit, offset: offset, message: message)
            }
            values.append(UInt8(value))
        }
        // A digit alone stands for two of it.
        if values.count <= 4 { values = values.flatMap { [$0, $0] } }
        let parts = stride(from: 0, to: values.count, by: 2).map { (at: Int) -> UInt8 in
            values[at] << 4 | values[at + 1]
        }
        guard parts.count == 3 || parts[3] == 0xFF else {
            let offset = start + digits.count * 3 / 4
            throw RGBColorError(.transparency, offset: offset, message: "the colour is not opaque")
        }
        self.init(red: parts[0], green: parts[1], blue: parts[2])
    }

    /// The colour as `#rrggbb`, in lower case.
    public var hex: String { "#" + [red, green, blue].hex.lowercased() }

    /// The relative luminance as WCAG 2.2 defines it, 0 (black) to 1 (white).
    public var relativeLuminance: Double {
        func linear(_ component: UInt8) -> Double {
            let value = Double(component) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// The contrast ratio of two colours as WCAG 2.2 defines it, 1 to 21, in either order.
    public func contrast(with other: RGBColor) -> Double {
        let (one, two) = (relativeLuminance, other.relativeLuminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    /// The mixture of this colour and another: at 0 this one, at 1 the other.
    func mixed(with other: RGBColor, _ part: Double) -> RGBColor {
        func mix(_ one: UInt8, _ two: UInt8) -> UInt8 {
            let (one, two) = (Double(one), Double(two))
            return UInt8(max(0, min(255, (one + (two - one) * part).rounded())))
        }
        return RGBColor(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
    }

    /// The least contrast with any of the colours.
    func leastContrast(with others: [RGBColor]) -> Double { others.map(contrast).min() ?? 21 }

    /// This colour, lightened or darkened just as much as the contrast with all of the colours needs; `nil` if neither
    /// white nor black has it.
    func nearest(withContrast ratio: Double, to others: [RGBColor]) -> RGBColor? {
        let ends = [RGBColor(red: 255, green: 255, blue: 255), RGBColor(red: 0, green: 0, blue: 0)]
        for step in 0...255 {
            for end in ends {
                let color = mixed(with: end, Double(step) / 255)
                if color.leastContrast(with: others) >= ratio { return color }
            }
        }
        return nil
    }
}

/// A text is no colour.
public typealias RGBColorError = InputError<RGBColorErrorCode>

/// What can be wrong with the text of a colour.
public enum RGBColorErrorCode: String, InputErrorCode {
    /// Neither 3 nor 6 digits, nor 4 or 8 with the opacity.
    case length
    /// A character that is no hexadecimal digit.
    case digit
    /// An opacity other than `f` or `ff`.
    case transparency

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .length, .digit: "Write it as '#1a2b3c' or '#abc'."
        case .transparency: "Mix it with what is behind it, or write 'ff' as the opacity."
        }
    }
}
