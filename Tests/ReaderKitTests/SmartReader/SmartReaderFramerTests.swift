import CardCore
import Testing
import TestSupport

@testable import ReaderKit

/// Lines are found in whatever comes.
@Suite struct SmartReaderFramerTests {
    private static let line = SmartReaderLineTests.line("SCRDR;01;01;01;;04A1B2C3D4E580;;;")
    private static let other = SmartReaderLineTests.line("SCRDR;01;01;02;;04FFFFFFFFFF80;I;M-1;")
    private static let json = #"{"Interface":"13.56","Protocol":"NFC-A","Template":1,"TagId":"04A1B2C3"}"#

    private static let nested = #"{"TagId":"04A1B2C3","TagData":"{\"userId\":\"U}1\"}"}"#

    private static func lines(_ chunks: [String], _ rules: SmartReaderRules = SmartReaderRules()) -> [String] {
        var framer = SmartReaderFramer(rules)
        return chunks.flatMap { framer.append($0.utf8) }
    }

    @Test(
        arguments: [
            (["\(line)\r\n"], [line]), (["\(line)\n"], [line]), (["\(line)\r"], [line]), ([line], []),
            (["\(line)\r\n\r\n\n\(other)\r\n"], [line, other]),
            // Line ends that were lost.
            (["\(line)\(other)\r\n"], [line, other]), (["\(line)xyz\r\n"], [line]),
            // A torn line takes the next one not with it, and is not lost itself.
            (["$SCRDR;01;01;0\(line)\r\n"], ["$SCRDR;01;01;0", line]),
            (["$SCRDR;01;01;0\r\n\(line)\r\n"], ["$SCRDR;01;01;0", line]),
            // Noise, before, after and between; NULs anywhere.
            (["\u{1}\u{2}x$y\(line)\r\n"], [line]), (["\r\n?\u{7}\r\n\(line)\r\nxx\r\n"], [line]),
            (["$SC\0RDR;01;01;01;;04A1\0B2C3D4E580;;;*\0" + line.suffix(2) + "\r\n"], [line]),
            // JSON ends with its brace.
            ([json], [json]), (["\(json)\(json)"], [json, json]), (["xx\(json)\r\n"], [json]),
            ([#"{"Interface":"13.56","Pro"# + json + "\r\n"], [json]),
            ([nested], [nested]),
            ([#"{"TagId":"04A1B2C3"#, "\r\n"], [#"{"TagId":"04A1B2C3"#]),
            // MK1, whose identifiers have no '+' within them.
            (["# S550/RDR\r\n+04A1B2C3\r\n"], ["# S550/RDR", "+04A1B2C3"]),
            (["+04A1B\u{1}+04A1B2C3\r\n"], ["+04A1B2C3"]),
            (["\u{1}\u{2}+04A1B2C3\r\n"], ["+04A1B2C3"]), (["+M-1042\r\n"], ["+M-1042"]),
            (["+04A1B2C3+04A1B2C4\r\n"], ["+04A1B2C3", "+04A1B2C4"]), (["+\u{7}1\r\n"], ["+\u{7}1"]),
            // A '+' that is chance, or a modem's.
            (["\u{1C}\u{3}+Q\n", "\u{1}+M-1042\n", "+OK\n", "+CME ERROR: 3\n", "+,@Wb:l\n", "+7\n"], []),
            // Plain text that can hardly be noise.
            (["04A1B2C3D4E580\n"], ["04A1B2C3D4E580"]),
            (["04:A1:B2:C3\n"], ["04:A1:B2:C3"]), (["0077705923\n"], ["0077705923"]),
            (["4|U1|x|Ann\n"], ["4|U1|x|Ann"]), (["https://club.example/m/42\n"], ["https://club.example/m/42"]),
            (["hello\n", "04A1B2\n", "U-Boot 2020.01\n", "a|b\n", "04A1\u{1}B2C3\n", "\u{FFFD}\n"], []),
        ] as [([String], [String])]
    )
    func anyFormat(_ chunks: [String], _ expected: [String]) {
        #expect(Self.lines(chunks) == expected)
        // The same, one byte at a time.
        #expect(Self.lines(chunks.joined().unicodeScalars.map { String($0) }) == expected)
    }

    @Test(
        arguments: [
            (SmartReaderRules(format: .plain), "M-1042\nhello\r\n", ["M-1042", "hello"]),
            (SmartReaderRules(format: .plain, prefix: Array("id=".utf8)), "id=M-1\nxx id=M-2\nM-3\n", ["M-1", "M-2"]),
            (SmartReaderRules(prefix: Array("id=".utf8)), "id=M-1\n\(line)\nM-3\n", ["M-1", line]),
            (SmartReaderRules(format: .plain, suffix: Array(";".utf8)), "M-1;M-2;\nM-3\n", ["M-1", "M-2", "M-3"]),
            (SmartReaderRules(suffix: Array(";".utf8)), "04A1B2C3;\(line)\n", ["04A1B2C3", line]),
            (SmartReaderRules(format: .plain, suffix: Array("#\r\n".utf8)), "M-1#\r\nM-2\r\n", ["M-1", "M-2"]),
            // What begins as another format is kept as what it is.
            (SmartReaderRules(format: .plain), "$5\n+49\n#1\n", ["+$5", "++49", "+#1"]),
            (SmartReaderRules(format: .mk1), "04A1B2C3\nxx+04A1B2C3\n+04A1B2C3\n", ["+04A1B2C3", "+04A1B2C3"]),
            (
                SmartReaderRules(format: .mk1), "+two words\n+OK\nxx+OK\n\u{1}+M-1042\n",
                ["+two words", "+OK", "+M-1042"]
            ),
            (SmartReaderRules(format: .json), "04A1B2C3\n\(line)\n\(json)", [json]),
            (SmartReaderRules(format: .scrdr), "04A1B2C3\n+04A1B2C3\n\(json)\n\(line)\n", [line]),
        ]
    )
    func oneFormat(_ rules: SmartReaderRules, _ text: String, _ expected: [String]) {
        #expect(Self.lines([text], rules) == expected)
    }

    @Test func tooLongLineIsDroppedUpToItsEnd() {
        var framer = SmartReaderFramer()
        let long = "$SCRDR;" + String(repeating: "A", count: 3 * SmartReaderLimits.lineLength)
        #expect(framer.append((long + "\r\n" + Self.line + "\r\n").utf8) == [Self.line])
        #expect(framer.append((long + Self.line + "\r\n").utf8) == [Self.line])
        #expect(framer.counts.longLines == 2)
        let longest = "$" + String(repeating: "A", count: SmartReaderLimits.lineLength - 1)
        var plain = SmartReaderFramer(SmartReaderRules(format: .plain))
        #expect(plain.append((longest + "\n").utf8).map(\.utf8.count) == [SmartReaderLimits.lineLength + 1])
        #expect(plain.counts.longLines == 0)
    }

    @Test func silence() {
        var framer = SmartReaderFramer()
        #expect(framer.append(Self.line.utf8) == [])
        #expect(framer.hearSilence() == [Self.line])
        #expect(!framer.isWithinLine)
        for half in [String(Self.line.dropLast()), "+04A1", "04A1B2C3", #"{"TagId":"04A1"#] {
            let torn = framer.counts.tornLines
            #expect(framer.append(half.utf8) == [])
            #expect(framer.isWithinLine)
            #expect(framer.hearSilence() == [])
            #expect(!framer.isWithinLine)
            #expect(framer.counts.tornLines == torn + 1)
        }
        #expect(framer.append((Self.other + "\r\n").utf8) == [Self.other])
        var pausing = SmartReaderFramer(SmartReaderRules(format: .plain, suffix: []))
        #expect(pausing.append("M-1".utf8) == [])
        #expect(pausing.hearSilence() == ["M-1"])
    }

    @Test func unpluggedInTheMiddle() {
        var framer = SmartReaderFramer()
        #expect(framer.append("+04A1".utf8) == [])
        #expect(framer.hangUp() == [])
        #expect(framer.counts.tornLines == 1)
        #expect(framer.append("+04A1B2C3\r\n".utf8) == ["+04A1B2C3"])
        #expect(framer.hangUp() == [])
        #expect(framer.counts.tornLines == 1)
    }

    /// Every byte is part of a line, of its end, or counted as noise.
    @Test func countsNoise() {
        var framer = SmartReaderFramer()
        _ = framer.append("ab\0\u{1}\n\(Self.line)x\r\nhello\n".utf8)
        #expect(framer.counts.noiseBytes == 4 + 1 + 5)
    }

    /// Lines with noise between them, in chunks of any length: each is found once, and in its order.
    @Test(arguments: [7, 1234, 990_017] as [UInt64]) func everyLineOnce(_ seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var failures: [String] = []
        for round in 0..<400 {
            let format = [SmartReaderFormat.scrdr, .json, .mk1][round % 3]
            var framer = SmartReaderFramer(SmartReaderRules(format: round % 2 == 0 ? format : nil))
            var stream: [UInt8] = []
            var expected: [String] = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let tag = SmartReaderTag(
                    radioProtocol: "01",
                    template: UInt8.random(in: 1...4, using: &random),
                    id: Hex.encode(random.bytes([4, 7, 10].randomElement(using: &random) ?? 7)),
                    data: format == .mk1 ? nil : Hex.encode(random.bytes(Int.random(in: 1...40, using: &random)))
                )
                let line = try tag.line(as: format)
                expected.append(line)
                // Noise ends where a reader's line can begin: behind another line's end.
                let noise = random.bytes(Int.random(in: 0...60, using: &random)).filter { !"${+#".utf8.contains($0) }
                stream += noise.map { $0 | 0x80 } + noise.filter { $0 < 0x20 } + [0x0D, 0x0A]
                stream += Array(line.utf8) + [0x0D, 0x0A]
            }
            var found: [String] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let chunk = rest.prefix(Int.random(in: 1...50, using: &random))
                rest = rest.dropFirst(chunk.count)
                found += framer.append(chunk)
            }
            if found != expected { failures.append("round \(round): \(found) instead of \(expected)") }
        }
        #expect(failures == [])
    }

    /// Whatever comes, nothing traps, nothing is kept beyond the limit, and the next whole line is found.
    @Test func hostileBytes() {
        var random = SeededNumbers(seed: 42)
        var failures = 0
        for round in 0..<300 {
            var framer = SmartReaderFramer()
            let alphabet = Array("${}[]\"\\+#;*0A\u{0}\r\n ".utf8) + [0xFF, 0x80]
            let bytes = (0..<Int.random(in: 0...2000, using: &random)).map { _ in
                round % 2 == 0 ? UInt8.random(in: 0...255, using: &random) : alphabet.randomElement(using: &random) ?? 0
            }
            let lines = framer.append(bytes) + framer.hearSilence()
            for line in lines {
                _ = try? SmartReaderLine(decoding: line)
                _ = ReportReading.read(line)
            }
            if framer.append((Self.line + "\r\n").utf8).last != Self.line { failures += 1 }
        }
        #expect(failures == 0)
    }
}
