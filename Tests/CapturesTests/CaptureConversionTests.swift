import ReaderKit
import CardCore
import CardPasses
import CardTags
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

/// Logs of other programs. Those in `Logs` were recorded for this project: pcscd 1.9.9 with its virtual reader, and
/// libnfc 1.8.0 with a simulated PN532, all with made-up cards.
@Suite struct CaptureConversionTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Logs").path

    static func log(_ name: String) throws -> [UInt8] { try CaptureFiles.bytes(of: folder + "/" + name) }

    private func text(of log: String, _ format: CaptureConversion.Format? = nil) throws -> String {
        try CaptureConversion(Array(log.utf8), format: format).capture.text()
    }

    private func members(_ capture: Capture) async -> [String?] {
        var keys: [String?] = []
        for await case .scan(let tap) in CardScanner(ReplayBackend([capture])).events() { keys.append(tap.memberKey) }
        return keys
    }

    // MARK: Recorded logs

    @Test(arguments: [
        ("pcscd-apdu.log", CaptureConversion.Format.pcscd, 1, 7),
        ("pcscd-debug-colour.log", .pcscd, 2, 14),
        ("pcscd-debug.log", .pcscd, 2, 15),
        ("libnfc-ntag.log", .libnfc, 1, 5),
        ("libnfc-t4.log", .libnfc, 1, 7),
        ("scriptor.txt", .transcript, 1, 1),
        ("opensc-tool.txt", .transcript, 1, 2),
    ])
    func readsWhatProgramsWrite(
        name: String,
        format: CaptureConversion.Format,
        presentations: Int,
        exchanges: Int
    ) throws {
        let conversion = try CaptureConversion(Self.log(name), file: name)
        #expect(conversion.format == format)
        #expect(conversion.capture.presentations.count == presentations)
        #expect(conversion.capture.presentations.reduce(0) { $0 + $1.exchanges.count } == exchanges)
        #expect(conversion.capture.source == "converted from \(format.title)")
        #expect(try Capture(parsing: conversion.capture.text()) == conversion.capture)
        let review = CaptureReview(of: conversion.capture)
        #expect(!review.warnings.contains { [.noSource, .notRemoved, .timeBackwards, .empty].contains($0.code) })
    }

    @Test func pcscdTellsTheReadersAndTheTimes() async throws {
        let capture = try CaptureConversion(Self.log("pcscd-debug-colour.log")).capture
        #expect(capture.readers.map(\.name).sorted() == ["Virtual PCD 00 00", "Virtual PCD 00 01"])
        let first = try #require(capture.presentations.first)
        #expect(capture.readerName(first.reader) == "Virtual PCD 00 00")
        #expect(first.facts.atr == [0x3B, 0x80, 0x80, 0x01, 0x01])
        #expect(first.exchanges.count == 7)
        #expect(capture.presentations.last?.facts.atr == [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80])
        #expect(first.exchanges.allSatisfy { ($0.at ?? .zero) > first.at })
        #expect(try #require(first.removedAt) > .seconds(2))
        #expect(await members(capture).first == "44")
    }

    @Test func theApduLogAloneReplaysWithAnATR() async throws {
        let conversion = try CaptureConversion(
            Self.log("pcscd-apdu.log"),
            reader: "Front desk",
            atr: [0x3B, 0x80, 0x80, 0x01, 0x01]
        )
        #expect(conversion.capture.readers.map(\.name) == ["Front desk"])
        #expect(conversion.skippedLines == 0)
        #expect(await members(conversion.capture) == ["44"])
    }

    @Test func libnfcGivesFactsAndFrames() async throws {
        let ntag = try CaptureConversion(Self.log("libnfc-ntag.log")).capture
        let card = try #require(ntag.presentations.first)
        #expect(card.facts.technology == .iso14443a)
        #expect(card.facts["atqa"] == [0x00, 0x44])
        #expect(card.facts["sak"] == [0x00])
        #expect(card.facts["uid"] == [0x04, 0x13, 0x5C, 0x7E, 0x90, 0x2B, 0x80])
        #expect(card.exchanges.first?.request == .raw(RawFrame([0x30, 0x00])))
        // A page behind the last, which the tag refuses: the chip only tells that something failed.
        #expect(card.exchanges[3].answer == .fault(.commError))
        #expect(card.removedAt != nil)
        #expect(await members(ntag) == ["U31"])

        let type4 = try CaptureConversion(Self.log("libnfc-t4.log")).capture
        #expect(type4.presentations.first?.facts["ats"] == [0x75, 0x77, 0x81, 0x02, 0x80])
        #expect(
            type4.presentations.first?.exchanges.first?.request == .apdu(CommandAPDU.selectNDEFApplication.encoded())
        )
    }

    // MARK: Forms, as a table

    @Test(arguments: [
        // scriptor and people
        ("> 00A40400\n< 9000", "> 00 A4 04 00\n< 90 00"),
        ("> 00 a4 04 00\n< 90 00 : Normal processing.", "> 00 A4 04 00\n< 90 00"),
        ("=> FF:CA:00:00:00\n<= 04:A1:90:00", "> FF CA 00 00 00\n< 04 A1 90 00"),
        ("-> 0x00, 0xA4, 0x04, 0x00\n<- 0x90, 0x00", "> 00 A4 04 00\n< 90 00"),
        ("--> 00 A4 04 00\n<-- 90 00", "> 00 A4 04 00\n< 90 00"),
        // pyscard: the status word without leading zeros
        ("> 00 A4 04 00\n<  [] 90 0 ", "> 00 A4 04 00\n< 90 00"),
        ("> 00 A4 04 00\n< 01 02 90 0", "> 00 A4 04 00\n< 01 02 90 00"),
        // gscriptor and others
        ("Sending: 00 A4 04 00\nReceived: 90 00", "> 00 A4 04 00\n< 90 00"),
        ("C-APDU: 00A40400\nR-APDU: 9000", "> 00 A4 04 00\n< 90 00"),
        // GlobalPlatformPro
        ("A>> T=1 (4+0000) 00A40400 00\nA<< (0000+2) (12ms) 9000", "> 00 A4 04 00 00\n< 90 00"),
        // raw frames
        (">> 39 02\n<< 03 14 00", ">> 39 02\n<< 03 14 00"), ("> 39 02\n< 03 14 00", ">> 39 02\n<< 03 14 00"),
        // times, continued lines, comments, faults
        ("09:00:01.250 > 00 A4 04 00\n[card] < 90 00", "> 00 A4 04 00\n< 90 00"),
        ("> 00 A4 04 00\n< 01 02\n03 04 90 00", "> 00 A4 04 00\n< 01 02 03 04 90 00"),
        ("> 00\u{200B} A4\u{202F}04&nbsp;00\n< 90\u{A0}00", "> 00 A4 04 00\n< 90 00"),
        ("> Command: 00 A4 04 00\n> Response: 90 00", "> 00 A4 04 00\n< 90 00"),
        ("# a comment\n> 00 A4 04 00 # select\n! timeout", "> 00 A4 04 00\n! timeout"),
        ("\u{1B}[32m> 00 A4 04 00\u{1B}[0m\r\n< 90 00\r\n", "> 00 A4 04 00\n< 90 00"),
        // opensc-tool, whose dump shows characters that are digits too
        ("Sending: 00 CA 00 00\nReceived (SW1=0x90, SW2=0x00):\n41 42 43 ABC\n", "> 00 CA 00 00\n< 41 42 43 90 00"),
        ("Sending: 00 CA 00 00\nReceived (SW1=0x6D, SW2=0x00)\n", "> 00 CA 00 00\n< 6D 00"),
        // readerctl apdu: for people, with a dump, as JSON
        ("> 00 A4 04 00\n< 9000 (success)", "> 00 A4 04 00\n< 90 00"),
        ("> 00 A4 04 00\n< 04 A1 6A82 (file or application not found)", "> 00 A4 04 00\n< 04 A1 6A 82"),
        (
            "> 00 B0 00 00 12\n< 9000 (success), 18 bytes\n"
                + "  0000  41 42 43 44 45 46 47 48 49 4A 4B 4C 4D 4E 4F 50  |ABCDEFGHIJKLMNOP|\n"
                + "  0010  51 7C                                            |Q||\n",
            "> 00 B0 00 00 12\n< 41 42 43 44 45 46 47 48 49 4A 4B 4C 4D 4E 4F 50 51 7C 90 00"
        ),
        (">> 30 04\n<< 00/4", ">> 30 04\n<< 00/4"), (">> 3A 09 04\n<< 00/4", ">> 3A 09 04\n<< 00/4"),
        (">> A2 04 01 02 03 04\n<< 0A/4", ">> A2 04 01 02 03 04\n<< 0A/4"), (">> 26/7\n<< 44 00", ">> 26/7\n<< 44 00"),
        (">> 30 04\n<< , 2 bytes\n  0000  03 14                                            |..|", ">> 30 04\n<< 03 14"),
        (
            #"{"command":"FFCA000000","data":"04A1","durationMs":1.5,"statusName":"success","statusWord":"9000"}"#,
            "> FF CA 00 00 00\n< 04 A1 90 00"
        ),
        (#"{"command":"A20401020304","data":"0A/4","durationMs":1.5}"#, ">> A2 04 01 02 03 04\n<< 0A/4"),
    ])
    func readsTranscripts(log: String, said: String) throws {
        let conversion = try CaptureConversion(Array(log.utf8))
        #expect(conversion.format == .transcript)
        #expect(conversion.capture.text().contains(said + "\n"), "\(conversion.capture.text())")
        #expect(conversion.capture.presentations.first?.exchanges.count == 1)
    }

    @Test func aTranscriptNamesCardsAndItsReader() throws {
        let log = """
            Using given card reader: Front desk 00 00
            Card ATR: 3B 80 80 01 01
            > 00 A4 04 00
            < 90 00
            ATR: 3B8180018080
            > 00 A4 04 00
            < 6A 82
            that is all
            """
        let conversion = try CaptureConversion(Array(log.utf8), atr: [0x3B, 0x00])
        #expect(conversion.capture.readers.map(\.name) == ["Front desk 00 00"])
        #expect(conversion.capture.presentations.map(\.facts.atr?.hex) == ["3B80800101", "3B8180018080"])
        #expect(conversion.skippedLines == 1)
    }

    @Test(arguments: [
        ("00000003 APDU: 00 A4 04 00 \n00041834 SW: 90 00 ", "> 00 A4 04 00\n< 90 00 @ 0.041834\n"),
        // pcscd 2.x, with threads and the paths of its build
        (
            "00000005 [140017007589056] APDU: 00 A4 04 00\n00000004 [140017007589056] ifdhandler.c:1384:IFDHTransmit()\n"
                + "00000010 [140017007589056] SW: 90 00", "> 00 A4 04 00\n< 90 00 @ 0.000014\n"
        ),
        // the journal
        (
            "Nov 21 15:00:00 desk pcscd[2811]: 04370016 APDU: 00 A4 04 00\n"
                + "Nov 21 15:00:00 desk pcscd[2811]: 00000035 SW: 90 00", "> 00 A4 04 00\n< 90 00 @ 0.000035\n"
        ),
        // the driver reported an error: there is no SW
        ("00000001 APDU: 00 A4 04 00\n00000001 APDU: 00 A4 04 00\n00000001 SW: 90 00", "! comm-error @ 0.000001\n> 00"),
        ("00000001 APDU: 00 A4 04 00\n00000001 SW: \n", "> 00 A4 04 00\n! comm-error @ 0.000001\n"),
        // an escape command as the CCID driver logs it
        (
            """
            00000001 [1] winscard.c:258:SCardConnect() Attempting Connect to Desk [CCID] 00 00 using protocol: 3
            00000001 [1] ifdhandler.c:1440:IFDHControl() ControlCode: 0x42000D48, usb:076b/3021 (lun: 0)
            00000001 [1] Control TxBuffer: 58 20
            00000001 [1] Control RxBuffer: 00 41
            """, "control 0x42000D48 > 58 20\n< 00 41 @ 0.000003\n"
        ),
    ])
    func readsPCSCD(log: String, said: String) throws {
        let text = try text(of: log, .pcscd)
        #expect(text.contains(said), "\(text)")
    }

    /// A log that names one reader is one of that reader, and an ATR is that of a card.
    @Test func pcscdWithOneReader() throws {
        let early = try CaptureConversion(
            Array(
                """
                00000000 [1] APDU: FF CA 00 00 00
                00000010 [1] SW: 04 90 00
                00000010 [2] winscard.c:258:SCardConnect() Attempting Connect to Desk 00 00 using protocol: 3
                00000010 [2] APDU: 00 A4 04 00
                00000010 [2] SW: 90 00
                """.utf8
            )
        ).capture
        #expect(early.readers.map(\.name) == ["Desk 00 00"])
        #expect(early.presentations.map(\.exchanges.count) == [2])
        let silent = try CaptureConversion(Array("00000001 Card ATR: 3B 80 80 01 01\n".utf8)).capture
        #expect(silent.presentations.map(\.facts.atr) == [[0x3B, 0x80, 0x80, 0x01, 0x01]])
        let removed = try CaptureConversion(
            Array(
                """
                00000001 Card ATR: 3B 80 80 01 01
                00000010 eventhandler.c:358:EHStatusHandlerThread() Card Removed From Desk 00 00
                """.utf8
            )
        ).capture
        #expect(removed.readers.map(\.name) == ["Desk 00 00"])
        #expect(removed.presentations.map(\.removedAt) == [.microseconds(10)])
    }

    /// What loggers write before a line, with a name for `%`: nfcpy with `-d` and `-f`, Python's own forms, Java's.
    @Test(arguments: [
        "DEBUG [%] ", "2026-05-14 18:41:50,123 DEBUG [%] ", "DEBUG:%:", "2026-05-14 18:41:50,123 - % - DEBUG - ",
        "debug: ", "18:41:50.123 [main] TRACE % - ", "INFO - % - ",
        "05-14 18:41:50.123  1234  1250 D %  : ", "05-14 18:41:50.123 D/%( 1234): ",
    ])
    func readsBehindLoggers(stamp: String) throws {
        let logs = [
            (
                "nfc.tag.tt2", "nfc.clf", ["found 106A sdd_res=04112233445566 sel_res=00 sens_res=4400"], ">> 3004",
                "<< 0314"
            ),
            ("root", "root", [], "> 00 B0 00 00 02", "< 60 00 90 00"),
        ]
        for (name, other, first, command, answer) in logs {
            func line(_ name: String, _ text: String) -> String { stamp.replacing("%", with: name) + text }
            let said = first.map { line(other, $0) } + [line(name, command), line(name, answer)]
            let alone = try CaptureConversion(Array((said.joined(separator: "\n") + "\n").utf8)).capture
            #expect(alone.presentations.map(\.exchanges.count) == [1], "\(said)")
            let text = alone.text().filter { $0 != " " }
            #expect(text.contains("\n\((command + "\n" + answer).filter { $0 != " " })\n"), "\(text)")
            let among = "That is it\n\(said.joined(separator: "\nThis is a tag.\n"))\nHow are you?\nBye\n"
            #expect(try CaptureConversion(Array(among.utf8)).capture.presentations == alone.presentations)
        }
    }

    /// A card and no exchange is not all that there is, if bytes stand behind marks.
    @Test func refusesUnknownStamps() throws {
        let found = "[nfc.clf] found 106A sdd_res=04112233445566 sel_res=00 sens_res=4400\n"
        #expect(try CaptureConversion(Array((found + "bye\n").utf8)).capture.presentations.count == 1)
        let error = #expect(throws: CaptureError.self) {
            try CaptureConversion(Array((found + "%7% nfc.tag.tt2 % >> 3004\n%8% nfc.tag.tt2 % << 0314\n").utf8))
        }
        #expect(error.map { [$0.line, $0.column] } == [2, 1])
    }

    /// Of two forms the smaller one is named.
    @Test func namesOtherForms() throws {
        let log = """
            00000003 [140001] APDU: FF CA 00 00 00
            00005000 [140001] SW: 04 5A 2B 3A 90 00
            nothing of use, 01 02 03 04
            > FF CA 00 00 00
            < 08 11 22 33 90 00
            """
        let conversion = try CaptureConversion(Array((log + "\n").utf8))
        #expect(conversion.format == .pcscd)
        #expect(conversion.skippedRanges.map { [$0.first, $0.last] } == [[3, 3], [4, 5]])
        #expect(conversion.skippedRanges.last?.reason.contains("--from transcript") == true)
    }

    @Test func saysThatItIsACaptureAlready() {
        let error = #expect(throws: CaptureError.self) { try CaptureConversion(Array("capture 1\ncard at 0\n".utf8)) }
        #expect(error?.message.contains("this is a capture already") == true)
    }

    @Test func pcscdThreadsAreToldApart() throws {
        let log = """
            00000000 [1] winscard.c:258:SCardConnect() Attempting Connect to Left 00 00 using protocol: 3
            00000010 [2] winscard.c:258:SCardConnect() Attempting Connect to Right 01 00 using protocol: 3
            00000010 [1] APDU: 00 A4 04 00
            00000010 [2] APDU: FF CA 00 00 00
            00000010 [1] SW: 90 00
            00000010 [2] SW: 04 90 00
            00000010 [9] eventhandler.c:358:EHStatusHandlerThread() Card Removed From Left 00 00
            """
        let capture = try CaptureConversion(Array(log.utf8)).capture
        #expect(capture.readers.map(\.name) == ["Left 00 00", "Right 01 00"])
        #expect(capture.presentations.map(\.reader) == [1, 2])
        #expect(capture.presentations.first?.exchanges.map(\.answer) == [.bytes([0x90, 0x00])])
        #expect(capture.presentations.first?.removedAt == .microseconds(60))
        #expect(capture.presentations.last?.exchanges.map(\.answer) == [.bytes([0x04, 0x90, 0x00])])
        #expect(try Capture(parsing: capture.text()) == capture)
    }

    @Test(arguments: [
        // FeliCa, the frame in one piece
        (
            "4A 01 01 00 FF FF 01 00",
            "4B 01 01 14 01 01 2E 4C E7 91 83 5A 06 00 F0 00 00 02 06 03 00 12 FC",
            "felica idm 012E4CE791835A06 pmm 00F0000002060300 syscode 12FC"
        ),
        // type B
        (
            "4A 01 03 00", "4B 01 01 50 11 22 33 44 00 00 00 00 00 81 81 01 00",
            "iso14443b pupi 11223344 appdata 00000000 protinfo 008181"
        ),
        // Jewel
        ("4A 01 04", "4B 01 01 0C 00 11 22 33 44", "iso14443a atqa 0C00 uid 11223344"),
        // InAutoPoll
        (
            "60 01 01 10", "61 01 10 09 01 00 04 08 04 11 22 33 44",
            "iso14443a atqa 0004 sak 08 uid 11223344"
        ),
    ])
    func readsTargets(command: String, answer: String, facts: String) throws {
        let text = try text(of: Self.frames([(command, answer)]))
        #expect(text.contains("card at 0.000 \(facts)\n"), "\(text)")
    }

    @Test(
        arguments: [
            // WRITE: the chip keeps the acknowledgement
            ([("40 01 A2 04 01 02 03 04", "41 00")], ">> A2 04 01 02 03 04\n<< 0A/4"),
            ([("40 01 C1 04 01 00 00 00", "41 00")], ">> C1 04 01 00 00 00\n<< 0A/4"),
            // and does MIFARE Classic's authentication, of which it says that it succeeded
            (
                [("40 01 60 04 FF FF FF FF FF FF 13 5C 7E 90", "41 00")],
                ">> 60 04 FF FF FF FF FF FF 13 5C 7E 90\n<< 0A/4"
            ),
            (
                [("40 01 61 04 FF FF FF FF FF FF 13 5C 7E 90", "41 14")],
                ">> 61 04 FF FF FF FF FF FF 13 5C 7E 90\n! comm-error"
            ),
            // what else has no answer in the log has none in the capture
            ([("40 01 60 04", "41 00")], ""), ([("40 01 1A 00", "41 00")], ""),
            ([("40 01 50 00", "41 00")], ">> 50 00\n! timeout"),
            ([("40 01 30 04", "41 01")], ">> 30 04\n! timeout"), ([("40 01 30 04", "41 13")], ">> 30 04\n! comm-error"),
            ([("40 01 30 04", "41 80 00 03 14")], ">> 30 04\n! comm-error"),
            // without easy framing: a checksum in software, a refusal in four bits
            ([("42 60 F8 32", "43 00 00 04 04 02 01 00 0F 03 80 91")], ">> 60\n<< 00 04 04 02 01 00 0F 03"),
            ([("42 30 2D", "43 00 00")], ">> 30 2D\n<< 00/4"), ([("42 60", "43 00")], ">> 60\n! timeout"),
            // no answer at all
            ([("40 01 30 04", "")], ">> 30 04\n! timeout"),
            // frames of a few bits
            ([("08 63 3D 07", "09"), ("42 26", "43 00 44 00")], ">> 26/7\n<< 44 00"),
            ([("08 63 3D 07", "09"), ("42 80", "43 01")], ">> 00/7\n! timeout"),
            // answers and commands in parts, of which one may be missing or fail
            ([("40 01 3A 00 01", "41 40 01 02"), ("40 01", "41 00 03 04")], ">> 3A 00 01\n<< 01 02 03 04"),
            (
                [
                    ("40 01 3A 00 01", "41 40 01 02"), ("40 01", "41 40 03"), ("40 01", "41 00 04"),
                    ("40 01 30 04", "41 01"),
                ],
                ">> 3A 00 01\n<< 01 02 03 04\n>> 30 04\n! timeout"
            ),
            (
                [("40 41 A2 04 01", "41 00"), ("40 41 02", "41 00"), ("40 01 03 04", "41 00")],
                ">> A2 04 01 02 03 04\n<< 0A/4"
            ),
            (
                [("40 01 3A 00 01", "41 40 01 02"), ("40 01 30 04", "41 00 03 14")],
                ">> 3A 00 01\n! comm-error\n>> 30 04\n<< 03 14"
            ),
            ([("40 01 3A 00 01", "41 40 01 02"), ("40 01", "")], ">> 3A 00 01\n! timeout"),
            ([("40 01 3A 00 01", "41 40 01 02"), ("40 01", "41 13")], ">> 3A 00 01\n! comm-error"),
            ([("40 01 3A 00 01", "41 40 01 02")], ">> 3A 00 01\n! comm-error"),
            ([("40 41 A2 04 01", "41 00"), ("40 01 02 03 04", "")], ">> A2 04 01 02 03 04\n! timeout"),
            // of a command that is not whole there is no exchange
            ([("40 41 A2 04 01", "41 00"), ("32 01 00", "33")], ""), ([("40 41 A2 04 01", "41 13")], ""),
            ([("40 41 A2 04 01", "")], ""),
        ] as [([(String, String)], String)]
    )
    func readsFrames(exchanges: [(String, String)], said: String) throws {
        let target = ("4A 01 00", "4B 01 01 00 44 00 07 04 13 5C 7E 90 2B 80")
        let conversion = try CaptureConversion(Array(Self.frames([target] + exchanges).utf8))
        let lines = conversion.capture.text().split(separator: "\n").drop { !$0.hasPrefix("card at ") }
        #expect(lines.dropFirst().prefix { !$0.hasPrefix("removed") }.joined(separator: "\n") == said)
        let codes = conversion.skipped.map(\.code)
        #expect(!said.isEmpty || codes.contains(.missingAnswer) || codes.contains(.wrongLength))
    }

    @Test func readsTheACR122() throws {
        let log = """
            debug\tlibnfc.driver.acr122_usb\tTX: 6f 09 00 00 00 00 00 00 00 00 ff 00 00 00 04 d4 4a 01 00
            debug\tlibnfc.driver.acr122_usb\tRX: 80 0e 00 00 00 00 00 00 81 00 d5 4b 01 01 00 04 08 04 11 22 33 44 90 00
            """
        #expect(try text(of: log).contains("iso14443a atqa 0004 sak 08 uid 11223344\n"))
    }

    /// Rows of a Proxmark's list, of which one begins with `R` or `T`, behind a first exchange.
    @Test(arguments: [
        // a checksum that is wrong, or that has no place in the row that is there
        (["R 3004+ | ok", "T 0103A00C340315D101115504636C75621234 | !!"], ">> 30 04\n! comm-error"),
        (["R 3004+ |", "T 0103A00C340315D101115504636C75621234 |!crc"], ">> 30 04\n! comm-error"),
        (["R 3004+ |", "T 0103A00C340315D101115504636C75621234 |     |"], ">> 30 04\n! comm-error"),
        (["R 30041234 | !! ", "T 0103A00C340315D1+ | ok"], ""),
        // a checksum of another kind than the list looked for; one in another row
        (["R 3004+ | !!", "T 0103A00C340315D1+ | !!"], ">> 30 04\n<< 01 03 A0 0C 34 03 15 D1"),
        (["R 3004+ | ok", "T 0103A00C | ", "  340315D11234 | !!"], ">> 30 04\n! comm-error"),
        // MIFARE Classic's encrypted frames, up to the next card
        (
            ["R 6004+ | ok", "T 01200145 |", "R B21F3A0C5D6E7F80 | !!", "T 9C8F3A21 |"],
            ">> 60 04\n<< 01 20 01 45\n>> B2 1F 3A 0C 5D 6E 7F 80\n<< 9C 8F 3A 21"
        ),
        (
            ["R 6004+ | ok", "T 01200145 |", "R 5000+ | ok", "R 3004+ | ok", "T 010203041234 | !!"],
            ">> 60 04\n<< 01 20 01 45\n>> 30 04\n! comm-error"
        ),
        (["R A20401020304+ | ok", "T 0A |"], ">> A2 04 01 02 03 04\n<< 0A/4"),
    ])
    func readsProxmark(rows: [String], said: String) throws {
        func row(_ row: String) throws -> String {
            let parts = row.dropFirst(2).split(separator: "|", omittingEmptySubsequences: false)
            var bytes = try Hex.decode(parts[0].replacing("+", with: "").trimmed)
            if parts[0].contains("+") { bytes += RadioChecksum.typeA.bytes(of: bytes) }
            let source =
                ["R": "100 |        200 | Rdr", "T": "100 |        200 | Tag"][row.prefix(1)]
                ?? "    |            |    "
            return "        \(source) |\(Hex.encode(bytes, separator: "  "))  |\(parts[1])"
        }
        let first = try ["R 60+ | ok", "T 0004040201000F03+ | ok"].map(row)
        let lines = try rows.map(row)
        // In a terminal; in a container's log, in one of whose lines a row was broken.
        var broken = first + lines
        for place in broken.indices.reversed() where broken[place].contains("Tag |01  03") {
            let cut = broken[place].range(of: "03")?.upperBound ?? broken[place].endIndex
            broken.insert(String(broken[place][cut...]), at: place + 1)
            broken[place] = String(broken[place][..<cut])
        }
        for log in [first + lines, (first + lines).map { "reader_1  | " + $0 }, broken.map { "reader_1  | " + $0 }] {
            let text = try text(of: log.joined(separator: "\n") + "\n")
            let body = text.split(separator: "\n").filter {
                $0.hasPrefix(">") || $0.hasPrefix("<") || $0.hasPrefix("!")
            }
            #expect(body.joined(separator: "\n") == (">> 60\n<< 00 04 04 02 01 00 0F 03\n" + said).trimmed)
        }
    }

    /// A log of those commands and answers, framed as the UART driver logs them.
    static func frames(_ exchanges: [(String, String)]) -> String {
        func frame(_ direction: UInt8, _ hex: String) throws -> [UInt8] {
            let data = try [direction] + Hex.decode(hex)
            let length = UInt8(truncatingIfNeeded: data.count)
            return [0, 0, 0xFF, length, 0 &- length] + data + [0 &- data.reduce(0, &+), 0]
        }
        var text = ""
        for (command, answer) in exchanges {
            guard let sent = try? frame(0xD4, command) else { continue }
            text += "debug\tlibnfc.bus.uart\tTX: \(Hex.encode(sent, separator: " ").lowercased()) \n"
            text += "debug\tlibnfc.bus.uart\tRX: 00 00 ff 00 ff 00 \n"
            guard !answer.isEmpty, let received = try? frame(0xD5, answer) else { continue }
            text += "debug\tlibnfc.bus.uart\tRX: \(Hex.encode(received.prefix(5), separator: " ")) \n"
            text += "debug\tlibnfc.bus.uart\tRX: \(Hex.encode(received.dropFirst(5), separator: " ")) \n"
        }
        return text
    }

    // MARK: Malformed

    @Test(arguments: [
        ("", CaptureConversion.Format?.none, 1, 1, CaptureError.Code.notACapture),
        ("nothing\nof use", nil, 1, 1, .notACapture),
        ("00000001 APDU: 00 A4 04 0G", .pcscd, 1, 26, .invalidHex),
        ("00000001 APDU: 00 A4 04 0", .pcscd, 1, 25, .oddHex),
        ("00000001 APDU: 00 A4", .pcscd, 1, 15, .missingAnswer),
        ("00000001 SW: 90 00", .pcscd, 1, 13, .unexpectedAnswer),
        ("debug\tlibnfc.bus.uart\tTX: 00 0Z", nil, 1, 31, .invalidHex),
        ("> 00 A4 04 00", .transcript, 1, 3, .missingAnswer),
        ("\n< 90 00", .transcript, 2, 3, .unexpectedAnswer),
        (">\n", .transcript, 1, 2, .missingBytes),
        // a damaged byte is not mended
        ("> 1B 7 C3 00 00\n< 90 00", .transcript, 1, 6, .oddHex),
        (#"{"command":"FFCA0000","data":"0Z","statusWord":"9000"}"#, nil, 1, 1, .invalidHex),
        ("\n# mine\ncapture 1\ncard at 0\n> 00 A4 04 00\n< 90 00", nil, 3, 1, .notACapture),
    ])
    func refuses(
        log: String,
        format: CaptureConversion.Format?,
        line: Int,
        column: Int,
        code: CaptureError.Code
    ) {
        let error = #expect(throws: CaptureError.self) {
            try CaptureConversion(Array(log.utf8), format: format, file: "a.log")
        }
        #expect(error?.code == code)
        #expect(error?.file == "a.log")
        #expect(error.map { [$0.line, $0.column] } == [line, column])
    }

    /// A damaged answer is not mended: a fault stands for it, and its line is named with the place.
    @Test(arguments: [
        ("< 9Z 00", 2, 4, CaptureError.Code.invalidHex), ("< 900", 2, 5, .oddHex), ("< 90", 2, 3, .wrongLength),
        ("! lost", 2, 1, .trailingText), ("< 90 7 90 00", 2, 6, .oddHex), ("< 04 7", 2, 6, .oddHex),
        ("< 9000 (success), 17 bytes\n  0010  41", 2, 2, .wrongLength),
        ("< 9000 (success), 2 bytes\n  0000  41\n", 2, 2, .wrongLength),
    ])
    func faultsStandForDamagedAnswers(answer: String, line: Int, column: Int, code: CaptureError.Code) throws {
        let conversion = try CaptureConversion(Array("> 00 A4 04 00\n\(answer)\n".utf8), file: "a.log")
        #expect(conversion.capture.presentations.flatMap(\.exchanges).map(\.answer) == [.fault(.commError)])
        #expect(conversion.skipped.first?.code == code)
        #expect(conversion.skipped.first.map { [$0.line, $0.column] } == [line, column])
    }

    /// Whatever happens to a log, it is read or refused, and what is read is a capture: mutations from seed 11.
    @Test func survivesMutations() throws {
        var random = MutationRandom(seed: 11)
        let names = ["pcscd-apdu.log", "libnfc-ntag.log", "libnfc-t4.log", "scriptor.txt", "opensc-tool.txt"]
        let logs = try names.map(Self.log)
        var converted = 0
        for round in rounds(300) {
            let log = random.mutate(logs[round % logs.count])
            let format = CaptureConversion.Format.allCases[random.below(8)]
            let wanted = random.below(3) == 0 ? format : nil
            guard let conversion = try? CaptureConversion(log, format: wanted) else { continue }
            converted += 1
            #expect(throws: Never.self, "round \(round)") { try Capture(parsing: conversion.capture.text()) }
        }
        #expect(converted > 20)
    }
}
