#if PCSC
import ReaderKit
import ReaderKitTesting
import Testing

/// Everything that goes through a real pcscd. There is one `/run/pcscd` for the whole process, so these suites run one
/// after the other; each test starts a daemon of its own.
@Suite(
    .serialized,
    .enabled(if: PCSCDaemon.isIsolated, "run the tests with 'Scripts/isolated'"),
    .timeLimit(.minutes(10))
)
enum ThroughPCSCD {}

extension ThroughPCSCD {
    /// A simulated card behind the virtual reader is a card to PC/SC.
    @Suite struct VirtualCardTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()
        private let backend = PCSCBackend()

        init() throws {
            daemon = try PCSCDaemon()
        }

        /// The first event that the closure takes.
        private func next<Value>(
            _ events: inout AsyncStream<ReaderEvent>.Iterator,
            _ match: (ReaderEvent) -> Value?
        ) async throws -> Value {
            while let event = await events.next() {
                if let value = match(event) { return value }
            }
            throw ReaderError(.cancelled, attempting: "wait for an event")
        }

        private func insertion(_ events: inout AsyncStream<ReaderEvent>.Iterator) async throws -> CardPresence {
            try await next(&events) { if case .cardInserted(let presence) = $0 { presence } else { nil } }
        }

        private func removal(_ events: inout AsyncStream<ReaderEvent>.Iterator) async throws -> CardPresence {
            try await next(&events) { if case .cardRemoved(let presence) = $0 { presence } else { nil } }
        }

        @Test("[real pcscd] a simulated NTAG is read")
        func simulatedNTAG() async throws {
            var events = backend.events().makeAsyncIterator()
            let message: [UInt8] = [0xD1, 0x01, 0x01, 0x55, 0x00]
            let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
            try slot.present(tag)
            let presence = try await insertion(&events)
            #expect(presence.facts.atr == tag.atr)
            let (uid, pages, content) = try await backend.withCard(presence) { channel in
                (
                    try channel.transmit([0xFF, 0xCA, 0x00, 0x00, 0x00]).hex,
                    try channel.transmit([0xFF, 0xB0, 0x00, 0x04, 0x10]).hex,
                    try TagReader.readNDEF(over: channel)
                )
            }
            #expect(uid == "04A1B2C3D4E5809000")
            #expect(pages == "0305D101015500FE00000000000000009000")
            #expect(content.ndef == .message(message))
            #expect(slot.isPresenting)
            slot.remove()
            #expect(!slot.isPresenting)
            #expect(try await removal(&events).number == presence.number)
        }

        @Test("[real pcscd] a simulated Type 4 tag is read and reset")
        func simulatedType4Tag() async throws {
            var events = backend.events().makeAsyncIterator()
            let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
            var configuration = SimulatedType4Tag.Configuration()
            configuration.fileSize = 2048
            try slot.present(SimulatedType4Tag(message: message, configuration: configuration))
            let presence = try await insertion(&events)
            let (content, selected, forgotten) = try await backend.withCard(presence) { channel in
                let content = try TagReader.readNDEF(over: channel)
                let selected = try channel.transmit([0x00, 0xB0, 0x00, 0x00, 0x02]).hex
                try channel.reset()
                return (content, selected, try channel.transmit([0x00, 0xB0, 0x00, 0x00, 0x02]).hex)
            }
            #expect(content.ndef == .message(message))
            #expect(selected == "03E89000")
            // The reset reached the card: no file is selected any more.
            #expect(forgotten == "6986")
        }

        @Test("[real pcscd] cards come and go one after the other")
        func cardsOneAfterTheOther() async throws {
            var events = backend.events().makeAsyncIterator()
            let cards: [any SimulatedCard] = [
                SimulatedIdentityCard.classic1K(), SimulatedIdentityCard.desFire(), SimulatedIdentityCard.feliCa(),
                SimulatedIdentityCard.phone(),
            ]
            for card in cards {
                try slot.present(card)
                let presence = try await insertion(&events)
                #expect(presence.facts.atr == card.atr)
                let uid = try await backend.withCard(presence) { try $0.send(.getUID).data }
                #expect(uid == card.uid)
                slot.remove()
                _ = try await removal(&events)
            }
        }

