import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// `readerctl s550` as a program.
@Suite(.timeLimit(.minutes(5))) struct S550ToolTests {
    /// Nothing here has a service that could be reached, or a reader.
    private let nowhere = ["PCSCLITE_CSOCK_NAME": "/nonexistent/pcscd.comm"]

    @Test(arguments: [
        ["wink"], ["info"], ["led", "green"], ["sound"], ["volume", "3"], ["theme", "1", "2", "3"],
        ["sequence", "wink"],
        ["register", "read"], ["register", "write", "02D8", "03"], ["profile"], ["reset"], ["shutdown", "--yes"],
        ["verify", "/nonexistent/report"],
    ])
    func withoutReader(_ arguments: [String]) async throws {
        let tool = try Tool.readerctl.start(
            ["s550"] + arguments + ["--json", "--reader", "pcsc:SpringCard"],
            environment: nowhere
        )
        let outcome = await tool.finish()
        #expect(outcome.status == 69, "\(outcome.messages)")
        #expect((outcome.objects.first?["error"] as? [String: Any])?["code"] is String)
    }

    @Test func help() async throws {
        let help = try await Tool.readerctl.run("s550", "--help")
        #expect(help.status == 0)
        for name in [
            "info", "wink", "led", "sound", "volume", "theme", "sequence", "register", "profile", "reset", "shutdown",
            "config", "verify",
        ] {
            #expect(help.output.contains("\n  \(name) "), "\(name)")
        }
        let usage = try await Tool.readerctl.run("s550", "volume", "9", "--json")
        #expect(usage.status == 64)
    }
}

#if PCSC
extension ThroughPCSCD {
    /// `readerctl s550` with a simulated S550 behind the virtual reader of the real pcscd, which carries command APDUs.
    @Suite struct S550ThroughPCSCDTests {
        private let daemon: PCSCDaemon

        init() throws {
            daemon = try PCSCDaemon()
        }

        private func present(_ s550: SimulatedS550) async throws -> VirtualCardReader {
            let slot = VirtualCardReader(reader: SimulatedReader(control: s550))
            try slot.present(try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0x00, 0x00])))
            let backend = PCSCBackend()
            try await until("the card") { try await backend.readers().contains { $0.card != nil } }
            return slot
        }

        private func run(_ arguments: [String]) async throws -> Tool.Outcome {
            let tool = try Tool.readerctl.start(["s550"] + arguments + ["--json", "--reader", "Virtual"])
            let outcome = await tool.finish()
            #expect(!S550CommandTests.showsKey(outcome.output + outcome.messages), "\(arguments)")
            return outcome
        }

        @Test("[real pcscd] every s550 command, in either form", arguments: SimulatedS550.Form.allCases)
        func everyCommand(_ form: SimulatedS550.Form) async throws {
            let (s550, scratch) = (S550CommandTests.s550(false, form: form), try ScratchFolder())
            let slot = try await present(s550)
            let way = form == .instruction ? "controlInstruction" : "controlClass"
            let file = scratch.file("settings")
            let commands: [([String], Int32)] = [
                (["info"], 0), (["wink"], 0), (["led", "green"], 0), (["sound"], 0), (["volume", "2", "--keep"], 0),
                (["theme", "1", "2", "3"], 0), (["sequence", "tagRead"], 0), (["sequence", "--antenna", "24"], 0),
                (["register", "read"], 0), (["register", "read", "0318"], 1), (["register", "write", "02D0", "01"], 0),
                (["register", "write", "02C0", "04"], 64), (["profile"], 0), (["config", "save", file], 0),
                (["config", "diff", file], 0), (["volume", "1", "--keep"], 0), (["config", "diff", file], 1),
                (["config", "restore", file], 0), (["config", "diff", file], 0), (["reset"], 0),
                (["verify", "--timeout", "5", scratch.file("report")], 0), (["shutdown"], 64),
                (["shutdown", "--yes"], 0),
            ]
            for (arguments, status) in commands {
                let outcome = try await run(arguments)
                #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
                let ways = outcome.objects.compactMap { $0["way"] as? String }
                #expect(status != 0 || ways.allSatisfy { $0 == way }, "\(arguments)")
            }
            #expect(
                s550.actions.prefix(6) == [
                    .winked, .lit([0x00, 0xFF, 0x00]), .buzzed(100), .volume(2), .theme([1, 2, 3]),
                    .played(0x24, onAntenna: false),
                ]
            )
            #expect(s550.actions.contains(.restarted(hard: false)) && s550.isOff)
            #expect(s550[0x02D8] == [2] && s550[0x02D0] == [1] && s550[0x02C0] == [2])
            slot.remove()
        }

        @Test("[real pcscd] an S550 without a card, whose driver passes no command, says what to do")
        func withoutCard() async throws {
            let slot = try await present(S550CommandTests.s550(false))
            slot.remove()
            try await until("no card") { try await PCSCBackend().readers().allSatisfy { $0.card == nil } }
            let outcome = try await run(["wink"])
            #expect(outcome.status == 1)
            #expect((outcome.objects.first?["error"] as? [String: Any])?["code"] as? String == "escapeDisabled")
            #expect(outcome.messages.contains("ifdDriverOptions"))
        }

        /// A card is read while its reader is controlled; neither disturbs the other.
        @Test("[real pcscd] commands to the reader come between conversations, never into one")
        func besideConversations() async throws {
            let s550 = S550CommandTests.s550(false)
            let slot = try await present(s550)
            let backend = PCSCBackend()
            let status = try #require(try await backend.readers().first { $0.card != nil })
            let presence = try #require(status.card)
            let control = try ReaderControl(status.reader, of: backend, dialect: .springCore)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await control.wink() }
                    group.addTask {
                        let content = try await backend.withCard(presence) { try TagReader.readNDEF(over: $0) }
                        #expect(content.ndef == .empty || content.ndef == .message([0xD0, 0x00, 0x00]))
                    }
                }
                try await group.waitForAll()
            }
            #expect(s550.actions == [SimulatedS550.Action](repeating: .winked, count: 20))
            slot.remove()
        }
    }
}
#endif
