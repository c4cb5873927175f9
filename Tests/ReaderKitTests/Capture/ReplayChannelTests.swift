import CardCore
import CardPasses
import Testing
import TestSupport

@testable import Captures
@testable import ReaderKit

@Suite struct ReplayChannelTests {
    static func presentation(_ body: String) throws -> (Capture.Presentation, String?) {
        let capture = try Capture(parsing: "capture 1\ncard at 1 atr 3B80800101\n" + body, file: "x.capture")
        return (try #require(capture.presentations.first), capture.file)
    }

    static func channel(_ body: String, _ mode: ReplayMode) throws -> ReplayChannel {
        let (presentation, file) = try presentation(body)
        return ReplayChannel(presentation, mode: mode, file: file)
    }

    /// Sends a command and gives its answer, or the kind of the error.
    static func send(_ hex: String, to channel: ReplayChannel) throws -> String {
        do throws(ReaderError) {
            return try channel.transmit((try? Hex.decode(hex)) ?? []).hex
        } catch {
            return error.kind.rawValue
        }
    }

    static let applications = """
        > FF CA 00 00 00
        < 04 01 90 00 @ 1.1
        > 00 A4 04 00 01 AA
        < 90 00
        > 00 B0 00 00 02
        < AA AA 90 00
        > 00 B0 00 00 02
        < AB AB 90 00 @ 1.25
        > 00 A4 04 00 01 BB
        < 61 02
        > 00 B0 00 00 02
        < BB BB 90 00
        > 00 A4 04 00 01 CC
        < 6A 82
        > 00 B0 00 00 03
        < BC BC BC 90 00
        """

    @Test func answersInOrderWhenStrict() throws {
        let channel = try Self.channel(Self.applications, .strict)
        #expect(channel.facts.atr?.hex == "3B80800101")
        #expect(channel.elapsed == .zero)
        #expect(try Self.send("FFCA000000", to: channel) == "04019000")
        #expect(channel.elapsed == .milliseconds(100))
        #expect(try Self.send("00A4040001AA", to: channel) == "9000")
        #expect(channel.elapsed == .milliseconds(100))
        #expect(try Self.send("00B0000002", to: channel) == "AAAA9000")
        #expect(try Self.send("00B0000002", to: channel) == "ABAB9000")
        #expect(channel.elapsed == .milliseconds(250))
        #expect(channel.rest?.detail?.hasPrefix("x.capture:11: ") == true)
        #expect(channel.mismatches.isEmpty)
    }

    @Test func namesTheLineOfAMismatchWhenStrict() throws {
        let channel = try Self.channel("> 00B00000\n< 9000\n> 00B00001\n< 9000\n", .strict)
        #expect(try Self.send("00B00000", to: channel) == "9000")
        #expect {
            try channel.transmit([0, 0xB0, 0, 2])
        } throws: { error in
            let error = error as? ReaderError
            let detail = "x.capture:5: '> 00 B0 00 02' was sent and '> 00 B0 00 01' is recorded"
            return error?.kind == .replayMismatch && error?.detail == detail
        }
        #expect { try channel.transceive(RawFrame([0x30, 0])) } throws: {
            ($0 as? ReaderError)?.kind == .replayMismatch
        }
        #expect(try Self.send("00B00001", to: channel) == "9000")
        #expect(channel.rest == nil)
        #expect {
            try channel.transmit([0, 0xB0, 0, 1])
        } throws: { error in
            let error = error as? ReaderError
            let detail = "x.capture:5: '> 00 B0 00 01' was sent and nothing more is recorded"
            return error?.kind == .replayMismatch && error?.detail == detail
        }
        #expect(channel.mismatches.count == 3)
    }

    @Test func tellsNoKeysInAMismatch() throws {
        let channel = try Self.channel("> FF 82 00 00 06 A0 A1 A2 A3 A4 A5\n< 9000\n", .strict)
        #expect {
            try channel.transceive(RawFrame([0x1B, 0x12, 0x34, 0x56, 0x78]))
        } throws: { error in
            let detail = "x.capture:3: '>> 1B …' was sent and '> FF 82 00 00 06 …' is recorded"
            return (error as? ReaderError)?.detail == detail
        }
    }

    @Test func answersByCommandWithinTheLastSelect() throws {
        let channel = try Self.channel(Self.applications, .byCommand)
        // Before any SELECT nothing but the reader's own command was recorded.
        #expect(try Self.send("00B0000002", to: channel) == "6D00")
        // A SELECT is found although another one stood before it in the recording.
        #expect(try Self.send("00A4040001BB", to: channel) == "6102")
        #expect(try Self.send("00B0000002", to: channel) == "BBBB9000")
        // The same command again gets its last answer.
        #expect(try Self.send("00B0000002", to: channel) == "BBBB9000")
        // A SELECT that fails leaves the scope as it is.
        #expect(try Self.send("00A4040001CC", to: channel) == "6A82")
        #expect(try Self.send("00B0000003", to: channel) == "BCBCBC9000")
        #expect(try Self.send("00A4040001AA", to: channel) == "9000")
        // The same command again gets its next answer, then its last.
        #expect(try Self.send("00B0000002", to: channel) == "AAAA9000")
        #expect(try Self.send("00B0000002", to: channel) == "ABAB9000")
        #expect(try Self.send("00B0000002", to: channel) == "ABAB9000")
        #expect(try Self.send("00B0000003", to: channel) == "6D00")
        // The reader's own commands do not depend on what is selected.
        #expect(try Self.send("FFCA000000", to: channel) == "04019000")
        #expect(channel.elapsed == .milliseconds(250))
        try channel.reset()
        #expect(try Self.send("00B0000002", to: channel) == "6D00")
        #expect(channel.rest == nil)
    }

    @Test func refusesWhatWasNeverRecorded() throws {
        let channel = try Self.channel(">> 30 00\n<< 0A/4\ncontrol 1 > 00\n< 00 11\n", .byCommand)
        #expect(try Self.send("00A40000", to: channel) == "6D00")
        #expect(try channel.transceive(RawFrame([0x30, 0])) == RawFrame([0x0A], bitsInLastByte: 4))
        #expect { try channel.transceive(RawFrame([0x30, 1])) } throws: { ($0 as? ReaderError)?.kind == .timeout }
        #expect(try channel.control(1, [0]) == [0, 0x11])
        #expect {
            try channel.control(2, [0])
        } throws: { error in
            let error = error as? ReaderError
            let code = ReaderError.Code(rawValue: 0x8010_001F, name: "SCARD_E_UNSUPPORTED_FEATURE")
            return error?.kind == .unsupported && error?.code == code
        }
    }

    /// A frame that was recorded as the command in which a reader carried it, in either mode; and a reader that carries
    /// none, of which a recording holds no frames.
    @Test func framesInCommands() throws {
        let hello = RawFrame([0x60])
        for (command, answer) in [
            ("FFFE01000160 00", "AABB9000"), ("FF00000003D44260", "D54300AABB9000"),
            ("FF00000004D4400160", "D54100AABB9000"), ("FFEF00000160 00", "AABB9000"),
            ("FFC20001039501 60 00", "9702AABB9000"),
        ] {
            for mode in ReplayMode.allCases {
                let channel = try Self.channel("> \(command)\n< \(answer)\n", mode)
                #expect(try channel.transceive(hello).bytes == [0xAA, 0xBB], "\(command)")
                #expect(channel.rest == nil)
            }
        }
        for (body, kind) in [
            ("> FFB00000\n< 6A81\n", ReaderError.Kind.unsupported), ("> FFB00000\n< 6300\n", .unsupported),
            ("> FFB00000\n< 6300\n> FFB00004\n< AA9000\n", .timeout),
            ("> FFB00000\n< 6300\n> FF00000003D44230\n< D543019000\n", .timeout),
            ("> FFCA0000\n< 6A81\n", .timeout), ("", .timeout), ("> FFB00000\n< 6A81\n>> 30\n<< 00/4\n", .timeout),
            ("> FFFE01000160 00\n< 6D00\n", .unsupported), ("> 00A40400\n< 6D00\n", .timeout),
            // Silence was heard only by a reader that carried a frame.
            ("> FFB00000\n< 6300\n> FF00520000\n< 9000\n", .unsupported),
            ("> FFB00000\n< 6A81\n> FF00400F0400000000\n< 9000\n", .unsupported),
            ("> FFB00000\n< 6300\n> FF00480000\n< 41435231323255323136\n", .unsupported),
            ("> FFB00000\n< 6300\n> FF00000002D402\n< D503320106079000\n", .unsupported),
            ("> FFB00000\n< 6300\n> FFC2000002810000\n< 9000\n", .unsupported),
            ("> FFB00000\n< 6300\n> FFC20001039501 30 00\n< C003016D009000\n", .unsupported),
            ("> FFB00000\n< 6300\n> FFC20001039501 30 00\n< C0030064019000\n", .timeout),
            ("> FFB00000\n< 6300\n> FFFE01000130 00\n< 6F01\n", .timeout),
            ("> FFB00000\n< 6300\n> FFEF00000130 00\n< 9000\n", .unsupported),
            ("> FF00520000\n< 6D00\n", .timeout),
        ] {
            let channel = try Self.channel(body, .byCommand)
            #expect { try channel.transceive(hello) } throws: { ($0 as? ReaderError)?.kind == kind }
        }
    }

    @Test(arguments: [
        ("timeout", ReaderError.Kind.timeout), ("reset", .cardReset), ("comm-error", .communication),
        ("removed", .cardRemoved),
    ])
    func givesFaultsAsErrors(name: String, kind: ReaderError.Kind) throws {
        for mode in ReplayMode.allCases {
            let body = "> 00B00000\n! \(name) @ 1.5\n> 00B00000\n< 9000\n"
            let channel = try Self.channel(body, mode)
            #expect(try Self.send("00B00000", to: channel) == kind.rawValue)
            #expect(channel.elapsed == .milliseconds(500))
            // After a removal nothing succeeds, after another fault the conversation goes on.
            let isRemoved = kind == .cardRemoved
            #expect(try Self.send("00B00000", to: channel) == (isRemoved ? "cardRemoved" : "9000"))
            if isRemoved {
                #expect(throws: ReaderError.self) { try channel.reset() }
                #expect(channel.rest == nil)
            }
        }
    }

    @Test func forgetsWhatWasSelectedAtAReset() throws {
        let body = "> 00A40000\n< 9000\n> 00B00000\n! reset\n> 00B00000\n< 6985\n"
        let channel = try Self.channel(body, .byCommand)
        #expect(try Self.send("00A40000", to: channel) == "9000")
        #expect(try Self.send("00B00000", to: channel) == "cardReset")
        #expect(try Self.send("00B00000", to: channel) == "6985")
    }
}
