import CardCore
import Testing
import TestSupport

@testable import NDEFCodec

@Suite("NDEF borders") struct NDEFBorderTests {
    @Test("the short form ends at 255 bytes", arguments: [0, 1, 254, 255, 256, 257, 65_535])
    func choosesTheForm(_ count: Int) throws {
        let message = NDEFMessage([.unknown([UInt8](repeating: 0xA5, count: count))])
        let encoded = try message.encoded(limits: .maximum)
        if count <= 255 {
            #expect(encoded.prefix(3) == [0xD5, 0x00, UInt8(count)])
            #expect(encoded.count == 3 + count)
        } else {
            #expect(encoded.prefix(6) == [0xC5, 0x00, 0x00, 0x00, UInt8(count >> 8), UInt8(count & 0xFF)])
            #expect(encoded.count == 6 + count)
        }
        #expect(try NDEFMessage(decoding: encoded, limits: .maximum) == message)
    }

    @Test("types and identifiers end at 255 bytes", arguments: [1, 254, 255])
    func acceptsLongNames(_ count: Int) throws {
        let name = [UInt8](repeating: 0x78, count: count)
        let message = NDEFMessage([NDEFRecord(tnf: .external, type: name, id: name, payload: [1])])
        #expect(try NDEFMessage(decoding: message.encoded()) == message)
    }

    @Test("types and identifiers over 255 bytes are refused, not cut")
    func refusesTooLongNames() {
        let name = [UInt8](repeating: 0x78, count: 256)
        let type = NDEFMessage([.empty, NDEFRecord(tnf: .external, type: name)])
        expectFault(.typeTooLong, at: 3) { () throws(NDEFError) in _ = try type.encoded() }
        let id = NDEFMessage([.empty, NDEFRecord(tnf: .unknown, id: name)])
        expectFault(.idTooLong, at: 3) { () throws(NDEFError) in _ = try id.encoded(mode: .lenient) }
    }

    /// Texts are checked eight bytes at a time, the last eight over again.
    @Test("a text is well formed where Swift's own strings are, wherever a character stands in it")
    func checksTextsToTheirEnd() {
        let characters: [[UInt8]] = [
            [0x7F], [0xC3, 0xA9], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], [0x80], [0xC0, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
        ]
        for character in characters {
            for (before, after) in (0...17).flatMap({ before in (0...17).map { (before, $0) } }) {
                let text = [UInt8](repeating: 0x41, count: before) + character + [UInt8](repeating: 0x41, count: after)
                let fault = text.withUnsafeBufferPointer(NDEFUnicode.firstFaultInUTF8)
                #expect(fault == (String(validating: text, as: UTF8.self) == nil ? before : nil), "\(text)")
            }
        }
    }

    // MARK: - Limits

    @Test("limits stay in their range")
    func boundsLimits() {
        #expect(NDEFLimits.default == NDEFLimits(payload: 65_536, message: 65_536, records: 256, nesting: 4))
        let high = NDEFLimits(payload: .max, message: .max, records: .max, nesting: .max)
        #expect(high == .maximum)
        #expect(high.payload == 1_048_576 && high.message == 1_048_576 && high.records == 256 && high.nesting == 4)
        let low = NDEFLimits(payload: .min, message: -1, records: -1, nesting: -1)
        #expect(low.payload == 0 && low.message == 0 && low.records == 0 && low.nesting == 0)
    }

    @Test("a message may fill its limit, and not a byte more", arguments: [NDEFLimits.default, .maximum])
    func limitsMessages(_ limits: NDEFLimits) throws {
        let full = NDEFMessage([.unknown([UInt8](repeating: 0, count: limits.message - 6))])
        let encoded = try full.encoded(limits: limits)
        #expect(encoded.count == limits.message)
        #expect(try NDEFMessage(decoding: encoded, limits: limits) == full)

        let over = NDEFMessage([.unknown([UInt8](repeating: 0, count: limits.message - 5))])
        expectFault(.messageTooLong, at: 0) { () throws(NDEFError) in _ = try over.encoded(limits: limits) }
        let count = UInt32(limits.message - 5)
        let length = withUnsafeBytes(of: count.bigEndian, Array.init)
        let bytes: [UInt8] = [0xC5, 0] + length + over.records[0].payload
        for mode in NDEFMode.allCases {
            expectFault(.messageTooLong, at: limits.message) { () throws(NDEFError) in
                _ = try NDEFMessage(decoding: bytes, mode: mode, limits: limits)
            }
        }
        #expect(NDEFMessage.decodeLeniently(bytes, limits: limits).message.records.isEmpty)
    }

