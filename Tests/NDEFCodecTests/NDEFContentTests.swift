import CardCore
import Foundation
import Testing
import TestSupport

@testable import NDEFCodec

@Suite("NDEF contents") struct NDEFContentTests {
    /// The prefixes of the URI RTD, written out again: the code is the place.
    static let prefixes = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:",
        "urn:nfc:",
    ]

    @Test("each URI prefix is read and written as its code", arguments: 0..<36)
    func usesEveryPrefix(_ code: Int) throws {
        #expect(Self.prefixes.count == 36)
        let uri = Self.prefixes[code] + "x"
        let record = try NDEFRecord.uri(uri)
        #expect(record.payload == [UInt8(code), 0x78])
        #expect(record.content == .uri(uri))
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
    }

    @Test(
        "the longest prefix wins",
        arguments: [
            ("https://www.example.org", 0x02, "example.org"), ("https://example.org", 0x04, "example.org"),
            ("ftp://ftp.a", 0x08, "a"), ("ftp://anonymous:anonymous@a", 0x07, "a"), ("urn:epc:id", 0x22, "id"),
            ("urn:epc", 0x13, "epc"), ("HTTP://a", 0x00, "HTTP://a"), ("sips:a", 0x16, "a"), ("", 0x00, ""),
            ("http:/", 0x00, "http:/"), ("tel:", 0x05, ""), ("https://münchen.example", 0x04, "münchen.example"),
        ]
    )
    func choosesTheLongestPrefix(_ uri: String, _ code: UInt8, _ rest: String) throws {
        let record = try NDEFRecord.uri(uri)
        #expect(record.payload == [code] + ascii(rest))
        #expect(try record.decodedContent() == .uri(uri))
    }

    @Test("a URI with a control character is refused", arguments: [("a\nb", 1), ("a\u{7F}", 1), ("\u{80}", 0)])
    func refusesControlCharacters(_ uri: String, _ offset: Int) {
        expectFault(.uriControlCharacter, at: offset) { () throws(NDEFError) in _ = try NDEFRecord.uri(uri) }
    }

    @Test("reserved prefixes are read as none where that is allowed")
    func readsReservedPrefixes() {
        #expect(wellKnown("U", [0x24] + ascii("a")).content == .uri("a"))
        #expect(wellKnown("U", [0xFF] + ascii("a")).content == .uri("a"))
        expectFault(.uriReservedPrefix, at: 0) { () throws(NDEFError) in
            _ = try wellKnown("U", [0x24] + ascii("a")).decodedContent()
        }
    }

    // MARK: - Text

    @Test(
        "texts come back as they were written",
        arguments: ["", "Title", "Grüße", "日本語", "👩‍👩‍👧", "\u{FEFF}mark", "\u{FFFE}", "a\u{0}b", "\u{10FFFF}"],
        NDEFText.Encoding.allCases
    )
    func roundTripsTexts(_ text: String, _ encoding: NDEFText.Encoding) throws {
        for language in ["en", "de-CH", String(repeating: "x", count: 63)] {
            let value = NDEFText(text, language: language, encoding: encoding)
            let record = try NDEFRecord.text(value)
            #expect(try record.decodedContent() == .text(value))
            #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
        }
    }

    @Test("a UTF-16 text is written big endian without a mark")
    func writesUTF16() throws {
        let record = try NDEFRecord.text("H\u{E9}", language: "de", encoding: .utf16)
        #expect(record.payload == octets("826465004800E9"))
    }

    @Test("languages that do not fit are refused")
    func refusesLanguages() throws {
        expectFault(.textLanguageTooLong, at: 0) { () throws(NDEFError) in
            _ = try NDEFRecord.text("a", language: String(repeating: "x", count: 64))
        }
        expectFault(.textLanguageNotASCII, at: 2) { () throws(NDEFError) in _ = try NDEFRecord.text("a", language: "eñ")
        }
        let bare = try NDEFRecord.text("2018", language: "")
        #expect(bare.payload == octets("0032303138"))
        #expect(bare.content == .text(NDEFText("2018", language: "")))
    }

    @Test("the reserved bit of the status byte is ignored")
    func ignoresReservedBit() throws {
        #expect(try wellKnown("T", hex: "42656E41").decodedContent() == .text(NDEFText("A")))
    }

    // MARK: - Smart Poster

    @Test("a poster comes back with all its parts")
    func roundTripsPosters() throws {
        let poster = NDEFSmartPoster(
            uri: "https://club.example/m/42",
            titles: [NDEFText("Member"), NDEFText("Mitglied", language: "de-DE"), NDEFText("会員", language: "ja")],
            action: .save,
            size: 0xFEDC_BA98,
            mimeType: "text/html",
            icons: [.mime(type: "IMAGE/png", payload: [1, 2]), .mime(type: "video/mp4", payload: [3])],
            others: [.unknown([4]), wellKnown("X", [5])]
        )
        let record = try NDEFRecord.smartPoster(poster, id: [7])
        #expect(try record.decodedContent() == .smartPoster(poster))
        #expect(record.nestedRecords?.count == 11)
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
        #expect(poster.title == "Member")
    }

    @Test("actions", arguments: [.perform, .save, .edit, .reserved(3)] as [NDEFSmartPoster.Action])
    func readsActions(_ action: NDEFSmartPoster.Action) throws {
        let record = try NDEFRecord.smartPoster(
            NDEFSmartPoster(uri: "tel:1", titles: [NDEFText("Call")], action: action)
        )
        guard case .smartPoster(let poster) = try record.decodedContent() else {
            Issue.record("no Smart Poster")
            return
        }
        #expect(poster.action == action)
    }

    @Test("the codes of actions")
    func numbersActions() {
        #expect((0...3).map(NDEFSmartPoster.Action.init(code:)) == [.perform, .save, .edit, .reserved(3)])
        #expect(
            [.perform, .save, .edit, .reserved(3)].map { (action: NDEFSmartPoster.Action) in action.code } == [
                0, 1, 2, 3,
            ]
        )
    }

    @Test("a poster that would be malformed is not made")
    func refusesPosters() throws {
        let second = NDEFSmartPoster(uri: "tel:1", others: [try .uri("tel:2")])
        expectFault(.smartPosterRepeatedURI, at: 6) { () throws(NDEFError) in _ = try NDEFRecord.smartPoster(second) }
        let line = NDEFSmartPoster(uri: "tel:\n")
        expectFault(.uriControlCharacter, at: 4) { () throws(NDEFError) in _ = try NDEFRecord.smartPoster(line) }
    }

    @Test("action and size mean nothing outside a poster")
    func leavesLocalTypesAlone() throws {
        #expect(try wellKnown("act", [1, 2, 3]).decodedContent() == .other)
        #expect(try NDEFMessage(decoding: octets("D10101 73 00")).records == [wellKnown("s", [0])])
    }

    // MARK: - Names

    @Test(
        "media types are compared without case and parameters",
        arguments: [
            ("text/vcard", "TEXT/VCard", true), ("text/plain; charset=utf-8", "text/plain", true),
            ("text/plain ;charset=utf-8", "text/plain;format=flowed", true), ("text/plain", "text/plain2", false),
            ("text/plain2", "text/plain", false),
        ]
    )
    func comparesMediaTypes(_ type: String, _ wanted: String, _ isEqual: Bool) {
        let record = NDEFRecord.mime(type: type, payload: [])
        #expect(record.isMIME(wanted) == isEqual)
        #expect(record.content == .mime(type: type, payload: []))
        #expect(!NDEFRecord.external(type: type, payload: []).isMIME(type))
    }

    @Test("external types are written in lower case")
    func writesExternalTypes() {
        let record = NDEFRecord.external(type: "Example.org:Member", payload: [1])
        #expect(record.type == ascii("example.org:member"))
        let written = NDEFRecord(tnf: .external, type: ascii("Example.org:Member"))
        #expect(written.content == .external(domain: "Example.org", type: "Member", payload: []))
        #expect(NDEFRecord(tnf: .external, type: ascii("nocolon")).content == .other)
    }

    @Test("an Android application record names its package")
    func readsApplications() throws {
        let record = NDEFRecord.androidApplication("org.example.club")
        #expect(try NDEFMessage([record]).encoded() == octets("D40F10") + ascii("android.com:pkgorg.example.club"))
        #expect(record.content == .androidApplication(package: "org.example.club"))
        let odd = NDEFRecord(tnf: .external, type: ascii("android.com:pkg"), payload: [0xFF])
        #expect(odd.content == .external(domain: "android.com", type: "pkg", payload: [0xFF]))
    }

    @Test("malformed contents say so")
    func reportsMalformedContents() {
        #expect(wellKnown("U", []).content == .malformed(NDEFError(.uriWithoutPrefix, at: 0)))
        #expect(wellKnown("Sp", []).nestedRecords == nil)
        #expect(NDEFRecord(tnf: .reserved, type: ascii("T"), payload: []).content == .other)
        #expect(NDEFRecord(tnf: .mime, type: [0xFF]).content == .other)
    }

    // MARK: - Errors and JSON

    @Test("errors say what was attempted, what happened and what can be done", arguments: NDEFError.Code.allCases)
    func explainsErrors(_ code: NDEFError.Code) {
        let decoding = NDEFError(code, at: 12, value: 345)
        #expect(decoding.message.hasPrefix("could not decode the NDEF message: "))
        #expect(decoding.message.contains("at byte 12"))
        #expect(decoding.message.contains("345"))
        #expect(decoding.description.contains(code.rawValue))
        #expect(!decoding.hint.isEmpty)
        let encoding = NDEFError(code, at: 0, attempting: .encoding)
        #expect(encoding.message.hasPrefix("could not encode the NDEF message: "))
        #expect(encoding.hint != decoding.hint)
    }

    /// To decode leniently is advised only for what that accepts, so that nobody reads it who has just done so.
    @Test("lenience is advised for what it accepts", arguments: NDEFError.Code.allCases)
    func advisesLenience(_ code: NDEFError.Code) {
        let strictOnly: Set<NDEFError.Code> = [
            .missingType, .reservedTNF, .textWithoutLanguage, .uriReservedPrefix, .handoverRepeatedRecord,
            .handoverWithoutCollision, .handoverWithoutCarrier, .handoverCarrierTrailingBytes, .bluetoothTrailingBytes,
            .bluetoothDataAfterEnd, .wifiRepeatedAttribute, .vCardWithoutEnd, .vCardWithoutVersion, .vCardLine,
            .vCardNotText, .vCardQuotedPrintable,
        ]
        #expect(NDEFError(code, at: 0).hint.contains("lenient") == strictOnly.contains(code))
    }

    @Test(
        "a lenient decoder reports nothing that lenience would accept",
        arguments: [
            "D1022C5370D1010B540564652D4445546974656CD101125501636C75622E6578616D706C652F6D2F3831D1030161637400",
            "D101045501612E62FE", "5101045501612E62", "D1010055", "D10100", "C1010000000055", "D1000161", "D700",
            "D1010154",
            "D10103540061", "D1010255FF61", "9101045501612E62D10101", "D1025370", "D1020053", "F10101015561",
        ]
    )
    func lenientFaults(_ hex: String) throws {
        let fault = NDEFMessage.decodeLeniently(try Hex.decode(hex)).fault
        #expect(fault?.hint.contains("lenient") != true)
    }

    @Test("types of any bytes come back from JSON")
    func roundTripsTypes() throws {
        let every = NDEFRecord(tnf: .external, type: (0...254).map { UInt8($0) }, id: [0, 255], payload: [1])
        let slashes = NDEFRecord(tnf: .mime, type: ascii(#"a\x41"b\\ "#))
        for record in [every, slashes, NDEFRecord(tnf: .reserved, type: [0xFF], id: [])] {
            let data = try JSONEncoder().encode(record)
            #expect(try JSONDecoder().decode(NDEFRecord.self, from: data) == record)
        }
        #expect(slashes.typeName == #"a\x5Cx41"b\x5C\x5C "#)
        #expect(NDEFRecord.type(named: "é") == [0xC3, 0xA9])
    }

    @Test(
        "JSON that is no record is refused",
        arguments: [
            "{}", #"{"tnf":"unchanged"}"#, #"{"tnf":"mime","type":"a\\"}"#, #"{"tnf":"mime","type":"\\x+1"}"#,
            #"{"tnf":"mime","type":"\\n41"}"#, #"{"tnf":"mime","payload":"0"}"#, #"{"tnf":"mime","id":"zz"}"#,
        ]
    )
    func refusesJSON(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(NDEFRecord.self, from: Data(text.utf8)) }
    }
}