        @Test("[real pcscd] both slots have cards")
        func bothSlots() async throws {
            var events = backend.events().makeAsyncIterator()
            let second = VirtualCardReader(port: VirtualCardReader.secondPort)
            try slot.present(SimulatedNTAG(.ntag213))
            try second.present(SimulatedNTAG(.ntag215))
            let readers = Set([try await insertion(&events).reader.name, try await insertion(&events).reader.name])
            #expect(readers.count == 2)
        }

        @Test("[real pcscd] a silent card does not hang the daemon")
        func silentCardDoesNotHang() async throws {
            final class SilentCard: SimulatedCard {
                var uid: [UInt8] { [0x04, 1, 2, 3, 4, 5, 6] }
                var kind: SimulatedCardKind { .isoDEP(historicalBytes: []) }
                func receive(apdu: [UInt8]) -> [UInt8]? { apdu[1] == 0xA4 ? nil : [] }
            }
            var events = backend.events().makeAsyncIterator()
            try slot.present(SilentCard())
            let presence = try await insertion(&events)
            let answers = try await backend.withCard(presence) { channel in
                [try channel.transmit([0, 0xA4, 0, 0]).hex, try channel.transmit([0, 0xB0, 0, 0, 1]).hex]
            }
            #expect(answers == ["6F01", "6F00"])
        }

        @Test("[real pcscd] exchanges are not delayed")
        func exchangesAreQuick() async throws {
            var events = backend.events().makeAsyncIterator()
            try slot.present(SimulatedNTAG(.ntag213))
            let presence = try await insertion(&events)
            let quick = try await backend.withCard(presence) { channel in
                let times = try (0..<101).map { _ in
                    let start = ContinuousClock.now
                    _ = try channel.transmit([0xFF, 0xB0, 0x00, 0x04, 0x10])
                    return start.duration(to: .now)
                }
                return times.min()
            }
            // A delayed acknowledgement in the way would make it 44 ms.
            #expect(try #require(quick) < .milliseconds(20))
        }

        @Test("[real pcscd] the daemon is killed and started again")
        func daemonKilledAndStartedAgain() async throws {
            var events = backend.events().makeAsyncIterator()
            try slot.present(SimulatedNTAG(.ntag213))
            _ = try await insertion(&events)
            let first = try #require(daemon.processIdentifier)
            daemon.kill()
            #expect(daemon.processIdentifier == nil)
            try await next(&events) { if case .serviceLost = $0 { () } else { nil } }
            try daemon.restart()
            #expect(daemon.processIdentifier != first)
            try await next(&events) { if case .serviceBack = $0 { () } else { nil } }
            #expect(!slot.isPresenting)
            try slot.present(SimulatedNTAG(.ntag216))
            _ = try await insertion(&events)
        }

        @Test("[real pcscd] no virtual reader is an error")
        func nothingListens() {
            let error = #expect(throws: ReaderError.self) {
                try VirtualCardReader(port: 1).present(SimulatedNTAG(.ntag213))
            }
            #expect(error?.kind == .readerUnavailable)
            #expect(error?.code?.name == "Connection refused")
        }

        @Test("[real pcscd] a daemon that does not start is an error")
        func daemonThatDoesNotStart() {
            daemon.terminate()
            #expect(throws: PCSCDaemonError.notStarted(path: "/nowhere/pcscd", error: 2)) {
                try PCSCDaemon(path: "/nowhere/pcscd")
            }
            #expect(throws: PCSCDaemonError.ended(path: "/bin/false", status: 256)) {
                try PCSCDaemon(path: "/bin/false")
            }
        }
    }
}
#endif
