import CardCore
import Foundation
import Testing
import TestSupport

@testable import NDEFCodec

/// Random messages that a strict decoder accepts.
struct MessageGenerator {
    var random: SeededNumbers

    mutating func message() throws -> NDEFMessage {
        NDEFMessage(try (0..<Int.random(in: 1...6, using: &random)).map { _ in try record() })
    }

    mutating func record() throws -> NDEFRecord {
        let id = Bool.random(using: &random) ? nil : random.bytes(0...4)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return NDEFRecord(tnf: .empty, id: id.map { _ in [] })
        case 1: return .unknown(random.bytes(0...300), id: id)
        case 2: return NDEFRecord(tnf: .mime, type: random.bytes(1...20), id: id, payload: random.bytes(0...40))
        case 3: return NDEFRecord(tnf: .external, type: random.bytes(1...255), id: id, payload: random.bytes(0...9))
        case 4: return .absoluteURI("x:" + random.text(0...9), payload: random.bytes(0...9), id: id)
        case 5: return try .smartPoster(poster(), id: id)
        case 6: return .androidApplication("org.example")
        // No known type begins with this byte.
        case 7: return wellKnown("~", random.bytes(0...270), id: id)
        case 8, 9: return try .uri(uri(), id: id)
        default: return try .text(text(), id: id)
        }
    }

    private mutating func uri() -> String {
        let prefix = NDEFContentTests.prefixes.randomElement(using: &random) ?? ""
        return prefix + random.text(0...20)
    }

    private mutating func text() -> NDEFText {
        let language = ["en", "de-CH", "x", String(repeating: "l", count: 63)].randomElement(using: &random) ?? "en"
        let encoding: NDEFText.Encoding = Bool.random(using: &random) ? .utf8 : .utf16
        return NDEFText(random.text(0...30), language: language, encoding: encoding)
    }

    private mutating func poster() throws -> NDEFSmartPoster {
        NDEFSmartPoster(
            uri: uri(),
            titles: (0..<Int.random(in: 0...2, using: &random)).map { _ in text() },
            action: [nil, .perform, .save, .edit, .reserved(9)].randomElement(using: &random) ?? nil,
            size: Bool.random(using: &random) ? UInt32.random(in: .min ... .max, using: &random) : nil,
            mimeType: Bool.random(using: &random) ? "text/html" : nil,
            icons: Bool.random(using: &random) ? [.mime(type: "image/png", payload: random.bytes(0...9))] : []
        )
    }

    /// The message's bytes with some payloads in chunks.
    mutating func chunked(_ message: NDEFMessage) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, record) in message.records.enumerated() {
            var pieces: [ArraySlice<UInt8>] = []
            var rest = record.payload[...]
            while Bool.random(using: &random) {
                let count = Int.random(in: 0...min(rest.count, 200), using: &random)
                pieces.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            pieces.append(rest)
            for (number, piece) in pieces.enumerated() {
                let isLast = number == pieces.count - 1
                var flags = number == 0 ? record.tnf.rawValue : 6
                if number == 0, index == 0 { flags |= 0x80 }
                if isLast, index == message.records.count - 1 { flags |= 0x40 }
                if !isLast { flags |= 0x20 }
                let isShort = piece.count <= 255 && Bool.random(using: &random)
                if isShort { flags |= 0x10 }
                if number == 0, record.id != nil { flags |= 0x08 }
                bytes += [flags, number == 0 ? UInt8(record.type.count) : 0]
                bytes += isShort ? [UInt8(piece.count)] : [0, 0, UInt8(piece.count >> 8), UInt8(piece.count & 0xFF)]
                if number == 0 {
                    if let id = record.id { bytes.append(UInt8(id.count)) }
                    bytes += record.type + (record.id ?? [])
                }
                bytes += piece
            }
        }
        return bytes
    }

    /// A message's bytes with a few faults.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 2: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            case 3: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
            case 4: bytes.remove(at: index)
            default: bytes.removeSubrange(index...)
            }
        }
        return bytes
    }
}

@Suite("NDEF properties") struct NDEFPropertyTests {
    static let seed: UInt64 = 0x4E44_4546_0001

    @Test("what is encoded decodes to the same, and encodes to the same again (seed 4E4445460001)")
    func isInverse() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: Self.seed))
        for number in rounds(4000) {
            let message = try generator.message()
            let bytes = try message.encoded()
            let strict = try NDEFMessage(decoding: bytes)
            guard strict == message, try strict.encoded() == bytes else {
                Issue.record("message \(number) differs: \(bytes.hex)")
                return
            }
            if number.isMultiple(of: 4) {
                let chunked = generator.chunked(message)
                guard try NDEFMessage(decoding: chunked) == message else {
                    Issue.record("chunked message \(number) differs: \(chunked.hex)")
                    return
                }
            }
        }
    }

    @Test("records come back from JSON (seed 4E4445460001, 1 000 messages)")
    func restoresFromJSON() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: Self.seed))
        for _ in 0..<1_000 {
            let records = try generator.message().records
            let data = try JSONEncoder().encode(records)
            #expect(try JSONDecoder().decode([NDEFRecord].self, from: data) == records)
        }
    }

    @Test("mutated messages do no harm, and what is accepted stays itself (seed 4E4445460001)")
    func survivesMutations() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: Self.seed))
        var originals = (validVectors.map(\.hex) + rejectVectors.map(\.hex)).map { octets($0) }
        for _ in 0..<100 {
            let message = try generator.message()
            originals += [try message.encoded(), generator.chunked(message)]
        }
        var accepted = 0
        var tolerated = 0
        for _ in rounds(12_000) {
            let original = originals[Int.random(in: 0..<originals.count, using: &generator.random)]
            let bytes = generator.mutated(original)
            let lenient = NDEFMessage.decodeLeniently(bytes)
            let isTolerated = lenient.fault?.isTolerable ?? true
            if let fault = lenient.fault { #expect((0...bytes.count).contains(fault.offset)) }
            // What lenience gives can be written and read again.
            let again = try lenient.message.encoded(mode: .lenient)
            guard try NDEFMessage(decoding: again, mode: .lenient) == lenient.message else {
                Issue.record("differs after encoding: \(bytes.hex)")
                return
            }
            for record in lenient.message.records {
                let isCheckedAlone = record.tnf == .wellKnown && ["Hs", "Hr", "Hc", "Sig"].contains(record.typeName)
                _ = record.media
                if case .malformed(let error) = record.content, !isCheckedAlone {
                    Issue.record("malformed content of an accepted record: \(bytes.hex): \(error)")
                    return
                }
            }
            tolerated += isTolerated ? 1 : 0
            let strict: NDEFMessage
            do {
                strict = try NDEFMessage(decoding: bytes)
            } catch {
                #expect((0...bytes.count).contains(error.offset))
                continue
            }
            accepted += 1
            guard lenient.fault == nil, lenient.message == strict, try strict.encoded() == again else {
                Issue.record("strict and lenient differ: \(bytes.hex)")
                return
            }
        }
        // Both ways are really gone.
        #expect(accepted > 600 && tolerated > accepted && tolerated < rounds(11_400).count)
    }
}
