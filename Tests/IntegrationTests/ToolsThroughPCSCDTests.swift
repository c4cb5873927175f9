#if PCSC
import Foundation
import ReaderKit
import ReaderKitTesting
import Testing

extension ThroughPCSCD {
    /// The tools with a card behind the virtual reader of the real pcscd.
    @Suite struct ToolsThroughPCSCDTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()
        private let scratch: ScratchFolder

        init() throws {
            daemon = try PCSCDaemon()
            scratch = try ScratchFolder()
        }

        private func member(_ text: String, uid: [UInt8] = SimulatedNTAG.sampleUID) throws -> SimulatedNTAG {
            let message = try NDEFMessage([.text(text)]).encoded()
            return try #require(SimulatedNTAG.formatted(.ntag213, uid: uid, message: message))
        }

        @Test("[real pcscd] readerctl scan prints a tap")
        func scan() async throws {
            let tool = try Tool.readerctl.start(["scan", "--once", "--json", "--timeout", "20"])
            _ = await tool.message(containing: "Waiting for a card")
            try slot.present(try member("4|U1|x|Ann"))
            let outcome = await tool.finish()
            #expect(outcome.status == 0)
            let tap = try #require(outcome.objects.first)
            #expect(outcome.objects.count == 1)
            #expect(tap["event"] as? String == "scan")
            #expect(tap["backend"] as? String == "pcsc")
            #expect(tap["technology"] as? String == "iso14443a")
            #expect(tap["uid"] as? String == SimulatedNTAG.sampleUID.map { String(format: "%02X", $0) }.joined())
            #expect(tap["uidKind"] as? String == "fixed")
            #expect(tap["memberKey"] as? String == "U1")
            #expect((tap["ndef"] as? [[String: Any]])?.first?["text"] as? String == "4|U1|x|Ann")
            #expect((tap["reader"] as? String)?.hasPrefix("Virtual PCD") == true)
        }

        /// What has contacts and no identifier: a module in the reader's second slot, and an empty slot that reports a card.
        private static let noCards: [(atr: String, answer: String)] = [
            ("3BDF18FF81F1FE43003F03834D494641524520506C75732053414D3B", "6E00"), ("3B00", "6300"),
        ]

