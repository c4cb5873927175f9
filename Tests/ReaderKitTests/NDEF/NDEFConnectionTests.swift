import Foundation
import Testing

@testable import ReaderKit

@Suite("NDEF handover and signature") struct NDEFConnectionTests {
    /// The record that the package itself makes of a content.
    static func record(of content: NDEFContent) throws -> NDEFRecord? {
        switch content {
        case .handover(let handover): try .handover(handover)
        case .handoverCarrier(let carrier): try .handoverCarrier(carrier)
        case .signature(let signature): try .signature(signature)
        default: nil
        }
    }

    @Test("valid: decode", arguments: connectionVectors)
    func decodes(_ vector: ContentVector) throws {
        let record = wellKnown(vector.type, hex: vector.hex)
        #expect(try record.decodedContent() == vector.content)
        #expect(record.content == vector.content)
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
    }

    @Test("valid: encode", arguments: connectionVectors)
    func encodes(_ vector: ContentVector) throws {
        guard let record = try Self.record(of: vector.content) else {
            #expect(vector.content == .other)
            return
        }
        #expect(record == wellKnown(vector.type, hex: vector.canonical ?? vector.hex))
    }

    @Test("malformed: the fault and its place", arguments: connectionFaults)
    func refuses(_ fault: PayloadFault) {
        let record = wellKnown(fault.type, fault.bytes)
        expectFault(fault.code, at: fault.offset) { () throws(NDEFError) in _ = try record.decodedContent() }
        if case .malformed(let error) = record.content {
            #expect(!fault.isLenient)
            #expect(RejectVector.Fault(error) == .init(fault.code, fault.offset))
            #expect(record.nestedRecords == nil)
        } else {
            #expect(fault.isLenient)
        }
        // The records beside it are read all the same.
        let beside = NDEFRecord.androidApplication("org.example")
        #expect(throws: Never.self) { try NDEFMessage(decoding: NDEFMessage([record, beside]).encoded()) }
    }

