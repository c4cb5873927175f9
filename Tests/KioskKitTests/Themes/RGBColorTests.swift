import ReaderKit
import Testing

@testable import KioskKit

@Suite("Colours")
struct RGBColorTests {
    @Test("Hexadecimal digits in every form are read, all others are refused with what is wrong and where")
    func hex() {
        let good = [
            "#abc": "#aabbcc", "abc": "#aabbcc", "#A1b2C3": "#a1b2c3", "a1b2c3": "#a1b2c3", "#abcf": "#aabbcc",
            "A1B2C3FF": "#a1b2c3", "#000": "#000000", "#fffF": "#ffffff",
        ]
        var failures = good.compactMap { text, hex in (try? RGBColor(hex: text))?.hex == hex ? nil : text }
        let bad: [(String, RGBColorErrorCode, Int)] = [
            ("", .length, 0), ("#", .length, 1), ("#ab", .length, 1), ("abcde", .length, 0), ("##abc", .length, 2),
            ("#abcdef0", .length, 1), ("#1a2b3c4d5e", .length, 1), ("#ggg", .digit, 1), ("12345x", .digit, 5),
            ("#ab٣", .digit, 3), ("#ａbc", .digit, 1), ("#abce", .transparency, 4), ("aabbcc00", .transparency, 6),
            (" abc", .digit, 0),
        ]
        for (text, code, offset) in bad {
            do throws(RGBColorError) {
                _ = try RGBColor(hex: text)
                failures.append(text)
            } catch {
                if error.code != code || error.offset != offset { failures.append("\(text): \(error)") }
            }
        }
        #expect(failures.isEmpty)
    }

    /// The definition of relative luminance, and pairs of the W3C's documents and its "Understanding" pages, whose ratios
    /// all checkers show.
    @Test("Luminance and contrast are those of WCAG")
    func contrast() throws {
        let luminances = [
            ("#fff", 1.0), ("#000", 0.0), ("#f00", 0.2126), ("#0f0", 0.7152), ("#00f", 0.0722), ("#808080", 0.21586),
        ]
        let ratios = [
            ("#000", "#fff", 21.0), ("#fff", "#fff", 1.0), ("#777", "#fff", 4.478), ("#767676", "#fff", 4.542),
            ("#595959", "#fff", 7.005), ("#949494", "#fff", 3.033), ("#f00", "#fff", 3.998), ("#00f", "#fff", 8.592),
            ("#0f0", "#000", 15.304),
        ]
        var failures: [String] = []
        for (text, value) in luminances where try abs(RGBColor(hex: text).relativeLuminance - value) > 0.0001 {
            failures.append(text)
        }
        for (one, two, ratio) in ratios {
            let (first, second) = (try RGBColor(hex: one), try RGBColor(hex: two))
            let found = first.contrast(with: second)
            if abs(found - ratio) > 0.001 || found != second.contrast(with: first) {
                failures.append("\(one) \(two) \(found)")
            }
        }
        #expect(failures.isEmpty)
    }
}
