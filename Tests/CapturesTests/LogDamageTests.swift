import CardCore
import Foundation
import Testing
import TestSupport

@testable import Captures

/// What happens to a log on its way: through a mail, a tracker, an editor, another program's output, a full disk.
struct LogDamage: Sendable, CustomStringConvertible {
    let name: String
    /// Whether all that the log says is still there.
    let isHarmless: Bool
    /// Whether no answer can be read as it was.
    var isSpoiled = false
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

    /// Each answer has a digit that is none, amid its bytes: on the line with its mark, or on the next.
    private static func spoiled(_ name: String, _ digit: Character) -> Self {
        var damage = LogDamage(name) { sample in
            var isNext = false
            let lines = split(sample.text).map { line -> String in
                guard line.contains(sample.answer) || isNext else { return line }
                isNext = [":", "Buffer"].contains { line.hasSuffix($0) }
                let digits = digits(of: line)
                guard !isNext, !digits.isEmpty else { return line }
                let place = digits[digits.count / 2 - 1]
                var line = line
                line.replaceSubrange(place...place, with: [digit])
                return line
            }
            return Array(lines.joined(separator: "\n").utf8) + [0x0A]
        }
        damage.isSpoiled = true
        return damage
    }

    /// The digits of the bytes of a line: of the longest run of words of them.
    private static func digits(of line: String) -> [String.Index] {
        var (best, run) = ([String.Index](), [String.Index]())
        for word in line.split(whereSeparator: { " \t,:->".contains($0) }) {
            let digits = word.hasPrefix("0x") ? word.dropFirst(2) : word
            let isBytes = digits.count % 2 == 0 && digits.allSatisfy(\.isHexDigit)
            run = isBytes ? run + digits.indices : []
            if run.count > best.count { best = run }
        }
        return best
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
        wrapped(80, atBlanks: true), wrapped(72, atBlanks: true), wrapped(64, atBlanks: true),
        wrapped(80, atBlanks: false), wrapped(61, atBlanks: false), unanswered,
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

    /// Logs × damages, each damage on every ninth log unless there are more rounds: what is there is read, what is damaged
    /// has a fault and a name, and nothing is invented.
    @Test func survivesEachDamage() throws {
        let path = CaptureConversionTests.folder + "/damages.txt"
        let wanted = Self.ends(try String(contentsOfFile: path, encoding: .utf8))
        var found = wanted
        for (column, sample) in LogSample.all.enumerated() {
            let undamaged = try? CaptureConversion(sample.text)
            let (whole, named) = undamaged.map { (LogSample.said($0.capture), Self.named($0)) } ?? ([], 0)
            for (row, damage) in LogDamage.all.enumerated() where (row + column) % step(9) == 0 {
                found[damage.name, default: [:]][sample.name] = end(of: damage, sample, whole, named)
            }
        }
        if found != wanted { print(Self.table(found)) }
        #expect(found == wanted, "what each log ended in is not what \(path) says")
    }

    /// What each log ended in, by damage and log: a line has a damage, an end and the logs with it, or "all".
    private static func ends(_ table: String) -> [String: [String: String]] {
        var ends: [String: [String: String]] = [:]
        for line in table.split(separator: "\n") {
            let parts = line.components(separatedBy: ": ")
            let names = parts[2] == "all" ? LogSample.all.map(\.name) : parts[2].components(separatedBy: ", ")
            for name in names { ends[parts[0], default: [:]][name] = parts[1] }
        }
        return ends
    }

    private static func table(_ ends: [String: [String: String]]) -> String {
        var table = ""
        for damage in LogDamage.all {
            let found = Dictionary(grouping: LogSample.all.map(\.name)) { ends[damage.name]?[$0] ?? "unknown" }
            for (end, names) in found.sorted(by: { $0.key < $1.key }) {
                let logs = names.count == LogSample.all.count ? "all" : names.joined(separator: ", ")
                table += "\(damage.name): \(end): \(logs)\n"
            }
        }
        return table
    }

    /// How many lines are named with a reason of their own.
    private static func named(_ conversion: CaptureConversion) -> Int {
        conversion.skipped.count { $0.message != CaptureConversion.noConversation }
    }

    private func end(of damage: LogDamage, _ sample: LogSample, _ whole: [String], _ before: Int) -> String {
        let conversion: CaptureConversion
        let text = damage.apply(sample)
        do {
            conversion = try CaptureConversion(text)
        } catch {
            if damage.isHarmless { Issue.record("\(sample.name), \(damage.name): \(error)") }
            return "refused (\(error.code.rawValue))"
        }
        let said = LogSample.said(conversion.capture)
        expectNothingInvented(said, of: whole, "\(sample.name), \(damage.name)")
        if damage.isHarmless { #expect(said == whole, "\(sample.name), \(damage.name)") }
        if damage.isSpoiled { #expect(said != whole, "\(sample.name), \(damage.name)") }
        if !damage.isHarmless || damage.name == "as it is" {
            expectEachLine(of: text, in: conversion, said, sample, damage)
        }
        if said == whole { return "the same" }
        let lost = whole.filter { !said.contains($0) }
        // Each that is lost left a fault, or a line that is named.
        let named = max(0, Self.named(conversion) - before)
        let faults = said.count { $0.contains("!") && !whole.contains($0) }
        #expect(lost.count <= named + faults, "\(sample.name), \(damage.name)")
        return said.contains { $0.contains("!") } ? "faults" : "fewer exchanges"
    }

    /// Each exchange was in the whole log, or is a fault for a command of it.
    private func expectNothingInvented(_ said: [String], of whole: [String], _ comment: String) {
        for exchange in said where !whole.contains(exchange) {
            let command = exchange.split(separator: "!")[0]
            let isThere = command != exchange && whole.contains { $0.hasPrefix(command) }
            #expect(isThere, "\(comment): \(exchange) was not said")
        }
    }

    /// A log may end anywhere: what was said before stands in the capture.
    @Test(arguments: LogSample.all) func endsAnywhere(sample: LogSample) throws {
        let whole = LogSample.said(try CaptureConversion(sample.text).capture)
        let lengths = Array(stride(from: 0, to: sample.text.count, by: max(1, sample.text.count / 60)))
        var previous = 0
        for length in lengths.oneIn(12) + lengths.suffix(1) {
            guard let cut = try? CaptureConversion(Array(sample.text.prefix(length)), format: sample.form) else {
                continue
            }
            var said = LogSample.said(cut.capture)
            // The last one has a fault; of bytes that look like a status word anywhere, what is left may look whole.
            let isCut = said.last?.contains("!") == true || sample.name.hasSuffix("random bytes")
            if isCut, said.last != (said.count <= whole.count ? whole[said.count - 1] : nil) { said.removeLast() }
            #expect(said.elementsEqual(whole.prefix(said.count)), "\(sample.name) cut at \(length): \(said.last ?? "")")
            #expect(said.count >= previous - 1, "\(sample.name) cut at \(length): \(said.count) after \(previous)")
            previous = max(previous, said.count)
        }
        #expect(previous >= whole.count - 1, "\(sample.name) cut near its end: \(previous)")
    }

    /// Where it is known how long an answer is, no beginning of it is one, and no refusal.
    @Test(arguments: [
        ("READ", "3004", "0103a00c340315d101115504636c7562"), ("FAST_READ", "3a0405", "0103a00c340315d1"),
        ("GET_VERSION", "60", "0004040201000f03"), ("READ_CNT", "3902", "010000"),
        ("READ_SIG", "3c00", "67b1750bcceb1174f9a33bf20e0226551a6366939b31f949848c3c087350fa90"),
        ("Polling", "0600ffff0100", "1401012e4ce445055b87100b4b42848500000003"),
    ])
    func endsWithinAnAnswer(name: String, command: String, answer: String) throws {
        let lines = "[nfc.clf] found 106A sdd_res=045A2B3A9C3980\n[nfc.tag.tt2] >> \(command)\n[nfc.tag.tt2] << "
        for digits in 1...answer.count {
            let text = Array((lines + answer.prefix(digits)).utf8)
            let said = LogSample.said(try CaptureConversion(text, format: .nfcpy).capture)
            #expect(said.count == 1 && said[0].hasPrefix(">" + command.uppercased()))
            #expect(said.first?.contains("!") == (digits < answer.count), "\(name), \(digits): \(said)")
        }
    }

    /// Each byte of an answer that a line shows stands in the capture, or the line is named.
    private func expectEachLine(
        of text: [UInt8],
        in conversion: CaptureConversion,
        _ said: [String],
        _ sample: LogSample,
        _ damage: LogDamage
    ) {
        // Frames of a chip and of the air have more than what is said.
        guard sample.form != .libnfc, sample.form != .proxmark, let lines = try? LogLine.split(text, file: nil) else {
            return
        }
        let skipped = Set(conversion.skipped.map(\.line))
        let facts = conversion.capture.presentations.map(\.facts)
        let shown = facts.flatMap { [$0.atr?.hex ?? ""] + $0.values.map(\.bytes.hex) }
        let bytes = (said + shown).joined(separator: " ")
        var count = 0
        for line in lines where !line.isBlank && !skipped.contains(line.number) {
            // The longest run of bytes of the line, without its addresses and characters.
            let run = Self.run(line)
            guard run.count >= 3 else { continue }
            count += 1
            #expect(
                bytes.contains(run.hex),
                "\(sample.name), \(damage.name), line \(line.number): \(line.text(from: 0))"
            )
        }
        #expect(count > 0 || damage.isSpoiled, "\(sample.name), \(damage.name): no line was looked at")
    }

    private static func run(_ line: LogLine) -> [UInt8] {
        var (best, run): ([UInt8], [UInt8]) = ([], [])
        // pcscd's lines begin with microseconds of eight digits.
        let start = line.endOfStamp
        let first = line.bytes[start...].prefix { !CaptureCursor.isSpace($0) }
        let isTime = first.count == 8 && first.allSatisfy(CaptureCursor.isDigit)
        for word in line.bytes[(isTime ? start + 8 : start)...].split(whereSeparator: {
            CaptureCursor.isSpace($0) || $0 == UInt8(ascii: ":")
        }) {
            let digits = word.count == 2 || word.count >= 8 ? word : []
            let bytes = (try? Hex.decode(String(decoding: digits, as: UTF8.self))) ?? []
            run = bytes.isEmpty ? [] : run + bytes
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

    private static func opensc(_ rows: String) -> String {
        "Sending: 00 B0 00 00 00\nReceived (SW1=0x90, SW2=0x00):\n\(rows)Sending: 00 84\n"
    }

    private static let blanks = String(repeating: " ", count: 43)

    private static let troubles: [(log: String, said: [String])] = [
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
        // bytes that somebody, or pcscd, left out
        ("> FF CA 00 00 00\n< 6F 10 84 08 61 23 ...\n", ["FFCA000000 !comm-error"]),
        (
            "> FF CA 00 00 00\n< 6F 10 84 08 61 23 […]\n> FF CA 00 00 00\n< 61 10 …\n",
            Array(repeating: "FFCA000000 !comm-error", count: 2)
        ),
        (
            "> FF CA 00 00 00\n< 01 02 63 75 (12 more bytes)\n> FF CA 00 00 00\n< 01 02 63 75 <snip>\n",
            Array(repeating: "FFCA000000 !comm-error", count: 2)
        ),
        (
            "> 00 A4 04 00 07 D2 76 ...\n< 90 00\n> 00 C0 00 00 00\n< 61 10 (more bytes are there)\n",
            ["00C0000000 6110"]
        ),
        (
            "00000001 APDU: 00 D6 00 00 04 01 ...\n00000002 SW: 90 00\n00000001 APDU: FF CA 00 00 00\n00000001 SW: 90 00",
            ["FFCA000000 9000"]
        ),
        // and made unreadable
        (
            "> 00 20 00 81 08 XXXXXXXX\n< 63 C2\n> 00 20 00 81 08 ********\n< 63 C2\n> FF CA 00 00 00\n< 01 63 75 XXXX\n",
            ["FFCA000000 !comm-error"]
        ),
        (
            "> 00 20 00 81 08 <hidden>\n< 90 00\n> 00 20 00 81 08 (PIN)\n< 69 83\n> 00 20 00 81\n< 63 C2\n",
            ["00200081 63C2"]
        ),
        (
            "> FF CA 00 00 00\n< 01 63 75 ####\n> FF CA 00 00 00\n< 01 63 75 G1B2\n",
            Array(repeating: "FFCA000000 !comm-error", count: 2)
        ),
        // a command without its end; a card refuses one that is none
        ("> 00 A4 04 00 07 D2 76\n< 90 00\n> 00 A4 04 00 07 D2 76\n< 67 00\n", ["00A4040007D276 6700"]),
        // what explains
        (
            "> FF CA 00 00 00 // the identifier\n< 04 5A 90 00 Accepted\n> FF CA 00 00 00 Read UID\n< 90 00 # ok\n",
            ["FFCA000000 045A9000", "FFCA000000 9000"]
        ),
        // fewer data than the log counts; lengths that no answer has
        (
            "A>> T=1 (4+0008) 00A40400 08 A0000000030000\nA<< (0000+2) (12ms) 6A82\nA>> T=1 (4+0001) 00A40400 01\nA0 00\nA<< (0000+2) (12ms) 9000\n",
            ["00A4040001A000 9000"]
        ),
        ("A>> T=1 (4+0000) 00B00000 04\nA<< (9223372036854775807+1) (15ms) 010203 9000\n", ["00B0000004 !comm-error"]),
        (
            "transmitting <Buffer 00 b0 00 00 20> 4\nresponse received <Buffer 90 00 ... 99999999999999999999 more bytes>\ntransmitting <Buffer 00 b0 ... 9223372036854775807 more bytes> 40\nresponse received <Buffer 90 00> +5ms\n",
            ["00B0000020 !comm-error"]
        ),
        // a status word that stands for itself
        ("> FF CA 00 00 00\n< 04 5A 90 00\n[]\nSelect Applet: 90 00\nCommand: 90 00\n", ["FFCA000000 045A9000"]),
        // colons at the ends of broken lines, and with spaces
        (
            "> 00:A4:04:00:07:D2:76:00:00: \n85:01:01\n< 04:5A:61:1C: \n9C:39:80:90:00\n",
            ["00A4040007D2760000850101 045A611C9C39809000"]
        ),
        ("> 00 : A4 : 04 : 00\n< 90:00: not found\n> 00 A4 04 00\n< 61 10 :\n", ["00A40400 9000", "00A40400 6110"]),
        // the place of the first byte
        (
            "> 0000: 00 A4 04 00\n< 0000: 90 00\n> 0000  FF CA 00 00 00\n< 0000: 04 5A 90 00\n> FF CA 00 00 00\n< 0010: 90 00\n",
            ["00A40400 9000", "FFCA000000 045A9000", "FFCA000000 !comm-error"]
        ),
        (
            "> FF CA 00 00 00\n< 00000000 9000\n> 0xff, 0xca, 0x0, 0x0, 0x0\n< 0x4, 0x90, 0x0\n> 0xff, 0xca, 0x00, 0x0, 0x0\n< 0x90, 0x00\n",
            ["FFCA000000 000000009000", "FFCA000000 049000"]
        ),
        // status words on their own, and in words
        (
            "Command: FF CA 00 00 00\nResponse: 04 5A 61 5A 9C\nSW: 90 00\nCommand: 00 B0 00 00 04\nResponse: 01 02 63 75\nSW: 90 00\nCommand: 00 A4 04 00\nSW: 6A 82\n",
            ["FFCA000000 045A615A9C9000", "00B0000004 010263759000", "00A40400 6A82"]
        ),
        (
            "Command: FF CA 00 00 00\nResponse: 04 5A 90 00\nStatus: 0x9000\nCommand: 00 A4 04 00\nResponse: 6A 82\nStatus: 0x6A82\n",
            ["FFCA000000 045A9000", "00A40400 6A82"]
        ),
        (
            "> FF CA 00 00 00\n< 04 61 10 SW=9000\n> FF CA 00 00 00\n< 04 61 10 (SW1=90 SW2=00)\n> FF CA 00 00 00\n< 04 90 00 (SW: 0x9000)\n> FF CA 00 00 00\n< 04 61 10 SW=9G00\n",
            ["FFCA000000 0461109000", "FFCA000000 0461109000", "FFCA000000 049000", "FFCA000000 !comm-error"]
        ),
        // in brackets, behind a `#`
        (
            "> FF CA 00 00 00\n< 04 5A 61 10 (9000)\n> FF CA 01 00 00\n< 04 5A 61 10 # 0x9000\n> FF CA 02 00 00\n< 04 5A 61 10 (90 00 OK)\n> FF CA 03 00 00\n< 04 61 08 status=OK (0x9000)\n> FF CA 04 00 00\n< 04 5A 90 00 (9000)\n> FF CA 05 00 00\n< 04 5A 61 10 (9000 bytes)\n",
            [
                "FFCA000000 045A61109000", "FFCA010000 045A61109000", "FFCA020000 045A61109000",
                "FFCA030000 0461089000", "FFCA040000 045A9000", "FFCA050000 045A6110",
            ]
        ),
        // which the log's other lines say again; which are apart, though data end so
        (
            "Command: FF CA 00 00 00\nResponse: 04 5A 2B 61 90 00\nSW: 90 00\nCommand: 00 B0 00 00 02\nResponse: 00 0F 90 00\nSW: 90 00\nCommand: 00 B0 00 00 10\nResponse: 00 0F 20 00 61 00\nSW: 90 00\n",
            ["FFCA000000 045A2B619000", "00B0000002 000F9000", "00B0000010 !comm-error"]
        ),
        (
            "Command: 00 B0 00 00 04\nResponse: 01 02 90 00\nSW: 90 00\nCommand: 00 B0 00 00 02\nResponse: 61 5A\nSW: 90 00\nCommand: 00 B0 00 00 02\nResponse: 00 0F\nSW: 90 00\n",
            ["00B0000004 010290009000", "00B0000002 615A9000", "00B0000002 000F9000"]
        ),
        // printed once more, unless so many were asked for
        (
            "> FF CA 00 00 00\n< 04 5A 2B 61 90 00\n90 00\n> 00 A4 04 00 01 A0\n< 90 00\n9000\n> 00 A4 04 00 01 A1\n< 6A 82\n6A 82\n> 00 B0 00 00 04\n< 01 02 90 00\n90 00\n> FF CA 01 00 00\n< 04 5A 90 00\n04 5A 90 00\n",
            [
                "FFCA000000 045A2B619000", "00A4040001A0 9000", "00A4040001A1 6A82", "00B0000004 010290009000",
                "FFCA010000 045A9000",
            ]
        ),
        ("> 00 B0 00 00 00\n< 00 0F 20 00 3B 00 34 04 06 E1 04 0B 90 00\n90 00\n", ["00B0000000 !comm-error"]),
        // with an error no data go, unless so many were asked for
        (
            "> 00 B0 00 00 00\n< D1 01 11 55 04 63 6C 75 62\n> 00 B0 00 00 00\n< D1 01 11 55 04 65 6F\n> 00 B0 00 00 02\n< 01 02 6A 82\n> 00 B0 00 00 00\n< 01 02 62 82\n",
            ["00B0000000 !comm-error", "00B0000000 !comm-error", "00B0000002 01026A82", "00B0000000 01026282"]
        ),
        // notes that say that bytes are missing, and some that do not
        (
            "> FF CA 00 00 00\n< 04 5A 61 10 [16 bytes removed]\n> FF CA 00 00 00\n< 04 5A 61 10 # ...\n> FF CA 00 00 00\n< 04 5A 61 10 // \"...\"\n> FF CA 00 00 00\n< 04 5A 61 10 (rest censored)\n> FF CA 00 00 00\n< 04 5A 61 10 (continued)\n",
            Array(repeating: "FFCA000000 !comm-error", count: 5)
        ),
        (
            "> FF CA 00 00 00\n< 04 5A 90 00 [4 bytes]\n> 00 A4 04 00 01 A0\n< 90 00 (command executed)\n> 00 A4 04 00 01 A0\n< 61 10 (fetch it, to be continued)\n",
            ["FFCA000000 045A9000", "00A4040001A0 9000", "00A4040001A0 6110"]
        ),
        // native DESFire commands count no data
        (
            "> 90 5A 00 00 03 01 02 03 00\n< 91 00\n> BD 01 00 00 00 20 00 00 # read\n< 00 01 02 03 91 00\n> 3D 01 00 00 00 05 00 00 61 62 63 64 65\n< 91 00\n> BD 01 00 00\n00 20 00 00\n< 91 00\n",
            [
                "905A00000301020300 9100", "BD01000000200000 000102039100", "3D010000000500006162636465 9100",
            ]
        ),
        // buffers in several lines
        (
            "transmitting <Buffer 00 d6 00 5c 04 60\n11 22 3\n3>\n60\nresponse received <Buffer 90 00>\n",
            ["00D6005C0460112233 9000"]
        ),
        (
            "transmitting <Buffer 00 d6 00 5c 04 60\n11 2G 33>\n60\nresponse received <Buffer 90 00>\ntransmitting <Buffer ff ca 00 00 00> 9\nresponse received <Buffer 63 75\n+5ms\n01 90 00>\n",
            ["FFCA000000 !comm-error"]
        ),
        // rows of gscriptor
        (
            "Beginning script execution...\n\nSending: 00 A4 04 00 0C A0 00 00 03 97 00 43 49 44 32 01 00 \n00 \nReceived: 6F 00 84 07 A0 00 00 00 03 10 10 11 12 13 14 90 00 \n16 17 18 61 10 \nNormal processing.\n",
            ["00A404000CA00000039700434944320100" + "00 6F008407A0000000031010111213149000161718" + "6110"]
        ),
        // rows of other lengths: Le decides; another program's rows of seventeen, of which one was cut
        (
            "Sending: FF CA 00 00 00\nReceived: 04 5A 2B 61 10 22 80 90 00\nSending: 00 B0 00 00 20\nReceived: 00 0F 20 00 3B 00 34 04 06 E1 04 0B DF 00 FF 00\n61 62 63 64 65 66 67 68 69 6A 6B 6C 6D 6E 6F 70\n90 00\nSending: 00 B0 00 20 10\nReceived: 00 0F 20 00 3B 00 34 04\n06 E1 04 0B DF 00 FF 00\n90 00\n",
            [
                "FFCA000000 045A2B611022809000",
                "00B0000020 000F20003B00340406E1040BDF00FF006162636465666768696A6B6C6D6E6F709000",
                "00B0002010 000F20003B00340406E1040BDF00FF009000",
            ]
        ),
        (
            "> 00 B0 00 00 10\n< 00 0F 20 00 3B 00 34 04\n06 E1 04 0B DF 00 FF 00\n90 00 : OK\n> 00 B0 00 10 00\n< 00 0F 20 00 3B 00 34 04\n06 E1 04 0B DF 00 FF 00\n90 00 : OK\n",
            ["00B0000010 000F20003B00340406E1040BDF00FF009000", "00B0001000 !comm-error"]
        ),
        (
            "Sending: 00 B0 00 00 00\nReceived: 00 0F 20 00 3B 00 34 04 06 E1 04 0B DF 00 FF 00 01\n02 90 00\nSending: 00 B0 00 00 00\nReceived: 00 0F 20 00 3B 00 34 04 06 E1 04 0B DF 00\n02 90 00\n",
            ["00B0000000 000F20003B00340406E1040BDF00FF0001029000", "00B0000000 !comm-error"]
        ),
        // lines that were broken at any width
        ("> FF B0 00 04 08\n< 01 03 61 34\n03 15 62 90 00\n", ["FFB0000408 !comm-error"]),
        (
            "> FF B0 00 04 07\n< 01 03 61 34\n03 15 62 90 00\n> 00 A4 04 00 01 A0\n00\n< 6A 90\n0\n",
            ["FFB0000407 01036134031562" + "9000", "00A4040001A000 6A9000"]
        ),
        (
            "> 00 A4 04 00\n07 D2 76\n< 90 00\n> 00 B0 00 00 02\n12 34 90 00\n< 12 34 90 00\n12 34\n> 00 A4 04 00\n< 6A 82\n12 34\n",
            ["00B0000002 12349000", "00A40400 6A82"]
        ),
        // rows of opensc-tool
        (
            Self.opensc("04 5A 2B 3 9C 39 80 04 5A 2B 3A 9C 39 80 41 42 .Z+:.9..Z+:.9.AB\n31 32  12\n"),
            ["00B0000000 !comm-error"]
        ),
        (
            Self.opensc(
                "04 5A 2B 3A 9C 39 80 04 5A 2B 3A 9C 39 80 41 42 .Z+:.9..Z+:.9.AB\n31 3G" + Self.blanks + "12\n"
            ), ["00B0000000 !comm-error"]
        ),
        (
            Self.opensc("04 5A 2B 3A 9C 39 80 04 5A 2B 3A 9C 39 80 41 42 .Z+:.9..Z+:.9.AB\n3G" + Self.blanks + "1\n"),
            ["00B0000000 !comm-error"]
        ),
        (
            Self.opensc(
                "04 5A 2B 3A 9C 39 80 04 5A 2B 3A 9C 39 80 41 42 .Z+:.9..Z+:.9.AB\n31 32" + Self.blanks
                    + "12Sending: 00 84\n"
            ), ["00B0000000 !comm-error"]
        ),
        (
            "Sending: 00 A4 04 00 01 A0\nReceived (SW1=0x6A, SW2=0x82)\nbe ac\nSending: 00 CA 01 00 00\nReceived (SW1=0x90, SW2=0x00):\n41 42 ab AB\n",
            ["00A4040001A0 6A82", "00CA010000 !comm-error"]
        ),
        (
            "Sending: 00 B0 00 00 00\nReceived (SW1=0x90, SW2=0x00)\n41 42 AB\nSending: 00 B0 00 00 00\nReceived (SW1=0x90, SW2=0x00):41 42 AB\n",
            ["00B0000000 !comm-error", "00B0000000 !comm-error"]
        ),
        // several commands at once
        (
            "> FF CA 00 00 00\n> 00 A4 04 00\n< 04 5A 90 00\n< 6A 82\n> 00 C0 00 00 00\n< 90 00\n",
            ["FFCA000000 !comm-error", "00A40400 !comm-error", "00C0000000 9000"]
        ),
        ("> 00 A4 04 00\n> 00 A4 04 01\n< 90 00\n< 90 00\n", ["00A40400 !comm-error", "00A40401 9000"]),
        // one without an answer, and an answer too many, when they took turns again
        (
            "> FF CA 00 00 00\n> 00 A4 04 00 01 A0\n< 90 00\n> 00 B0 00 00 02\n< 00 0F 90 00\n> 00 B0 00 02 02\n< 61 02\n< 20 00 90 00\n> 00 B0 00 04 02\n< 34 04 90 00\n",
            [
                "FFCA000000 !comm-error", "00A4040001A0 9000", "00B0000002 000F9000", "00B0000202 6102",
                "00B0000402 34049000",
            ]
        ),
        (
            "00000001 APDU: 00 B0 00 00 02\n00000001 APDU: 00 B0 01 00 02\n00000001 SW: 01 02 90 00\n00000001 APDU: 00 B0 02 00 02\n00000001 SW: 03 04 90 00\n00000001 SW: 05 06 90 00\n",
            ["00B0000002 !comm-error", "00B0010002 !comm-error", "00B0020002 !comm-error"]
        ),
        (
            "ACS A  transmitting <Buffer ff ca 00 00 00> 12\nACS B  transmitting <Buffer ff ca 01 00 00> 12\nACS A  response received <Buffer 04 5a 90 00>\nACS B  response received <Buffer 6a 81>\n",
            ["FFCA000000 045A9000", "FFCA010000 6A81"]
        ),
    ]

    @Test(arguments: troubles) func readsTrouble(log: String, said: [String]) throws {
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