        private func noCard(_ index: Int) throws -> RecordedCard {
            let (atr, answer) = Self.noCards[index]
            let text = "capture 1\ncard at 0.000 atr \(atr)\n> FF CA 00 00 00\n< \(answer)\n"
            return try RecordedCard(try #require(try Capture(parsing: text).presentations.first))
        }

        @Test("[real pcscd] what has contacts is no tap, and is shown as what it is", arguments: noCards.indices)
        func contactCard(_ index: Int) async throws {
            let second = VirtualCardReader(port: VirtualCardReader.secondPort)
            try second.present(try noCard(index))
            let watch = try Tool.readerctl.start(["watch", "--json"])
            #expect(try #require(await watch.next("cardInserted"))["card"] as? String == "contact card")
            watch.kill(SIGINT)
            _ = await watch.finish()
            let record = try await Tool.readerctl.run(
                "record",
                scratch.file("contact.capture"),
                "--once",
                "--json",
                "--timeout",
                "20"
            )
            #expect(record.objects.first?["card"] as? String == "contact card" && record.status == 0)
            let silent = try await Tool.readerctl.run("scan", "--once", "--json", "--timeout", "2")
            #expect(silent.objects.compactMap { $0["event"] as? String } == ["timeout"] && silent.status == 1)

            let database = scratch.file("club.sqlite")
            let kiosk = try Tool.clubctl.start(["kiosk", "--json", "--once", "--database", database])
            let scan = try Tool.readerctl.start(["scan", "--once", "--json", "--timeout", "20"])
            _ = await kiosk.message(containing: "Serving")
            _ = await scan.message(containing: "Waiting for a card")
            try await Task.sleep(for: .seconds(1))
            try slot.present(try member("U1"))
            for outcome in [await scan.finish(), await kiosk.finish()] {
                let taps = outcome.objects.filter { $0["event"] as? String == "scan" }
                #expect(taps.map { $0["memberKey"] as? String } == ["U1"])
                #expect(outcome.objects.allSatisfy { $0["event"] as? String != "rejected" })
            }
        }

        @Test("[real pcscd] slots are chosen by parts of their names, cards by their technology")
        func choosing() async throws {
            let second = VirtualCardReader(port: VirtualCardReader.secondPort)
            try slot.present(try member("U1"))
            try second.present(SimulatedIdentityCard.feliCa())
            func found(_ choice: String...) async throws -> [String] {
                let options = choice.flatMap { ["--reader", $0] }
                let outcome = try await Tool.readerctl.run(
                    ["scan", "--json", "--timeout", "6"] + options,
                    input: []
                )
                return outcome.objects.compactMap { ($0["technology"] ?? $0["event"]) as? String }.sorted()
            }
            #expect(try await found("*Virtual PCD 00 00*") == ["iso14443a", "timeout"])
            #expect(try await found("not:*Virtual PCD 00 00*", "not:nfc:") == ["felica", "timeout"])
            #expect(try await found("pcsc:Virtual*", "technology:felica") == ["felica", "timeout"])
            #expect(try await Tool.readerctl.run("scan", "--once", "--reader", "technology:none").status == 64)
        }

        @Test("[real pcscd] a card that rests on the reader is one tap")
        func restingCard() async throws {
            let tool = try Tool.readerctl.start(["scan", "--json", "--timeout", "10"])
            _ = await tool.message(containing: "Waiting for a card")
            try slot.present(try member("U1"))
            let outcome = await tool.finish()
            #expect(outcome.objects.compactMap { $0["event"] as? String } == ["scan", "timeout"])
            #expect(outcome.status == 1)
        }

        /// A tag that takes a while for each answer.
        private final class SlowTag: SimulatedCard {
            private let tag: SimulatedType4Tag

            init(_ message: [UInt8]) { tag = SimulatedType4Tag(message: message, uid: SimulatedNTAG.sampleUID) }

            var uid: [UInt8] { tag.uid }
            var kind: SimulatedCardKind { tag.kind }
            func powerOn() { tag.powerOn() }
            func powerOff() { tag.powerOff() }

            func receive(apdu: [UInt8]) -> [UInt8]? {
                Thread.sleep(forTimeInterval: 1.8)
                return tag.receive(apdu: apdu)
            }
        }

        @Test("[real pcscd] --timeout does not run out while a card is read")
        func slowCard() async throws {
            let tool = try Tool.readerctl.start(["scan", "--json", "--timeout", "6"])
            _ = await tool.message(containing: "Waiting for a card")
            try slot.present(SlowTag(try NDEFMessage([.text("U1")]).encoded()))
            let outcome = await tool.finish()
            #expect(outcome.objects.compactMap { $0["event"] as? String } == ["scan", "timeout"])
            #expect(outcome.objects.first?["memberKey"] as? String == "U1")
            #expect(outcome.objects.first?["problems"] == nil)
            #expect(try #require(outcome.objects.first?["durationMs"] as? Double) > 6000)
        }

        @Test("[real pcscd] clubctl kiosk creates a member, then counts a visit")
        func kiosk() async throws {
            let database = scratch.file("club.sqlite")
            let tool = try Tool.clubctl.start(["kiosk", "--json", "--database", database, "--cooldown", "0.3"])
            _ = await tool.message(containing: "Serving")
            try slot.present(try member("4|U1|x|Ann"))
            let created = try #require(await tool.next("created"))
            #expect((created["member"] as? [String: Any])?["numVisits"] as? Int == 1)
            slot.remove()
            // The next presentation comes after pcscd's own 0.4 s of looking for removals, and so after the cooldown.
            try await waitForEmptyReader()
            try slot.present(try member("4|U1|x|Ann"))
            let visit = try #require(await tool.next("visit"))
            #expect((visit["member"] as? [String: Any])?["numVisits"] as? Int == 2)
            #expect((visit["member"] as? [String: Any])?["username"] as? String == "Ann")
            tool.kill(SIGINT)
            #expect(await tool.finish().status == 130)
            #expect(try await Tool.clubctl.run("check", "--database", database).status == 0)
        }

        private func waitForEmptyReader() async throws {
            for await event in PCSCBackend().events() {
                switch event {
                case .cardRemoved: return
                case .readerAdded(let reader) where try await isEmpty(reader): return
                default: continue
                }
            }
        }

        private func isEmpty(_ reader: ReaderInfo) async throws -> Bool {
            try await PCSCBackend().readers().contains { $0.reader == reader && $0.card == nil }
        }

        @Test("[real pcscd] readerctl watch outlives a killed pcscd and sees the next card")
        func watch() async throws {
            let tool = try Tool.readerctl.start(["watch", "--json"])
            _ = try #require(await tool.next("readerAdded"))
            let started = tool.processorTime
            try slot.present(try member("U1"))
            _ = try #require(await tool.next("cardInserted"))
            daemon.kill()
            let lost = try #require(await tool.next("serviceLost"))
            #expect((lost["error"] as? [String: Any])?["rawCode"] != nil)
            try daemon.restart()
            _ = try #require(await tool.next("serviceBack"))
            try slot.present(try member("U2"))
            let next = try #require(await tool.next("cardInserted"))
            #expect(next["atr"] as? String == "3B8F8001804F0CA0000003060300030000000068")
            // Several seconds of waiting: a loop that spins would have used most of them.
            #expect(tool.processorTime - started < 0.5)
            tool.kill(SIGINT)
            #expect(await tool.finish().status == 130)
        }

        @Test("[real pcscd] what readerctl records replays to the same tap")
        func recordAndReplay() async throws {
            let file = scratch.file("card.capture")
            let tool = try Tool.readerctl.start(["record", file, "--once", "--json", "--timeout", "20"])
            _ = await tool.message(containing: "Waiting for a card")
            try slot.present(try member("4|U1|x|Ann"))
            let live = await tool.finish()
            #expect(live.status == 0)
            for mode in [[], ["--strict"]] {
                let replayed = try await Tool.readerctl.start(["replay", file, "--json"] + mode).finish()
                #expect(replayed.status == 0)
                let (left, right) = (try #require(live.objects.first), try #require(replayed.objects.first))
                for key in ["uid", "atr", "memberKey", "memberName", "card", "technology", "at", "reader"] {
                    #expect(left[key] as? String == right[key] as? String, "\(key)")
                }
            }
        }

        @Test("[real pcscd] readers are listed, and their absence is no failure")
        func list() async throws {
            let outcome = try await Tool.readerctl.run("list", "--json")
            #expect(outcome.status == 0)
            #expect(outcome.objects.count == 2)
            #expect(outcome.objects.allSatisfy { $0["present"] as? Bool == false })
            let name = try #require(outcome.objects.first?["reader"] as? String)
            #expect(try await Tool.readerctl.run("list", "--json", "--reader", name).objects.count == 1)
            #expect(try await Tool.readerctl.run("list", "--reader", "no such reader").status == 69)
            daemon.terminate()
            let absent = try await Tool.readerctl.run("list")
            #expect(absent.status == 69)
            #expect(absent.output.isEmpty)
            #expect(absent.messages.contains("SCARD_E_NO_SERVICE"))
        }
    }
}
#endif
