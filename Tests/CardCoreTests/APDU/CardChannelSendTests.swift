import Testing
import TestSupport

@testable import CardCore

@Suite struct CardChannelSendTests {
    static let read = CommandAPDU.readPages(4)

    @Test(
        arguments: [
            ("9000", "", 0x9000, 1),
            ("AABB9000", "AABB", 0x9000, 1),
            ("6A82", "", 0x6A82, 1),
            ("AA6282", "AA", 0x6282, 1),
        ] as [(String, String, UInt16, Int)]
    )
    func oneAnswer(_ answer: String, _ data: String, _ status: UInt16, _ rounds: Int) throws {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(answer) }
        let response = try channel.send(Self.read)
        #expect(response.data.hex == data)
        #expect(response.statusWord.rawValue == status)
        #expect(channel.commands.count == rounds)
    }

    @Test(arguments: ["", "90"]) func noStatusWord(_ answer: String) {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(answer) }
        let error = #expect(throws: ReaderError.self) { try channel.send(Self.read) }
        #expect(error?.kind == .invalidAnswer)
    }

    @Test func correctLength() throws {
        let channel = AnsweringChannel(script: [("FFB0000410", "6C04"), ("FFB0000404", "010203049000")])
        #expect(try channel.send(Self.read).data.hex == "01020304")
    }

    @Test func correctLength256() throws {
        let channel = AnsweringChannel(script: [("FFB0000410", "6C00"), ("FFB0000400", "019000")])
        #expect(try channel.send(Self.read).data.hex == "01")
    }

    @Test func moreData() throws {
        let channel = AnsweringChannel(script: [
            ("00A4040007D276000085010100", "016102"), ("00C0000002", "6C03"), ("00C0000003", "0203046101"),
            ("00C0000001", "056282"),
        ])
        let response = try channel.send(.selectNDEFApplication)
        #expect(response.data.hex == "0102030405")
        #expect(response.statusWord == .endReached)
    }

    @Test func anotherLengthEachTime() {
        var length: UInt8 = 0
        let channel = AnsweringChannel { _ throws(ReaderError) in
            length &+= 1
            return [0x6C, length]
        }
        let error = #expect(throws: ReaderError.self) { try channel.send(Self.read) }
        #expect(error?.kind == .limitExceeded)
        #expect(channel.commands.count == 1 + ReaderLimits.wrongLengthRounds)
    }

    @Test(arguments: ["6101", "AA6101"]) func moreDataForEver(_ answer: String) {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(answer) }
        let error = #expect(throws: ReaderError.self) { try channel.send(Self.read) }
        #expect(error?.kind == .limitExceeded)
        #expect(channel.commands.count == 1 + ReaderLimits.moreDataRounds)
    }

    @Test func moreDataThanAnAnswerHolds() {
        let part = [UInt8](repeating: 0, count: 16_384) + [0x61, 0x00]
        let channel = AnsweringChannel { _ throws(ReaderError) in part }
        let error = #expect(throws: ReaderError.self) { try channel.send(Self.read) }
        #expect(error?.kind == .limitExceeded)
        #expect(channel.commands.count == 5)
    }

    @Test func exchangeFollowsNothing() throws {
        let channel = AnsweringChannel { _ throws(ReaderError) in [0x61, 0x00] }
        #expect(try channel.exchange(Self.read).statusWord.rawValue == 0x6100)
        #expect(channel.commands.count == 1)
    }
}
