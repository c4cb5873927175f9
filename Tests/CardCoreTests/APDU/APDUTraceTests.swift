import Captures
import Synchronization
import Testing
import TestSupport

@testable import CardCore

@Suite struct APDUTraceTests {
    final class Log: Sendable {
        private let lines = Mutex<[APDUTrace.Entry]>([])
        var entries: [APDUTrace.Entry] { lines.withLock { $0 } }
        func trace(_ data: APDUTrace.Data) -> APDUTrace {
            APDUTrace(data: data) { entry in self.lines.withLock { $0.append(entry) } }
        }
    }

    @Test func hidesDataUnlessAsked() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.answerCount = 3
        let log = Log()
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.counted)))
        _ = try pipeline.send(.selectNDEFApplication)
        let entry = try #require(log.entries.first)
        #expect(entry.description == "00 A4 04 00, 7 bytes, Le 256: 3 bytes, 9000 success, 5.0 ms")
        #expect(entry.commandData == nil)
        #expect(entry.responseData == nil)
        #expect(entry.commandLength == 13)
    }

    @Test func showsDataWhenAsked() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.answerCount = 3
        let log = Log()
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.shown)))
        _ = try pipeline.send(.selectNDEFApplication)
        #expect(
            log.entries.first?.description
                == "00 A4 04 00, 7 bytes D2760000850101, Le 256: 3 bytes 000102, 9000 success, 5.0 ms"
        )
    }

    @Test func tellsEachRound() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.answerCount = 300
        let log = Log()
        _ = try APDUPipeline(channel, configuration: .init(trace: log.trace(.counted))).send(.getUID)
        #expect(
            log.entries.map(\.description) == [
                "FF CA 00 00, Le 256: 256 bytes, 612C 44 bytes available, 5.0 ms",
                "FF C0 00 00, Le 44: 44 bytes, 9000 success, 5.0 ms",
            ]
        )
    }

    @Test func tellsFaults() throws {
        let log = Log()
        let channel = AnsweringChannel { _ throws(ReaderError) in throw ReaderError(.cardRemoved, attempting: "x") }
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.shown)))
        #expect(throws: ReaderError.self) { try pipeline.send(.getUID) }
        #expect(log.entries.first?.fault == .cardRemoved)
        #expect(log.entries.first?.description == "FF CA 00 00, Le 256: the card was removed, 0.0 ms")
    }

    /// Commands with keys, passwords or parts of authentications: their data are not shown even when data are.
    @Test(
        arguments: [
            "FF82000006D3F7D3F7D3F7", "FF86000006010004600011", "FFF3000406FFFFFFFFFFFF10",
            "FFD6000710" + "A0A1A2A3A4A5787788C189ECA97F8C2A",
            "FFFE010005 1B11223344 00", "FF00000007D4421B11223344", "FFEF0000051B11223344",
            "FFC20001079505 1B11223344 00", "FFFE010002 1A00 00", "FFFE010012AF14 5FF4DAC8273BA035AB0C28C6D40D89AF00",
            "FFFE0100 06 A22B11223344 00", "FFD6002B 04 11223344", "FFD60012 04 11223344", "FFD60027 04 11223344",
            "FFD6000F 08 1122334455667788", "FFFE0100 06 A21211223344 00", "FFEF0000 06 A21311223344 00",
            "FF000000 08 D442A22711223344", "FFC20001 08 9506A22B11223344 00", "FFFE0400 08 02B3040411223344 00",
            "FFFE0100 09 002000010431323334 00", "FFFE0100 10 11223344000000000000000000000000 00",
            "FF70076B 02 1122",
            // blocks of which the last is a trailer; frames that hold a whole command, of whatever class
            "FFD60004 40" + String(repeating: "A0A1A2A3A4A5787788C189ECA97F8C2A", count: 4),
            "FF000000 10 D44001 A0200001 08 3132333435363738",
            "FF000000 0C D442 0C200001 04 31323334 00", "FFEF0000 09 B020000104 31323334 00",
            "FFFE0100 08 90AF000002 1122 00 00", "FF000000 0A D442 90AF000002 1122 00",
            // a SIM's PIN, an unblocking, and classes of which nothing is known
            "A0200001 08 3132333435363738", "A0240001 10 31323334353637383132333435363738",
            "A0880000 10 000102030405060708090A0B0C0D0E0F", "91100000 02 1122", "B0340000 02 1122",
            "D0D60000 02 1122", "FEA40000 02 1122",
            "00200001 04 31323334", "00240001 08 3132333435363738", "002C0001 08 3132333435363738",
            "00820000 08 1122334455667788",
            "00880000 04 11223344 00", "00870300 04 7C028100 00", "80D80000 03 112233",
            "901A0000010000", "900A0000010000", "90AA0000010000", "9071000002000000", "9077000001 00 00",
            "90C4000001 00 00",
            // keys and personal data put into a card, passwords of ISO 15693 chips, a key of FeliCa Lite
            "00DA0101 04 11223344", "00DB3FFF 04 11223344", "80E28000 04 11223344",
            "FFFE0000 0B 02B904 1122334455667788", "FFFE0000 07 02BA04 11223344",
            "FFFE0000 0C 02B302 00 1122334455667788",
            "FFFE0000 1F 08 0102030405060708 01 0900 01 8087 00112233445566778899AABBCCDDEEFF",
        ]
    )
    func secretsAreNeverShown(_ command: String) throws {
        let log = Log()
        let channel = AnsweringChannel { _ throws(ReaderError) in [0xDE, 0xAD, 0x91, 0xAF] }
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.shown)))
        _ = try pipeline.send(CommandAPDU(bytes: bytes(command)))
        let entry = try #require(log.entries.first)
        #expect(entry.isSecret)
        #expect(entry.commandData == nil)
        #expect(entry.responseData == nil)
        #expect(!entry.description.contains("DEAD"))
    }

    @Test(
        arguments: [
            "00A4040007D276000085010100", "00B0000010", "00D60000020000", "FFB0000410", "FFD6000404 01020304",
            "FFCA000000", "FFFE010001 60 00", "FF00000003D44260", "9060000000", "90AF000000", "905A0000034F49D300",
            "80CA01010100", "FFFE010006 A20401020304 00", "A0A40000 02 7F20", "A0B0000009", "A0F2000016",
            "FF860000 05 0100046000", "FFD60004 30" + String(repeating: "00", count: 48),
            "FF000000 08 D44001 00B0000010 00", "FF000000 04 D44A0100",
        ]
    )
    func othersAreShown(_ command: String) throws {
        let log = Log()
        let channel = AnsweringChannel { _ throws(ReaderError) in [0xDE, 0xAD, 0x90, 0x00] }
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.shown)))
        _ = try pipeline.send(CommandAPDU(bytes: bytes(command)))
        #expect(log.entries.first?.isSecret == false)
        #expect(log.entries.first?.responseData == [0xDE, 0xAD])
    }

    /// What a trace hides, redaction replaces: command and answer, and it goes on with the rest of an answer.
    @Test(arguments: [
        "A0200001 08 3132333435363738", "A0240001 08 3132333435363738", "91100000 08 3132333435363738",
        "FEA40000 08 3132333435363738", "80D80000 08 3132333435363738", "00880000 08 3132333435363738",
        "90C90000 09 00 3132333435363738 00", "FF700000 08 3132333435363738",
        "FF000000 10 D44001 A0200001 08 3132333435363738",
    ])
    func traceAndRedactionAgree(_ command: String) throws {
        let log = Log()
        let answer: [UInt8] = [0xD5, 0x41, 0x00, 0xDE, 0xAD, 0xBE, 0xEF]
        let channel = AnsweringChannel { _ throws(ReaderError) in answer + [0x61, 0x04] }
        let pipeline = APDUPipeline(
            channel,
            configuration: .init(fetchesMoreData: false, trace: log.trace(.shown))
        )
        _ = try pipeline.send(CommandAPDU(bytes: bytes(command)))
        #expect(log.entries.first?.isSecret == true)
        let text = "capture 1\ncard at 0 iso14443a\n> \(command)\n< \(answer.hex)6104\n"
        let redacted = CaptureRedaction(of: try Capture(parsing: text), seed: 1)
        let shown = redacted.capture.text().replacing(" ", with: "")
        #expect(!shown.contains("31323334") && !shown.contains("DEADBEEF"), "\(shown)")
        #expect(redacted.unexaminedLines.isEmpty)
    }

    /// GET RESPONSE gives the answer of what came before it.
    @Test func restOfASecretAnswer() throws {
        let log = Log()
        let channel = AnsweringChannel { _ throws(ReaderError) in [0xDE, 0xAD, 0x90, 0x00] }
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.shown)))
        for command in ["A0880000 02 1122", "A0C0000002", "A0B0000002", "A0C0000002", "00880000 02 1122", "00C0000002"]
        {
            _ = try pipeline.send(CommandAPDU(bytes: bytes(command)))
        }
        #expect(log.entries.map(\.isSecret) == [true, true, false, false, true, true])
        let text = "capture 1\ncard at 0\n> A088000002 1122\n< 6104\n> A0C0000004\n< DEADBEEF9000\n"
        let redacted = CaptureRedaction(of: try Capture(parsing: text), seed: 1).capture.text()
        #expect(!redacted.replacing(" ", with: "").contains("DEADBEEF"))
    }

    /// `90 AF` goes on with what came before it.
    @Test func additionalFrames() throws {
        let log = Log()
        let channel = AnsweringChannel { _ throws(ReaderError) in [0x91, 0xAF] }
        let pipeline = APDUPipeline(channel, configuration: .init(trace: log.trace(.shown)))
        for command in [
            "9060000000", "90AF000000", "9071000002000000", "90AF0000010100", "90AF0000010200", "906A000000",
            "90AF000000",
        ] {
            _ = try pipeline.send(CommandAPDU(bytes: bytes(command)))
        }
        #expect(log.entries.map(\.isSecret) == [false, false, true, true, true, false, false])
    }
}
