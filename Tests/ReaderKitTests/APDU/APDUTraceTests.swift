import ReaderKit
import Synchronization
import Testing

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
            "FF82000006D3F7D3F7D3F7", "FF860000050100046000", "FFF3000406FFFFFFFFFFFF10",
            "FFD6000710" + "A0A1A2A3A4A5787788C189ECA97F8C2A",
            "FFFE010005 1B11223344 00", "FF00000007D4421B11223344", "FFEF0000051B11223344",
            "FFC20001079505 1B11223344 00", "FFFE010002 1A00 00", "FFFE010012AF14 5FF4DAC8273BA035AB0C28C6D40D89AF00",
            "FFFE0100 06 A22B11223344 00", "FFD6002B 04 11223344", "FFD60012 04 11223344", "FFD60027 04 11223344",
            "FFD6000F 08 1122334455667788", "FFFE0100 06 A21211223344 00", "FFEF0000 06 A21311223344 00",
            "FF000000 08 D442A22711223344", "FFC20001 08 9506A22B11223344 00", "FFFE0400 08 02B3040411223344 00",
            "FFFE0100 09 002000010431323334 00", "FFFE0100 10 11223344000000000000000000000000 00",
            "FF70076B 02 1122",
            "00200001 04 31323334", "00240001 08 3132333435363738", "002C0001 08 3132333435363738",
            "00820000 08 1122334455667788",
            "00880000 04 11223344 00", "00870300 04 7C028100 00", "80D80000 03 112233",
            "901A0000010000", "900A0000010000", "90AA0000010000", "9071000002000000", "9077000001 00 00",
            "90C4000001 00 00",
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
            "80CA01010100", "FFFE010006 A20401020304 00",
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
