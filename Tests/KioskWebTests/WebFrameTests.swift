#if NETWORK
import Testing

@testable import KioskWeb

@Suite struct WebFrameTests {
    @Test("A line of a stream ends only where the format ends it; Unicode's other line breaks belong to the text")
    func lines() {
        #expect(WebFrame("screen", id: "a-1", data: "{}").text == "id: a-1\nevent: screen\ndata: {}\n\n")
        for (data, lines) in [
            ("a\nb", ["a", "b"]), ("a\rb", ["a", "b"]), ("a\r\nb", ["a", "b"]), ("a\n\nb", ["a", "", "b"]), ("", [""]),
            ("a\u{85}b\u{2028}c\u{2029}d\u{B}e\u{C}f", ["a\u{85}b\u{2028}c\u{2029}d\u{B}e\u{C}f"]),
        ] {
            #expect(WebFrame(data: data).text == lines.map { "data: \($0)\n" }.joined() + "\n")
        }
    }
}
#endif
