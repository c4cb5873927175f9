import CardCore
import CardPasses
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// Collects the events of a backend, as short texts: `added A`, `inserted A 1`, `removed A 1`, `lost`, `back`, …
final class Watcher: Sendable {
    private let seen = Mutex<[ReaderEvent]>([])
    private let finished = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ backend: some ReaderBackend) {
        let stream = backend.events()
        task.withLock {
            $0 = Task { [weak self] in
                for await event in stream { self?.seen.withLock { $0.append(event) } }
                self?.finished.withLock { $0 = true }
            }
        }
    }

    deinit { stop() }

    var events: [ReaderEvent] { seen.withLock { $0 } }
    var texts: [String] { events.map(Self.text) }
    var hasFinished: Bool { finished.withLock { $0 } }

    func stop() { task.withLock { $0?.cancel() } }

    static func text(_ event: ReaderEvent) -> String {
        switch event {
        case .serviceLost: "lost"
        case .serviceBack: "back"
        case .readerAdded(let reader): "added \(reader.name)"
        case .readerRemoved(let reader): "gone \(reader.name)"
        case .cardInserted(let card): "inserted \(card.reader.name) \(card.number)"
        case .cardRemoved(let card): "removed \(card.reader.name) \(card.number)"
        case .cardMissed(let card): "missed \(card.reader.name) \(card.number)"
        case .cardReported(let report): "reported \(report.reader.name) \(report.number)"
        case .readerStuck(let reader, _): "stuck \(reader.name)"
        case .readerRecovered(let reader): "recovered \(reader.name)"
        case .batteryLevel(let reader, let percent): "battery \(reader.name) \(percent)"
        case .failed(let error): "failed \(error.kind)"
        }
    }

    func until(_ text: String, times: Int = 1) async throws {
        do {
            try await TestSupport.until("\(times) x \(text)") { self.texts.count { $0 == text } >= times }
        } catch {
            throw NotInTime(description: "\(error); seen: \(texts)")
        }
    }

    /// Waits until exactly these events were seen.
    func expect(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
        try? await TestSupport.until("events") { self.texts.count >= expected.count }
        #expect(texts == expected, sourceLocation: sourceLocation)
    }

    /// The last presentation seen on a reader.
    func card(on name: String) -> CardPresence? {
        events.reversed().lazy.compactMap { event -> CardPresence? in
            if case .cardInserted(let card) = event, card.reader.name == name { card } else { nil }
        }.first
    }
}

extension FakePCSC {
    /// Limits that are short enough for tests and long enough for a loaded machine.
    static let configuration = PCSCConfiguration(
        callDeadline: .seconds(300),
        firstBackOff: .milliseconds(2),
        lastBackOff: .milliseconds(20),
        removalGrace: .milliseconds(50),
        sharingRetries: 2
    )

    func backend(
        _ configuration: PCSCConfiguration = FakePCSC.configuration,
        abandoned: AbandonedThreads = AbandonedThreads()
    ) -> PCSCBackend {
        PCSCBackend(library: library, configuration: configuration, abandoned: abandoned) {
            Date(timeIntervalSince1970: 0)
        }
    }

    /// The presentation that is there now, as the monitor would announce it.
    func presence(_ name: String) -> CardPresence {
        let (counter, atr) = locked {
            index(name).map { (readers[$0].counter, readers[$0].card?.atr) } ?? (0, nil)
        }
        return CardPresence(
            reader: ReaderInfo(pcscName: name),
            number: counter,
            facts: CardFacts(atr: atr),
            at: Date(timeIntervalSince1970: 0)
        )
    }

    /// Checks that nothing is left behind and nothing forbidden was done.
    func expectClean(_ what: String = "", sourceLocation: SourceLocation = #_sourceLocation) async {
        try? await until("clean", within: .seconds(60)) { self.openContexts == 0 }
        let (contexts, handles, locks) = (openContexts, openHandles, lockedReaders)
        #expect(contexts == 0, "contexts left \(what)", sourceLocation: sourceLocation)
        #expect(handles == 0, "handles left \(what)", sourceLocation: sourceLocation)
        #expect(locks == [], "locks left \(what)", sourceLocation: sourceLocation)
        #expect(complaints == [], "\(what)", sourceLocation: sourceLocation)
    }
}

/// The reader error that an operation throws, or `nil` (with an issue, unless it succeeds as wanted) if it throws none.
func readerError(_ body: () async throws -> some Any) async -> ReaderError? {
    do {
        _ = try await body()
        return nil
    } catch {
        if let error = error as? ReaderError { return error }
        Issue.record("not a ReaderError: \(error)")
        return nil
    }
}
#endif
