import CardCore
import CardTags
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

@Suite struct CaptureTextTests {
    @Test func writesTheCanonicalForm() throws {
        let capture = Capture(
            headers: [.init("title", "Card #4, C:\\x # y"), .init("empty", "")],
            presentations: [
                .init(
                    at: .milliseconds(1500),
                    facts: CardFacts(
                        atr: [0x3B, 0x80],
                        technology: .felica,
                        values: [.init("idm", [1, 2]), .init("unheard", [3]), .init("No name", [4]), .init("pmm", [])]
                    ),
                    exchanges: [
                        .init(.apdu([0, 0xA4, 4, 0]), .bytes([0x90, 0]), at: .microseconds(1_500_100)),
                        .init(.raw(RawFrame([0x26], bitsInLastByte: 7)), .fault(.timeout)),
                        .init(.control(code: 0x4200_0001, data: []), .bytes([])),
                    ],
                    removedAt: .seconds(2)
                )
            ],
            lines: [.init(at: .seconds(1), text: "$SCRDR;1\r\n*00"), .init(at: .seconds(3), text: "end")]
        )
        let text = """
            capture 1
            title: Card \\#4, C:\\\\x \\# y
            empty:
            line at 1.000 $SCRDR;1  *00

            card at 1.500 atr 3B80 felica idm 0102 unheard 03
            > 00 A4 04 00
            < 90 00 @ 1.5001
            >> 26/7
            ! timeout
            control 0x42000001 >
            <
            line at 3.000 end
            removed at 2.000

            """
        #expect(capture.text() == text)
        #expect(try Capture(parsing: text).title == capture.title)
        #expect(try Capture(parsing: text).text() == text)
    }

    @Test func changesHeadersInPlace() {
        var capture = Capture(headers: [.init("Title", "a"), .init("reader", "one"), .init("x", "y")])
        capture.title = "b"
        capture.readers = [.init(number: 1, name: "one"), .init(number: 2, name: "two")]
        capture.license = "CC0-1.0"
        capture[header: "X"] = nil
        #expect(
            capture.headers == [
                .init("Title", "b"), .init("reader 1", "one"), .init("reader 2", "two"), .init("license", "CC0-1.0"),
            ]
        )
        #expect(capture.readerName(2) == "two")
        #expect(capture.readerName(3) == Capture.unnamedReader)
    }

    /// What is written is read as it was, for 500 captures made from seeds 1 to 500.
    @Test func readsWhatItWrites() throws {
        for seed in 1...500 {
            var maker = CaptureMaker(seed: UInt64(seed))
            let capture = maker.capture()
            let text = capture.text()
            do {
                let read = try Capture(parsing: text)
                #expect(read == capture, "seed \(seed)")
                #expect(read.text() == text, "seed \(seed)")
            } catch {
                Issue.record("seed \(seed): \(error)\n\(text)")
            }
        }
    }

    /// Whatever happens to a text, it is read or refused: 3000 mutations from seed 7.
    @Test func refusesOrReadsWhateverComes() {
        var maker = CaptureMaker(seed: 7)
        let text = Array((0..<20).map { _ in maker.capture().text() }.max { $0.count < $1.count }?.utf8 ?? "".utf8)
        #expect(text.count > 200)
        var refused = 0
        for _ in rounds(600) {
            var bytes = text.prefix(1000).map { $0 }
            for _ in 0...maker.number(4) {
                let place = maker.number(bytes.count)
                switch maker.number(4) {
                case 0: bytes[place] = UInt8(maker.number(256))
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array(" \n:#>@/!0\r".utf8)[maker.number(10)], at: place)
                default: bytes.removeLast(min(bytes.count - 1, maker.number(40)))
                }
            }
            do throws(CaptureError) {
                let capture = try Capture(parsing: bytes)
                #expect(capture.text().isEmpty == false)
            } catch {
                refused += 1
                #expect(error.line >= 1 && error.column >= 1)
            }
        }
        #expect(refused > 100)
    }
}

