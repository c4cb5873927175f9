import CardCore
import CardPasses
import NDEFCodec
import Testing
import TestSupport

@testable import ReaderKit

/// What a report says of the card and its member.
@Suite struct ReportReadingTests {
    private static func line(
        _ template: UInt8?,
        _ id: String,
        _ data: String? = nil,
        proto: String? = "01",
        move: SmartReaderTag.Move? = nil
    ) -> String {
        let tag = SmartReaderTag(radioProtocol: proto, template: template, id: id, move: move, data: data)
        return (try? tag.line(as: .json)) ?? ""
    }

    /// An identifier of seven bytes.
    private static let seven = "04A1B2C3D4E580"

    private static func message(_ records: [NDEFRecord]) throws -> String { try NDEFMessage(records).encoded().hex }

    @Test(
        arguments: [
            // Passes of wallets. The identifier that a phone shows is another one each time.
            (line(0xD1, "08112233", "M-1042"), ["appleVAS M-1042"], "08112233"),
            (line(0xD2, "08112233", "12345678"), ["smartTap 12345678"], "08112233"),
            (line(0xD1, "M 1042"), ["appleVAS M 1042"], nil),
            (line(0xD2, seven, "M-1"), ["smartTap M-1", "uid \(seven)"], seven),
            // A template for NDEF gives the text or the address of a record, or with it all.
            (line(0x4E, seven, "https://club.example/m/42"), ["ndef 42", "uid \(seven)"], seven),
            (line(0x4E, seven, "U7"), ["ndef U7", "uid \(seven)"], seven),
            (line(0x4E, seven, "Welcome to us"), ["uid \(seven)"], seven),
            (line(0x41, "U7"), ["ndef U7"], nil),
            (line(0x4E, seven, "4|U1|x|Ann"), ["text U1", "uid \(seven)"], seven),
            (line(0x4E, seven, "D101055402656E5537"), ["ndef U7", "uid \(seven)"], seven),
            // A template of which only the number is known: what can be nothing else.
            (line(1, seven, "4|U1|x|Ann"), ["text U1", "uid \(seven)"], seven),
            (line(1, seven, #"{"userId":"U1"}"#), ["ndef U1", "uid \(seven)"], seven),
            (line(2, seven, "https://club.example/m/42"), ["ndef 42", "uid \(seven)"], seven),
            (line(1, seven, "00047DAE02C84080"), ["uid \(seven)"], seven),
            (line(1, seven, "00"), ["uid \(seven)"], seven),
            (line(nil, seven), ["uid \(seven)"], seven),
            (line(1, "4|U1|x|Ann"), ["text U1"], nil), (line(1, "M-1042", "00"), ["uid M-1042"], nil),
            // A template for other data.
            (line(0x71, seven, "M-1042"), ["uid M-1042", "uid \(seven)"], seven),
            // Identifiers alone.
            ("+\(seven)", ["uid \(seven)"], seven),
            ("04:a1:b2:c3", ["uid 04A1B2C3"], "04A1B2C3"),
            ("+M-1042", ["uid M-1042"], nil), ("0077705923", ["uid 0077705923"], nil), ("+two words", [], nil),
            ("https://club.example/m/42", ["ndef 42"], nil), ("4|U1|x|Ann", ["text U1"], nil),
            (#"{"userId":"U1"}"#, ["ndef U1"], nil),
        ] as [(String, [String], String?)]
    )
    func passes(_ line: String, _ passes: [String], _ uid: String?) throws {
        let reading = try #require(ReportReading.read(line))
        #expect(reading.passes.map { "\($0.kind) \($0.id)" } == passes)
        #expect(reading.problems.isEmpty)
        #expect(reading.passes.allSatisfy { $0.assurance == .identifier })
        #expect(reading.uid?.hex == uid)
        #expect(reading.member?.key == reading.passes.first?.id)
    }

    @Test func messageInHexadecimal() throws {
        let message = try Self.message([.uri("https://club.example/m/42"), .text("Welcome to us")])
        for template in [0x4E, 1, nil] as [UInt8?] {
            let reading = try #require(ReportReading.read(Self.line(template, "04A1B2C3D4E580", message)))
            #expect(reading.ndef?.count == 2)
            #expect(reading.passes.map(\.id) == ["42", "04A1B2C3D4E580"])
        }
        // Cut off: where a message is expected, nobody may be taken for its member; elsewhere it is just data.
        let torn = String(message.dropLast(2))
        let reading = try #require(ReportReading.read(Self.line(0x4E, "04A1B2C3D4E580", torn)))
        #expect(reading.problems.map(\.code) == [.ndefMalformed])
        #expect(reading.member == nil)
        let other = try #require(ReportReading.read(Self.line(1, "04A1B2C3D4E580", torn)))
        #expect(other.problems.isEmpty)
        #expect(other.member?.key == "04A1B2C3D4E580")
    }

    @Test(
        arguments: [
            // Who shows another identifier each time, or one that others have too, is nobody.
            ("+08112233", .randomUID), (line(1, "08112233"), .randomUID),
            (line(1, "262BA1B0", proto: "02"), .randomUID),
            (line(1, "0F112233"), .nonUniqueUID), ("+00000000", .nonUniqueUID),
            // A pass that is not well formed, and not the card's identifier in its stead.
            (line(1, seven, "4|U1|x"), .invalidPass),
            (line(0x4E, "04A1B2C3D4E580", "4||x|Ann"), .invalidPass),
            (line(0xD1, seven, String(repeating: "9", count: 300)), .invalidPass),
            (line(0xD2, "08112233", "a\u{200B}b"), .invalidPass), ("4|U1|x", .invalidPass),
            // Lines that are damaged.
            ("$SCRDR;01;01;01;;04A1B2C3;;;*00", .readFailed), (#"{"TagId":"04A1"#, .readFailed), ("+", .readFailed),
            ("", .readFailed), ("04A1\u{7}B2", .readFailed),
        ] as [(String, ScanEvent.Problem.Code)]
    )
    func nobody(_ line: String, _ problem: ScanEvent.Problem.Code) throws {
        let reading = try #require(ReportReading.read(line))
        #expect(reading.problems.map(\.code) == [problem])
        #expect(reading.member == nil)
        #expect(reading.passes.isEmpty)
        #expect(!reading.problems.contains { $0.message.contains("04A1") || $0.message.contains("U1") })
    }

    @Test func whatIsNoTap() {
        for line in ["$SCRDR*54", "# S550/RDR", Self.line(1, "04A1B2C3", move: .remove)] {
            #expect(ReportReading.read(line) == nil)
        }
        #expect(ReportReading.read(Self.line(1, "04A1B2C3", move: .insert)) != nil)
    }

    @Test(
        arguments: [
            ("NFC-A", "04A1B2C3", .iso14443a, "ISO 14443 A card"),
            ("02", "D002112233445566", .iso14443b, "ISO 14443 B card"),
            ("NFC-F", "0112233445566778", .felica, "FeliCa"), ("NFC-V", "66554433221104E0", .iso15693, "ISO 15693 tag"),
            (nil, "04A1B2C3", nil, "unknown"),
        ] as [(String?, String, Technology?, String)]
    )
    func cards(_ proto: String?, _ id: String, _ technology: Technology?, _ card: String) throws {
        let reading = try #require(ReportReading.read(Self.line(1, id, proto: proto)))
        #expect(reading.technology == technology)
        #expect(reading.card == card)
        #expect(reading.uid?.bytes.first == (technology == .iso15693 ? 0xE0 : reading.uid?.bytes.first))
        let pass = try #require(ReportReading.read(Self.line(0xD1, "08112233", "M-1")))
        #expect(pass.card == "Apple Wallet pass")
    }
}
