import Synchronization

/// Forwards everything to another backend, and reports the charge of readers that have a battery
/// (``ReaderEvent/batteryLevel(_:percent:)``).
///
/// Each reader that may have one is asked when it is connected and then at an interval, by escape commands alone: no card
/// is touched, and a reader whose driver passes none, that reports no battery or that hangs is not asked again before it
/// is reconnected. A level is reported when it is another than before.
public struct BatteryBackend: ReaderBackend {
    private let base: any ReaderBackend
    private let interval: Duration
    private let item: UInt8

    /// Creates a backend that asks the readers of another one.
    ///
    /// - Parameters:
    ///   - interval: the time between two questions.
    ///   - item: the identifier that GET DATA takes for the battery.
    public init(
        _ base: any ReaderBackend,
        every interval: Duration = .seconds(300),
        item: UInt8 = ControlItem.battery.rawValue
    ) {
        self.base = base
        self.interval = interval
        self.item = item
    }

    /// The kind of the other backend.
    public var kind: BackendKind { base.kind }

    /// Whether the other backend is a recording, whose readers are not asked.
    public var isRecording: Bool { base.isRecording }

    /// Returns the events of the other backend, and the levels of batteries among them.
    public func events() -> AsyncStream<ReaderEvent> {
        let events = base.events()
        guard !isRecording else { return events }
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderEvent.self)
        let task = Task {
            // A device has several slots, each of them a reader to PC/SC, and one battery.
            var asked: [String: (reader: ReaderInfo, task: Task<Void, Never>)] = [:]
            for await event in events {
                continuation.yield(event)
                switch event {
                case .readerAdded(let reader):
                    let device = reader.serial ?? reader.name
                    guard ControlDialect(reader: reader.name) == .springCore, asked[device] == nil else { break }
                    asked[device] = (reader, Task { await ask(reader) { continuation.yield($0) } })
                case .readerRemoved(let reader):
                    let device = reader.serial ?? reader.name
                    if asked[device]?.reader == reader { asked.removeValue(forKey: device)?.task.cancel() }
                default: break
                }
            }
            for (_, task) in asked.values { task.cancel() }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func ask(_ reader: ReaderInfo, _ report: @Sendable (ReaderEvent) -> Void) async {
        guard let control = try? ReaderControl(reader, of: base, withoutCard: true) else { return }
        var last: Int?
        while !Task.isCancelled {
            do {
                guard let battery = try await control.battery(item: item), !Task.isCancelled else { return }
                if battery.percent != last { report(.batteryLevel(reader, percent: battery.percent)) }
                last = battery.percent
            } catch let error as ReaderError where error.kind != .unsupported && error.kind != .stuck {
                // The reader is busy, or about to go: the next time may be better. One that hung would hang again.
            } catch {
                return
            }
            try? await Task.sleep(for: interval)
        }
    }

    /// Returns the readers of the other backend.
    public func readers() async throws -> [ReaderStatus] { try await base.readers() }

    /// Returns the listing of the other backend.
    public func listing() async -> ReaderListing { await base.listing() }

    /// Releases the other backend's readers.
    public func close() async { await base.close() }

    /// Performs a conversation with the card, on the other backend.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        try await base.withCard(presence, perform: conversation)
    }

    /// Does some work with the reader itself, on the other backend.
    public func withReader<Result: Sendable>(
        _ reader: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        try await base.withReader(reader, perform: work)
    }
}