    @Test("every content cut short is refused or is another", arguments: connectionVectors)
    func refusesCutPayloads(_ vector: ContentVector) {
        let bytes = octets(vector.hex)
        for count in 0..<bytes.count {
            let content = wellKnown(vector.type, Array(bytes[..<count])).content
            #expect(content != vector.content || vector.content == .other)
            if case .malformed(let error) = content { #expect((0...count).contains(error.offset)) }
        }
    }

    // MARK: - References

    static let select = NDEFHandover(
        .select,
        carriers: [.init(power: .active, reference: ascii("b"), auxiliary: [ascii("x"), ascii("y")])]
    )
    static let device = NDEFBluetooth(address: [1, 2, 3, 4, 5, 6])

    @Test("references lead to the records of the message")
    func resolvesReferences() throws {
        let handover = try NDEFRecord.handover(Self.select)
        let bluetooth = try NDEFRecord.bluetooth(Self.device, id: ascii("b"))
        let (x, y) = (NDEFRecord.unknown([1], id: ascii("x")), NDEFRecord.unknown([2], id: ascii("y")))
        let found = try #require(try NDEFMessage([handover, y, bluetooth, x]).handover())
        #expect(found.handover == Self.select)
        #expect(found.carriers == [.init(power: .active, configuration: bluetooth, auxiliary: [x, y])])
        #expect(found.carriers[0].configuration?.media == .bluetooth(Self.device))
        #expect(try NDEFMessage([.empty]).handover() == nil)
        #expect(try NDEFMessage([wellKnown("Hs", [0x22])]).handover() == nil)
    }

    @Test("references that lead nowhere, or to several records")
    func refusesReferences() throws {
        let handover = try NDEFRecord.handover(Self.select, id: ascii("b"))
        let (x, y) = (NDEFRecord.unknown([1], id: ascii("x")), NDEFRecord.unknown([2], id: ascii("y")))
        // The handover itself is no record that it may name.
        let missing = NDEFMessage([handover, x, y])
        expectFault(.handoverReferenceMissing, at: 6) { () throws(NDEFError) in _ = try missing.handover() }
        #expect(
            try missing.handover(mode: .lenient)?.carriers
                == [.init(power: .active, configuration: nil, auxiliary: [x, y])]
        )
        let (first, second) = (NDEFRecord.unknown([3], id: ascii("b")), NDEFRecord.unknown([4], id: ascii("b")))
        let double = NDEFMessage([handover, first, second, y])
        expectFault(.handoverReferenceAmbiguous, at: 6) { () throws(NDEFError) in _ = try double.handover() }
        #expect(
            try double.handover(mode: .lenient)?.carriers
                == [.init(power: .active, configuration: first, auxiliary: [y])]
        )
    }

    // MARK: - Making

    @Test("records that cannot be are not made")
    func refusesToEncode() {
        func expectRefused(_ code: NDEFError.Code, _ make: () throws(NDEFError) -> NDEFRecord) {
            do {
                _ = try make()
                Issue.record("made a record that breaks \(code)")
            } catch {
                #expect(error.code == code)
                #expect(error.attempt == .encoding)
            }
        }
        let long = [UInt8](repeating: 0x41, count: 256)
        let old = NDEFHandover(.select, version: .init(2, 0))
        expectRefused(.handoverVersion) { () throws(NDEFError) in try .handover(old) }
        for carrier in [
            NDEFHandover.AlternativeCarrier(power: .active, reference: long),
            .init(power: .active, reference: [], auxiliary: [long]),
            .init(power: .active, reference: [], auxiliary: Array(repeating: [], count: 256)),
        ] {
            let handover = NDEFHandover(.select, carriers: [carrier])
            expectRefused(.handoverReferenceTooLong) { () throws(NDEFError) in try .handover(handover) }
        }
        let format = NDEFHandoverCarrier(format: .unknown, type: [])
        expectRefused(.handoverCarrierFormat) { () throws(NDEFError) in try .handoverCarrier(format) }
        let type = NDEFHandoverCarrier(format: .mime, type: long)
        expectRefused(.typeTooLong) { () throws(NDEFError) in try .handoverCarrier(type) }
        let huge = NDEFSignature(algorithm: .ecdsaP256, signature: .bytes(.init(repeating: 0, count: 65_536)))
        expectRefused(.signatureTooLong) { () throws(NDEFError) in try .signature(huge) }
        let chain = NDEFSignature(
            algorithm: .ecdsaP256,
            signature: .bytes([]),
            certificates: .init(repeating: [], count: 16)
        )
        expectRefused(.signatureTooLong) { () throws(NDEFError) in try .signature(chain) }
        let line = NDEFSignature(algorithm: .ecdsaP256, signature: .uri("a\n"))
        expectRefused(.uriControlCharacter) { () throws(NDEFError) in try .signature(line) }
    }

    @Test("the names of signature algorithms")
    func namesAlgorithms() {
        #expect(NDEFSignature.Algorithm(rawValue: 0x08).description == "ECDSA-P224")
        #expect(NDEFSignature.Algorithm(rawValue: 0x8C).description == "0x0C")
    }

    @Test("messages in messages in handovers do not go deep")
    func boundsDepth() throws {
        // A handover in a poster in a handover, and so on: 5 000 deep.
        var record = NDEFRecord.empty
        for level in 0..<5_000 {
            let bytes = try NDEFMessage([record]).encoded(mode: .lenient, limits: .maximum)
            record = level.isMultiple(of: 2) ? wellKnown("Hs", [0x12] + bytes) : wellKnown("Hx", bytes)
            if record.payload.count > 1 << 16 { break }
        }
        let json = try JSONEncoder().encode(record)
        #expect(json.count > record.payload.count)
        var nested = try NDEFRecord.uri("tel:1")
        for level in 0..<200 {
            let bytes = try NDEFMessage([.uri("tel:1"), nested].dropFirst(level == 0 ? 1 : 0).map { $0 })
                .encoded(mode: .lenient, limits: .maximum)
            nested = wellKnown(level.isMultiple(of: 2) ? "Sp" : "Hs", (level.isMultiple(of: 2) ? [] : [0x12]) + bytes)
            _ = try JSONEncoder().encode(nested)
        }
    }
}

