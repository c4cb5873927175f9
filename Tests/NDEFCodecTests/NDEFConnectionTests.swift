import CardCore
import Foundation
import Testing
import TestSupport

@testable import NDEFCodec

@Suite("NDEF handover and signature") struct NDEFConnectionTests {
    /// What the record's JSON has under the key of a shown vector, with sorted keys.
    static func json(_ record: NDEFRecord, _ key: String) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any]
        guard let value = object?[key] else { return nil }
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try JSONSerialization.data(withJSONObject: value, options: options), as: UTF8.self)
    }

    @Test("valid: what is shown", arguments: shownVectors)
    func shows(_ vector: ShownVector) throws {
        let record = vector.record
        #expect(try Self.json(record, vector.key) == vector.json)
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
        guard record.tnf == .mime else {
            #expect(throws: Never.self) { try record.decodedContent() }
            return
        }
        #expect(throws: Never.self) { try record.decodedMedia() }
        // What it was before it was understood, it still is.
        #expect(record.content == .mime(type: vector.type, payload: record.payload))
        let spelt = NDEFRecord.mime(type: vector.type.uppercased() + "; x=y", payload: record.payload)
        #expect(spelt.media == record.media && record.media != nil)
        #expect(NDEFRecord.external(type: vector.type, payload: record.payload).media == nil)
    }

    @Test("every payload cut short is refused or is another", arguments: shownVectors)
    func refusesCutPayloads(_ vector: ShownVector) throws {
        var record = vector.record
        // Behind padding nothing is missed.
        guard vector.name != "padding", let json = vector.json else { return }
        for count in 0..<record.payload.count {
            record.payload = Array(vector.record.payload[..<count])
            #expect(try Self.json(record, vector.key) != json)
        }
    }

    @Test("a signature: decode and encode", arguments: signatureVectors)
    func signatures(_ vector: ContentVector) throws {
        let record = wellKnown(vector.type, hex: vector.hex)
        #expect(try record.decodedContent() == vector.content)
        guard case .signature(let signature) = vector.content else { return }
        #expect(signatureRecord(signature) == wellKnown(vector.type, hex: vector.canonical ?? vector.hex))
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

/// A signature as it is written: every bit of a payload is in a field.
private func signatureRecord(_ signature: NDEFSignature) -> NDEFRecord {
    func field(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
    var bytes = [0x20 | signature.minorVersion, signature.algorithm.rawValue, signature.hash]
    switch signature.signature {
    case .bytes(let content): bytes += field(content)
    case .uri(let uri):
        bytes[1] |= 0x80
        bytes += field(Array(uri.utf8))
    }
    let hasURI: UInt8 = signature.certificateURI == nil ? 0 : 0x80
    bytes.append(hasURI | signature.certificateFormat << 4 | UInt8(signature.certificates.count))
    for certificate in signature.certificates { bytes += field(certificate) }
    if let uri = signature.certificateURI { bytes += field(Array(uri.utf8)) }
    return wellKnown("Sig", bytes)
}

/// Random signatures.
extension MessageGenerator {
    mutating func signature() -> NDEFSignature {
        let uri = "x:" + random.text(0...9)
        return NDEFSignature(
            minorVersion: UInt8.random(in: 0...15, using: &random),
            algorithm: .init(rawValue: UInt8.random(in: .min ... .max, using: &random)),
            hash: UInt8.random(in: .min ... .max, using: &random),
            signature: Bool.random(using: &random) ? .uri(uri) : .bytes(random.bytes(0...300)),
            certificateFormat: UInt8.random(in: 0...7, using: &random),
            certificates: (0..<Int.random(in: 0...15, using: &random)).map { _ in random.bytes(0...30) },
            certificateURI: Bool.random(using: &random) ? uri : nil
        )
    }
}

@Suite("NDEF handover and signature properties") struct NDEFConnectionPropertyTests {
    static let seed: UInt64 = 0x4E44_4546_0002

    @Test("what is encoded decodes to the same (seed 4E4445460002)")
    func isInverse() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: Self.seed))
        for number in rounds(1000) {
            let signature = generator.signature()
            let record = signatureRecord(signature)
            guard try record.decodedContent() == .signature(signature) else {
                Issue.record("content \(number) differs: \(record.payload.hex)")
                return
            }
        }
    }

    @Test("signatures of any bytes are written as they were read (seed 4E4445460002)")
    func keepsSignatures() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: Self.seed))
        var read = 0
        for _ in rounds(6000) {
            let bytes = generator.mutated(signatureRecord(generator.signature()).payload)
            guard case .signature(let signature) = wellKnown("Sig", bytes).content else { continue }
            read += 1
            guard signatureRecord(signature).payload == bytes else {
                Issue.record("differs: \(bytes.hex)")
                return
            }
        }
        #expect(read > 600 && read < rounds(5400).count)
    }

    @Test("mutated payloads do no harm (seed 4E4445460002)")
    func survivesMutations() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: Self.seed))
        var read = 0
        for number in rounds(6000) {
            let vector = shownVectors[number % shownVectors.count]
            var record = vector.record
            record.payload = generator.mutated(record.payload)
            let fault: NDEFError?
            do throws(NDEFError) {
                if record.tnf == .mime {
                    _ = try record.decodedMedia(mode: .lenient)
                } else {
                    _ = try record.decodedContent(mode: .lenient)
                }
                read += 1
                fault = nil
            } catch {
                fault = error
            }
            guard fault == nil || (0...record.payload.count).contains(fault?.offset ?? -1) else {
                Issue.record("\(vector.name): \(record.payload.hex)")
                return
            }
        }
        #expect(read > 600 && read < rounds(5400).count)
    }
}
