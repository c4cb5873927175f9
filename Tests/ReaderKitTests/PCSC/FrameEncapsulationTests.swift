import CardCore
import Testing
import TestSupport

@testable import ReaderKit

@Suite struct FrameEncapsulationTests {
    static let hello: [UInt8] = [0x60]

    @Test(
        arguments: [
            ("SpringCard H518 [CCID] (000A1B2C) 00 00", .springCard), ("Socket Mobile S550 00 00", .springCard),
            ("ACS ACR122U PICC Interface 00 00", .acr122), ("ACS ACR1222L Dual Reader 00 00", .acr122),
            ("ACS AET62 PICC Reader 00 00", .acr122), ("Identiv uTrust 3700 F CL Reader 00 00", .identiv),
            ("ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00", .transparentSession),
            ("ACS ACR1552 1S CL Reader PICC 0", .transparentSession), ("Virtual PCD 00 00", nil), ("", nil),
        ] as [(String, FrameEncapsulation?)]
    )
    func readers(_ name: String, _ form: FrameEncapsulation?) {
        #expect(FrameEncapsulation(reader: name) == form)
    }

    @Test(
        arguments: [
            (.springCard, .iso14443a, "60", "FFFE010001 60 00"), (.springCard, nil, "60", "FFFE010001 60 00"),
            (.springCard, .iso14443b, "0600", "FFFE020002 0600 00"),
            (.springCard, .felica, "0600FFFF0000", "FFFE070006 0600FFFF0000 00"),
            (.springCard, .iso15693, "022B", "FFFE040002 022B 00"),
            (.acr122, .iso14443a, "3004", "FF00000004 D442 3004"),
            (.acr122Exchange, .felica, "060012FC0000", "FF00000009 D44001 060012FC0000"),
            (.identiv, .iso14443a, "3004", "FFEF000002 3004 00"),
            (.transparentSession, .iso14443a, "3004", "FFC2000104 9502 3004 00"),
        ] as [(FrameEncapsulation, Technology?, String, String)]
    )
    func commands(_ form: FrameEncapsulation, _ technology: Technology?, _ frame: String, _ command: String) throws {
        #expect(try form.command(RawFrame(bytes(frame)), technology: technology) == bytes(command))
    }

    @Test(
        arguments: [
            (.springCard, 255), (.acr122, 253), (.acr122Exchange, 252), (.identiv, 255), (.transparentSession, 252),
        ]
            as [(FrameEncapsulation, Int)]
    )
    func longestFrame(_ form: FrameEncapsulation, _ longest: Int) throws {
        let frame = [UInt8](repeating: 0x30, count: longest)
        let command = try form.command(RawFrame(frame), technology: .iso14443a)
        #expect(try CommandAPDU(bytes: command).encoded() == command && command.count <= 261)
        for refused in [RawFrame(frame + [0]), RawFrame([]), RawFrame([0x26], bitsInLastByte: 7)] {
            let error = #expect(throws: ReaderError.self) { try form.command(refused, technology: .iso14443a) }
            #expect(error?.kind == .unsupported)
        }
    }

    enum Expected: Equatable {
        case frame(String, bits: Int)
        case fault(ReaderError.Kind)
        case unknownCommand
        case unclear(ReaderError.Kind)
    }

