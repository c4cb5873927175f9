#if NFC
import Foundation
import Synchronization

/// Readers driven by libnfc: PN532 boards on serial lines, SPI and I²C, PN533 sticks, the ACR122U.
///
/// It detects cards of ISO/IEC 14443 A and B, FeliCa and Jewel (Topaz); libnfc does not support ISO 15693
/// (``LibNFC/missingTechnologies``), whatever the reader. Each reader detects one card at a time.
///
/// A reader belongs to one program at a time. It is opened when it is first used or watched, and kept until the backend
/// is released. Each has a thread of its own, so that one that hangs does not delay others. While there is a watch,
/// cards are polled at intervals (``NFCConfiguration/pollInterval``), since libnfc reports none by itself; polling
/// never interrupts a conversation.
public final class NFCBackend: ReaderBackend {
    private struct Served {
        var number: Int
        var reader: NFCReader
        var wasOpened = false
    }

    private struct State {
        var readers: [String: Served] = [:]
        var lastNumber = 0
        var discovery: NFCDiscovery?
        var isClosed = false
    }

    private let configuration: NFCConfiguration
    private let surroundings: NFCReader.Surroundings
    private let table: ReaderTable
    /// Also keeps beginnings and ends of watches, and new readers, in their order.
    private let state = Mutex(State())

    /// Creates a backend for readers of this machine; `now` is the clock of presentations.
    public convenience init(
        configuration: NFCConfiguration = NFCConfiguration(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(library: .system, configuration: configuration, now: now)
    }

    package init(
        library: NFCLibrary,
        configuration: NFCConfiguration = NFCConfiguration(),
        abandoned: AbandonedThreads = .ofProcess,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        let table = ReaderTable(now: now)
        self.table = table
        surroundings = NFCReader.Surroundings(
            library: library,
            configuration: configuration,
            abandoned: abandoned,
            nextEpoch: { table.nextEpoch() },
            now: now
        )
        for name in configuration.connectionStrings { addReader(name) }
    }

    deinit {
        let (readers, discovery) = end()
        discovery?.stop()
        for reader in readers { reader.stop() }
    }

    /// The kind of backend: libnfc.
    public var kind: BackendKind { .nfc }

    /// Returns the events of the readers. Removed readers are reported, and reported again when they return.
    ///
    /// A connected reader that is unusable (another program holds it, this user may not open it, no chip answers) is
    /// reported as ``ReaderEvent/readerStuck(_:_:)``, with the reason, and retried; ``ReaderEvent/readerRecovered(_:)``
    /// precedes its addition.
    public func events() -> AsyncStream<ReaderEvent> {
        state.withLock { state in
            guard !state.isClosed else { return AsyncStream { $0.finish() } }
            // Whoever watches keeps the backend: the readers are watched as long as somebody listens.
            let (events, isFirst) = table.watch(forgets: true) { self.endWatch() }
            for served in state.readers.values { served.reader.setPolling(true, tellingAll: isFirst) }
            if configuration.discoversReaders, state.discovery == nil {
                let discovery = makeDiscovery()
                state.discovery = discovery
                discovery.start()
            }
            return events
        }
    }

    /// Looks no more, unless another watch has begun meanwhile.
    private func endWatch() {
        let discovery = state.withLock { state -> NFCDiscovery? in
            guard !table.isWatched else { return nil }
            for served in state.readers.values { served.reader.setPolling(false, tellingAll: false) }
            return state.discovery.take()
        }
        discovery?.stop()
    }

    /// Returns the connected readers, each with its card and technologies, or with the reason why it is unusable, for
    /// instance because another program holds it.
    ///
    /// - Throws: ``ReaderError`` if libnfc does not work. The absence of readers is no error.
    public func readers() async throws -> [ReaderStatus] {
        var listed: [String] = []
        if configuration.discoversReaders {
            let discovery = makeDiscovery()
            defer { discovery.stop() }
            listed = try await discovery.run { discovery, _ in try discovery.list() }
            found(listed)
        }
        var all: [ReaderStatus] = []
        for (name, served) in state.withLock({ $0.readers.sorted { $0.key < $1.key } }) {
            let reader = served.reader
            do {
                if let status = try await reader.run({ reader, _ in try reader.status() }) {
                    table.noteUse(of: name)
                    all.append(status)
                }
            } catch let error as ReaderError {
                if error.kind == .serviceUnavailable || error.kind == .cancelled { throw error }
                all.append(ReaderStatus(reader: reader.info, unavailability: error))
            }
        }
        // What libnfc lists and cannot open a watch may have given up again meanwhile.
        for name in listed where !name.isEmpty && !isLeft(name) && !all.contains(where: { $0.reader.name == name }) {
            let reader = ReaderInfo(name: name, backend: .nfc)
            all.append(ReaderStatus(reader: reader, unavailability: Self.inaccessible(reader)))
        }
        return all
    }

    /// The error for a reader that libnfc lists and cannot open, for which it states no reason.
    private static func inaccessible(_ reader: ReaderInfo) -> ReaderError {
        ReaderError(
            .sharingViolation,
            attempting: "open the reader \(reader.name)",
            detail: "libnfc finds it and cannot open it",
            advice: "Close the program that has it, which may be pcscd, or allow this user to use the USB device."
        )
    }

    /// Ends all watches, closes the devices and puts them to rest. It waits for a call into libnfc under way, until its
    /// deadline.
    public func close() async {
        let (readers, discovery) = end()
        discovery?.stop()
        await withDiscardingTaskGroup { group in
            for reader in readers { group.addTask { await waiting { done in reader.stop(then: done) } } }
        }
        table.finish()
    }

    private func end() -> ([NFCReader], NFCDiscovery?) {
        state.withLock { state in
            state.isClosed = true
            defer { (state.readers, state.discovery) = ([:], nil) }
            return (state.readers.values.map(\.reader), state.discovery)
        }
    }

    /// Performs a conversation with the card of that presentation, which is selected anew except for the first
    /// conversation.
    ///
    /// If the task is cancelled, the call into libnfc under way is ended too (`nfc_abort_command`).
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        guard let reader = state.withLock({ $0.readers[presence.reader.name]?.reader }) else {
            throw ReaderError(.readerUnavailable, attempting: "connect to the card")
        }
        try surroundings.abandoned.check()
        // A reader that hung has another thread now, which knows no card of before.
        if let trouble = table.trouble(of: presence.reader.name), trouble.kind == .stuck { throw trouble }
        return try await reader.converse(presence, conversation)
    }

