import Foundation

/// Turns each presentation of a card into exactly one ``ScanEvent``, however long the card rests on the reader.
///
/// ```swift
/// for await tap in CardScanner(PCSCBackend()).taps() {
///     print(tap.memberKey ?? "nobody")
/// }
/// ```
///
/// Several readers are served concurrently, each in the order of its taps. A recording is read strictly in order, so
/// that it has the same events each time.
public struct CardScanner: Sendable {
    private let backend: any ReaderBackend
    private let configuration: ScannerConfiguration

    /// Creates a scanner for the readers of a backend.
    public init(_ backend: any ReaderBackend, configuration: ScannerConfiguration = ScannerConfiguration()) {
        self.backend = backend
        self.configuration = configuration
    }

    /// Starts a watch of its own and returns its events: those of the readers, and taps. It ends when the consumer
    /// stops, or with the end of a recording.
    public func events() -> AsyncStream<ScannerEvent> { backend.isRecording ? eventsInOrder() : eventsPerReader() }

    /// Starts a watch and returns its taps. The sequence of live readers does not end by itself; that of a recording
    /// does.
    public func taps() -> some AsyncSequence<ScanEvent, Never> & Sendable {
        events().compactMap { event in
            if case .scan(let tap) = event { tap } else { nil }
        }
    }

    /// Starts a watch of one reader and returns its taps: a separate stream for each of several readers.
    ///
    /// The reader may be absent, be removed and reconnected, also under another name if it has a serial number
    /// (``ReaderInfo/isSameDevice(as:)``). Cards on other readers are ignored.
    public func taps(of reader: ReaderInfo) -> some AsyncSequence<ScanEvent, Never> & Sendable {
        var configuration = configuration
        let serves = configuration.serves
        configuration.serves = { serves($0) && $0.isSameDevice(as: reader) }
        return CardScanner(backend, configuration: configuration).taps()
    }

    /// Reads one presented card.
    ///
    /// ```swift
    /// for await event in backend.events() {
    ///     if case .cardInserted(let presence) = event { await show(scanner.scan(presence)) }
    /// }
    /// ```
    ///
    /// - Returns: one event, whatever happens: its problems include what could not be read.
    public func scan(_ presence: CardPresence) async -> ScanEvent { await reading(of: presence).event }

    /// The event of a card if it is a tap: what has contacts, a module of the reader or an empty slot that reports a card is
    /// none, unless an identifier was read.
    private func tap(of presence: CardPresence) async -> ScanEvent? {
        let (event, isVisitors) = await reading(of: presence)
        return isVisitors || configuration.includesContactCards ? event : nil
    }

    private func reading(of presence: CardPresence) async -> (event: ScanEvent, isVisitors: Bool) {
        var left = configuration.timeLimit
        var reading = await read(presence, within: left)
        var retries = configuration.retries
        while retries > 0, let fault = reading.fault, fault.kind == .cardReset || fault.kind == .communication {
            retries -= 1
            left -= reading.duration
            reading = await read(presence, within: left)
        }
        if presence.reader.backend == .replay { reading.judgement.explainRecording() }
        let event = event(of: reading, at: presence.at, on: presence.reader, atr: presence.facts.effectiveATR)
        return (event, presence.mayBeVisitors || reading.uid != nil || !reading.passes.isEmpty)
    }

    /// Evaluates a reader's report.
    ///
    /// - Returns: one event; `nil` if the report is no tap: a removed card, or the presence of a reader. A malformed
    ///   line is a tap with the problem `readFailed`, since a card was presented.
    public func scan(_ report: ReaderReport) -> ScanEvent? {
        let (limits, site) = (configuration.limits, configuration.site)
        guard let reading = ReportReading.read(report.line, limits: limits, site: site, at: report.at) else {
            return nil
        }
        guard configuration.serves(reading.technology) else { return nil }
        return event(of: reading, at: report.at, on: report.reader)
    }

    private func event(
        of reading: CardReading,
        at date: Date,
        on reader: ReaderInfo,
        atr: [UInt8]? = nil
    ) -> ScanEvent {
        ScanEvent(
            id: configuration.makeID(),
            at: date,
            reader: reader.name,
            backend: reader.backend,
            technology: reading.technology,
            card: reading.card,
            uid: reading.uid,
            atr: atr,
            ndef: reading.ndef,
            passes: reading.passes,
            objects: reading.objects,
            memberKey: reading.member?.key,
            memberName: reading.member?.name,
            problems: reading.problems,
            duration: reading.duration
        )
    }

    private func read(_ presence: CardPresence, within limit: Duration) async -> CardReading {
        let (limits, site, now) = (configuration.limits, configuration.site, presence.at)
        do {
            return try await backend.withCard(presence, within: limit) {
                CardReading(over: $0, limits: limits, site: site, at: now)
            }
        } catch let error as ReaderError {
            return CardReading(facts: presence.facts, fault: error)
        } catch {
            let fault = ReaderError(.other, attempting: "read the card", detail: "\(error)")
            return CardReading(facts: presence.facts, fault: fault)
        }
    }

