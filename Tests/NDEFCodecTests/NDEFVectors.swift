import CardCore
import Testing
import TestSupport

@testable import NDEFCodec

/// A message that both modes accept, with its records, its JSON and what its encoder writes.
struct ValidVector: Sendable, CustomTestStringConvertible {
    var name: String
    var hex: String
    var records: [NDEFRecord]
    /// The JSON of the records, with sorted keys.
    var json: String
    /// What the encoder writes, if it is not `hex`: the short form, without chunks.
    var canonical: String?
    /// The first record's content.
    var content: NDEFContent

    init(
        _ name: String,
        _ hex: String,
        _ records: [NDEFRecord],
        _ content: NDEFContent,
        json: String,
        canonical: String? = nil
    ) {
        self.name = name
        self.hex = hex
        self.records = records
        self.content = content
        self.json = json
        self.canonical = canonical
    }

    var testDescription: String { name }
}

/// A message that at least one mode refuses.
struct RejectVector: Sendable, CustomTestStringConvertible {
    /// A code and the offset of the fault.
    struct Fault: Sendable, Hashable {
        var code: NDEFError.Code
        var offset: Int

        init(_ code: NDEFError.Code, _ offset: Int) {
            self.code = code
            self.offset = offset
        }

        init(_ error: NDEFError) { self.init(error.code, error.offset) }
    }

    var name: String
    var hex: String
    /// `nil` where the strict decoder accepts.
    var strict: Fault?
    /// `nil` where the lenient decoder accepts without remark.
    var lenient: Fault?
    /// How many records the lenient decoder gives.
    var lenientRecords: Int

    /// Both modes find the same.
    init(_ name: String, _ hex: String, _ code: NDEFError.Code, _ offset: Int, records: Int = 0) {
        self.init(name, hex, strict: Fault(code, offset), lenient: Fault(code, offset), records: records)
    }

    init(_ name: String, _ hex: String, strict: Fault?, lenient: Fault?, records: Int) {
        self.name = name
        self.hex = hex
        self.strict = strict
        self.lenient = lenient
        lenientRecords = records
    }

    var testDescription: String { name }
}

/// A well-known record.
func wellKnown(_ type: String, _ payload: [UInt8], id: [UInt8]? = nil) -> NDEFRecord {
    NDEFRecord(tnf: .wellKnown, type: ascii(type), id: id, payload: payload)
}

/// A well-known record with a payload in hexadecimal.
func wellKnown(_ type: String, hex: String) -> NDEFRecord {
    wellKnown(type, octets(hex))
}

/// Bytes of a table's hexadecimal; what is not hexadecimal gives bytes that no test expects.
func octets(_ hex: String) -> [UInt8] {
    (try? Hex.decode(hex)) ?? ascii("not hexadecimal: \(hex)")
}

private func active(_ reference: String) -> NDEFHandover.Carrier {
    NDEFHandover.Carrier(power: "active", reference: reference, auxiliary: [])
}

private let emptyJSON = #"{"payload":"","tnf":"empty","type":""}"#
private let signature =
    "200B0200473045022100A410C28FD9437FD24F6656F121E62BCC5F65E36257F5FAADF68E3E83D40D481A0220335B1DFF8D6FE722FCF7018BE968"
    + "4D2DE5670B256FDFC02AA25BDAE16F624B8000"
private let bluetooth = "application/vnd.bluetooth.ep.oob"

