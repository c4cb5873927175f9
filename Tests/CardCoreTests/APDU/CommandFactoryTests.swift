import Testing
import TestSupport

@testable import CardCore

@Suite struct CommandFactoryTests {
    @Test func factoriesMakeTheirBytes() throws {
        let table: [(CommandAPDU, String, String)] = [
            (
                try .select(name: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]),
                "00A4040007D276000085010100",
                "SELECT by name D2760000850101, Le 256"
            ),
            (.selectNDEFApplication, "00A4040007D276000085010100", "SELECT by name D2760000850101, Le 256"),
            (.selectNDEFApplicationVersion1, "00A4040007D276000085010000", "SELECT by name D2760000850100, Le 256"),
            (
                try .select(name: Array("OSE.VAS.01".utf8)),
                "00A404000A4F53452E5641532E303100",
                "SELECT by name 4F53452E5641532E3031, Le 256"
            ),
            (.select(fileID: 0xE103), "00A4000C02E103", "SELECT file, no answer, E103"),
            (try .readBinary(offset: 0, length: 15), "00B000000F", "READ BINARY offset 0, Le 15"),
            (try .readBinary(offset: 0x7FFF, length: 256), "00B07FFF00", "READ BINARY offset 32767, Le 256"),
            (try .readBinary(offset: 2, length: 1000), "00B000020003E8", "READ BINARY offset 2, Le 1000"),
            (
                try .readBinary(objectOffset: 0x012345, length: 255),
                "00B10000055403012345FF",
                "READ BINARY 00 00 5403012345, Le 255"
            ),
            (try .updateBinary(offset: 0, data: [0, 5]), "00D60000020005", "UPDATE BINARY offset 0 0005"),
            (.getUID, "FFCA000000", "reader: GET DATA UID, Le 256"),
            (.getATS, "FFCA010000", "reader: GET DATA ATS, Le 256"),
            (.readPages(4), "FFB0000410", "reader: READ BINARY block 4, Le 16"),
            (try .readBlock(0x0102, length: 32), "FFB0010220", "reader: READ BINARY block 258, Le 32"),
            (try .readBlock(0, length: 256), "FFB0000000", "reader: READ BINARY block 0, Le 256"),
            (
                try .updateBlock(4, data: [1, 2, 3, 4]),
                "FFD600040401020304",
                "reader: UPDATE BINARY block 4 01020304"
            ),
        ]
        for (command, hex, text) in table {
            #expect(command.encoded().hex == hex)
            #expect(command.description == text)
        }
    }

    @Test func factoriesRefuseWhatDoesNotFit() {
        func code(_ make: () throws -> CommandAPDU) -> APDUError.Code? {
            #expect(throws: APDUError.self) { try make() }?.code
        }
        #expect(code { try .select(name: []) } == .parameterOutOfRange)
        #expect(code { try .select(name: [UInt8](repeating: 1, count: 17)) } == .parameterOutOfRange)
        #expect(code { try .readBinary(offset: 0x8000, length: 1) } == .parameterOutOfRange)
        #expect(code { try .readBinary(offset: -1, length: 1) } == .parameterOutOfRange)
        #expect(code { try .readBinary(offset: 0, length: 0) } == .expectedLengthOutOfRange)
        #expect(code { try .readBinary(offset: 0, length: 65_537) } == .expectedLengthOutOfRange)
        #expect(code { try .readBinary(objectOffset: 0x100_0000, length: 1) } == .parameterOutOfRange)
        #expect(code { try .updateBinary(offset: 0x8000, data: [1]) } == .parameterOutOfRange)
        #expect(code { try .updateBinary(offset: 0, data: []) } == .parameterOutOfRange)
        #expect(code { try .readBlock(0, length: 0) } == .expectedLengthOutOfRange)
        #expect(code { try .readBlock(0, length: 257) } == .expectedLengthOutOfRange)
        #expect(code { try .updateBlock(0, data: []) } == .parameterOutOfRange)
        #expect(code { try .updateBlock(0, data: [UInt8](repeating: 0, count: 256)) } == .dataTooLong)
    }

    @Test func getResponseFollowsTheStatusWord() {
        #expect(CommandAPDU.getResponse(after: StatusWord(0x6110))?.encoded() == [0, 0xC0, 0, 0, 0x10])
        #expect(CommandAPDU.getResponse(after: StatusWord(0x6100), cla: 1)?.encoded() == [1, 0xC0, 0, 0, 0])
        #expect(CommandAPDU.getResponse(after: .success) == nil)
        #expect(CommandAPDU.getResponse(after: StatusWord(0x6C10)) == nil)
    }

    @Test(arguments: [
        ("80CA01010501020304059F", "80 CA 01 01, 5 bytes 0102030405, Le 159"),
        ("00840000", "GET CHALLENGE 00 00"),
        ("01B0000005", "READ BINARY offset 0 (channel 1), Le 5"),
        ("00B0810005", "READ BINARY 81 00, Le 5"),
        ("00100000", "PERFORM SCQL OPERATION 00 00"),
        ("00FF0000", "00 FF 00 00"),
        ("FFFB1002", "reader: SLOT CONTROL 10 02"),
        ("FF000000", "FF 00 00 00"),
        ("FFCAF10100", "reader: GET DATA NFC Forum tag type, Le 256"),
    ]) func describes(_ hex: String, _ text: String) throws {
        #expect(try CommandAPDU(bytes: Hex.decode(hex)).description == text)
    }
}