/// Random contents of handovers and signatures.
extension MessageGenerator {
    mutating func handover() throws -> NDEFHandover {
        let isRequest = Bool.random(using: &random)
        var handover = NDEFHandover(
            isRequest ? .request : .select,
            version: .init(1, Int.random(in: 0...15, using: &random)),
            collisionResolution: isRequest ? UInt16.random(in: .min ... .max, using: &random) : nil
        )
        for _ in 0..<Int.random(in: isRequest ? 1...4 : 0...4, using: &random) {
            let power = NDEFHandover.PowerState.allCases.randomElement(using: &random) ?? .unknown
            let auxiliary = (0..<Int.random(in: 0...3, using: &random)).map { _ in random.bytes(0...20) }
            handover.carriers.append(.init(power: power, reference: random.bytes(0...255), auxiliary: auxiliary))
        }
        if !isRequest, Bool.random(using: &random) {
            let byte = UInt8.random(in: .min ... .max, using: &random)
            handover.failure =
                [
                    .temporaryMemory(milliseconds: byte), .carrier(milliseconds: byte),
                    .permanentMemory(bytes: UInt32.random(in: .min ... .max, using: &random)),
                    .reserved(reason: 4 | byte, data: random.bytes(0...9)),
                ].randomElement(using: &random) ?? nil
        }
        if Bool.random(using: &random) { handover.others = [.unknown(random.bytes(0...300))] }
        return handover
    }

    mutating func signature() -> NDEFSignature {
        let uri = "x:" + random.text(0...9)
        return NDEFSignature(
            algorithm: .init(rawValue: UInt8.random(in: .min ... .max, using: &random)),
            hash: UInt8.random(in: .min ... .max, using: &random),
            signature: Bool.random(using: &random) ? .uri(uri) : .bytes(random.bytes(0...300)),
            certificateFormat: UInt8.random(in: 0...7, using: &random),
            certificates: (0..<Int.random(in: 0...15, using: &random)).map { _ in random.bytes(0...30) },
            certificateURI: Bool.random(using: &random) ? uri : nil,
            minorVersion: UInt8.random(in: 0...15, using: &random)
        )
    }
}

@Suite("NDEF handover and signature properties") struct NDEFConnectionPropertyTests {
    static let seed: UInt64 = 0x4E44_4546_0002

    @Test("what is encoded decodes to the same (seed 4E4445460002, 5 000 of each)")
    func isInverse() throws {
        var generator = MessageGenerator(random: CodecRandom(seed: Self.seed))
        for number in 0..<5_000 {
            let contents: [NDEFContent] = [
                .handover(try generator.handover()), .signature(generator.signature()),
                .handoverCarrier(
                    NDEFHandoverCarrier(
                        format: [.wellKnown, .mime, .absoluteURI, .external].randomElement(using: &generator.random)
                            ?? .mime,
                        type: generator.random.bytes(0...255),
                        data: generator.random.bytes(0...40)
                    )
                ),
            ]
            for content in contents {
                let record = try #require(try NDEFConnectionTests.record(of: content))
                guard try record.decodedContent() == content else {
                    Issue.record("content \(number) differs: \(record.payload.hex)")
                    return
                }
            }
        }
    }

    @Test("signatures of any bytes are written as they were read (seed 4E4445460002, 100 000 payloads)")
    func keepsSignatures() throws {
        var generator = MessageGenerator(random: CodecRandom(seed: Self.seed))
        var read = 0
        for _ in 0..<100_000 {
            let bytes = generator.mutated(try NDEFRecord.signature(generator.signature()).payload)
            guard case .signature(let signature) = wellKnown("Sig", bytes).content else { continue }
            read += 1
            guard try NDEFRecord.signature(signature).payload == bytes else {
                Issue.record("differs: \(bytes.hex)")
                return
            }
        }
        #expect(read > 10_000 && read < 90_000)
    }

    @Test("mutated handovers do no harm, and what is read stays itself (seed 4E4445460002, 50 000 payloads)")
    func survivesMutations() throws {
        var generator = MessageGenerator(random: CodecRandom(seed: Self.seed))
        var read = 0
        for _ in 0..<50_000 {
            let original = try NDEFRecord.handover(generator.handover())
            let record = NDEFRecord(
                tnf: .wellKnown,
                type: original.type,
                payload: generator.mutated(original.payload)
            )
            switch record.content {
            case .handover(let handover):
                read += 1
                guard try NDEFRecord.handover(handover).content == .handover(handover) else {
                    Issue.record("differs: \(record.payload.hex)")
                    return
                }
            case .malformed(let error):
                guard (0...record.payload.count).contains(error.offset) else {
                    Issue.record("offset \(error.offset): \(record.payload.hex)")
                    return
                }
            default: break
            }
        }
        #expect(read > 5_000)
    }
}
