import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

@Suite(.timeLimit(.minutes(5))) struct BatteryBackendTests {
    private static let name = ReaderControlTests.name

    private static func levels(_ watcher: Watcher) -> [Int] {
        watcher.events.compactMap { if case .batteryLevel(_, let percent) = $0 { percent } else { nil } }
    }

    @Test func levels() async throws {
        let s550 = SimulatedS550()
        let base = SimulatedBackend(readers: [Self.name], reader: SimulatedReader(control: s550))
        let watcher = Watcher(BatteryBackend(base, every: .milliseconds(5)))
        try await until("83") { Self.levels(watcher) == [83] }
        s550.setBattery(percent: 82)
        try await until("82") { Self.levels(watcher) == [83, 82] }
        base.removeReader(named: Self.name)
        base.addReader(named: Self.name)
        // Told anew with the reader.
        try await until("again") { Self.levels(watcher) == [83, 82, 82] }
        #expect(watcher.texts.prefix(3) == ["back", "added \(Self.name)", "battery \(Self.name) 83"])
        watcher.stop()
        try await until("no watch") { base.watchers == 0 }
    }

    /// Both slots of one device, and its commands counted.
    private struct TwoSlots: ReaderBackend {
        let s550 = SimulatedBackend(readers: [name], reader: SimulatedReader(control: SimulatedS550()))
        let asked = Shared<[String]>([])
        var error: ReaderError?

        var kind: BackendKind { .pcsc }
        func events() -> AsyncStream<ReaderEvent> {
            AsyncStream { stream in
                for slot in ["00", "01"] {
                    stream.yield(.readerAdded(ReaderInfo(pcscName: "SpringCard H518 [CCID] (000A1B2C) 00 \(slot)")))
                }
            }
        }
        func readers() async throws -> [ReaderStatus] { [] }
        func withCard<Result: Sendable>(
            _ presence: CardPresence,
            perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
        ) async throws -> Result {
            throw ReaderError(.cardRemoved, attempting: "talk to the card")
        }
        func withReader<Result: Sendable>(
            _ reader: ReaderInfo,
            perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
        ) async throws -> Result {
            asked.withLock { $0.append(reader.name) }
            if let error { throw error }
            return try await s550.withReader(ReaderInfo(name: name, backend: .simulated), perform: work)
        }
    }

    @Test func slots() async throws {
        let backend = TwoSlots()
        let watcher = Watcher(BatteryBackend(backend, every: .seconds(600)))
        try await watcher.until("battery \(Self.name) 83")
        try await until("both slots") { watcher.texts.count >= 3 }
        try await Task.sleep(for: .milliseconds(20))
        #expect(backend.asked.withLock(\.self) == [Self.name] && Self.levels(watcher) == [83])
        watcher.stop()
    }

    /// A reader that hangs costs a thread each time, so it is not asked again; one that is busy is.
    @Test(arguments: [(ReaderError.Kind.stuck, 1...1), (.sharingViolation, 3...Int.max)])
    func failing(_ kind: ReaderError.Kind, times: ClosedRange<Int>) async throws {
        let backend = TwoSlots(error: ReaderError(kind, attempting: "control the reader"))
        let watcher = Watcher(BatteryBackend(backend, every: .milliseconds(1)))
        try await until("asked") { times.contains(backend.asked.withLock(\.count)) }
        try await Task.sleep(for: .milliseconds(20))
        #expect(times.contains(backend.asked.withLock(\.count)) && Self.levels(watcher) == [])
        watcher.stop()
    }

    /// Readers that pass no command, have no battery or are of another make are not asked again.
    @Test(arguments: [
        (SimulatedS550(passesEscape: false), name), (SimulatedS550(battery: nil), name),
        (SimulatedS550(), "Other 00 00"),
        (SimulatedS550(battery: [1, 2, 3]), name),
    ])
    func silent(_ s550: SimulatedS550, name: String) async throws {
        let base = SimulatedBackend(readers: [name], reader: SimulatedReader(control: s550))
        base.insert(try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0x00, 0x00])))
        let watcher = Watcher(BatteryBackend(base, every: .milliseconds(1)))
        try await watcher.until("inserted \(name) 1")
        try await Task.sleep(for: .milliseconds(50))
        #expect(Self.levels(watcher) == [])
        watcher.stop()
    }

    /// A recording's readers are not there to be asked, and its stream ends as it did.
    @Test func recording() async throws {
        var events: [ReaderEvent] = []
        for await event in BatteryBackend(ReplayBackend([])).events() { events.append(event) }
        #expect(BatteryBackend(ReplayBackend([])).isRecording)
        #expect(!events.contains { if case .batteryLevel = $0 { true } else { false } })
    }
}
#endif