/// Makes captures that the format can hold, the same ones from the same seed.
struct CaptureMaker {
    private var numbers: SeededNumbers

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    /// A number from 0 to one below the limit.
    mutating func number(_ limit: Int) -> Int {
        Int(truncatingIfNeeded: numbers.next() >> 1) % max(1, limit)
    }

    mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
        (0..<range.lowerBound + number(range.count)).map { _ in UInt8(number(256)) }
    }

    mutating func text() -> String {
        let words = ["Card", "#4", "C:\\x", "\\#", "a#b", "é", "日本", "x:y", "\\", "$SCRDR;*00"]
        return (0...number(4)).map { _ in words[number(words.count)] }.joined(separator: " ")
    }

    mutating func capture() -> Capture {
        var capture = Capture()
        let isNumbered = number(2) == 0
        let readers: [Int?] = isNumbered ? (1...1 + number(3)).map { $0 } : [nil]
        if number(3) > 0 { capture.title = text() }
        if isNumbered || number(2) == 0 { capture.readers = readers.map { .init(number: $0, name: text()) } }
        if number(2) == 0 { capture.started = .init(timeIntervalSince1970: Double(number(2_000_000_000_000)) / 1000) }
        for index in 0..<number(3) { capture.headers.append(.init("key-\(index)", number(4) == 0 ? "" : text())) }
        var time = Duration.zero
        var free: [Int?: Duration] = [:]
        for _ in 0..<number(8) {
            time += .nanoseconds(number(3) == 0 ? number(1_000_000_000_000) : number(3_000) * 1_000_000)
            let reader = readers[number(readers.count)]
            if number(5) == 0 {
                capture.lines.append(.init(reader: reader, at: time, text: text()))
                continue
            }
            time = max(time, free[reader] ?? .zero)
            let presentation = presentation(on: reader, at: time)
            free[reader] = presentation.removedAt ?? presentation.exchanges.last { $0.at != nil }?.at ?? time
            capture.presentations.append(presentation)
        }
        return capture
    }

    private mutating func presentation(on reader: Int?, at start: Duration) -> Capture.Presentation {
        var presentation = Capture.Presentation(reader: reader, at: start, facts: facts())
        if number(6) == 0 { presentation.connectFault = fault() }
        var time = start
        for _ in 0..<number(6) {
            time += .microseconds(number(50_000))
            presentation.exchanges.append(exchange(at: number(3) == 0 ? nil : time))
        }
        if number(4) > 0 { presentation.removedAt = time + .milliseconds(number(2000)) }
        return presentation
    }

    private mutating func facts() -> CardFacts {
        var facts = CardFacts()
        if number(2) == 0 { facts.atr = bytes(1...33) }
        if number(2) == 0 {
            let technology = Technology.allCases[number(Technology.allCases.count)]
            facts.technology = technology
            for name in CaptureFacts.ofTechnology[technology] ?? [] where number(3) > 0 {
                facts.values.append(.init(name, bytes(1...10)))
            }
        }
        return facts
    }

    private mutating func fault() -> Capture.Fault {
        Capture.Fault.allCases[number(Capture.Fault.allCases.count)]
    }

    private mutating func frame() -> RawFrame {
        let (bytes, bits) = (bytes(1...20), 1 + number(8))
        return RawFrame(bytes.dropLast() + [UInt8(number(1 << bits))], bitsInLastByte: bits)
    }

    private mutating func exchange(at time: Duration?) -> Capture.Exchange {
        let isFault = number(5) == 0
        switch number(3) {
        case 0: return .init(.apdu(bytes(4...40)), isFault ? .fault(fault()) : .bytes(bytes(2...40)), at: time)
        case 1: return .init(.raw(frame()), isFault ? .fault(fault()) : .raw(frame()), at: time)
        default:
            let request = Capture.Exchange.Request.control(code: UInt32(number(1 << 32)), data: bytes(0...9))
            return .init(request, isFault ? .fault(fault()) : .bytes(bytes(0...9)), at: time)
        }
    }
}
