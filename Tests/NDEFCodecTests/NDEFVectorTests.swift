import CardCore
import Foundation
import Testing

@testable import NDEFCodec

@Suite("NDEF vectors") struct NDEFVectorTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("valid: decode", arguments: validVectors)
    func decodes(_ vector: ValidVector) throws {
        let input = octets(vector.hex)
        #expect(try NDEFMessage(decoding: input).records == vector.records)
        #expect(try NDEFMessage(decoding: input, mode: .lenient).records == vector.records)
        let lenient = NDEFMessage.decodeLeniently(input)
        #expect(lenient.message.records == vector.records)
        #expect(lenient.fault == nil)
        #expect(try vector.records[0].decodedContent() == vector.content)
        #expect(vector.records[0].content == vector.content)
    }

    @Test("valid: encode", arguments: validVectors)
    func encodes(_ vector: ValidVector) throws {
        let message = NDEFMessage(vector.records)
        let expected = octets(vector.canonical ?? vector.hex)
        #expect(try message.encoded() == expected)
        #expect(try message.encoded(mode: .lenient) == expected)
        #expect(try NDEFMessage(decoding: expected) == message)
    }

    @Test("valid: JSON", arguments: validVectors)
    func printsJSON(_ vector: ValidVector) throws {
        for lenient in [false, true] {
            let report = NDEFReport(hex: vector.hex, lenient: lenient)
            #expect(report.isAccepted)
            #expect(try json(report) == #"{"records":["# + vector.json + "]}")
        }
        let restored = try JSONDecoder().decode([NDEFRecord].self, from: Data("[\(vector.json)]".utf8))
        #expect(restored == vector.records)
    }

    @Test("valid: every message cut short is refused", arguments: validVectors)
    func refusesCutMessages(_ vector: ValidVector) throws {
        let input = octets(vector.hex)
        for count in 0..<input.count {
            let cut = Array(input[..<count])
            let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: cut) }
            #expect((0...count).contains(try #require(error).offset))
            let lenient = NDEFMessage.decodeLeniently(cut)
            #expect(lenient.fault != nil || count == 0)
            #expect(vector.records.starts(with: lenient.message.records))
        }
    }

    @Test("reject: strict", arguments: rejectVectors)
    func refusesStrictly(_ vector: RejectVector) throws {
        let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: octets(vector.hex)) }
        let found = try #require(error)
        #expect(RejectVector.Fault(found) == vector.strict)
        let report = NDEFReport(hex: vector.hex)
        #expect(!report.isAccepted)
        let message = try json(found.message)
        #expect(
            try json(report)
                == #"{"error":{"code":"\#(found.code.rawValue)","message":\#(message),"offset":\#(found.offset)}}"#
        )
    }

    @Test("reject: lenient", arguments: rejectVectors)
    func refusesLeniently(_ vector: RejectVector) throws {
        let input = octets(vector.hex)
        let result = NDEFMessage.decodeLeniently(input)
        #expect(result.fault.map(RejectVector.Fault.init) == vector.lenient)
        #expect(result.message.records.count == vector.lenientRecords)

        let isAccepted = result.fault?.isTolerable ?? true
        #expect(isAccepted == (vector.lenient == nil || vector.lenient?.code == .trailingBytes))
        if isAccepted {
            #expect(try NDEFMessage(decoding: input, mode: .lenient) == result.message)
        } else {
            #expect(throws: try #require(result.fault)) { try NDEFMessage(decoding: input, mode: .lenient) }
        }

        let report = NDEFReport(hex: vector.hex, lenient: true)
        #expect(report.isAccepted == isAccepted)
        #expect(report.records == result.message.records)
        let text = try json(report)
        #expect(text.contains(#""records":["#))
        #expect(text.contains(#""error":{"#) == (result.fault != nil))
    }

    @Test("every rule of decoding is met by a vector, or by a test of its own")
    func coversEveryCode() {
        let met = Set(rejectVectors.flatMap { [$0.strict?.code, $0.lenient?.code].compactMap(\.self) })
        let elsewhere: Set<NDEFError.Code> = [
            .messageTooLong, .payloadTooLong, .tooManyRecords, .nestingTooDeep, .notHexadecimal,
            .typeTooLong, .idTooLong, .textLanguageTooLong,
        ]
        // The rules of handovers, signatures and media types have tables of their own.
        let ofRecords = Set(connectionFaults.map(\.code) + mediaFaults.map(\.code))
        #expect(Set(NDEFError.Code.allCases).subtracting(met).subtracting(ofRecords) == elsewhere)
    }

    @Test("text that is not hexadecimal is reported with its place")
    func reportsBadHexadecimal() throws {
        let report = NDEFReport(hex: "D0 00 0G")
        #expect(report.records == nil)
        #expect(report.error?.code == .notHexadecimal)
        #expect(report.error?.offset == 7)
        #expect(!report.isAccepted)
        #expect(NDEFReport(hex: "D0000").error?.code == .notHexadecimal)
        #expect(NDEFReport(hex: "D0000", lenient: true).records == [])
    }
}
