import CardCore
import Testing
import TestSupport

@testable import ReaderKit

/// What each line says.
@Suite struct SmartReaderLineTests {
    /// A `$SCRDR` line with the check byte that its characters have.
    static func line(_ body: String) -> String {
        "$\(body)*" + Hex.encode([body.utf8.reduce(0, ^)])
    }

    private static func error(_ text: String, _ format: SmartReaderFormat? = nil) -> SmartReaderLineError? {
        do throws(SmartReaderLineError) {
            _ = try SmartReaderLine(decoding: text, as: format)
            return nil
        } catch {
            return error
        }
    }

    /// Check bytes that were computed elsewhere.
    @Test(
        arguments: [
            (
                "$SCRDR;01;01;01;;047DAE02C84080;;;*53",
                SmartReaderTag(interface: "01", radioProtocol: "01", template: 1, id: "047DAE02C84080")
            ),
            (
                "$SCRDR;01;01;01;;047DAE02C84080;I;00047DAE02C84080;*1C",
                SmartReaderTag(
                    interface: "01",
                    radioProtocol: "01",
                    template: 1,
                    id: "047DAE02C84080",
                    move: .insert,
                    data: "00047DAE02C84080"
                )
            ),
            (
                "$SCRDR;01;02;02;D8;262BA1B0;R;;*0D",
                SmartReaderTag(
                    interface: "01",
                    radioProtocol: "02",
                    template: 2,
                    rssi: -40,
                    id: "262BA1B0",
                    move: .remove
                )
            ),
            (
                "$SCRDR;1;4;D1;-40;08112233;IR;M-1042;x y*58",
                SmartReaderTag(
                    interface: "01",
                    radioProtocol: "04",
                    template: 0xD1,
                    rssi: -40,
                    id: "08112233",
                    move: .insertAndRemove,
                    data: "M-1042",
                    details: "x y"
                )
            ),
        ]
    )
    func scrdr(_ text: String, _ tag: SmartReaderTag) throws {
        for format in [nil, SmartReaderFormat.scrdr] {
            #expect(try SmartReaderLine(decoding: text, as: format) == .tag(tag))
            // The digits of the check byte may be of either case, and white space may stand round the line.
            #expect(try SmartReaderLine(decoding: " \(text) ", as: format) == .tag(tag))
        }
        let star = text.index(text.endIndex, offsetBy: -2)
        let lowerCase = text[..<star] + text[star...].lowercased()
        #expect(try SmartReaderLine(decoding: String(lowerCase)) == .tag(tag))
    }

    @Test(arguments: [
        "$SCRDR*54", "$SCRDR;;;;;;;;*54", "# S550/RDR", "# M519/RDR",
        #"{"VendorName":"SpringCard","ProductName":"S550","SerialNumber":"DA1275B0","Open":true}"#,
    ])
    func greetings(_ text: String) throws {
        #expect(try SmartReaderLine(decoding: text) == .greeting)
    }