    @Test(
        arguments: [
            (.springCard, "0004040201000F03 9000", .frame("0004040201000F03", bits: 8)),
            (.springCard, "0A 9000", .frame("0A", bits: 4)), (.springCard, "00 9000", .frame("00", bits: 4)),
            (.springCard, "6F01", .fault(.timeout)), (.springCard, "6F1B", .fault(.timeout)),
            (.springCard, "6F02", .fault(.communication)), (.springCard, "6F00", .unclear(.communication)),
            (.springCard, "6D00", .unknownCommand), (.springCard, "6E00", .unknownCommand),
            (.springCard, "6A81", .unknownCommand), (.springCard, "9000", .unclear(.timeout)),
            (.springCard, "6300", .unclear(.communication)), (.springCard, "90", .unclear(.invalidAnswer)),
            (.springCard, "", .unclear(.invalidAnswer)),
            (.acr122, "D54300 0004040201000F03 9000", .frame("0004040201000F03", bits: 8)),
            (.acr122, "D54300 04 9000", .frame("04", bits: 4)), (.acr122, "D54301 9000", .fault(.timeout)),
            (.acr122, "D54302 9000", .fault(.communication)), (.acr122, "D54341 9000", .fault(.timeout)),
            (.acr122, "D54300 9000", .fault(.timeout)), (.acr122, "D543 9000", .unclear(.invalidAnswer)),
            (.acr122, "7F 9000", .unclear(.invalidAnswer)), (.acr122, "9000", .unclear(.invalidAnswer)),
            (.acr122, "6300", .unclear(.communication)), (.acr122, "6D00", .unknownCommand),
            (.acr122, "D54100 AABB 9000", .unclear(.invalidAnswer)),
            (.acr122Exchange, "D54100 AABB 9000", .frame("AABB", bits: 8)),
            (.acr122Exchange, "D54101 9000", .fault(.timeout)),
            (.acr122Exchange, "D54114 9000", .fault(.communication)),
            (.identiv, "AABB 9000", .frame("AABB", bits: 8)), (.identiv, "9000", .unclear(.timeout)),
            (.identiv, "6401", .unclear(.timeout)), (.identiv, "6A81", .unknownCommand),
            (.transparentSession, "C003009000 920100 96020000 9704 01020304 9000", .frame("01020304", bits: 8)),
            (.transparentSession, "C003009000 920104 96020000 9701 0A 9000", .frame("0A", bits: 4)),
            (.transparentSession, "9702 AABB 9000", .frame("AABB", bits: 8)),
            (.transparentSession, "C003016401 9000", .fault(.timeout)),
            (.transparentSession, "C003016700 9000", .fault(.communication)),
            (.transparentSession, "C003016A81 9000", .unknownCommand),
            (.transparentSession, "C003009000 96020100 9702 AABB 9000", .fault(.communication)),
            (.transparentSession, "C003009000 9000", .fault(.timeout)),
            (.transparentSession, "9700 9000", .fault(.timeout)),
            (.transparentSession, "9705 AABB 9000", .unclear(.invalidAnswer)),
            (.transparentSession, "6D00", .unknownCommand), (.transparentSession, "6401", .unclear(.timeout)),
        ] as [(FrameEncapsulation, String, Expected)]
    )
    func answers(_ form: FrameEncapsulation, _ answer: String, _ expected: Expected) {
        let outcome: Expected =
            switch form.outcome(of: bytes(answer), technology: .iso14443a) {
            case .frame(let frame): .frame(frame.bytes.hex, bits: frame.bitsInLastByte)
            case .fault(let error): .fault(error.kind)
            case .unknownCommand: .unknownCommand
            case .unclear(let error): .unclear(error.kind)
            }
        #expect(outcome == expected)
    }

