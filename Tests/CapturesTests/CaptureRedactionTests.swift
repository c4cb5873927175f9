import ReaderKit
import CardCore
import CardPasses
import CardTags
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

@Suite struct CaptureRedactionTests {
    private static let all = Fixtures.captures(in: "cards") + Fixtures.captures(in: "day")

    private func fixture(_ name: String) throws -> Capture {
        try Capture(contentsOf: Fixtures.directory + "/" + name)
    }

    private func taps(_ capture: Capture) async -> [ScanEvent] {
        let backend = ReplayBackend([capture]) { _ in Date(timeIntervalSince1970: 0) }
        var taps: [ScanEvent] = []
        for await case .scan(let tap) in CardScanner(backend).events() { taps.append(tap) }
        return taps
    }

    /// Every run of four bytes of a text in hexadecimal and as it stands.
    private func runs(of text: String) -> Set<[UInt8]> {
        var result: Set<[UInt8]> = []
        func add(_ bytes: [UInt8]) {
            guard bytes.count >= 4 else { return }
            for start in 0...(bytes.count - 4) { result.insert(Array(bytes[start..<(start + 4)])) }
        }
        add(Array(text.utf8))
        for line in text.split(separator: "\n") {
            let digits = line.split(whereSeparator: { " @<>".contains($0) }).filter { $0.count.isMultiple(of: 2) }
            add(digits.flatMap { (try? Hex.decode(String($0))) ?? [] })
            for word in line.split(separator: " ") { add((try? Hex.decode(word)) ?? []) }
        }
        return result
    }