let validVectors: [ValidVector] = [
    ValidVector("N01 empty record", "D00000", [.empty], .empty, json: emptyJSON),
    ValidVector("N02 empty record, long", "C00000000000", [.empty], .empty, json: emptyJSON, canonical: "D00000"),
    ValidVector(
        "N03 empty record with an identifier of no bytes",
        "D8000000",
        [NDEFRecord(tnf: .empty, id: [])],
        .empty,
        json: #"{"id":"","payload":"","tnf":"empty","type":""}"#
    ),
    ValidVector(
        "N04 two empty records",
        "900000500000",
        [.empty, .empty],
        .empty,
        json: "\(emptyJSON),\(emptyJSON)"
    ),
    ValidVector(
        "N04 three empty records",
        "900000100000500000",
        [.empty, .empty, .empty],
        .empty,
        json: "\(emptyJSON),\(emptyJSON),\(emptyJSON)"
    ),
    ValidVector(
        "N05 URI",
        "D1010A55036E666370792E6F7267",
        [wellKnown("U", [3] + ascii("nfcpy.org"))],
        .uri("http://nfcpy.org"),
        json: #"{"payload":"036E666370792E6F7267","tnf":"well-known","type":"U","uri":"http://nfcpy.org"}"#
    ),
    ValidVector(
        "N05 URI, long",
        "C1010000000A55036E666370792E6F7267",
        [wellKnown("U", [3] + ascii("nfcpy.org"))],
        .uri("http://nfcpy.org"),
        json: #"{"payload":"036E666370792E6F7267","tnf":"well-known","type":"U","uri":"http://nfcpy.org"}"#,
        canonical: "D1010A55036E666370792E6F7267"
    ),
    ValidVector(
        "N06 member URI",
        "D1011D55046578616D706C652E6F72672F6D656D6265723F69643D303030303432",
        [wellKnown("U", [4] + ascii("example.org/member?id=000042"))],
        .uri("https://example.org/member?id=000042"),
        json: #"{"payload":"046578616D706C652E6F72672F6D656D6265723F69643D303030303432","tnf":"well-known","#
            + #""type":"U","uri":"https://example.org/member?id=000042"}"#
    ),
    ValidVector(
        "N07 text",
        "D1010E5402656E68656C6C6F20776F726C64",
        [wellKnown("T", [2] + ascii("enhello world"))],
        .text(NDEFText("hello world")),
        json: #"{"encoding":"UTF-8","language":"en","payload":"02656E68656C6C6F20776F726C64","#
            + #""text":"hello world","tnf":"well-known","type":"T"}"#
    ),
    ValidVector(
        "N07 short text",
        "D101075402656E54455854",
        [wellKnown("T", [2] + ascii("enTEXT"))],
        .text(NDEFText("TEXT")),
        json: #"{"encoding":"UTF-8","language":"en","payload":"02656E54455854","text":"TEXT","#
            + #""tnf":"well-known","type":"T"}"#
    ),
    ValidVector(
        "N08 two texts",
        "9101075402656E545854315101075402656E54585432",
        [wellKnown("T", [2] + ascii("enTXT1")), wellKnown("T", [2] + ascii("enTXT2"))],
        .text(NDEFText("TXT1")),
        json: #"{"encoding":"UTF-8","language":"en","payload":"02656E54585431","text":"TXT1","#
            + #""tnf":"well-known","type":"T"},"#
            + #"{"encoding":"UTF-8","language":"en","payload":"02656E54585432","text":"TXT2","#
            + #""tnf":"well-known","type":"T"}"#
    ),
    ValidVector(
        "N09 UTF-16, little endian by its mark",
        "D1010954826465FFFE4800E900",
        [wellKnown("T", hex: "826465FFFE4800E900")],
        .text(NDEFText("H\u{E9}", language: "de", encoding: .utf16)),
        json: #"{"encoding":"UTF-16","language":"de","payload":"826465FFFE4800E900","text":"Hé","#
            + #""tnf":"well-known","type":"T"}"#
    ),
    ValidVector(
        "UTF-16 without a mark is big endian",
        "D1010754826465004800E9",
        [wellKnown("T", hex: "826465004800E9")],
        .text(NDEFText("H\u{E9}", language: "de", encoding: .utf16)),
        json: #"{"encoding":"UTF-16","language":"de","payload":"826465004800E9","text":"Hé","#
            + #""tnf":"well-known","type":"T"}"#
    ),
    ValidVector(
        "N12 Smart Poster",
        "D1020F5370D1010B5501676F6F676C652E636F6D",
        [wellKnown("Sp", hex: "D1010B5501676F6F676C652E636F6D")],
        .smartPoster(NDEFSmartPoster(uri: "http://www.google.com")),
        json: #"{"payload":"D1010B5501676F6F676C652E636F6D","records":[{"payload":"01676F6F676C652E636F6D","#
            + #""tnf":"well-known","type":"U","uri":"http://www.google.com"}],"tnf":"well-known","type":"Sp","#
            + #""uri":"http://www.google.com"}"#
    ),
    ValidVector(
        "N14 Smart Poster with title and action",
        "D10223537091010C55046578616D706C652E6F72671101085402656E5469746C6551030161637400",
        [wellKnown("Sp", hex: "91010C55046578616D706C652E6F72671101085402656E5469746C6551030161637400")],
        .smartPoster(NDEFSmartPoster(uri: "https://example.org", titles: [NDEFText("Title")], action: .perform)),
        json: #"{"payload":"91010C55046578616D706C652E6F72671101085402656E5469746C6551030161637400","records":["#
            + #"{"payload":"046578616D706C652E6F7267","tnf":"well-known","type":"U","uri":"https://example.org"},"#
            + #"{"encoding":"UTF-8","language":"en","payload":"02656E5469746C65","text":"Title","#
            + #""tnf":"well-known","type":"T"},{"payload":"00","tnf":"well-known","type":"act"}],"#
            + #""title":"Title","tnf":"well-known","type":"Sp","uri":"https://example.org"}"#
    ),
    ValidVector(
        "N15 http://www.",
        "D1010855016E66632E636F6D",
        [wellKnown("U", [1] + ascii("nfc.com"))],
        .uri("http://www.nfc.com"),
        json: #"{"payload":"016E66632E636F6D","tnf":"well-known","type":"U","uri":"http://www.nfc.com"}"#
    ),
    ValidVector(
        "N15 telephone",
        "D1010D55052B3335383931323334353637",
        [wellKnown("U", [5] + ascii("+35891234567"))],
        .uri("tel:+35891234567"),
        json: #"{"payload":"052B3335383931323334353637","tnf":"well-known","type":"U","uri":"tel:+35891234567"}"#
    ),
    ValidVector(
        "N15 no prefix",
        "D101045500666F6F",
        [wellKnown("U", [0] + ascii("foo"))],
        .uri("foo"),
        json: #"{"payload":"00666F6F","tnf":"well-known","type":"U","uri":"foo"}"#
    ),
    ValidVector(
        "N15 a character of two bytes",
        "D101035500C2A2",
        [wellKnown("U", hex: "00C2A2")],
        .uri("\u{A2}"),
        json: #"{"payload":"00C2A2","tnf":"well-known","type":"U","uri":"¢"}"#
    ),
    ValidVector(
        "N17 external",
        "D412066578616D706C652E6F72673A6D656D626572303030303432",
        [.external(type: "example.org:member", payload: ascii("000042"))],
        .external(domain: "example.org", type: "member", payload: ascii("000042")),
        json: #"{"payload":"303030303432","tnf":"external","type":"example.org:member"}"#
    ),
    ValidVector(
        "N18 media type",
        "D20A18746578742F7663617264424547494E3A56434152440D0A454E443A56434152440D0A",
        [.mime(type: "text/vcard", payload: ascii("BEGIN:VCARD\r\nEND:VCARD\r\n"))],
        .mime(type: "text/vcard", payload: ascii("BEGIN:VCARD\r\nEND:VCARD\r\n")),
        json: #"{"payload":"424547494E3A56434152440D0A454E443A56434152440D0A","tnf":"mime","type":"text/vcard"}"#
    ),
    ValidVector(
        "N19 absolute URI",
        "D30B02687474703A2F2F612E622F6378",
        [.absoluteURI("http://a.b/", payload: ascii("cx"))],
        .absoluteURI("http://a.b/", payload: ascii("cx")),
        json: #"{"payload":"6378","tnf":"uri","type":"http://a.b/","uri":"http://a.b/"}"#
    ),
    ValidVector(
        "N20 unknown",
        "D500054142434445",
        [.unknown(ascii("ABCDE"))],
        .unknown(payload: ascii("ABCDE")),
        json: #"{"payload":"4142434445","tnf":"unknown","type":""}"#
    ),
    ValidVector(
        "N20 unknown with an identifier",
        "DD00000109",
        [.unknown([], id: [9])],
        .unknown(payload: []),
        json: #"{"id":"09","payload":"","tnf":"unknown","type":""}"#
    ),
    ValidVector(
        "N21 an identifier",
        "D90107025869647061796C6F6164",
        [wellKnown("X", ascii("payload"), id: ascii("id"))],
        .other,
        json: #"{"id":"6964","payload":"7061796C6F6164","tnf":"well-known","type":"X"}"#
    ),
    ValidVector(
        "N22 two chunks",
        "B500010156000102",
        [.unknown([1, 2])],
        .unknown(payload: [1, 2]),
        json: #"{"payload":"0102","tnf":"unknown","type":""}"#,
        canonical: "D500020102"
    ),
    ValidVector(
        "N22 three chunks, the first empty",
        "B500003600010156000102",
        [.unknown([1, 2])],
        .unknown(payload: [1, 2]),
        json: #"{"payload":"0102","tnf":"unknown","type":""}"#,
        canonical: "D500020102"
    ),
    ValidVector(
        "N24 three chunks of a media type",
        "B20A02746578742F706C61696E68653600026C6C5600016F",
        [.mime(type: "text/plain", payload: ascii("hello"))],
        .mime(type: "text/plain", payload: ascii("hello")),
        json: #"{"payload":"68656C6C6F","tnf":"mime","type":"text/plain"}"#,
        canonical: "D20A05746578742F706C61696E68656C6C6F"
    ),
    ValidVector(
        "N26 Handover Select",
        "D1020A487312D10204616301016300",
        [wellKnown("Hs", hex: "12D10204616301016300")],
        .handover(NDEFHandover(kind: .select, version: "1.2", carriers: [active("63")])),
        json: #"{"handover":{"carriers":[{"auxiliary":[],"power":"active","reference":"63"}],"kind":"select","#
            + #""version":"1.2"},"payload":"12D10204616301016300","#
            + #""records":[{"payload":"01016300","tnf":"well-known","type":"ac"}],"tnf":"well-known","type":"Hs"}"#
    ),
    ValidVector(
        "N28 Handover Request with a carrier",
        "910211487212910202637212345102046163010130005A2008016170706C69636174696F6E2F766E642E626C7565746F6F74682E6570"
            + "2E6F6F62300800665544332211",
        [
            wellKnown("Hr", hex: "1291020263721234510204616301013000"),
            .mime(type: bluetooth, payload: octets("0800665544332211"), id: ascii("0")),
        ],
        .handover(
            NDEFHandover(kind: .request, version: "1.2", collisionResolution: 0x1234, carriers: [active("30")])
        ),
        json: #"{"handover":{"carriers":[{"auxiliary":[],"power":"active","reference":"30"}],"#
            + #""collisionResolution":4660,"kind":"request","version":"1.2"},"#
            + #""payload":"1291020263721234510204616301013000","#
            + #""records":[{"payload":"1234","tnf":"well-known","type":"cr"},"#
            + #"{"payload":"01013000","tnf":"well-known","type":"ac"}],"tnf":"well-known","type":"Hr"},"#
            + #"{"bluetooth":{"address":"11:22:33:44:55:66","addressKind":"public","structures":[],"#
            + #""transport":"classic"},"id":"30","payload":"0800665544332211","tnf":"mime","type":"application/vnd.bluetooth.ep.oob"}"#
    ),
    ValidVector(
        "N30 signature",
        "D1034D536967" + signature,
        [wellKnown("Sig", hex: signature)],
        .signature(
            NDEFSignature(algorithm: .ecdsaP256, signature: .bytes(octets(String(signature.dropFirst(10).dropLast(2)))))
        ),
        json: #"{"payload":""# + signature + #"","signature":{"algorithm":"ECDSA-P256","certificateFormat":0,"#
            + #""certificates":[],"hash":2,"signature":""# + signature.dropFirst(10).dropLast(2)
            + #"","version":"2.0"},"tnf":"well-known","type":"Sig"}"#
    ),
    ValidVector(
        "N30 signature marker",
        "D10306536967200002000000",
        [wellKnown("Sig", hex: "200002000000")],
        .signature(NDEFSignature(algorithm: .none, signature: .bytes([]))),
        json: #"{"payload":"200002000000","signature":{"algorithm":"none","certificateFormat":0,"certificates":[],"#
            + #""hash":2,"signature":"","version":"2.0"},"tnf":"well-known","type":"Sig"}"#
    ),
    ValidVector(
        "N31 payload of 255, long",
        "C500000000FF" + String(repeating: "5A", count: 255),
        [.unknown([UInt8](repeating: 0x5A, count: 255))],
        .unknown(payload: [UInt8](repeating: 0x5A, count: 255)),
        json: #"{"payload":""# + String(repeating: "5A", count: 255) + #"","tnf":"unknown","type":""}"#,
        canonical: "D500FF" + String(repeating: "5A", count: 255)
    ),
    ValidVector(
        "N31 payload of 256",
        "C50000000100" + String(repeating: "5A", count: 256),
        [.unknown([UInt8](repeating: 0x5A, count: 256))],
        .unknown(payload: [UInt8](repeating: 0x5A, count: 256)),
        json: #"{"payload":""# + String(repeating: "5A", count: 256) + #"","tnf":"unknown","type":""}"#
    ),
    ValidVector(
        "N31 type of 255",
        "D2FF00" + String(repeating: "61", count: 255),
        [NDEFRecord(tnf: .mime, type: [UInt8](repeating: 0x61, count: 255))],
        .mime(type: String(repeating: "a", count: 255), payload: []),
        json: #"{"payload":"","tnf":"mime","type":""# + String(repeating: "a", count: 255) + #""}"#
    ),
    ValidVector(
        "N31 identifier of 255",
        "DD0000FF" + String(repeating: "0A", count: 255),
        [.unknown([], id: [UInt8](repeating: 0x0A, count: 255))],
        .unknown(payload: []),
        json: #"{"id":""# + String(repeating: "0A", count: 255) + #"","payload":"","tnf":"unknown","type":""}"#
    ),
]