    /// A short answer is an acknowledgement on type A only.
    @Test(arguments: [(Technology.iso15693, 8), (.felica, 8), (.iso14443b, 8), (.iso14443a, 4)])
    func acknowledgements(_ technology: Technology, _ bits: Int) {
        #expect(
            FrameEncapsulation.springCard.outcome(of: [0x00, 0x90, 0x00], technology: technology)
                == .frame(RawFrame([0x00], bitsInLastByte: bits))
        )
    }

    // MARK: - Conversations

    /// A reader that knows some commands by their first two bytes.
    final class FakeReader {
        var answers: [String: String]
        var commands: [String] = []
        init(_ answers: [String: String]) { self.answers = answers }

        func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
            commands.append(command.hex)
            for (start, answer) in answers where command.hex.hasPrefix(start) { return bytes(answer) }
            return [0x6D, 0x00]
        }
    }

    static let type2 = CardFacts(atr: bytes("3B8F8001804F0CA0000003060300030000000068"))

    @Test func probesOnceAndRemembers() throws {
        let reader = FakeReader(["FFC20000": "C0030090009000", "FFC20001": "C003009000 9702AABB 9000"])
        var frames = FrameExchange(reader: "Some Reader 00 00", facts: Self.type2)
        for _ in 0..<2 {
            #expect(try frames.transceive(RawFrame(Self.hello), reader.transmit).bytes == [0xAA, 0xBB])
        }
        #expect(frames.encapsulation == .transparentSession)
        #expect(reader.commands == ["FFFE0100016000", "FFC2000002810000", "FFC200010395016000", "FFC200010395016000"])
        try frames.endSession(reader.transmit)
        try frames.endSession(reader.transmit)
        #expect(reader.commands.dropFirst(4) == ["FFC2000002820000"])
        // A new session for the next frame.
        _ = try frames.transceive(RawFrame(Self.hello), reader.transmit)
        #expect(reader.commands.dropFirst(5) == ["FFC2000002810000", "FFC200010395016000"])
    }

    @Test func aReaderWithoutFrames() {
        let reader = FakeReader([:])
        var frames = FrameExchange(reader: "Some Reader 00 00", facts: Self.type2)
        for _ in 0..<3 {
            let error = #expect(throws: ReaderError.self) {
                try frames.transceive(RawFrame(Self.hello), reader.transmit)
            }
            #expect(error?.kind == .unsupported)
        }
        // Asked once, and never in the form of the ACR122.
        #expect(reader.commands == ["FFFE0100016000", "FFC2000002810000"])
    }

    /// What the reader itself says of the radio link shows that it knows the form.
    @Test(arguments: [("6F01", ReaderError.Kind.timeout), ("6F02", .communication)])
    func aFaultProvesTheForm(_ answer: String, _ kind: ReaderError.Kind) throws {
        let reader = FakeReader(["FFFE": answer])
        var frames = FrameExchange(reader: "Some Reader 00 00", facts: Self.type2)
        let error = #expect(throws: ReaderError.self) { try frames.transceive(RawFrame(Self.hello), reader.transmit) }
        #expect(error?.kind == kind)
        #expect(frames.encapsulation == .springCard)
        #expect(reader.commands.count == 1)
        reader.answers = ["FFFE": "0A9000"]
        #expect(try frames.transceive(RawFrame(Self.hello), reader.transmit) == RawFrame([0x0A], bitsInLastByte: 4))
    }

    /// A reader known by its name is not asked anything else.
    @Test(
        arguments: [
            ("SpringCard H518 00 00", ["FFFE0100016000"]),
            ("ACS ACR122U 00 00", ["FF00000003D44260", "FF00000004D4400160"]),
            ("Identiv uTrust 3700 F 00 00", ["FFEF0000016000"]), ("ACS ACR1252 00 00", ["FFC2000002810000"]),
        ]
    )
    func knownReaders(_ name: String, _ commands: [String]) {
        let reader = FakeReader([:])
        var frames = FrameExchange(reader: name, facts: Self.type2)
        let error = #expect(throws: ReaderError.self) { try frames.transceive(RawFrame(Self.hello), reader.transmit) }
        #expect(error?.kind == .unsupported)
        #expect(reader.commands == commands)
    }

    /// Only readers of the ACR122 family name cards so, whatever their own names are.
    @Test(arguments: ["F004", "F011", "F012"]) func readersKnownByTheCard(_ name: String) {
        let reader = FakeReader([:])
        let facts = CardFacts(atr: bytes("3B8F8001804F0CA00000030603\(name)0000000000"))
        var frames = FrameExchange(reader: "Some Reader 00 00", facts: facts)
        #expect(throws: ReaderError.self) { try frames.transceive(RawFrame(Self.hello), reader.transmit) }
        #expect(reader.commands == ["FF00000003D44260", "FF00000004D4400160"])
    }

    /// What one form does not carry, the other may; a failure is none of the form.
    @Test func bothFormsOfTheACR122() throws {
        let facts = CardFacts(atr: bytes("3B8F8001804F0CA00000030603F011000000008A"))
        for first in ["6D00", "6300", "7F9000"] {
            let reader = FakeReader(["FF00000003D442": first, "FF00000004D440": "D54100AABB9000"])
            var frames = FrameExchange(reader: "ACS ACR122U 00 00", facts: facts)
            for _ in 0..<2 {
                #expect(try frames.transceive(RawFrame(Self.hello), reader.transmit).bytes == [0xAA, 0xBB])
            }
            #expect(reader.commands.count == 3, "\(first)")
        }
        let failing = FakeReader(["FF000000": "6300"])
        var frames = FrameExchange(reader: "ACS ACR122U 00 00", facts: facts)
        let error = #expect(throws: ReaderError.self) { try frames.transceive(RawFrame(Self.hello), failing.transmit) }
        #expect(error?.kind == .communication)
    }

    @Test(arguments: ["6300", "C003006A819000", "6A81"]) func refusedSession(_ answer: String) {
        let reader = FakeReader(["FFC20000": answer, "FFC20001": "9702AABB9000"])
        var frames = FrameExchange(reader: "Some Reader 00 00", facts: Self.type2)
        #expect(throws: ReaderError.self) { try frames.transceive(RawFrame(Self.hello), reader.transmit) }
        #expect(!reader.commands.contains { $0.hasPrefix("FFC20001") })
    }

    /// A card that is lost while the form is looked for says nothing of the reader.
    @Test func faultWhileProbing() throws {
        var frames = FrameExchange(reader: "Some Reader 00 00", facts: Self.type2)
        #expect(throws: ReaderError(.cardRemoved, attempting: "x")) {
            try frames.transceive(RawFrame(Self.hello)) { _ throws(ReaderError) in
                throw ReaderError(.cardRemoved, attempting: "x")
            }
        }
        let reader = FakeReader(["FFFE": "AABB9000"])
        #expect(try frames.transceive(RawFrame(Self.hello), reader.transmit).bytes == [0xAA, 0xBB])
    }

    @Test func anyAnswerEndsInAnOutcome() {
        var random = SeededNumbers(seed: 0xF4A)
        for round in 0..<20_000 {
            var answer = random.bytes(round % 24)
            if round % 2 == 0 { answer = [0xC0, 0x03, 0x00] + answer + [0x90, 0x00] }
            for form in FrameEncapsulation.allCases {
                guard case .frame(let frame) = form.outcome(of: answer, technology: .iso14443a) else { continue }
                if frame.bytes.isEmpty || frame.bytes.count > answer.count { Issue.record("\(form) \(answer.hex)") }
            }
        }
    }
}