    @Test("a payload is limited as a whole, in one piece or in chunks")
    func limitsPayloads() throws {
        let limits = NDEFLimits(payload: 4)
        #expect(try NDEFMessage(decoding: octets("D500 04 01020304"), limits: limits).records.count == 1)
        #expect(try NDEFMessage(decoding: octets("B50002 0102 560002 0304"), limits: limits).records.count == 1)
        expectFault(.payloadTooLong, at: 2) { () throws(NDEFError) in
            _ = try NDEFMessage(decoding: octets("D500 05 0102030405"), limits: limits)
        }
        expectFault(.payloadTooLong, at: 7) { () throws(NDEFError) in
            _ = try NDEFMessage(decoding: octets("B50002 0102 560003 030405"), limits: limits)
        }
        let message = NDEFMessage([.unknown([1, 2, 3, 4, 5])])
        expectFault(.payloadTooLong, at: 0) { () throws(NDEFError) in _ = try message.encoded(limits: limits) }
        expectFault(.payloadTooLong, at: 4) { () throws(NDEFError) in
            _ = try message.records[0].decodedContent(limits: limits)
        }
    }

    @Test("256 records are read, a 257th is a fault at its place")
    func limitsRecords() throws {
        func message(_ count: Int) -> [UInt8] {
            [0x90, 0, 0] + (0..<count - 2).flatMap { _ in [0x10, 0, 0] as [UInt8] } + [0x50, 0, 0]
        }
        let full = try NDEFMessage(decoding: message(256))
        #expect(full.records.count == 256)
        #expect(try full.encoded() == message(256))
        let result = NDEFMessage.decodeLeniently(message(257))
        #expect(result.message == full)
        #expect(result.fault == NDEFError(.tooManyRecords, at: 768, value: 257))
        let over = NDEFMessage(full.records + [.empty])
        expectFault(.tooManyRecords, at: 768) { () throws(NDEFError) in _ = try over.encoded() }
    }

    @Test("chunks are one record, however many")
    func joinsManyChunks() throws {
        let chunk: [UInt8] = [0x36, 0, 1, 0x61]
        let chunks = [[UInt8]](repeating: chunk, count: 5_000).flatMap(\.self)
        let message = try NDEFMessage(decoding: [0xB5, 0, 0] + chunks + [0x56, 0, 0])
        #expect(message == [.unknown([UInt8](repeating: 0x61, count: 5_000))])
    }

    @Test("chunked typed records are understood, and may stand between others")
    func readsChunkedRecords() throws {
        let input = octets("900000 31 01 03 55 04 61 2E 36 00 00 16 00 02 62 63 31 01 03 54 02 65 6E 56 00 01 41")
        let message = try NDEFMessage(decoding: input)
        #expect(message.records.map(\.content) == [.empty, .uri("https://a.bc"), .text(NDEFText("A"))])
        let identified = try NDEFMessage(decoding: octets("B9 01 01 02 58 41 42 01 56 00 01 02"))
        #expect(identified == [wellKnown("X", [1, 2], id: ascii("AB"))])
    }

    // MARK: - Nesting

    /// A Smart Poster with a Smart Poster in it, and so on; 1 is one without.
    private func poster(levels: Int) throws -> NDEFRecord {
        var record = try NDEFRecord.smartPoster(NDEFSmartPoster(uri: "https://a.b"))
        for _ in 1..<max(levels, 1) {
            let inner = NDEFMessage([try .uri("https://a.b"), record])
            // The inner message is written by hand, since its own depth is what is tested.
            var payload = try NDEFMessage([inner.records[0]]).encoded()
            payload[0] &= ~0x40
            payload += [0x51, 0x02, UInt8(record.payload.count)] + record.type + record.payload
            record = wellKnown("Sp", payload)
        }
        return record
    }