    // MARK: - Readers

    private func addReader(_ name: String) {
        state.withLock { state in
            guard !state.isClosed, state.readers[name] == nil else { return }
            state.lastNumber += 1
            let reader = makeReader(name, state.lastNumber)
            state.readers[name] = Served(number: state.lastNumber, reader: reader)
            if table.isWatched { reader.setPolling(true, tellingAll: false) }
        }
    }

    private func makeReader(_ name: String, _ number: Int) -> NFCReader {
        let info = ReaderInfo(name: name, backend: .nfc)
        return NFCReader(
            info: info,
            surroundings: surroundings,
            report: { [weak self] in self?.note($0, of: info, number) },
            onStuck: { [weak self] in self?.giveUp(info, number, $0) }
        )
    }

    private func note(_ report: ReaderTable.Report, of info: ReaderInfo, _ number: Int) {
        // A thread that was given up may still have had something to report.
        let served = state.withLock { state -> Served? in
            guard state.readers[info.name]?.number == number else { return nil }
            if case .opened = report { state.readers[info.name]?.wasOpened = true }
            return state.readers[info.name]
        }
        guard let served else { return }
        guard case .absent = report, isDiscovered(info.name) else { return table.note(report, of: info) }
        table.note(served.wasOpened ? report : .trouble(Self.inaccessible(info)), of: info)
        drop(info.name, number)
    }

    private func isDiscovered(_ name: String) -> Bool { !configuration.connectionStrings.contains(name) }

    /// Forgets a reader that was discovered and is gone. Another one, or itself, comes back under another name.
    private func drop(_ name: String, _ number: Int) {
        let (reader, discovery) = state.withLock { state -> (NFCReader?, NFCDiscovery?) in
            guard state.readers[name]?.number == number else { return (nil, nil) }
            return (state.readers.removeValue(forKey: name)?.reader, state.discovery)
        }
        reader?.stop()
        discovery?.askAgain()
    }

    /// A call on the reader did not return: its thread is given up, and another one tries to open it.
    private func giveUp(_ info: ReaderInfo, _ number: Int, _ error: ReaderError) {
        let isServing = state.withLock { state in
            guard state.readers[info.name]?.number == number else { return false }
            state.readers[info.name] = nil
            return true
        }
        if isServing {
            table.note(.lost, of: info)
            table.note(.trouble(error), of: info)
        }
        if surroundings.abandoned.isFull {
            table.fail(ReaderError(.exhausted, attempting: "use the readers"))
        } else if isServing {
            addReader(info.name)
        }
    }

    // MARK: - Discovery

    private func makeDiscovery() -> NFCDiscovery {
        let nobody = ReaderInfo(name: "", backend: .nfc)
        return NFCDiscovery(
            surroundings: surroundings,
            found: { [weak self] in self?.found($0) },
            report: { [weak self] in self?.table.note($0, of: nobody) },
            onStuck: { [weak self] in self?.discoveryStuck($0) }
        )
    }

    private func found(_ names: [String]) {
        for name in names where !name.isEmpty && !isLeft(name) { addReader(name) }
        table.forget { isDiscovered($0) && !names.contains($0) }
    }

    private func isLeft(_ name: String) -> Bool {
        isDiscovered(name) && configuration.driversLeftAlone.contains(NFCConnectionString(name).driver)
    }

    private func discoveryStuck(_ error: ReaderError) {
        guard !surroundings.abandoned.isFull else {
            return table.fail(ReaderError(.exhausted, attempting: "look for readers"))
        }
        let discovery = state.withLock { state -> NFCDiscovery? in
            guard state.discovery != nil, !state.isClosed else { return nil }
            let discovery = makeDiscovery()
            state.discovery = discovery
            return discovery
        }
        discovery?.start()
    }
}
#endif
