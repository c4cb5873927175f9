import CardCore
import Foundation
import Testing
import TestSupport

@testable import NDEFCodec

@Suite("NDEF media types") struct NDEFMediaTests {
    @Test("malformed: the fault and its place", arguments: mediaFaults)
    func refuses(_ fault: PayloadFault) throws {
        let record = NDEFRecord.mime(type: fault.type, payload: fault.bytes)
        expectFault(fault.code, at: fault.offset) { () throws(NDEFError) in _ = try record.decodedMedia() }
        #expect((record.media != nil) == fault.isLenient)
        #expect(record.content == .mime(type: fault.type, payload: fault.bytes))
        // A message is not refused for it, and its JSON is what it always was.
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
        if !fault.isLenient {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any]
            #expect(object.map { Set($0.keys) } == ["tnf", "type", "payload"])
        }
    }

    @Test("a payload over the limit is refused")
    func heedsLimits() {
        let record = NDEFRecord.mime(type: "text/vcard", payload: ascii("BEGIN:VCARD"))
        let limits = NDEFLimits(payload: 10)
        expectFault(.payloadTooLong, at: 10) { () throws(NDEFError) in _ = try record.decodedMedia(limits: limits) }
    }

    @Test("a network's key is not kept")
    func keepsKeysSecret() throws {
        let key = ascii("hunter2hunter2")
        let attribute = [0x10, 0x27, 0x00, UInt8(key.count)] + key
        let credential = [0x10, 0x45, 0x00, 0x01, 0x41] + attribute
        let payload = [0x10, 0x0E, 0x00, UInt8(credential.count)] + credential + [0x10, 0x12] + attribute.dropFirst(2)
        let media = try #require(NDEFRecord.mime(type: "application/vnd.wfa.wsc", payload: payload).media)
        var dumped = ""
        dump(media, to: &dumped)
        guard case .wifi(let networks) = media else {
            Issue.record("no network")
            return
        }
        #expect(networks.credentials.map(\.hasKey) == [true])
        let numbers = ascii("hunter2").map { "\($0)" }.joined(separator: ", ")
        for text in ["\(media)", String(reflecting: media), dumped] {
            for secret in ["hunter2", numbers, ascii("hunter2").hex] { #expect(!text.contains(secret), "\(text)") }
        }
    }
}