    /// The runs of four letters and digits, or of four bytes of an identifier, of what taps say of people.
    private func secrets(of taps: [ScanEvent]) -> Set<[UInt8]> {
        var result: Set<[UInt8]> = []
        func add(_ bytes: [UInt8]) {
            guard bytes.count >= 4, Set(bytes).count > 1 else { return }
            for start in 0...(bytes.count - 4) { result.insert(Array(bytes[start..<(start + 4)])) }
        }
        func words(_ text: String) {
            for word in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) { add(Array(word.utf8)) }
        }
        for tap in taps {
            if let uid = tap.uid?.bytes { add(uid) }
            for pass in tap.passes where pass.kind != .uid { words(pass.id) }
            words(tap.memberName ?? "")
        }
        return result
    }

    // MARK: Fixtures

    /// What is redacted replays to the same kind of taps, and nothing that said who somebody is remains.
    @Test(arguments: all)
    func keepsTheKindOfTapsAndNobodysData(name: String) async throws {
        let original = try fixture(name)
        let redaction = CaptureRedaction(of: original, seed: 1)
        let text = redaction.capture.text()
        #expect(await CaptureRedaction.replaysAlike(original, redaction.capture))
        #expect(try Capture(parsing: text) == redaction.capture)
        #expect(text.utf8.count == original.text().utf8.count)
        let (before, after) = (await taps(original), await taps(redaction.capture))
        #expect(before.count == after.count)
        for (old, new) in zip(before, after) {
            #expect(old.technology == new.technology)
            #expect(old.card == new.card)
            #expect(old.uid?.kind == new.uid?.kind)
            #expect(old.uid?.manufacturer == new.uid?.manufacturer)
            #expect(old.passes.map(\.kind) == new.passes.map(\.kind))
            #expect(old.problems.map(\.code) == new.problems.map(\.code))
            #expect((old.memberKey == nil) == (new.memberKey == nil))
            #expect(old.memberKey == nil || old.memberKey != new.memberKey)
            #expect(old.ndef?.map(\.payload.count) == new.ndef?.map(\.payload.count))
            #expect(old.ndef?.map(\.type) == new.ndef?.map(\.type))
        }
        let left = secrets(of: before).intersection(runs(of: text))
        #expect(left.isEmpty, "\(left.map { $0.hex })")
        #expect(redaction.unexaminedLines.isEmpty)
        // Pages 0 to 2 still tell one identifier, with right check bytes.
        let codes = CaptureReview(of: redaction.capture).warnings.map(\.code)
        #expect(!codes.contains(.wrongBCC) && !codes.contains(.differentUID), "\(codes)")
    }

    @Test func isTheSameForTheSameSeed() throws {
        let original = try fixture("cards/text-four-fields.capture")
        func text(_ seed: UInt64?) -> String { CaptureRedaction(of: original, seed: seed).capture.text() }
        #expect(text(1) == text(1))
        #expect(text(1) != text(2))
        #expect(text(nil) == text(nil))
        #expect(text(nil) != text(1))
    }

    @Test func membersStayApartAndTheSame() async throws {
        let day = try fixture("day/01-morning.capture")
        let redacted = CaptureRedaction(of: day, seed: 3).capture
        let (before, after) = (await taps(day), await taps(redacted))
        var names: [String: String] = [:]
        for (old, new) in zip(before, after) {
            guard let key = old.memberKey, let standIn = new.memberKey else { continue }
            #expect(names[key] == nil || names[key] == standIn)
            names[key] = standIn
        }
        #expect(Set(names.values).count == names.count)
        #expect(names.count > 5)
    }

    @Test func isRefusedByNoReviewer() throws {
        var original = try fixture("cards/ntag213-uri.capture")
        original.source = "recorded, 2026-11-21"
        #expect(CaptureReview(of: original).warnings.map(\.code) == [.identifier])
        let redacted = CaptureRedaction(of: original, seed: 1).capture
        #expect(redacted.source == "recorded, 2026-11-21, redacted")
        #expect(CaptureReview(of: redacted).warnings.isEmpty)
    }

    // MARK: Single secrets

    /// What a capture holds, and what must not be in it any more (as bytes in hexadecimal or as a text).
    @Test(arguments: [
        // keys and passwords
        ("card at 0\n> FF 82 00 00 06 11 22 33 44 55 66\n< 90 00", "112233445566"),
        ("card at 0 iso14443a\n>> 1B 11 22 33 44\n<< 55 66", "11223344"),
        ("card at 0 iso14443a\n>> 60 04 11 22 33 44 55 66 04 A1 B2 C3\n<< 00", "112233445566"),
        ("card at 0\n> FF 00 00 00 07 D4 42 1B 11 22 33 44\n< D5 43 00 55 66 90 00", "11223344"),
        ("card at 0\n> FF FE 01 00 05 1B 11 22 33 44\n< 55 66 90 00", "11223344"),
        (
            "card at 0\n> FF 82 00 00 06 A0 A1 A2 A3 A4 A5\n< 90 00\n> FF D6 00 07 10 11 22 33 44 55 66 FF 07 80 69 77 88 99 AA BB CC\n< 90 00",
            "778899AABBCC"
        ),
        (
            "card at 0\n> 90 AA 00 00 01 00 00\n< 11 22 33 44 55 66 77 88 91 AF\n> 90 AF 00 00 08 21 22 23 24 25 26 27 28 00\n< 91 00",
            "1122334455667788"
        ),
        (
            "card at 0\n> 90 AA 00 00 01 00 00\n< 11 22 33 44 55 66 77 88 91 AF\n> 90 AF 00 00 08 21 22 23 24 25 26 27 28 00\n< 91 00",
            "2122232425262728"
        ),
        // what is written, whole and in parts, and a key in parts
        ("card at 0\n> 90 3B 00 00 0B 01 00 00 00 04 00 00 41 42 43 44 00\n< 91 00", "41424344"),
        ("card at 0\n> 90 8B 00 00 0B 01 00 00 00 04 00 00 41 42 43 44 00\n< 91 00", "41424344"),
        (
            "card at 0\n> 90 3D 00 00 0A 01 00 00 00 06 00 00 51 52 53 00\n< 91 AF\n> 90 AF 00 00 03 41 42 43 00\n< 91 00",
            "414243"
        ),
        (
            "card at 0\n> 90 C4 00 00 05 01 51 52 53 54 00\n< 91 AF\n> 90 AF 00 00 04 41 42 43 44 00\n< 91 00",
            "41424344"
        ),
        // identifiers
        (
            "card at 0\n> 90 60 00 00 00\n< 04 01 01 91 AF\n> 90 AF 00 00 00\n< 04 02 91 AF\n> 90 AF 00 00 00\n< 04 31 32 33 34 35 36 B1 B2 B3 B4 B5 12 20 91 00",
            "31323334"
        ),
        (
            "card at 0\n> 90 60 00 00 00\n< 04 01 01 91 AF\n> 90 AF 00 00 00\n< 04 02 91 AF\n> 90 AF 00 00 00\n< 04 31 32 33 34 35 36 B1 B2 B3 B4 B5 12 20 91 00",
            "B1B2B3B4B5"
        ),
        (
            "card at 0 felica\n>> 06 00 FF FF 01 00\n<< 12 01 01 2E 4C E7 91 83 5A 06 00 F0 00 00 02 06 03 00",
            "4CE79183"
        ),
        (
            "card at 0 iso15693\n>> 26 01 00\n<< 00 00 11 22 33 44 55 66 04 E0\n>> 22 20 11 22 33 44 55 66 04 E0 00\n<< 00 E1 40 0D 01",
            "112233445566"
        ),
        ("card at 0 iso14443a uid 04A1B2C3D4E580\n>> 93 70 88 04 A1 B2 9F\n<< 04", "04A1B29F"),
        // passes
        (
            "card at 0\n> 00 A4 04 00 0A 4F 53 45 2E 56 41 53 2E 30 31 00\n< 50 00 90 00\n> 80 CA 01 01 00\n< 70 0D 9F 2A 00 9F 27 07 11 22 33 44 55 66 77 90 00",
            "11223344556677"
        ),
        // headers and other lines
        ("title: Card 04A1B2C3D4E580\ncard at 0 iso14443a uid 04A1B2C3D4E580", "04A1B2C3D4E580"),
        ("x: uid 04:a1:b2:c3:d4:e5:80\ncard at 0 iso14443a uid 04A1B2C3D4E580", "a1:b2:c3"),
        ("x: uid 80 E5 D4 C3 B2 A1 04\ncard at 0 iso14443a uid 04A1B2C3D4E580", "E5 D4 C3"),
        ("x: number 77705923 # 04A1B2C3\ncard at 0 iso14443a uid 04A1B2C3", "77705923"),
        ("line at 0 $SCRDR;1;2;3;4;04A1B2C3D4E580;I;4D2D3130;Annabel*00", "04A1B2C3"),
        ("line at 0 $SCRDR;1;2;3;4;04A1B2C3D4E580;I;4D2D3130;Annabel*00", "Annabel"),
        ("line at 0 {\"TagId\":\"04A1B2C3D4E580\",\"Uptime\":5}", "04A1B2C3"),
        ("line at 0 +04A1B2C3D4E580", "04A1B2C3"),
        // what nobody reads any more: a comment
        ("# Annabel's own card\ncard at 0", "Annabel"),
    ])
    func leavesNothingOf(body: String, secret: String) throws {
        let original = try Capture(parsing: "capture 1\n" + body + "\n")
        let redaction = CaptureRedaction(of: original, seed: 9)
        let text = redaction.capture.text()
        let digits = text.replacing(" ", with: "").replacing(":", with: "")
        #expect(!text.contains(secret), "\(text)")
        #expect(!digits.uppercased().contains(secret.replacing(" ", with: "").replacing(":", with: "").uppercased()))
        #expect(try Capture(parsing: text) == redaction.capture)
        let counts = (original.presentations.first?.exchanges ?? []).map(\.description.count)
        #expect((redaction.capture.presentations.first?.exchanges ?? []).map(\.description.count) == counts)
    }

    @Test func theChecksumOfASmartReaderLineStaysRight() throws {
        let body = "$SCRDR;1;2;3;-40;04A1B2C3D4E580;I;Annabel;"
        let sum = body.utf8.reduce(0, ^)
        let capture = Capture(lines: [.init(at: .zero, text: body + "*" + Hex.encode([sum]))])
        let line = try #require(CaptureRedaction(of: capture, seed: 2).capture.lines.first?.text)
        let parts = line.split(separator: "*")
        #expect(parts.last.map(String.init) == Hex.encode([try #require(parts.first).utf8.reduce(0, ^)]))
        #expect(line.hasPrefix("$SCRDR;1;2;3;-40;04"))
        #expect(line.count == body.count + 3)
    }

    /// Keys that everybody knows are no secrets, and a reviewer wants to see them.
    @Test func keepsTheKeysOfTheFactory() throws {
        let text = "capture 1\ncard at 0\n> FF 82 00 00 06 FF FF FF FF FF FF\n< 90 00\n"
        let original = try Capture(parsing: text)
        #expect(CaptureRedaction(of: original, seed: 1).capture.presentations == original.presentations)
    }

    @Test func saysWhatItDoesNotUnderstand() throws {
        let text = "capture 1\ncard at 0\n> 00 CB 3F FF 00\n< 11 22 33 44 90 00\n"
        #expect(CaptureRedaction(of: try Capture(parsing: text)).unexaminedLines == [3])
    }

    @Test func findsWhatIsWrittenInSteps() async throws {
        // Length 0, the message, then its length: as tags are written. Then read.
        let message = try NDEFMessage([.text("4|MEMBER77|x|Annabel")]).encoded()
        let tlv = [0x03, UInt8(message.count)] + message + [0xFE, 0, 0, 0, 0]
        var exchanges: [Capture.Exchange] = []
        func write(_ page: Int, _ bytes: [UInt8]) {
            exchanges.append(
                .init(.raw(RawFrame([0xA2, UInt8(page)] + bytes)), .raw(RawFrame([0x0A], bitsInLastByte: 4)))
            )
        }
        write(4, [0x03, 0, tlv[2], tlv[3]])
        for page in 5..<(4 + tlv.count / 4) { write(page, Array(tlv[(4 * page - 16)..<(4 * page - 12)])) }
        write(4, Array(tlv[..<4]))
        let memory =
            [0x04, 0x13, 0x5C, 0xC3, 0x7E, 0x90, 0x2B, 0x80, 0x45, 0x48, 0, 0, 0xE1, 0x10, 0x12, 0] + tlv
            + [UInt8](repeating: 0, count: 64)
        for page in stride(from: 0, to: 16, by: 4) {
            let bytes = Array(memory[(4 * page)..<(4 * page + 16)])
            exchanges.append(.init(.raw(RawFrame([0x30, UInt8(page)])), .raw(RawFrame(bytes))))
        }
        let facts = CardFacts(
            technology: .iso14443a,
            values: [
                .init("atqa", [0, 0x44]), .init("sak", [0]), .init("uid", [0x04, 0x13, 0x5C, 0x7E, 0x90, 0x2B, 0x80]),
            ]
        )
        let original = Capture(presentations: [.init(at: .zero, facts: facts, exchanges: exchanges)])
        let redacted = CaptureRedaction(of: original, seed: 4).capture
        #expect(await CaptureRedaction.replaysAlike(original, redacted))
        #expect(await taps(original).first?.memberKey == "MEMBER77")
        let key = try #require(await taps(redacted).first?.memberKey)
        // What was written is what is read: the new id stands in the pages of both.
        let written = redacted.presentations.flatMap(\.exchanges).compactMap { exchange -> [UInt8]? in
            guard case .raw(let frame) = exchange.request, frame.bytes.first == 0xA2 else { return nil }
            return Array(frame.bytes.dropFirst(2))
        }
        #expect(String(decoding: written.joined(), as: UTF8.self).contains(key))
    }

    /// Many cards, and many writes to one, are done in seconds.
    @Test(.timeLimit(.minutes(10))) func longCapturesTakeNoAges() throws {
        var text = "capture 1\n"
        let numbers = rounds(200)
        for number in numbers {
            let (high, low) = (Hex.encode([UInt8(number >> 8)]), Hex.encode([UInt8(number & 0xFF)]))
            text += "card at \(2 * number)\n> FF CA 00 00 00\n< 04 \(high) \(low) 55 11 22 80 90 00\n"
            text += "removed at \(2 * number + 1)\n"
        }
        text += "card at 9000 iso14443a\n"
        for number in numbers {
            let (page, low) = (Hex.encode([UInt8(4 + number % 200)]), Hex.encode([UInt8(number & 0xFF)]))
            text += ">> A2 \(page) 55 33 \(low) 41\n<< 0A/4\n"
        }
        text += "removed at 9999\n"
        let redaction = CaptureRedaction(of: try Capture(parsing: text), seed: 1)
        // The writes may go to the pages of passwords, since nothing tells which tag it is.
        #expect(redaction.replacedValues >= numbers.count)
        let answers = Set(redaction.capture.presentations.compactMap { $0.exchanges.first?.answer })
        #expect(answers.count == numbers.count + 1)
    }

    /// Mutations from seed 3 are redacted, and stay captures.
    @Test func survivesMutations() throws {
        var random = MutationRandom(seed: 3)
        var redacted = 0
        for round in rounds(300) {
            let bytes = try CaptureFiles.bytes(of: Fixtures.directory + "/" + Self.all[round % Self.all.count])
            guard bytes.count < 8000, let capture = try? Capture(parsing: random.mutate(bytes, times: 3)) else {
                continue
            }
            let text = CaptureRedaction(of: capture, seed: 1).capture.text()
            #expect(throws: Never.self, "round \(round)") { try Capture(parsing: text) }
            redacted += 1
        }
        #expect(redacted > 40)
    }

    /// Conversations of bytes without sense, 400 from seed 8.
    @Test func survivesAnyBytes() {
        var random = MutationRandom(seed: 8)
        let commands: [[UInt8]] = [
            [0xFF, 0xCA, 0, 0], [0xFF, 0xB0, 0, 0], [0xFF, 0xD6, 0, 4], [0, 0xA4, 0, 0x0C, 2, 0xE1, 4],
            [0, 0xB0, 0, 0],
            [0, 0xB1, 0, 0, 3, 0x54, 1, 0], [0x90, 0x60, 0, 0], [0x90, 0xAF, 0, 0],
            [0xFF, 0, 0, 0, 4, 0xD4, 0x42, 0x30, 1],
            [0xFF, 0xFE, 0, 0, 2, 0x30, 4], [0x80, 0xCA, 1, 1], [0, 0xC0, 0, 0],
            [0, 0xD7, 0, 0, 5, 0x54, 1, 0, 0x53, 0],
        ]
        let frames: [[UInt8]] = [
            [0x30, 0], [0x3A, 0, 9], [0xA2, 4, 1, 2, 3, 4], [0xC2, 0xFF], [1, 0, 0, 0], [0x06, 1], [0x22, 0x20],
            [0x02, 0x23, 0, 1],
            [0x10, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x0B, 0, 2, 0x80, 0], [0x60], [0xAF], [0x26, 1, 0], [0x08],
        ]
        let technologies: [Technology?] = [nil, .iso14443a, .felica, .iso15693, .iso14443b]
        for _ in 0..<400 {
            var exchanges: [Capture.Exchange] = []
            for _ in 0..<20 {
                let answer = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
                if random.below(2) == 0 {
                    let command = random.mutate(commands[random.below(commands.count)], times: 1)
                    exchanges.append(.init(.apdu(command), .bytes(answer)))
                } else {
                    let frame = random.mutate(frames[random.below(frames.count)], times: 1)
                    exchanges.append(.init(.raw(RawFrame(frame)), .raw(RawFrame(answer))))
                }
            }
            let facts = CardFacts(technology: technologies[random.below(5)], values: [.init("uid", [4, 1, 2, 3])])
            let capture = Capture(presentations: [.init(at: .zero, facts: facts, exchanges: exchanges)])
            let redacted = CaptureRedaction(of: capture, seed: 1).capture
            #expect(redacted.presentations.first?.exchanges.count == 20)
            #expect(CaptureReview(of: capture).warnings.count < 200)
        }
    }
}

extension Capture.Exchange {
    fileprivate var description: String { CaptureText.exchange(self) }
}
