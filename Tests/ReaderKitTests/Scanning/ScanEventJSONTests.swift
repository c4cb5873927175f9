import CardCore
import CardPasses
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

@Suite struct ScanEventJSONTests {
    private static let id = UUID(uuidString: "E220A839-7B1D-4DAF-AE78-9E6AA1B965F4") ?? UUID()

    private static func full() throws -> ScanEvent {
        ScanEvent(
            id: id,
            at: Date(timeIntervalSince1970: 1_795_249_800.123),
            reader: "SpringCard H518 [CCID] (000A1B2C) 00 00",
            backend: .pcsc,
            technology: .iso14443a,
            card: "MIFARE Ultralight",
            uid: CardUID([0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80], technology: .iso14443a),
            atr: [0x3B, 0x80, 0x80, 0x01, 0x01],
            ndef: [try .text("4|U1|x|Ann")],
            passes: [
                Pass(kind: .text, id: "U1", assurance: .identifier, name: "Ann"),
                Pass(kind: .uid, id: "04A1B2C3D4E580", assurance: .identifier),
            ],
            memberKey: "U1",
            memberName: "Ann",
            problems: [ScanEvent.Problem(.readFailed, "why")],
            duration: .microseconds(17_349)
        )
    }

    private static func text(_ event: ScanEvent) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(event), as: UTF8.self)
    }

    private static func decode(_ text: String) throws -> ScanEvent {
        try JSONDecoder().decode(ScanEvent.self, from: Data(text.utf8))
    }

    /// The contract, to the letter: keys in lowerCamelCase, bytes as upper-case hex, times in UTC with milliseconds.
    @Test func everyKey() throws {
        let expected =
            #"{"at":"2026-11-21T08:30:00.123Z","atr":"3B80800101","backend":"pcsc","card":"MIFARE Ultralight","#
            + #""durationMs":17.3,"event":"scan","id":"E220A839-7B1D-4DAF-AE78-9E6AA1B965F4","memberKey":"U1","#
            + #""memberName":"Ann","ndef":[{"encoding":"UTF-8","language":"en","#
            + #""payload":"02656E347C55317C787C416E6E","text":"4|U1|x|Ann","tnf":"well-known","type":"T"}],"#
            + #""passes":[{"assurance":"identifier","id":"U1","kind":"text","name":"Ann"},"#
            + #"{"assurance":"identifier","id":"04A1B2C3D4E580","kind":"uid"}],"#
            + #""problems":[{"code":"readFailed","message":"why"}],"#
            + #""reader":"SpringCard H518 [CCID] (000A1B2C) 00 00","technology":"iso14443a","#
            + #""uid":"04A1B2C3D4E580","uidKind":"fixed"}"#
        #expect(try Self.text(Self.full()) == expected)
        #expect(try Self.text(Self.decode(expected)) == expected)
    }

    @Test func absentValues() throws {
        let event = ScanEvent(id: Self.id, at: Date(timeIntervalSince1970: 0), reader: "A", backend: .simulated)
        let expected =
            #"{"at":"1970-01-01T00:00:00.000Z","backend":"simulated","card":"unknown","durationMs":0,"event":"scan","#
            + #""id":"E220A839-7B1D-4DAF-AE78-9E6AA1B965F4","passes":[],"reader":"A"}"#
        #expect(try Self.text(event) == expected)
        #expect(try Self.decode(expected) == event)
    }

    /// What a wallet gave, and which pass of it names the member.
    @Test func objects() throws {
        var event = ScanEvent(id: Self.id, at: Date(timeIntervalSince1970: 0), reader: "A", backend: .simulated)
        event.passes = [
            Pass(kind: .smartTap, id: "M-7", assurance: .cryptographicWithReplayProtection, type: "loyalty"),
            Pass(kind: .smartTap, id: "G-1", assurance: .cryptographicWithReplayProtection, type: "giftCard"),
        ]
        #expect(event.memberPass == nil)
        event.memberKey = "M-7"
        #expect(event.memberPass?.type == "loyalty")
        event.objects = [
            SmartTapObject(
                kind: .customer,
                issuer: .init(kind: 2, id: [0, 0, 0, 1]),
                customerID: [0xC0],
                tapID: [0xD0],
                language: "en"
            ),
            SmartTapObject(kind: .giftCard, issuer: .init(kind: 1, id: []), objectID: [1, 2], value: "G-1"),
        ]
        let text = try Self.text(event)
        #expect(
            text.contains(
                #""objects":[{"customerId":"C0","issuer":"00000001","issuerKind":2,"kind":"customer","language":"en","#
                    + #""tapId":"D0"},{"issuer":"","issuerKind":1,"kind":"giftCard","objectId":"0102","value":"G-1"}]"#
            )
        )
        #expect(
            text.contains(
                #"{"assurance":"cryptographicWithReplayProtection","id":"M-7","kind":"smartTap","type":"loyalty"}"#
            )
        )
        #expect(try Self.decode(text) == event)
        for wrong in [#""kind":"ly""#, #""issuer":"XX""#] {
            let other = text.replacing(
                wrong.hasPrefix(#""kind"#) ? #""kind":"giftCard""# : #""issuer":"00000001""#,
                with: wrong
            )
            #expect(throws: DecodingError.self) { try Self.decode(other) }
        }
        #expect(SmartTapObject.Issuer(kind: 1, id: [0, 0x01, 0x33, 0xEE, 0x80]).number == 20_180_608)
        #expect(SmartTapObject.Issuer(kind: 1, id: [UInt8](repeating: 1, count: 9)).number == nil)
    }

    /// Formatted but empty is not the same as no NDEF.
    @Test func emptyAndAbsentNDEF() throws {
        var event = ScanEvent(id: Self.id, at: Date(timeIntervalSince1970: 0), reader: "A", backend: .nfc)
        #expect(try !Self.text(event).contains("ndef"))
        #expect(try Self.decode(Self.text(event)).ndef == nil)
        event.ndef = []
        #expect(try Self.text(event).contains(#""ndef":[]"#))
        #expect(try Self.decode(Self.text(event)).ndef == [])
    }

    @Test func roundTrip() throws {
        var event = try Self.full()
        var decoded = try Self.decode(Self.text(event))
        // The time is written to a millisecond and the duration to a tenth of one.
        #expect(abs(decoded.at.timeIntervalSince(event.at)) < 0.001)
        decoded.at = event.at
        #expect(decoded.duration == .seconds(0.0173))
        decoded.duration = event.duration
        #expect(decoded == event)
        for backend in BackendKind.allCases {
            for technology in Technology.allCases.map(Optional.some) + [nil] {
                event.backend = backend
                event.technology = technology
                event.uid = CardUID([0xE0, 4, 1, 2, 3, 4, 5, 6], technology: technology)
                let copy = try Self.decode(Self.text(event))
                #expect(copy.backend == backend && copy.technology == technology && copy.uid == event.uid)
            }
        }
        for code in ScanEvent.Problem.Code.allCases {
            event.problems = [ScanEvent.Problem(code, "m")]
            #expect(try Self.decode(Self.text(event)).problems == event.problems)
        }
        for kind in Pass.Kind.allCases {
            for assurance in Pass.Assurance.allCases {
                event.passes = [Pass(kind: kind, id: "x", assurance: assurance)]
                #expect(try Self.decode(Self.text(event)).passes == event.passes)
            }
        }
    }

    /// The values that other programs read.
    @Test func rawValues() {
        #expect(BackendKind.allCases.map(\.rawValue) == ["pcsc", "nfc", "smartReader", "replay", "simulated"])
        #expect(Technology.allCases.map(\.rawValue) == ["iso14443a", "iso14443b", "felica", "iso15693"])
        #expect(CardUID.Kind.allCases.map(\.rawValue) == ["fixed", "random", "nonUnique"])
        #expect(Pass.Kind.allCases.map(\.rawValue) == ["appleVAS", "smartTap", "sdm", "ndef", "text", "uid"])
    }

    @Test(
        arguments: [
            (.zero, "0"), (.microseconds(49), "0"), (.microseconds(50), "0.1"), (.milliseconds(1), "1"),
            (.microseconds(1_234_567), "1234.6"), (.seconds(3600), "3600000"),
        ] as [(Duration, String)]
    )
    func durations(_ duration: Duration, _ text: String) throws {
        var event = ScanEvent(id: Self.id, at: Date(timeIntervalSince1970: 0), reader: "A", backend: .nfc)
        event.duration = duration
        #expect(try Self.text(event).contains(#""durationMs":\#(text),"#))
    }

    @Test func unknownKeysArePassedOver() throws {
        let text = try Self.text(Self.full()).replacing(#"{"at""#, with: #"{"later":{"x":[1]},"at""#)
        #expect(try Self.decode(text).memberKey == "U1")
    }

    @Test(arguments: [
        ("\"event\":\"scan\"", "\"event\":\"timeout\""), ("\"event\":\"scan\",", ""),
        ("2026-11-21T08:30:00.123Z", "yesterday"), ("2026-11-21T08:30:00.123Z", "2026-11-21"),
        ("\"uid\":\"04A1B2C3D4E580\"", "\"uid\":\"04A\""), ("\"atr\":\"3B80800101\"", "\"atr\":\"XX\""),
        ("E220A839-7B1D-4DAF-AE78-9E6AA1B965F4", "E220A839"), ("\"backend\":\"pcsc\"", "\"backend\":\"usb\""),
        ("iso14443a", "iso9999"), ("\"kind\":\"text\"", "\"kind\":\"magic\""), ("\"reader\":", "\"rdr\":"),
    ])
    func refused(_ part: String, _ replacement: String) throws {
        let text = try Self.text(Self.full())
        #expect(text.contains(part))
        #expect(throws: DecodingError.self) { try Self.decode(text.replacing(part, with: replacement)) }
    }
}