    @Test(
        arguments: [
            (
                #"{"Interface":"13.56","Protocol":"NFC-A","Template":1,"TagId":"047DAE02C84080","#
                    + #""TagData":"00047DAE02C84080","Uptime":"699:16.850"}"#,
                SmartReaderTag(
                    interface: "13.56",
                    radioProtocol: "NFC-A",
                    template: 1,
                    id: "047DAE02C84080",
                    data: "00047DAE02C84080",
                    uptime: "699:16.850"
                )
            ),
            (
                #"{ "TagId" : "04A1B2C3", "RSSI" : -40, "Move" : "Insert,Remove", "Other" : [1, {"a": null}, true] }"#,
                SmartReaderTag(rssi: -40, id: "04A1B2C3", move: .insertAndRemove)
            ),
            (
                #"{"TagId":"04A1B2C3","State":"Remove","TagDetails":"a\"b\\c\u00e9\ud83d\ude00\/"}"#,
                SmartReaderTag(id: "04A1B2C3", move: .remove, details: #"a"b\cé😀/"#)
            ),
            (#"{"tagid":"","tagdata":"{\"userId\":\"U1\"}"}"#, SmartReaderTag(id: "", data: #"{"userId":"U1"}"#)),
        ]
    )
    func json(_ text: String, _ tag: SmartReaderTag) throws {
        for format in [nil, SmartReaderFormat.json] {
            #expect(try SmartReaderLine(decoding: text, as: format) == .tag(tag))
        }
    }

    @Test(
        arguments: [
            ("+04A1B2C3D4E580", nil, "04A1B2C3D4E580"), ("+ M-1042 ", .mk1, "M-1042"),
            ("04A1B2C3D4E580", nil, "04A1B2C3D4E580"), ("+4|U1|x|Ann", .plain, "+4|U1|x|Ann"),
            (" Grüße \t", nil, "Grüße"), (#"{"userId":"U1"}"#, nil, #"{"userId":"U1"}"#), ("$SCRDR", .plain, "$SCRDR"),
        ] as [(String, SmartReaderFormat?, String)]
    )
    func identifierAlone(_ text: String, _ format: SmartReaderFormat?, _ id: String) throws {
        #expect(try SmartReaderLine(decoding: text, as: format) == .tag(SmartReaderTag(id: id)))
    }

    @Test(
        arguments: [
            ("", nil, .empty, 0), ("  ", nil, .empty, 0),
            ("$SCRDR;01;01;01;;04A1B2C3;;;", nil, .noCheckByte, 28),
            ("$SCRDR;01;01;01;;04A1B2C3;;;*", nil, .noCheckByte, 29),
            ("$SCRDR;01;01;01;;04A1B2C3;;;*5", nil, .noCheckByte, 30),
            ("$SCRDR;01;01;01;;04A1B2C3;;;*5G", nil, .noCheckByte, 29),
            ("$SCRDR;01;01;01;;04A1B2C3;;;*00", nil, .wrongCheckByte, 29),
            (line("SCRDR;01;01;01;;04A1B2C3;;"), nil, .fieldCount, 27),
            (line("SCRDR;01;01;01;;04A1B2C3;;;;"), nil, .fieldCount, 29),
            (line("SCRDR01;01;01;;04A1B2C3;;;"), nil, .fieldCount, 6),
            (line("SCCMD;01"), nil, .wrongBeginning, 0),
            (line("SCRDR;0G;01;01;;04A1B2C3;;;"), nil, .invalidField, 7),
            (line("SCRDR;01;001;01;;04A1B2C3;;;"), nil, .invalidField, 10),
            (line("SCRDR;01;01;01;-400;04A1B2C3;;;"), nil, .invalidField, 16),
            (line("SCRDR;01;01;01;;04A1B2C3;X;;"), nil, .invalidField, 26),
            (line("SCRDR;01;01;01;;;;;"), nil, .noIdentifier, 17),
            (line("SCRDR;01;01;01;;04A1B2C3;;;caf\u{E9}"), nil, .notPrintable, 31),
            ("+", nil, .noIdentifier, 1), ("+ ", .mk1, .noIdentifier, 1), ("#S550", nil, .wrongBeginning, 0),
            ("04A1", .mk1, .wrongBeginning, 0), ("04A1", .json, .wrongBeginning, 0),
            ("04A1", .scrdr, .wrongBeginning, 0),
            ("{", nil, .invalidJSON, 1), (#"{"TagId":"04"#, nil, .invalidJSON, 12),
            (#"{"TagId":04A1}"#, nil, .invalidJSON, 11),
            (#"{"TagId":"04A1"}}"#, nil, .invalidJSON, 16), (#"{"TagId":"04A1",}"#, nil, .invalidJSON, 16),
            (#"{"TagId":"\x"}"#, nil, .invalidJSON, 11), (#"{"TagId":"\ud83d"}"#, nil, .invalidJSON, 16),
            (#"{"TagId":"04A1","Template":300}"#, nil, .invalidField, 27),
            (#"{"TagId":"04A1","Move":"Stay"}"#, nil, .invalidField, 23),
            (#"{"TagId":""}"#, nil, .noIdentifier, 9), (#"{"Protocol":"NFC-A"}"#, nil, .noIdentifier, 20),
            (#"{"userId":"U1"}"#, .json, .noIdentifier, 15),
            ("04A1\u{7}B2", nil, .notPrintable, 4), ("caf\u{FFFD}", nil, .notPrintable, 3),
        ] as [(String, SmartReaderFormat?, SmartReaderLineError.Code, Int)]
    )
    func malformed(_ text: String, _ format: SmartReaderFormat?, _ code: SmartReaderLineError.Code, _ offset: Int) {
        let error = Self.error(text, format)
        #expect(error == SmartReaderLineError(code, at: offset))
        #expect(error?.description.contains("04A1") == false)
    }

    @Test func tooLong() {
        let longest = String(repeating: "A", count: SmartReaderLimits.lineLength)
        #expect(Self.error(longest) == nil)
        #expect(Self.error(longest + "A")?.code == .tooLong)
    }

    @Test(arguments: [(SmartReaderLimits.jsonDepth, true), (SmartReaderLimits.jsonDepth + 1, false)])
    func nesting(_ depth: Int, _ isAllowed: Bool) {
        let inner = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
        #expect((Self.error(#"{"TagId":"04A1B2C3","x":\#(inner)}"#) == nil) == isAllowed)
    }

    /// What was made can be read, in every format that can hold it; what no format can hold is refused.
    @Test(arguments: SmartReaderFormat.allCases) func encoding(_ format: SmartReaderFormat) throws {
        let tag = SmartReaderTag(
            interface: "01",
            radioProtocol: "01",
            template: 0x4E,
            rssi: -60,
            id: "04A1B2C3D4E580",
            move: .insert,
            data: "https://club.example/m/42",
            details: "x"
        )
        let line = try tag.line(as: format)
        guard case .tag(let read) = try SmartReaderLine(decoding: line, as: format) else {
            Issue.record("no tag")
            return
        }
        switch format {
        case .scrdr: #expect(read == tag)
        case .json:
            #expect(read.radioProtocol == "NFC-A")
            #expect(read.technology == tag.technology)
            #expect((read.id, read.data, read.move, read.template) == (tag.id, tag.data, tag.move, tag.template))
        case .mk1, .plain: #expect(read.id == tag.data)
        }
        #expect(try SmartReaderTag(id: "04A1B2C3").line(as: .mk1) == "+04A1B2C3")
    }

    @Test(
        arguments: [
            (.scrdr, "a;b"), (.scrdr, "a*b"), (.scrdr, "a$b"), (.scrdr, "é"), (.scrdr, "a\nb"), (.mk1, "a\nb"),
            (.plain, "a\u{7F}"),
        ] as [(SmartReaderFormat, String)]
    )
    func notEncodable(_ format: SmartReaderFormat, _ data: String) {
        #expect(throws: SmartReaderLineError.self) { try SmartReaderTag(id: "04", data: data).line(as: format) }
    }

    @Test func anyTextSurvivesJSON() throws {
        let text = "a\"b\\c\u{1}\té\u{1F600}/"
        let line = try SmartReaderTag(id: "04A1B2C3", data: text, details: text).line(as: .json)
        #expect(try SmartReaderLine(decoding: line) == .tag(SmartReaderTag(id: "04A1B2C3", data: text, details: text)))
    }

    @Test(
        arguments: [
            ("01", "04A1B2C3", .iso14443a), ("NFC-A", "04A1B2C3", .iso14443a), ("NFC-T1T", "04A1B2C3", .iso14443a),
            ("02", "04A1B2C3", .iso14443b), ("ST-SR", "D002112233445566", .iso14443b),
            ("04", "E004112233445566", .iso15693), ("04", "66554433221104E0", .iso15693), ("04", "04A1B2C3", nil),
            ("NFC-V", "E004112233445566", .iso15693), ("NFC-F", "0112233445566778", .felica), ("09", "04A1B2C3", nil),
            ("Innovatron", "262BA1B0", nil), (nil, "04A1B2C3", nil),
        ] as [(String?, String, Technology?)]
    )
    func technologies(_ name: String?, _ id: String, _ technology: Technology?) {
        #expect(SmartReaderTag(radioProtocol: name, id: id).technology == technology)
    }

    /// Nothing that identifies a person is in what ends up in logs.
    @Test func descriptionsSayNothing() {
        let tag = SmartReaderTag(template: 0xD1, id: "04A1B2C3", move: .insert, data: "M-1042", details: "Ann")
        for text in ["\(tag)", String(reflecting: tag)] {
            for secret in ["04A1", "1042", "Ann"] { #expect(!text.contains(secret)) }
        }
    }
}
