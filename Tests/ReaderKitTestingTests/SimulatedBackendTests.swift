import Foundation
import ReaderKit
import ReaderKitTesting
import Synchronization
import Testing
import TestSupport

@Suite struct SimulatedBackendTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func makeBackend(_ readers: [String] = ["A"]) -> SimulatedBackend {
        SimulatedBackend(readers: readers, now: { [now] in now })
    }

    /// The events that are in the stream by now.
    private func collect(_ stream: AsyncStream<ReaderEvent>, from backend: SimulatedBackend) async -> [String] {
        backend.finish()
        return await stream.reduce(into: []) { $0.append(Self.text($1)) }
    }

    private static func text(_ event: ReaderEvent) -> String {
        switch event {
        case .serviceLost: "lost"
        case .serviceBack: "back"
        case .readerAdded(let reader): "+\(reader.name)"
        case .readerRemoved(let reader): "-\(reader.name)"
        case .cardInserted(let card): "in \(card.number)@\(card.reader.name)"
        case .cardRemoved(let card): "out \(card.number)@\(card.reader.name)"
        case .cardMissed(let card): "missed \(card.number)@\(card.reader.name)"
        case .cardReported, .readerStuck, .readerRecovered, .batteryLevel, .failed: "other"
        }
    }

    @Test("A card that is in no reader has no power")
    func noReader() {
        let backend = makeBackend()
        let card = PoweredCard()
        #expect(backend.insert(card, into: "B") == nil)
        #expect(card.isPowered == false)
        #expect(backend.insert(card, into: "A") != nil)
        #expect(card.isPowered)
    }

    private final class PoweredCard: SimulatedCard {
        private let power = Mutex(false)
        private let card = SimulatedNTAG(.ntag213)

        var isPowered: Bool { power.withLock(\.self) }
        var uid: [UInt8] { card.uid }
        var kind: SimulatedCardKind { card.kind }
        var atr: [UInt8] { card.atr }

        func powerOn() { power.withLock { $0 = true } }
        func powerOff() { power.withLock { $0 = false } }
        func receive(apdu: [UInt8]) -> [UInt8]? { card.receive(apdu: apdu) }
        func receive(frame: RawFrame) -> RawFrame? { card.receive(frame: frame) }
    }

    @Test func taps() async {
        let backend = makeBackend()
        let events = backend.events()
        backend.insert(SimulatedNTAG(.ntag213))
        backend.remove()
        backend.remove()
        backend.insert(SimulatedNTAG(.ntag213))
        backend.insert(SimulatedNTAG(.ntag213))
        backend.flash(SimulatedNTAG(.ntag213))
        #expect(backend.insert(SimulatedNTAG(.ntag213), into: "B") == nil)
        let seen = await collect(events, from: backend)
        #expect(
            seen == ["back", "+A", "in 1@A", "out 1@A", "in 2@A", "out 2@A", "in 3@A", "out 3@A", "missed 4@A"]
        )
    }

    @Test func laterWatcherGetsWhatIsThere() async {
        let backend = makeBackend(["A", "B"])
        let presence = backend.insert(SimulatedNTAG(.ntag213), into: "B")
        #expect(presence?.at == now)
        #expect(presence?.facts.atr?.hex == "3B8F8001804F0CA0000003060300030000000068")
        #expect(await collect(backend.events(), from: backend) == ["back", "+A", "+B", "in 1@B"])
    }

    @Test func readersAndService() async {
        let backend = makeBackend()
        let events = backend.events()
        backend.addReader(named: "B")
        backend.addReader(named: "B")
        backend.insert(SimulatedNTAG(.ntag213), into: "B")
        backend.removeReader(named: "B")
        backend.insert(SimulatedNTAG(.ntag213))
        backend.loseService()
        backend.loseService()
        #expect(backend.insert(SimulatedNTAG(.ntag213)) == nil)
        let late = backend.events()
        backend.restoreService()
        backend.restoreService()
        let seen = await collect(events, from: backend)
        #expect(
            seen == ["back", "+A", "+B", "in 1@B", "out 1@B", "-B", "in 2@A", "out 2@A", "-A", "lost", "back", "+A"]
        )
        #expect(await late.reduce(into: []) { $0.append(Self.text($1)) } == ["lost", "back", "+A"])
    }

    @Test func watchEndsWithItsConsumer() async {
        let backend = makeBackend()
        let task = Task { [events = backend.events()] in for await _ in events {} }
        #expect(backend.watchers == 1)
        task.cancel()
        await task.value
        #expect(backend.watchers == 0)
    }

    @Test(.timeLimit(.minutes(5))) func watchesEndMeanwhile() async throws {
        let backend = makeBackend()
        let tapping = Task.detached { for _ in 0..<10_000 { backend.flash(SimulatedNTAG(.ntag213)) } }
        await consumersComeAndGo(1000, backend.events)
        await tapping.value
        try await until("nobody watches") { backend.watchers == 0 }
    }

    @Test func conversation() async throws {
        let backend = makeBackend()
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0, 0]))
        let presence = try #require(backend.insert(tag))
        let content = try await backend.withCard(presence) { try TagReader.readNDEF(over: $0) }
        #expect(content.ndef == .message([0xD0, 0, 0]))
    }

    @Test func anotherCardInItsPlace() async throws {
        let backend = makeBackend()
        let first = try #require(backend.insert(SimulatedNTAG(.ntag213)))
        backend.insert(SimulatedNTAG(.ntag215))
        let error = await #expect(throws: ReaderError.self) { try await backend.withCard(first) { _ in } }
        #expect(error?.kind == .cardRemoved)
    }

    @Test func cardTakenAwayInTheMiddle() async throws {
        let backend = makeBackend()
        let presence = try #require(backend.insert(SimulatedNTAG(.ntag213)))
        let kinds = try await backend.withCard(presence) { channel in
            _ = try channel.send(.getUID)
            backend.remove()
            backend.insert(SimulatedNTAG(.ntag215))
            return [{ _ = try channel.send(.getUID) }, { try channel.reset() }].map { call in
                do {
                    try call()
                    return nil as ReaderError.Kind?
                } catch {
                    return (error as? ReaderError)?.kind
                }
            }
        }
        #expect(kinds == [.cardRemoved, .cardRemoved])
    }

    @Test(arguments: [true, false]) func noReaderNoService(losesService: Bool) async throws {
        let backend = makeBackend()
        let presence = try #require(backend.insert(SimulatedNTAG(.ntag213)))
        if losesService { backend.loseService() } else { backend.removeReader(named: "A") }
        let error = await #expect(throws: ReaderError.self) { try await backend.withCard(presence) { _ in } }
        #expect(error?.kind == (losesService ? .serviceUnavailable : .readerUnavailable))
    }

    @Test func faultsOfAPresentation() async throws {
        let backend = makeBackend()
        let presence = try #require(backend.insert(SimulatedNTAG(.ntag213), faults: [.init(.timeout, atExchange: 1)]))
        for _ in 0..<2 {
            let error = await #expect(throws: ReaderError.self) {
                try await backend.withCard(presence) { channel in
                    _ = try channel.send(.getUID)
                    _ = try channel.send(.getUID)
                }
            }
            #expect(error?.kind == .timeout)
        }
    }

    @Test func onlyOneConversationAtATime() async throws {
        let backend = makeBackend()
        let presence = try #require(backend.insert(SimulatedNTAG(.ntag213)))
        // Each adds one to the number in page 4; a lost update would show.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await backend.withCard(presence) { channel in
                        let value = try channel.send(.readPages(4)).data[0]
                        _ = try channel.send(.updateBlock(4, data: [value &+ 1, 0, 0, 0]))
                    }
                }
            }
            try await group.waitForAll()
        }
        let value = try await backend.withCard(presence) { try $0.send(.readPages(4)).data[0] }
        #expect(value == 51)
    }
}