let rejectVectors: [RejectVector] = [
    // Where only strictness refuses.
    RejectVector(
        "N11 text without language",
        "D10105540032303138",
        strict: .init(.textWithoutLanguage, 4),
        lenient: nil,
        records: 1
    ),
    RejectVector("X01 no bytes", "", strict: .init(.emptyMessage, 0), lenient: nil, records: 0),
    RejectVector("X17 reserved TNF in a message", "D70000", strict: .init(.reservedTNF, 0), lenient: nil, records: 1),
    RejectVector("X19 no type in a message", "D10000", strict: .init(.missingType, 1), lenient: nil, records: 1),
    RejectVector("X32 reserved prefix", "D10102552478", strict: .init(.uriReservedPrefix, 4), lenient: nil, records: 1),
    RejectVector("reserved prefix FF", "D1010255FF78", strict: .init(.uriReservedPrefix, 4), lenient: nil, records: 1),
    // Where strictness finds another rule first.
    RejectVector(
        "X17 reserved TNF",
        "1700 00",
        strict: .init(.reservedTNF, 0),
        lenient: .init(.missingMessageBegin, 0),
        records: 0
    ),
    RejectVector(
        "X17 reserved TNF, long",
        "070000000000",
        strict: .init(.reservedTNF, 0),
        lenient: .init(.missingMessageBegin, 0),
        records: 0
    ),
    RejectVector(
        "X19 no type",
        "110000",
        strict: .init(.missingType, 1),
        lenient: .init(.missingMessageBegin, 0),
        records: 0
    ),
    // Where lenience accepts with a remark.
    RejectVector("X04 trailing bytes", "D000000000", .trailingBytes, 3, records: 1),
    RejectVector("X08 trailing byte, long", "C0000000000000", .trailingBytes, 6, records: 1),
    RejectVector(
        "N19 absolute URI and a stray byte",
        "D30B02687474703A2F2F612E622F637879",
        .trailingBytes,
        16,
        records: 1
    ),
    // Where both refuse.
    RejectVector("X02 one byte", "D0", .truncatedHeader, 1),
    RejectVector("X03 two bytes", "D000", .truncatedHeader, 2),
    RejectVector("X05 no MB", "500000", .missingMessageBegin, 0),
    RejectVector("X06 no ME", "900000", .missingMessageEnd, 3, records: 1),
    RejectVector("X07 long header of 4 bytes", "C0000000", .truncatedHeader, 4),
    RejectVector("X07 long header of 5 bytes", "C000000000", .truncatedHeader, 5),
    RejectVector("X09 too short", "D801030100000000", .payloadBeyondEnd, 2),
    RejectVector("X10 empty record with type", "D8010301000000000000", .emptyRecordWithContent, 1),
    RejectVector("X11 empty record with identifier", "D800000100", .emptyRecordWithContent, 3),
    RejectVector("X12 no ME on the second", "900000100000", .missingMessageEnd, 6, records: 2),
    RejectVector("X18 empty record with type", "10010000", .emptyRecordWithContent, 1),
    RejectVector("X20 unknown with type", "15010000", .unknownRecordWithType, 1),
    RejectVector("X21 unchanged with type", "16010000", .chunkWithType, 1),
    RejectVector("X22 empty record with identifier", "1800000100", .emptyRecordWithContent, 3),
    RejectVector("X23 empty record with payload", "10000100", .emptyRecordWithContent, 2),
    RejectVector("X24 payload missing", "190101015449", .payloadBeyondEnd, 2),
    RejectVector("X29 language beyond the end", "D101015405", .textLanguageBeyondEnd, 4),
    RejectVector("X29 longest language beyond the end", "D10103543F656E", .textLanguageBeyondEnd, 4),
    RejectVector("X30 URI without prefix", "D1010055", .uriWithoutPrefix, 4),
    RejectVector("X31 URI not UTF-8", "D10102550380", .uriNotUTF8, 5),
    RejectVector("X36 UTF-16 of odd length", "D101045482656E54", .textNotUTF16, 7),
    RejectVector("X36 UTF-16 said to be UTF-8", "D101075402656EFFFE5400", .textNotUTF8, 7),
    // The header and its fields.
    RejectVector("no identifier length", "D8 00 00", .truncatedHeader, 3),
    RejectVector("type beyond the end", "D1 02 00 54", .typeBeyondEnd, 1),
    RejectVector("identifier beyond the end", "D9 01 00 02 58 41", .idBeyondEnd, 3),
    RejectVector("identifier beyond the end, long", "C9 01 00000000 02 58 41", .idBeyondEnd, 6),
    RejectVector("payload of 4 GiB", "C1 01 FFFFFFFF 54", .payloadBeyondEnd, 2),
    RejectVector("unchanged with identifier field", "B5 00 00 5E 00 00 00", .chunkWithID, 3),
    // The place in the message.
    RejectVector("MB later", "900000 D00000", .repeatedMessageBegin, 3, records: 1),
    RejectVector("fault in the second record", "900000 500100 FF", .emptyRecordWithContent, 4, records: 1),
    RejectVector("unchanged first", "D6 00 00", .chunkOutsideRun, 0),
    RejectVector("unchanged where no chunks are", "900000 560000", .chunkOutsideRun, 3, records: 1),
    RejectVector("chunk with ME", "F5 00 00 56 00 00", .chunkWithMessageEnd, 0),
    RejectVector("later chunk with ME and CF", "B5 00 00 76 00 00", .chunkWithMessageEnd, 3),
    RejectVector("later chunk with MB", "B5 00 00 D6 00 00", .repeatedMessageBegin, 3),
    RejectVector("chunks interrupted", "B5 00 00 55 00 00", .chunkRunBroken, 3),
    RejectVector("chunks end early", "B5 00 00 36 00 01 AA", .chunkRunUnfinished, 7),
    RejectVector("later chunk cut off", "B5 00 00 56 00", .truncatedHeader, 5),
    RejectVector("empty record with a later chunk of content", "B0 00 00 56 00 01 AA", .emptyRecordWithContent, 5),
    RejectVector("bytes after chunks", "B5 00 00 56 00 00 AA", .trailingBytes, 6, records: 1),
    // Text.
    RejectVector("text without status", "D1 01 00 54", .textWithoutStatus, 4),
    RejectVector("language not ASCII", "D1 01 03 54 02 65 C3", .textLanguageNotASCII, 6),
    RejectVector("language with a space", "D1 01 03 54 02 65 20", .textLanguageNotASCII, 6),
    RejectVector("overlong UTF-8", "D1 01 05 54 02 656E C080", .textNotUTF8, 7),
    RejectVector("surrogate in UTF-8", "D1 01 07 54 02 656E 41 EDA080", .textNotUTF8, 8),
    RejectVector("UTF-8 over U+10FFFF", "D1 01 07 54 02 656E F4908080", .textNotUTF8, 7),
    RejectVector("UTF-8 cut off after eight characters", "D1 01 0D 54 02 656E 4142434445464748 E282", .textNotUTF8, 15),
    RejectVector("lone surrogate in UTF-16", "D1 01 07 54 82 656E D800 0041", .textNotUTF16, 7),
    RejectVector("low surrogate first", "D1 01 05 54 82 656E DC00", .textNotUTF16, 7),
    RejectVector("high surrogate last, little endian", "D1 01 07 54 82 656E FFFE 00D8", .textNotUTF16, 9),
    // URI.
    RejectVector("line feed in a URI", "D1 01 04 55 04 61 0A 62", .uriControlCharacter, 6),
    RejectVector("delete in a URI", "D1 01 03 55 04 61 7F", .uriControlCharacter, 6),
    RejectVector("U+0085 in a URI", "D1 01 04 55 04 61 C285", .uriControlCharacter, 6),
    RejectVector("control character in an absolute URI", "D3 02 00 61 00", .uriControlCharacter, 4),
    RejectVector("absolute URI not UTF-8", "D3 02 00 61 FF", .uriNotUTF8, 4),
    RejectVector("fault in a chunked URI", "B1 01 02 55 04 61 36 00 01 62 56 00 02 63 00", .uriControlCharacter, 14),
    RejectVector("chunked URI without prefix", "B1 01 00 55 56 00 00", .uriWithoutPrefix, 7),
    // Smart Poster.
    RejectVector("poster without message", "D1 02 00 5370", .smartPosterWithoutURI, 5),
    RejectVector("poster without URI", "D1 02 08 5370 D1 01 04 54 02 656E 41", .smartPosterWithoutURI, 5),
    RejectVector(
        "poster with two URIs",
        "D1 02 0C 5370 91 01 02 55 04 61 51 01 02 55 04 62",
        .smartPosterRepeatedURI,
        11
    ),
    RejectVector(
        "action of two bytes",
        "D1 02 0E 5370 91 01 02 55 04 61 51 03 02 616374 00 00",
        .smartPosterActionLength,
        13
    ),
    RejectVector("action of no byte", "D1 02 0C 5370 91 01 02 55 04 61 51 03 00 616374", .smartPosterActionLength, 13),
    RejectVector("size of one byte", "D1 02 0B 5370 91 01 02 55 04 61 51 01 01 73 00", .smartPosterSizeLength, 13),
    RejectVector("poster's message cut off", "D1 02 07 5370 91 01 02 55 04 61 51", .truncatedHeader, 12),
    RejectVector("bytes after a poster's message", "D1 02 07 5370 D1 01 02 55 04 61 00", .trailingBytesInPayload, 11),
    RejectVector(
        "fault in a poster's title",
        "D1 02 0B 5370 91 01 02 55 04 61 51 01 01 54 05",
        .textLanguageBeyondEnd,
        15
    ),
    RejectVector(
        "reserved prefix in a poster",
        "D1 02 06 5370 D1 01 02 55 24 61",
        strict: .init(.uriReservedPrefix, 9),
        lenient: nil,
        records: 1
    ),
]
