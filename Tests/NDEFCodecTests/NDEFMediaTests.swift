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

    struct TypeRow: Sendable {
        var text: String
        var kind: MediaType.Kind?
        var charset: String?

        init(_ text: String, _ kind: MediaType.Kind?, _ charset: String? = nil) {
            (self.text, self.kind, self.charset) = (text, kind, charset)
        }
    }

    static let types: [TypeRow] = [
        TypeRow("text/vcard", .vCard), TypeRow("Text/X-vCard", .vCard), TypeRow("application/vcard", .vCard),
        TypeRow("application/x-vcard", .vCard), TypeRow("text/x-vcard;charset=iso-8859-1", .vCard, "iso-8859-1"),
        TypeRow(#"text/vcard ; version=4.0 ; Charset="UTF-8""#, .vCard, "UTF-8"), TypeRow("text/vcard\u{0}", .vCard),
        TypeRow(" text/vcard ", .vCard), TypeRow("text/directory;profile=vCard", .vCard),
        TypeRow(#"text/directory; charset=utf-8; profile="VCARD""#, .vCard, "utf-8"),
        TypeRow("text/directory", .directory), TypeRow("text/directory;profile=ldap", nil),
        TypeRow("application/vcard+json", .otherCard), TypeRow("application/vcard+xml", .otherCard),
        TypeRow("application/json", .json), TypeRow("APPLICATION/JSON; charset=utf-8", .json, "utf-8"),
        TypeRow("text/json", .json), TypeRow("application/vnd.club+json;v=1", .json),
        TypeRow("text/plain", .text), TypeRow("Text/Plain;charset=us-ascii;x", .text, "us-ascii"),
        TypeRow("text/uri-list", .addresses), TypeRow("text/x-uri", .addresses), TypeRow("application/jwt", .token),
        TypeRow("text/vcards", nil), TypeRow("application/jsonp", nil), TypeRow("image/png", nil), TypeRow("", nil),
        TypeRow(";", nil), TypeRow("text", nil), TypeRow("é/ü;ö=ä", nil),
    ]

    @Test("media types by their names and parameters", arguments: types.indices) func mediaTypes(_ index: Int) {
        let row = Self.types[index]
        let record = NDEFRecord.mime(type: row.text, payload: vCard(["FN:Ann"]))
        #expect(record.mediaType?.kind == row.kind, "\(row.text)")
        #expect(record.mediaType?.charset == row.charset)
        if row.kind == .vCard || row.kind == .directory {
            guard case .vCard(let card)? = record.media else {
                Issue.record("no vCard under \(row.text)")
                return
            }
            #expect(card.name == "Ann")
        } else {
            #expect(record.media == nil)
        }
    }

    @Test("a directory without a vCard is none") func directory() throws {
        let record = NDEFRecord.mime(type: "text/directory", payload: ascii("dn: cn=Ann\n"))
        #expect(try record.vCards() == nil && record.media == nil)
        #expect(try NDEFRecord.mime(type: "text/plain", payload: vCard(["FN:Ann"])).vCards()?.count == 1)
        #expect(try NDEFRecord.mime(type: "text/plain", payload: ascii("Ann")).vCards() == nil)
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
