import CardCore
import Foundation
import Testing

@testable import Captures

/// What happens to a log on its way: through a mail, a tracker, an editor, another program's output, a full disk.
struct LogDamage: Sendable, CustomStringConvertible {
    let name: String
    /// Whether all that the log says is still there.
    let isHarmless: Bool
    let apply: @Sendable (LogSample) -> [UInt8]

    var description: String { name }

    init(_ name: String, isHarmless: Bool = false, _ apply: @escaping @Sendable (LogSample) -> [UInt8]) {
        (self.name, self.isHarmless, self.apply) = (name, isHarmless, apply)
    }

    private static func lines(_ name: String, isHarmless: Bool = true, _ change: @escaping @Sendable (String) -> String)
        -> Self
    {
        .init(name, isHarmless: isHarmless) { sample in
            Array(Self.split(sample.text).map(change).joined(separator: "\n").utf8) + [0x0A]
        }
    }

    static func split(_ text: [UInt8]) -> [String] {
        var lines = String(decoding: text, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map(String.init)
    }

    private static func ends(_ name: String, _ end: String) -> Self {
        .init(name, isHarmless: true) { Array(split($0.text).map { $0 + end }.joined().utf8) }
    }

    private static func wide(_ name: String, mark: [UInt8], isBig: Bool) -> Self {
        .init(name, isHarmless: true) { sample in
            mark
                + String(decoding: sample.text, as: UTF8.self).utf16.flatMap { unit in
                    let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                    return isBig ? pair : pair.reversed()
                }
        }
    }

    /// Breaks lines at a width: at blanks as mails do, or wherever it is.
    private static func wrapped(_ width: Int, atBlanks: Bool) -> Self {
        .init("wrapped at \(width)\(atBlanks ? " at blanks" : "")") { sample in
            let lines = split(sample.text).flatMap { line -> [String] in
                var (rest, result) = (Substring(line), [String]())
                while rest.count > width {
                    let head = rest.prefix(width)
                    let blank = atBlanks ? head.lastIndex(of: " ").map { rest.index(after: $0) } : nil
                    let end = blank ?? head.endIndex
                    result.append(String(rest[..<end]))
                    rest = rest[end...]
                }
                return result + [String(rest)]
            }
            return Array(lines.joined(separator: "\n").utf8) + [0x0A]
        }
    }

    /// Each answer but every third one.
    private static let unanswered = LogDamage("answers missing") { sample in
        var (count, isSkipping) = (0, false)
        let lines = split(sample.text).filter { line in
            if line.contains(sample.command) { isSkipping = false }
            if line.contains(sample.answer), !line.contains(sample.command) {
                count += 1
                isSkipping = count % 3 == 1
            }
            return !isSkipping
        }
        return Array(lines.joined(separator: "\n").utf8) + [0x0A]
    }

    /// Each answer in turn has a digit that is none.
    private static func spoiled(_ name: String, _ digit: Character) -> Self {
        .init(name) { sample in
            let lines = split(sample.text).map { line -> String in
                guard line.contains(sample.answer), let place = line.lastIndex(where: \.isHexDigit) else { return line }
                var line = line
                line.replaceSubrange(place...place, with: [digit])
                return line
            }
            return Array(lines.joined(separator: "\n").utf8) + [0x0A]
        }
    }

    static let all: [LogDamage] = [
        .init("as it is", isHarmless: true) { $0.text }, ends("CRLF", "\r\n"), ends("CR CR LF", "\r\r\n"),
        ends("CR", "\r"),
        .init("byte order mark", isHarmless: true) { [0xEF, 0xBB, 0xBF] + $0.text },
        wide("UTF-16, little", mark: [0xFF, 0xFE], isBig: false), wide("UTF-16, big", mark: [0xFE, 0xFF], isBig: true),
        wide("UTF-16 without a mark", mark: [], isBig: false),
        lines("colours") { "\u{1B}[32m\($0)\u{1B}[0m" }, lines("quoted") { "> " + $0 },
        lines("quoted twice") { "> > " + $0 },
        lines("indented") { "    " + $0 }, lines("times before") { "12:00:01.250 " + $0 },
        lines("dates before") { "2026-11-28 12:00:01,250 " + $0 }, lines("times in brackets") { "[12:00:01] " + $0 },
        lines("a container's name") { "reader_1  | " + $0 },
        lines("small letters") { $0.lowercased() }, lines("capitals") { $0.uppercased() },
        lines("tabs as blanks") { $0.replacing("\t", with: "    ") },
        lines("blanks at the ends cut") { line in String(line.reversed().drop { $0 == " " }.reversed()) },
        lines("blanks at the ends") { $0 + "   " },
        lines("HTML") { $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;") },
        .init("zeros behind", isHarmless: true) { $0.text + [0x0A] + [UInt8](repeating: 0, count: 512) },
        lines("lines of another process", isHarmless: true) {
            $0 + "\n[ 1234.567890] usb 1-1: new full-speed USB device number 5"
        },
        lines("an ATR that is none", isHarmless: true) { $0.isEmpty ? $0 : $0 + "\n00000043 Card ATR: (NULL)" },
        lines("lines twice", isHarmless: false) { $0 + "\n" + $0 },
        wrapped(80, atBlanks: true), wrapped(72, atBlanks: true), wrapped(80, atBlanks: false), unanswered,
        spoiled("a digit that is none", "G"), spoiled("a zero byte", "\0"), spoiled("a digit lost", " "),
    ]
}

@Suite struct LogDamageTests {
    @Test(arguments: LogSample.all) func readsEachForm(sample: LogSample) throws {
        let conversion = try CaptureConversion(sample.text, file: sample.name)
        #expect(conversion.format == sample.form)
        if !sample.said.isEmpty { #expect(LogSample.said(conversion.capture) == sample.said) }
        #expect(try Capture(parsing: conversion.capture.text()) == conversion.capture)
    }

    /// Logs × damages: what is there is read, what is damaged has a fault and a name, and nothing is invented.
    @Test func survivesEachDamage() throws {
        var table: [String] = []
        let said = LogSample.all.map { sample in
            (try? CaptureConversion(sample.text)).map { LogSample.said($0.capture) } ?? []
        }
        for damage in LogDamage.all {
            var ends: [String: [String]] = [:]
            for (sample, whole) in zip(LogSample.all, said) {
                let end = end(of: damage, sample, whole)
                ends[end, default: []].append(sample.name)
            }
            for (end, names) in ends.sorted(by: { $0.key < $1.key }) {
                table.append(
                    "\(damage.name): \(end): \(names.count == LogSample.all.count ? "all" : names.joined(separator: ", "))"
                )
            }
        }
        let path = CaptureConversionTests.folder + "/damages.txt"
        let wanted = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let found = table.joined(separator: "\n") + "\n"
        if found != wanted { print(found) }
        #expect(found == wanted, "what each log ended in is not what \(path) says")
    }

    private func end(of damage: LogDamage, _ sample: LogSample, _ whole: [String]) -> String {
        let conversion: CaptureConversion
        do {
            conversion = try CaptureConversion(damage.apply(sample))
        } catch {
            if damage.isHarmless { Issue.record("\(sample.name), \(damage.name): \(error)") }
            return "refused (\(error.code.rawValue))"
        }
        let said = LogSample.said(conversion.capture)
        expectNothingInvented(said, of: whole, "\(sample.name), \(damage.name)")
        if damage.isHarmless { #expect(said == whole, "\(sample.name), \(damage.name)") }
        if said == whole { return "the same" }
        let lost = whole.filter { !said.contains($0) }
        let named = conversion.skipped.count { $0.message != CaptureConversion.noConversation }
        #expect(lost.isEmpty || named > 0 || damage.name == "answers missing", "\(sample.name), \(damage.name)")
        return said.contains { $0.contains("!") } ? "faults" : "fewer exchanges"
    }

    /// Each exchange was in the whole log, or is a fault.
    private func expectNothingInvented(_ said: [String], of whole: [String], _ comment: String) {
        for exchange in said where !exchange.contains("!") {
            #expect(whole.contains(exchange), "\(comment): \(exchange) was not said")
        }
    }

    /// A log may end anywhere: what was said before stands in the capture.
    @Test(arguments: LogSample.all) func endsAnywhere(sample: LogSample) throws {
        let whole = LogSample.said(try CaptureConversion(sample.text).capture)
        let step = max(1, sample.text.count / 60)
        var previous = 0
        for length in stride(from: 0, to: sample.text.count, by: step) {
            guard let cut = try? CaptureConversion(Array(sample.text.prefix(length)), format: sample.form) else {
                continue
            }
            var said = LogSample.said(cut.capture)
            if said.last?.contains("!") == true, said.last != (said.count <= whole.count ? whole[said.count - 1] : nil)
            {
                said.removeLast()
            }
            #expect(said.elementsEqual(whole.prefix(said.count)), "\(sample.name) cut at \(length): \(said.last ?? "")")
            #expect(said.count >= previous - 1, "\(sample.name) cut at \(length): \(said.count) after \(previous)")
            previous = max(previous, said.count)
        }
    }

    /// Each byte of an answer that a line shows stands in the capture, or the line is named.
    @Test(arguments: LogSample.all) func accountsForEachLine(sample: LogSample) throws {
        for damage in LogDamage.all where !damage.isHarmless || damage.name == "as it is" {
            let text = damage.apply(sample)
            guard let conversion = try? CaptureConversion(text, format: sample.form) else { continue }
            let lines = try LogLine.split(text, file: nil)
            let skipped = Set(conversion.skipped.map(\.line))
            let facts = conversion.capture.presentations.map(\.facts)
            let shown = facts.flatMap { [$0.atr?.hex ?? ""] + $0.values.map(\.bytes.hex) }
            let bytes = (LogSample.said(conversion.capture) + shown).joined(separator: " ").lowercased()
            for line in lines where !line.isBlank && !skipped.contains(line.number) {
                // The longest run of bytes of the line, without its addresses and characters.
                guard let run = Self.run(line), run.count >= 3 else { continue }
                let isThere = bytes.contains(run.map { String(format: "%02x", $0) }.joined())
                // Frames of a chip and of the air have more than what is said.
                let isFrame = sample.form == .libnfc || sample.form == .proxmark
                #expect(
                    isThere || isFrame,
                    "\(sample.name), \(damage.name), line \(line.number): \(line.text(from: 0))"
                )
            }
        }
    }

    private static func run(_ line: LogLine) -> [UInt8]? {
        var (best, run): ([UInt8], [UInt8]) = ([], [])
        for word in line.bytes.split(whereSeparator: CaptureCursor.isSpace) {
            if word.count == 2, let byte = try? Hex.decode(String(decoding: word, as: UTF8.self)).first {
                run.append(byte)
            } else {
                run = []
            }
            if run.count > best.count { best = run }
        }
        return best
    }

    /// What a capture says, converted, is what it says.
    @Test(arguments: LogSample.all) func convertsItsOwnTranscript(sample: LogSample) throws {
        let capture = try CaptureConversion(sample.text).capture
        let lines = capture.text().split(separator: "\n", omittingEmptySubsequences: false)
        let body = lines.drop { !$0.hasPrefix("card ") }.joined(separator: "\n")
        guard capture.readers.count <= 1 else { return }
        var again = try CaptureConversion(Array(body.utf8)).capture
        again.headers = capture.headers
        #expect(again == capture)
    }

    // MARK: Kinds of trouble

    @Test(arguments: [
        // explanations that look like bytes
        ("Using given file: a\n> 00 C0 00 00 00\n< 61 10 : DE AD BE EF are available\n", ["00C0000000 6110"]),
        // a refused command, a reset, a reset that failed
        (
            "> 00 A4 04 00\n< 6A 82 : File not found.\n> RESET\n< OK: 3B 80 80 01 01 \n> 00 A4 04 00\n< 90 00 : ok\n> RESET\n< KO: no\n",
            ["00A40400 6A82", "00A40400 9000"]
        ),
        // a command without an answer, in the middle and at the end
        (
            "> 00 A4 04 00\n> 00 B0 00 00 00\n< 90 00\n> 00 C0 00 00 00\n",
            ["00A40400 !comm-error", "00B0000000 9000", "00C0000000 !comm-error"]
        ),
        // an answer without a command, and one twice
        ("< 90 00\n> 00 A4 04 00\n< 6A 82\n< 6A 82\n", ["00A40400 6A82"]),
        // a status word that is none
        ("> 00 B0 00 00 02\n< 12 34\n> 00 A4 04 00\n< 90 00\n", ["00B0000002 !comm-error", "00A40400 9000"]),
        // what a program prints behind an answer
        ("> 00 B0 00 00 02\n< 12 34 90 00\n12 34\n", ["00B0000002 12349000"]),
        // an explanation that a mail put into the next line
        ("Using given file: a\n> 00 B0 00 00 02\n< 12 34 90 00\n: Normal processing.\n", ["00B0000002 12349000"]),
        // bytes that somebody made unreadable
        ("> 00 B0 00 00 04\n< 04 XX XX 01 90 00\n", ["00B0000004 !comm-error"]),
        ("> 00 B0 00 00 04\n< 04 XXXX 01 90 00\n", ["00B0000004 !comm-error"]),
        // a buffer of which Node.js shows the beginning
        (
            "transmitting <Buffer 00 b0 00 00 20> 40\ntransmit response received <Buffer 01 02 ... 32 more bytes> 34\n",
            ["00B0000020 !comm-error"]
        ),
        // lengths that say more, or less, than is there
        ("A>> T=1 (4+0000) 00B00000 04\nA<< (0004+2) (15ms) 010203 9000\n", ["00B0000004 !comm-error"]),
        (
            "Outgoing APDU (5 bytes):\n00 B0 00 00 04 .....\nIncoming APDU (6 bytes):\n01 02 03 04 90 .....\n",
            ["00B0000004 !comm-error"]
        ),
        // prose of a mail behind a mark
        ("> Dear all, feed the card:\n> 00 A4 04 00\n< 90 00\n", ["00A40400 9000"]),
        ("→ 00 A4 04 00\n← 90 00\n", ["00A40400 9000"]),
    ])
    func readsTrouble(log: String, said: [String]) throws {
        let conversion = try CaptureConversion(Array(log.utf8))
        #expect(LogSample.said(conversion.capture) == said)
    }

    @Test(arguments: [
        ("debug\tlibnfc.bus.i2c\tTX: 00 00 ff 04 fc d4 4a 01 00 e1 00 \n", "no answers on I2C"),
        ("nothing\nof use\n", "a pcscd log, a libnfc log, an OpenSC log"),
    ])
    func saysWhatIsMissing(log: String, words: String) {
        let error = #expect(throws: CaptureError.self) { try CaptureConversion(Array(log.utf8)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func cardsWithoutAnATRHaveNone() throws {
        let capture = try CaptureConversion(CaptureConversionTests.log("pcscd-null.log")).capture
        #expect(capture.presentations.map(\.facts.atr?.count) == [nil, 20])
        #expect(capture.readers.map(\.name) == ["ACS ACR122U PICC Interface 00 00"])
    }

    @Test func spiSaysWhatTheSerialLineSays() throws {
        func text(_ name: String) throws -> [Capture.Presentation] {
            try CaptureConversion(CaptureConversionTests.log(name)).capture.presentations
        }
        #expect(try text("libnfc-spi.log") == text("libnfc-uart.log"))
    }

    @Test func cardsAreFoundByTheirFacts() throws {
        for sample in LogSample.all where ["Proxmark NTAG", "nfcpy Type 2"].contains(sample.name) {
            let facts = try CaptureConversion(sample.text).capture.presentations.map(\.facts)
            #expect(facts.map { $0["uid"]?.hex } == ["045A2B3A9C3980"], "\(sample.name)")
            #expect(facts.map { $0["atqa"]?.hex } == ["0044"], "\(sample.name)")
        }
        let type4 = try #require(LogSample.all.first { $0.name == "Proxmark ISO-DEP" })
        #expect(try CaptureConversion(type4.text).capture.presentations.first?.facts["ats"]?.hex == "7577810280")
    }
}
