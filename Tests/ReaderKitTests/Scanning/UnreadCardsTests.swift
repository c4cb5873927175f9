import CardCore
import CardPasses
import Captures
import Testing
import TestSupport

@testable import ReaderKit

/// "No message" and "no way to ask" are never the same: whose message could not be looked for is nobody, with a problem in
/// words, unless the place allows it. Trouble that people reported, as recordings, each with its neighbours.
@Suite struct UnreadCardsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The facts of the card, and its conversation: commands and answers in turn.
        var card: String
        var exchanges: [String]
        var member: String?
        var problem: ScanEvent.Problem.Code?
        var technology: Technology?

        init(
            _ name: String,
            _ card: String,
            _ exchanges: [String],
            member: String? = nil,
            problem: ScanEvent.Problem.Code? = nil,
            technology: Technology? = .iso14443a
        ) {
            testDescription = name
            (self.card, self.exchanges) = (card, exchanges)
            (self.member, self.problem, self.technology) = (member, problem, technology)
        }
    }

    private static let uid7 = ["> FFCA000000", "< 04112233445566 9000"]
    private static let uid = "04112233445566"
    private static let idm = "012E4CE445055B87"
    private static let idm8 = ["> FFCA000000", "< \(idm) 9000"]
    private static let v1 = "00A4040007D2760000850100", v2 = "00A4040007D2760000850101"
    /// The address `https://club.example/m/79`.
    private static let message = "D1011255 04" + ascii("club.example/m/79").hex

    /// The files of a Type 4 tag of that version, behind its application.
    private static func files(_ version: String) -> [String] {
        [
            "> 00A4000C02E103", "< 9000", "> 00B000000F", "< 000F\(version)0080003404 06E104040000 00 9000",
            "> 00A4000C02E104", "< 9000", "> 00B0000002", "< 00169000", "> 00B0000216", "< \(message) 9000",
        ]
    }

    /// An NTAG213 whose page 3 is given, read in blocks.
    private static func pages(_ container: String) -> [String] {
        let memory =
            bytes("045A2BFD 3A9C3980 1F480000" + container + "0316" + message + "FE") + [UInt8](repeating: 0, count: 40)
        return ["> FFCA000000", "< 045A2B3A9C3980 9000"]
            + (0..<12).flatMap { page in
                ["> FFB000\(Hex.encode([UInt8(page)]))10", "< \(Array(memory[4 * page..<4 * page + 16]).hex) 9000"]
            }
    }

    private static func blocks(_ container: String) -> [String] {
        let memory = bytes(container + "0316" + message + "FE") + [UInt8](repeating: 0, count: 16)
        return ["> FFCA000000", "< E002242233445566 9000"]
            + (0..<9).flatMap { block in
                ["> FFB000\(Hex.encode([UInt8(block)]))04", "< \(Array(memory[4 * block..<4 * block + 4]).hex) 9000"]
            }
    }

    /// An NTAG whose pages behind the container are refused.
    private static let locked = [
        "> FFCA000000", "< 045A2B3A9C3980 9000", "> FFB0000010", "< 045A2BFD3A9C39801F480000E1101200 9000",
        "> FFB0000410", "< 6982",
    ]

    /// A card whose page 0 is refused, as a block and alone.
    private static func refused(_ answer: String) -> [String] {
        uid7 + ["> FFB0000010", "< \(answer)", "> FFB0000004", "< \(answer)"]
    }

    /// A vicinity card with blocks of 8 bytes, by a reader that takes no other length.
    private static func blocks8(_ first: String, _ second: String) -> [String] {
        [
            "> FFCA000000", "< E002242233445566 9000", "> FFB0000004", "< 6300", "> FFB0000008", "< \(first) 9000",
            "> FFB0000108", "< \(second)", "> FFB0000010", "< 6300",
        ]
    }

    private static let storage = "3B8F8001804F0CA000000306"
    private static let ntag = "atr \(storage)0300030000000068"

    private static let type4: [Row] = [
        Row(
            "version 1, without Le",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6700", "> \(v2)", "< 6A82", "> \(v1)00", "< 6700", "> \(v1)", "< 9000"]
                + files("10"),
            member: "79"
        ),
        Row(
            "version 2, without Le",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6700", "> \(v2)", "< 9000"] + files("20"),
            member: "79"
        ),
        Row(
            "P2 0C",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6A86", "> \(v2)", "< 6A86", "> 00A4040C07D2760000850101", "< 9000"] + files("20"),
            member: "79"
        ),
        Row(
            "wrong length in each form",
            "atr 3B80800101",
            uid7
                + [v1, v2].flatMap {
                    ["> \($0)00", "< 6700", "> \($0)", "< 6700", "> 00A4040C\($0.dropFirst(8))", "< 6700"]
                },
            problem: .tagUnsupported
        ),
        Row("wrong length, no other form", "atr 3B80800101", uid7 + ["> \(v2)00", "< 6700"], problem: .tagUnsupported),
        Row(
            "wrong length, P2 0C alone",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6700", "> 00A4040C07D2760000850101", "< 9000"] + files("20"),
            member: "79"
        ),
        Row("an answer to fetch", "atr 3B80800101", uid7 + ["> \(v2)00", "< 6104"] + files("20"), member: "79"),
        Row(
            "a length that it names and does not take",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6C04", "> \(v2)", "< 9000"] + files("20"),
            member: "79"
        ),
        Row(
            "a length that it names",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6C04", "> \(v2)04", "< 6F028400 9000"] + files("20"),
            member: "79"
        ),
        Row(
            "E103 by P2 00",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 9000"]
                + files("20").flatMap { line in
                    line.hasPrefix("> 00A4000C") ? [line, "< 6A82", "> 00A40000" + line.dropFirst(10)] : [line]
                },
            member: "79"
        ),
        Row(
            "no E103",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 9000", "> 00A4000C02E103", "< 6A82", "> 00A4000002E103", "< 6A82"],
            member: uid
        ),
        Row(
            "no E103, and no other form",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 9000", "> 00A4000C02E103", "< 6A82"],
            member: uid
        ),
        Row(
            "conditions",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6985", "> \(v1)00", "< 6985"],
            problem: .tagUnsupported
        ),
        Row(
            "deactivated",
            "atr 3B80800101",
            uid7 + ["> \(v2)00", "< 6283", "> \(v1)00", "< 6A82"],
            problem: .tagUnsupported
        ),
        Row("locked", "atr 3B80800101", uid7 + ["> \(v2)00", "< 6982", "> \(v1)00", "< 6982"], problem: .tagProtected),
        Row("no application", "atr 3B80800101", uid7 + ["> \(v2)00", "< 6A82", "> \(v1)00", "< 6A82"], member: uid),
        Row("no SELECT", "atr 3B80800101", uid7 + ["> \(v2)00", "< 6D00"], member: uid),
        Row("no class", "atr 3B80800101", uid7 + ["> \(v2)00", "< 6E00"], member: uid),
        Row("the identifier alone", "atr 3B80800101", uid7, member: uid),
        Row("version 4", "atr 3B80800101", uid7 + ["> \(v2)00", "< 9000"] + files("40"), problem: .tagUnsupported),
        Row("version 0", "atr 3B80800101", uid7 + ["> \(v2)00", "< 9000"] + files("00"), problem: .tagUnsupported),
        Row("version 3", "atr 3B80800101", uid7 + ["> \(v2)00", "< 9000"] + files("30"), member: "79"),
        Row("without TCK", "atr 3B808001", uid7 + ["> \(v2)00", "< 9000"] + files("20"), member: "79"),
        Row("with a wrong TCK", "atr 3B80800100", uid7 + ["> \(v2)00", "< 9000"] + files("20"), member: "79"),
        Row(
            "a contact card's ATR",
            "atr 3B6500002063CB6600",
            uid7 + ["> \(v2)00", "< 9000"] + files("20"),
            member: "79",
            technology: nil
        ),
        Row(
            "a contact card's ATR, no application",
            "atr 3B6500002063CB6600",
            uid7 + ["> \(v2)00", "< 6A82", "> \(v1)00", "< 6A82"],
            member: uid,
            technology: nil
        ),
        Row("an ATR that is cut off", "atr 3B8180", uid7, problem: .tagUnsupported, technology: nil),
        Row("an ATR that is none", "atr 00", uid7, problem: .tagUnsupported, technology: nil),
        Row("no ATR", "", uid7, problem: .tagUnsupported, technology: nil),
    ]

    private static let storageCards: [Row] = [
        Row("Type 2 without TCK", "atr \(storage)03000300000000", pages("E1101200"), member: "79"),
        Row("Type 2, standard 0", "atr \(storage)00000300000000", pages("E1101200"), member: "79"),
        Row("Type 2 without a name", "atr \(storage)030000000000006B", pages("E1101200"), member: "79"),
        Row(
            "Type 2, no standard, no name",
            "atr \(storage)0000000000000068",
            pages("E1101200"),
            member: "79",
            technology: nil
        ),
        Row("Type 2, standard 4", "atr \(storage)040000000000006F", pages("E1101200"), member: "79", technology: nil),
        Row("Type 2, a short name", "atr 3B8B8001804F08A00000030603000300", pages("E1101200"), member: "79"),
        Row("Type 2, a contact card's ATR", "atr 3B0400000000", pages("E1101200"), member: "79", technology: nil),
        Row(
            "Type 2, a contact card's ATR, locked",
            "atr 3B0400000000",
            locked,
            problem: .tagProtected,
            technology: nil
        ),
        Row(
            "no standard, no name, locked",
            "atr \(storage)0000000000000068",
            locked,
            problem: .tagProtected,
            technology: nil
        ),
        Row("125 kHz", "atr \(storage)4000000000000028", refused("6300"), member: uid, technology: nil),
        Row(
            "a memory card with contacts",
            "atr \(storage)0D00000000000065",
            refused("6D00"),
            member: uid,
            technology: nil
        ),
        Row(
            "an unknown standard",
            "atr \(storage)120000000000007A",
            refused("6300"),
            problem: .tagUnsupported,
            technology: nil
        ),
        Row(
            "125 kHz, an older reader",
            "atr 3B06010022018227",
            refused("6300") + ["> \(v2)00", "< 6D00"],
            member: uid,
            technology: nil
        ),
        Row(
            "no standard, no name, refused",
            "atr \(storage)0000000000000068",
            uid7 + ["> FFB0000010", "< 6300"],
            problem: .tagUnsupported,
            technology: nil
        ),
        Row(
            "no standard, no name, the identifier alone",
            "atr \(storage)0000000000000068",
            uid7,
            member: uid,
            technology: nil
        ),
        Row("Type 2, version 0", ntag, pages("E1001200"), problem: .tagUnsupported),
        Row("Type 2, version 2", ntag, pages("E1201200"), problem: .tagUnsupported),
        Row("Type 2, version 1.5", ntag, pages("E1151200"), member: "79"),
        Row("Type 2, never formatted", ntag, pages("00000000"), member: "045A2B3A9C3980"),
        Row(
            "Type 5, version 2",
            "atr \(storage)0B00000000000063",
            blocks("E1800E01"),
            problem: .tagUnsupported,
            technology: .iso15693
        ),
        Row(
            "Type 5, version 0",
            "atr \(storage)0B00000000000063",
            blocks("E1000E01"),
            problem: .tagUnsupported,
            technology: .iso15693
        ),
        Row("Type 5", "atr \(storage)0B00000000000063", blocks("E1400E01"), member: "79", technology: .iso15693),
        Row(
            "Type 5 of a reader without a way",
            "atr \(storage)0B00000000000063",
            ["> FFCA000000", "< E002242233445566 9000", "> FFB0000004", "< 6A81"],
            problem: .tagUnsupported,
            technology: .iso15693
        ),
        Row(
            "Type 5 of a reader that says nothing",
            "atr \(storage)0B00000000000063",
            ["> FFCA000000", "< E002242233445566 9000", "> FFB0000004", "< 6300"],
            problem: .tagUnsupported,
            technology: .iso15693
        ),
        Row(
            "Type 5 that refuses",
            "atr \(storage)0B00000000000063",
            ["> FFCA000000", "< E002242233445566 9000", "> FFB0000004", "< 6A82"],
            member: "E002242233445566",
            technology: .iso15693
        ),
        Row(
            "Type 5, blocks of 8, blank",
            "atr \(storage)0B00000000000063",
            blocks8("0000000000000000", "0000000000000000 9000"),
            member: "E002242233445566",
            technology: .iso15693
        ),
        Row(
            "Type 5, blocks of 8, block 1 refused",
            "atr \(storage)0B00000000000063",
            blocks8("A1A2A3A4A5A6A7A8", "6300"),
            member: "E002242233445566",
            technology: .iso15693
        ),
        Row(
            "Classic, the identifier and the buzzer alone",
            "atr \(storage)030001000000006A",
            ["> FF00520000", "< 9000", "> FFCA000000", "< 3A5B7C9D 9000"],
            member: "3A5B7C9D"
        ),
        Row(
            "Classic of a reader without keys",
            "atr \(storage)030001000000006A",
            ["> FFCA000000", "< 3A5B7C9D 9000", "> FF82000006A0A1A2A3A4A5", "< 6A81"],
            problem: .tagUnsupported
        ),
        Row(
            "Classic with foreign keys",
            "atr \(storage)030001000000006A",
            [
                "> FFCA000000", "< 3A5B7C9D 9000", "> FF82000006A0A1A2A3A4A5", "< 9000", "> FF860000050100036000",
                "< 6300",
            ],
            member: "3A5B7C9D"
        ),
        Row(
            "Classic, the identifier alone",
            "atr \(storage)030001000000006A",
            ["> FFCA000000", "< 3A5B7C9D 9000"],
            member: "3A5B7C9D"
        ),
    ]

    private static let poll = "060012FC0000"
    private static let read = "1006\(idm)010B00018000", readMessage = "1206\(idm)010B000280018002"
    /// The attribute block of Nmaxb 13, and 23 bytes of message.
    private static let attributes = "10040100 0D000000 00000100 0016 0039"
    private static let pmm = "00F0000002060300"

    /// The frames of a FeliCa card with the message, carried by a PN53x.
    private static func feliCa(_ command: String, _ answer: String, polls: Bool = true) -> [String] {
        func exchange(_ frame: String, _ data: String) -> [String] {
            let (sent, got) = (bytes(command + frame), bytes(answer + "00" + data))
            return ["> FF000000" + Hex.encode([UInt8(sent.count)]) + sent.hex, "< " + got.hex + " 9000"]
        }
        let padded = bytes(message) + [UInt8](repeating: 0, count: 10)
        return (polls ? exchange(poll, "1201\(idm)\(pmm)") : [])
            + exchange(read, "1D07\(idm)000001\(attributes)") + exchange(readMessage, "2D07\(idm)000002\(padded.hex)")
    }

    private static let feliCaCards: [Row] = ["F011", "F012", "003B"].flatMap { name -> [Row] in
        let atr = "atr \(storage)03\(name)0000000000"
        return [
            Row("FeliCa \(name), the identifier alone", atr, idm8, member: idm, technology: .felica),
            Row(
                "FeliCa \(name), InCommunicateThru",
                atr,
                idm8 + ["> FFB0000010", "< 6300"] + feliCa("D442", "D543"),
                member: "79",
                technology: .felica
            ),
            Row(
                "FeliCa \(name), InDataExchange",
                atr,
                idm8 + ["> FFB0000010", "< 6A81"] + feliCa("D44001", "D541"),
                member: "79",
                technology: .felica
            ),
            Row(
                "FeliCa \(name), without a poll",
                atr,
                idm8 + feliCa("D44001", "D541", polls: false),
                member: "79",
                technology: .felica
            ),
            Row(
                "FeliCa \(name) without NDEF",
                atr,
                idm8 + ["> FFB0000010", "< 6300", "> FF00000008D442\(poll)", "< D54301 9000"],
                member: idm,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), no word",
                atr,
                idm8 + ["> FFB0000010", "< 6300"],
                problem: .tagUnsupported,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), no word on frames either",
                atr,
                idm8 + ["> FFB0000010", "< 6300", "> FF00000008D442\(poll)", "< 6300"],
                problem: .tagUnsupported,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), no such block",
                atr,
                idm8 + ["> FFB0000010", "< 6A82"],
                member: idm,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), no such service",
                atr,
                idm8 + ["> FFB0000010", "< 6300", "> FFA40001020B00", "< 6A82"],
                member: idm,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), no selecting of services",
                atr,
                idm8 + ["> FFB0000010", "< 6300", "> FFA40001020B00", "< 6A81"],
                problem: .tagUnsupported,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), the buzzer alone was heard",
                atr,
                ["> FF00520000", "< 9000"] + idm8 + ["> FFB0000010", "< 6300"],
                problem: .tagUnsupported,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), torn attributes",
                atr,
                idm8 + ["> FFB0000010", "< 100401000D0000000000010000160000 9000"],
                problem: .tagCorrupt,
                technology: .felica
            ),
            Row(
                "FeliCa \(name), no way",
                atr,
                idm8 + ["> FFB0000010", "< 6D00", "> FF00000008D442\(poll)", "< 6D00"],
                problem: .tagUnsupported,
                technology: .felica
            ),
        ]
    }

    /// Cards with a contact card's answer to reset that know no SELECT: what a refusal of pages means.
    private static let withoutSelect: [Row] = ["6D00", "6E00"].flatMap { select in
        [
            ("6283", true), ("6900", true), ("6982", true), ("6984", true), ("6A82", true), ("6B00", true),
            ("6F00", true),
            ("6F01", true), ("9000", true), ("6300", false), ("6400", false), ("6581", false),
        ].map { answer, isNo in
            Row(
                "a contact card's ATR, SELECT \(select), pages \(answer)",
                "atr 3B0400000000",
                ["> \(v2)00", "< \(select)"] + refused(answer),
                member: isNo ? uid : nil,
                problem: isNo ? nil : .tagUnsupported,
                technology: nil
            )
        }
    }

    static let rows: [Row] = type4 + storageCards + withoutSelect + feliCaCards

    private static func tap(_ row: Row, site: PassSite? = nil) async throws -> ScanEvent? {
        let text =
            (["capture 1", "reader: A", "card at 0.000 \(row.card)"] + row.exchanges + ["removed at 1.000", ""])
        let backend = ReplayBackend([try Capture(parsing: text.joined(separator: "\n"), file: "x.capture")])
        let scanner = CardScanner(backend, configuration: ScannerConfiguration(site: site))
        for await tap in scanner.taps() { return tap }
        return nil
    }

    @Test(arguments: rows) func whoItIs(_ row: Row) async throws {
        let tap = try #require(try await Self.tap(row))
        #expect(tap.memberKey == row.member)
        #expect(tap.problems.map(\.code) == [row.problem].compactMap { $0 }, "\(tap.problems)")
        #expect(tap.technology == row.technology)
        #expect(tap.uid?.kind == .fixed)
        for problem in tap.problems { #expect(problem.message.hasPrefix("could not ")) }
    }

    /// What the place allows, for what it names and nothing else.
    @Test(arguments: rows.filter { $0.problem != nil }) func whatAPlaceAllows(_ row: Row) async throws {
        for codes in [[.tagUnsupported], [.tagProtected], [.tagUnsupported, .tagProtected]]
            as [Set<ScanEvent.Problem.Code>]
        {
            let tap = try #require(try await Self.tap(row, site: PassSite(uidDespite: codes)))
            let isAllowed = row.problem.map(codes.contains) ?? true
            #expect(tap.memberKey == (isAllowed ? tap.uid?.hex : nil))
            #expect(tap.problems.map(\.code) == [row.problem])
        }
    }
}
