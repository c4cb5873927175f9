import ReaderKit
import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardPasses

/// Phones that answer what no phone should: mutated conversations, from a seed that is told.
///
/// `READERKIT_PASS_MUTATIONS` says how many for each reader; a release build does millions in minutes.
@Suite struct PassMutationTests {
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["READERKIT_PASS_MUTATIONS"].flatMap(Int.init) ?? 3_000
    }

    private static let appleKey = AppleVASKey([UInt8](repeating: 0x33, count: 32))!
    private static let secret = "M-SECRET-1042"

    /// A card that answers in order, whatever it is asked.
    private final class Answers: CardChannel {
        let facts = CardFacts(atr: [0x3B, 0x80, 0x80, 0x01, 0x01])
        let elapsed = Duration.zero
        private var left: ArraySlice<[UInt8]>

        init(_ answers: [[UInt8]]) { left = answers[...] }

        func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
            guard let answer = left.popFirst() else { throw ReaderError(.cardRemoved, attempting: "send a command") }
            guard answer.count >= 2 else { throw ReaderError(.invalidAnswer, attempting: "send a command") }
            return answer
        }

        func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
            throw ReaderError(.unsupported, attempting: "exchange a raw frame")
        }

        func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
            throw ReaderError(.unsupported, attempting: "send a control code")
        }

        func reset() throws(ReaderError) {}
    }

    /// Changes, cuts, lengthens, or takes the place of some bytes.
    private static func mutate(_ bytes: [UInt8], _ random: inout SeededNumbers) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes[place] = [0x00, 0x7F, 0x80, 0x81, 0x82, 0xFF].randomElement(using: &random) ?? 0
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
            case 4: bytes.insert(contentsOf: (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }, at: place)
            default:
                let from = Int.random(in: 0..<bytes.count, using: &random)
                bytes += bytes[from..<min(bytes.count, from + 16)]
            }
        }
        return bytes
    }

    private static func check(_ reading: CardReading, _ what: String) {
        for problem in reading.problems {
            #expect(!problem.message.isEmpty && !problem.message.contains(secret), "\(what)")
        }
        #expect(reading.member.map { MemberID.isUsable($0.key) } ?? true, "\(what)")
    }

    @Test func appleAnswers() throws {
        let phone = SimulatedApplePhone([
            SimulatedApplePhone.Pass(
                passTypeIdentifier: "pass.com.example.club",
                message: Self.secret,
                readerKey: Self.appleKey.publicKey
            )
        ])
        let merchant = AppleVASMerchant(passTypeIdentifier: "pass.com.example.club", keys: [Self.appleKey])
        let site = PassSite(appleVAS: AppleVASReader([merchant], allowsVariant: true), longestAge: .seconds(86_400))
        phone.powerOn()
        let commands = [
            WalletSelection.command, try AppleVASRequest(merchantID: merchant.merchantID).command(),
        ]
        let answers = commands.compactMap { phone.receive(apdu: $0.encoded()) }
        #expect(
            CardReading(over: Answers([[0x90, 0x00]] + answers), limits: .default, site: site).member?.key
                == Self.secret
        )
        var random = SeededNumbers(seed: 6_001)
        for round in 0..<Self.rounds {
            var changed = answers
            changed[round % 2] = Self.mutate(answers[round % 2], &random)
            let reading = CardReading(over: Answers([[0x90, 0x00]] + changed), limits: .default, site: site)
            Self.check(reading, "seed 6001, round \(round)")
            // What was changed in the cryptogram opens nothing.
            if let key = reading.member?.key { #expect(key == Self.secret, "seed 6001, round \(round)") }
        }
    }

    @Test func googleAnswers() throws {
        let values = SmartTapRecords.bytes(
            SmartTapTests.objects.map { object in
                SmartTapRecords.record(
                    "asv",
                    SmartTapRecords.bytes([
                        SmartTapRecords.record("i", [4, object.issuer.kind] + object.issuer.id),
                        SmartTapRecords.record(
                            object.kind.code,
                            SmartTapRecords.bytes([
                                SmartTapRecords.record("cid", [4] + SmartTapTests.range(0xC0, 16)),
                                SmartTapRecords.record("n", [2] + Array(Self.secret.utf8)),
                            ])
                        ),
                    ])
                )
            }
        )
        func data(_ bundle: [UInt8]) -> [UInt8] {
            let session = SmartTapRecords.record("ses", SmartTapTests.range(0xA1, 8) + [4, 1])
            return SmartTapRecords.bytes([
                SmartTapRecords.record(
                    "srs",
                    SmartTapRecords.bytes([session, SmartTapRecords.record("reb", bundle)])
                )
            ]) + [0x90, 0x00]
        }
        let site = PassSite(smartTap: SmartTapReader(key: SmartTapTests.key) { SmartTapTests.entropy })
        let start = [
            [0x90, 0x00], SmartTapTests.bytes(SmartTapVectors.selected) + [0x90, 0x00],
            SmartTapTests.bytes(SmartTapVectors.negotiated) + [0x90, 0x00],
        ]
        let plain = data([0x00] + values)
        let whole = CardReading(over: Answers(start + [plain]), limits: .default, site: site)
        #expect(whole.member?.key == Self.secret)
        let last = [
            plain, SmartTapTests.bytes(SmartTapVectors.first + SmartTapVectors.second) + [0x90, 0x00],
            SmartTapTests.bytes(SmartTapTests.compressed) + [0x90, 0x00], data([0x02, 0x78, 0x9C] + values),
        ]
        var random = SeededNumbers(seed: 6_002)
        for round in 0..<Self.rounds {
            var answers = start + [last[round % last.count]]
            // Mostly the last one, which has the most to be read.
            let place = round % 3 == 0 ? Int.random(in: 1..<4, using: &random) : 3
            answers[place] = Self.mutate(answers[place], &random)
            let reading = CardReading(over: Answers(answers), limits: .default, site: site)
            for problem in reading.problems { #expect(!problem.message.isEmpty, "seed 6002, round \(round)") }
            // What is not encrypted may be changed by anybody, and is trusted no further.
            #expect(reading.passes.allSatisfy { $0.assurance == .identifier }, "seed 6002, round \(round)")
        }
    }
}