    @Test("messages nest as deep as the limit says", arguments: 0...4)
    func limitsNesting(_ limit: Int) throws {
        let limits = NDEFLimits(nesting: limit)
        for levels in 1...6 {
            let record = try poster(levels: levels)
            let bytes = [0xD1, 0x02, UInt8(record.payload.count)] + record.type + record.payload
            for mode in NDEFMode.allCases {
                if levels <= limit {
                    let message = try NDEFMessage(decoding: bytes, mode: mode, limits: limits)
                    #expect(message == [record])
                    #expect(try message.encoded(mode: mode, limits: limits) == bytes)
                } else {
                    // Every level has a URI record of 8 bytes and a header of 5 before the next.
                    expectFault(.nestingTooDeep, at: 5 + 13 * limit) { () throws(NDEFError) in
                        _ = try NDEFMessage(decoding: bytes, mode: mode, limits: limits)
                    }
                    expectFault(.nestingTooDeep, at: 5 + 13 * limit) { () throws(NDEFError) in
                        _ = try NDEFMessage([record]).encoded(mode: mode, limits: limits)
                    }
                }
            }
            #expect((record.nestedRecords == nil) == (levels > 4))
        }
    }

    // MARK: - Encoding

    @Test("an encoder refuses what a decoder refuses")
    func refusesToEncode() throws {
        let strictOnly: [(NDEFRecord, NDEFError.Code, Int)] = [
            (NDEFRecord(tnf: .reserved, payload: [1]), .reservedTNF, 3),
            (NDEFRecord(tnf: .mime, payload: [1]), .missingType, 3),
            (wellKnown("T", [0, 0x41]), .textWithoutLanguage, 7),
            (wellKnown("U", [0x24]), .uriReservedPrefix, 7),
        ]
        for (record, code, offset) in strictOnly {
            let message = NDEFMessage([.empty, record])
            expectFault(code, at: offset) { () throws(NDEFError) in _ = try message.encoded() }
            #expect(try NDEFMessage(decoding: message.encoded(mode: .lenient), mode: .lenient) == message)
        }
        let always: [(NDEFRecord, NDEFError.Code, Int)] = [
            (NDEFRecord(tnf: .empty, type: [1]), .emptyRecordWithContent, 3),
            (NDEFRecord(tnf: .empty, id: [1]), .emptyRecordWithContent, 3),
            (NDEFRecord(tnf: .empty, payload: [1]), .emptyRecordWithContent, 3),
            (NDEFRecord(tnf: .unknown, type: [1]), .unknownRecordWithType, 3),
            (wellKnown("U", []), .uriWithoutPrefix, 7),
            (wellKnown("T", [2, 0x65], id: [9]), .textLanguageBeyondEnd, 9),
            (NDEFRecord(tnf: .absoluteURI, type: [0x61, 0x0A], id: [9]), .uriControlCharacter, 8),
        ]
        for (record, code, offset) in always {
            let message = NDEFMessage([.empty, record])
            for mode in NDEFMode.allCases {
                expectFault(code, at: offset) { () throws(NDEFError) in _ = try message.encoded(mode: mode) }
            }
        }
        expectFault(.emptyMessage, at: 0) { () throws(NDEFError) in _ = try NDEFMessage().encoded() }
        #expect(try NDEFMessage().encoded(mode: .lenient) == [])
        #expect(try NDEFMessage(decoding: [], mode: .lenient) == [])
    }
}

/// Expects an error of that code at that offset.
func expectFault(
    _ code: NDEFError.Code,
    at offset: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws(NDEFError) -> Void
) {
    do {
        try body()
        Issue.record("\(code.rawValue) was expected", sourceLocation: sourceLocation)
    } catch {
        #expect(error.code == code, sourceLocation: sourceLocation)
        #expect(error.offset == offset, sourceLocation: sourceLocation)
    }
}
