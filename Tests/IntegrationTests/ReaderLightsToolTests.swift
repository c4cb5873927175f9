#if PCSC
import Foundation
import GRDB
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

extension ThroughPCSCD {
    /// The kiosk and the lights of an S550 that pcscd serves without escape commands, so that they go by the card on it.
    @Suite struct ReaderLightsToolTests {
        private let daemon: PCSCDaemon
        private let scratch: ScratchFolder

        init() throws {
            daemon = try PCSCDaemon(nameSuffix: " SpringCard S550")
            scratch = try ScratchFolder()
        }

        private func tag(_ text: String) throws -> SimulatedNTAG {
            try #require(SimulatedNTAG.formatted(.ntag213, message: NDEFMessage([.text(text)]).encoded()))
        }

        /// Serves one tap, and the member's second one, until the S550 has answered; then ends the kiosk.
        private func taps(_ s550: SimulatedS550, _ arguments: [String], signals: Int) async throws -> Tool.Outcome {
            let slot = VirtualCardReader(reader: SimulatedReader(control: s550))
            let database = scratch.file("club.sqlite")
            let tool = try Tool.clubctl.start(["kiosk", "--json", "--database", database] + arguments)
            #expect(await tool.message(containing: "Serving")?.contains("SpringCard S550") == true)
            for event in ["created", "repeat"] {
                try slot.present(try tag("4|U1|x|Ann"))
                _ = try #require(await tool.next(event))
                if signals > 0 { try await until("the signal") { s550.actions.count == (event == "created" ? 1 : 2) } }
                slot.remove()
                try await emptyReader()
            }
            tool.kill(SIGINT)
            return await tool.finish()
        }

        /// Waits until pcscd has noticed that the card is gone.
        private func emptyReader() async throws {
            try await until("an empty reader") { try await PCSCBackend().readers().allSatisfy { $0.card == nil } }
        }

        @Test("[real pcscd] clubctl kiosk answers each tap on an S550 by a sequence, and hands nothing over unasked")
        func both() async throws {
            let s550 = SimulatedS550(passesEscape: false)
            let outcome = try await taps(s550, ["--reader-lights", "both"], signals: 2)
            #expect(s550.actions == [.played(0x24, onAntenna: false), .played(0x23, onAntenna: false)])
            #expect(s550[0x02D0] == nil && !outcome.messages.contains("02D0"))
        }

        @Test("[real pcscd] With --reader-lights kiosk the S550 leaves its lights to the kiosk, which says so once")
        func kiosk() async throws {
            let s550 = SimulatedS550(passesEscape: false, form: .class)
            let outcome = try await taps(s550, ["--reader-lights", "kiosk"], signals: 2)
            #expect(s550.actions == [.played(0x24, onAntenna: false), .played(0x23, onAntenna: false)])
            #expect(s550[0x02D0] == [0x01])
            #expect(outcome.messages.components(separatedBy: "register 02D0").count == 2, "\(outcome.messages)")
        }

        @Test("[real pcscd] With readerLights in the kiosk's file an S550 is sent nothing before the receipt is there")
        func afterTheReceipt() async throws {
            let s550 = SimulatedS550(passesEscape: false)
            let slot = VirtualCardReader(reader: SimulatedReader(control: s550))
            let file = try scratch.write("database: club.sqlite\nreaderLights: both\n", to: "kiosk.conf")
            let tool = try Tool.clubctl.start(["kiosk", "--json", "--config", file])
            _ = try #require(await tool.message(containing: "Serving"))
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: scratch.file("club.sqlite"), configuration: configuration)
            try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
            try slot.present(try tag("4|U1|x|Ann"))
            // Read, and seconds later still not recorded.
            _ = try #require(await tool.message(containing: "waits and is given again"))
            #expect(s550.actions == [])
            try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
            _ = try #require(await tool.next("created"))
            try await until("the signal") { s550.actions == [.played(0x24, onAntenna: false)] }
            tool.kill(SIGINT)
            #expect(await tool.finish().status == 130)
        }

        @Test("[real pcscd] Unasked, the kiosk sends an S550 nothing")
        func reader() async throws {
            let s550 = SimulatedS550(passesEscape: false)
            _ = try await taps(s550, [], signals: 0)
            #expect(s550.actions == [] && s550[0x02D0] == nil)
        }
    }
}
#endif