    /// One event at a time: the recording goes on only when the last card was read and its event was taken.
    private func eventsInOrder() -> AsyncStream<ScannerEvent> {
        let source = EventSource(backend.events())
        return AsyncStream {
            switch await source.pending {
            case .card(let presence): if let tap = await tap(of: presence) { return .scan(tap) }
            case .tap(let tap): return .scan(tap)
            case nil: break
            }
            guard let event = await source.next() else { return nil }
            switch event {
            case .cardInserted(let presence) where configuration.serves(presence):
                await source.setPending(.card(presence))
            case .cardReported(let report) where configuration.serves(report.reader):
                if let tap = scan(report) { await source.setPending(.tap(tap)) }
            default: break
            }
            return .reader(event)
        }
    }

    private func eventsPerReader() -> AsyncStream<ScannerEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ScannerEvent.self)
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                var readers: [ReaderInfo: AsyncStream<(CardPresence, before: ScanEvent?)>.Continuation] = [:]
                let restingCards = RestingCards()
                for await event in backend.events() {
                    continuation.yield(.reader(event))
                    let before = restingCards.note(event)
                    if case .readerRemoved(let reader) = event { readers.removeValue(forKey: reader)?.finish() }
                    if case .cardReported(let report) = event, configuration.serves(report.reader),
                        let tap = scan(report)
                    {
                        continuation.yield(.scan(tap))
                    }
                    guard case .cardInserted(let presence) = event, configuration.serves(presence) else { continue }
                    if let reader = readers[presence.reader] {
                        reader.yield((presence, before))
                        continue
                    }
                    let (taps, reader) = AsyncStream.makeStream(of: (CardPresence, before: ScanEvent?).self)
                    readers[presence.reader] = reader
                    reader.yield((presence, before))
                    group.addTask {
                        for await (presence, before) in taps {
                            let tap = await tap(of: presence)
                            // What was cut off because nobody waits any more is no tap.
                            if Task.isCancelled { return }
                            guard let tap else { continue }
                            if restingCards.isNew(tap, of: presence, before: before) { continuation.yield(.scan(tap)) }
                        }
                    }
                }
                readers.values.forEach { $0.finish() }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

/// The iterator of a stream, for a consumer that pulls from several closures.
private actor EventSource {
    enum Pending {
        case card(CardPresence)
        case tap(ScanEvent)
    }

    private var iterator: AsyncStream<ReaderEvent>.Iterator
    private var stored: Pending?

    init(_ stream: AsyncStream<ReaderEvent>) {
        iterator = stream.makeAsyncIterator()
    }

    var pending: Pending? { stored.take() }

    func setPending(_ pending: Pending) { stored = pending }

    func next() async -> ReaderEvent? {
        // A copy, since a mutating call on the stored one would hold the actor's state across the wait.
        var copy = iterator
        let event = await copy.next(isolation: self)
        iterator = copy
        return event
    }
}

/// How a ``CardScanner`` reads cards.
public struct ScannerConfiguration: Sendable {
    /// The limits for the NDEF message of a tag.
    public var limits: NDEFLimits

    /// The passes to read and accept; without it only the content of a card and its identifier are read.
    public var site: PassSite?

    /// The number of retries of reading a card after another program reset it or the radio link failed, 0 to 10.
    public var retries: Int

    /// The maximum time of a tap, including all retries: a card that is not read by then is a tap with the problem
    /// `readFailed`. One exchange under way is completed first. From 0 s, with which nothing is read, to
    /// ``ReaderLimits/workDuration``; other values are clamped.
    public var timeLimit: Duration { didSet { timeLimit = Self.limited(timeLimit) } }

    private static func limited(_ duration: Duration) -> Duration {
        min(max(duration, .zero), ReaderLimits.workDuration)
    }

    /// Returns whether to serve a reader; the others' events are forwarded and their cards ignored.
    public var serves: @Sendable (ReaderInfo) -> Bool

    /// The technologies of the cards that are served; all if empty. A card whose technology the reader does not report is
    /// served in any case, so that none is passed over for want of a name.
    public var technologies: Set<Technology> = []

    /// Whether cards with contacts, modules of a reader (SAM) and empty slots that report a card are taps too, as in a
    /// recording of what was there. Nobody presents them, so they are none by default, unless an identifier is read.
    public var includesContactCards = false

    /// Makes the identifiers of events.
    public var makeID: @Sendable () -> UUID

    /// Whether cards of a technology are served.
    func serves(_ technology: Technology?) -> Bool {
        technology.map { technologies.isEmpty || technologies.contains($0) } ?? true
    }

    func serves(_ presence: CardPresence) -> Bool { serves(presence.reader) && serves(presence.technology) }

    /// Creates a configuration.
    public init(
        limits: NDEFLimits = .default,
        site: PassSite? = nil,
        retries: Int = 2,
        timeLimit: Duration = ReaderLimits.tapDuration,
        serves: @escaping @Sendable (ReaderInfo) -> Bool = { _ in true },
        makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        self.limits = limits
        self.site = site
        self.retries = min(max(retries, 0), 10)
        self.timeLimit = Self.limited(timeLimit)
        self.serves = serves
        self.makeID = makeID
    }
}

/// An event of a ``CardScanner``.
public enum ScannerEvent: Sendable, Hashable {
    /// An event of the readers.
    case reader(ReaderEvent)
    /// A card was presented and read, as far as possible.
    case scan(ScanEvent)
}
