import CardCore
import CardPasses
import Foundation
import NDEFCodec
import ReaderKitTesting
import Synchronization
import TestSupport

@testable import ReaderKit

/// A backend with one card, whose conversations go wrong each in its own way.
final class FaultyBackend: ReaderBackend {
    let kind = BackendKind.simulated
    private let card: any SimulatedCard
    private let faults: Mutex<[[SimulatedFault]]>
    private let begun = Mutex(0)

    /// - Parameter faults: those of the first conversation, of the second, …; none after the last.
    init(_ card: any SimulatedCard, faults: [[SimulatedFault]]) {
        self.card = card
        self.faults = Mutex(faults)
    }

    /// How many conversations there were.
    var conversations: Int { begun.withLock { $0 } }

    var presence: CardPresence {
        CardPresence(
            reader: ReaderInfo(name: "A", backend: .simulated),
            number: 1,
            facts: CardFacts(atr: card.atr),
            at: Date(timeIntervalSince1970: 0)
        )
    }

    func events() -> AsyncStream<ReaderEvent> {
        let presence = presence
        return AsyncStream { continuation in
            continuation.yield(.readerAdded(presence.reader))
            continuation.yield(.cardInserted(presence))
            continuation.finish()
        }
    }

    func readers() async -> [ReaderStatus] { [ReaderStatus(reader: presence.reader, card: presence)] }

    func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        begun.withLock { $0 += 1 }
        let faults = faults.withLock { $0.isEmpty ? [] : $0.removeFirst() }
        return try conversation(SimulatedCardChannel(card, faults: faults))
    }
}

enum Scanning {
    /// A scanner whose ids are the same in each run.
    static func scanner(
        _ backend: some ReaderBackend,
        retries: Int = 2,
        serves: @escaping @Sendable (ReaderInfo) -> Bool = { _ in true }
    ) -> CardScanner {
        let ids = SeededUUIDs(seed: 0)
        return CardScanner(
            backend,
            configuration: ScannerConfiguration(retries: retries, serves: serves, makeID: { ids.next() })
        )
    }

    /// The one event of a card that is presented.
    static func scan(_ card: any SimulatedCard, faults: [SimulatedFault] = [], retries: Int = 2) async -> ScanEvent? {
        let backend = SimulatedBackend { Date(timeIntervalSince1970: 0) }
        guard let presence = backend.insert(card, faults: faults) else { return nil }
        return await scanner(backend, retries: retries).scan(presence)
    }

    /// A tag with these records.
    static func tag(
        _ records: [NDEFRecord],
        uid: [UInt8] = SimulatedNTAG.sampleUID
    ) throws -> SimulatedNTAG? {
        SimulatedNTAG.formatted(.ntag216, uid: uid, message: try NDEFMessage(records).encoded(mode: .lenient))
    }
}

/// The taps among the events of a scanner, collected in the background.
final class Taps: Sendable {
    private let seen = Mutex<[ScanEvent]>([])
    private let readerEvents = Mutex<[ReaderEvent]>([])
    private let finished = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ scanner: CardScanner) {
        let stream = scanner.events()
        task.withLock {
            $0 = Task { [weak self] in
                for await event in stream {
                    switch event {
                    case .scan(let tap): self?.seen.withLock { $0.append(tap) }
                    case .reader(let event): self?.readerEvents.withLock { $0.append(event) }
                    }
                }
                self?.finished.withLock { $0 = true }
            }
        }
    }

    deinit { stop() }

    var all: [ScanEvent] { seen.withLock { $0 } }
    var readers: [ReaderEvent] { readerEvents.withLock { $0 } }
    var hasFinished: Bool { finished.withLock { $0 } }
    func stop() { task.withLock { $0?.cancel() } }

    /// Waits for a condition that these taps make true.
    func until(_ what: String, _ condition: ([ScanEvent]) -> Bool) async throws {
        try await TestSupport.until(what) { condition(all) }
    }
}
