import ClubKit
import Foundation
import ReaderKit

/// What a kiosk knows of itself at one moment: what a screen shows besides the taps.
public struct KioskStatus: Sendable, Hashable {
    /// Whether the kiosk serves, is idle or under maintenance.
    public var state = KioskState.serving

    /// The connected readers, by name.
    public var readers: [ReaderCondition] = []

    /// Why no reader can be used: the service behind them was lost.
    public var serviceFault: ReaderError?

    /// What the doctor found when there was no reader, in a sentence.
    public var diagnosis: String?

    /// The latest tap, of this or another process, and its outcome.
    public var lastTap: Receipt?

    /// The number of counted visits since the day began.
    public var visitsToday = 0

    /// Why taps cannot be recorded; `nil` while they can.
    public var storageFault: ClubError?

    /// The message for everybody that came last.
    public var announcement: String?

    /// What scenarios brought last, the newest first; at most ``KioskModel/keptResults``.
    public var due: [ScenarioResult] = []

    /// The day that the clock shows, if it cannot be right (``ClubKit/ClockFault``): visits are recorded with wrong times.
    public var wrongDay: Date?

    /// When the latest backup was made; `nil` if there is none.
    public var latestBackup: Date?

    /// Creates the status of a kiosk without readers and taps.
    public init() {}

    /// A connected reader.
    public struct ReaderCondition: Sendable, Hashable {
        /// The reader.
        public var reader: ReaderInfo
        /// Whether a card is being read.
        public var isReading = false
        /// Why it cannot be used; `nil` while it can.
        public var fault: ReaderError?
    }

    /// What keeps members from being served, the worst first; `nil` if nothing does. The absence of readers is trouble
    /// while the kiosk serves, and the doctor's sentence then states what to do.
    public var trouble: Trouble? {
        if let storageFault { return Trouble(kind: .storage, sentence: "\(storageFault)") }
        guard state != .maintenance, !readers.contains(where: { $0.fault == nil }) else { return nil }
        if let fault = readers.lazy.compactMap(\.fault).first ?? serviceFault {
            return Trouble(kind: .readers, sentence: diagnosis ?? "\(fault)")
        }
        return Trouble(kind: .readers, sentence: diagnosis ?? "There is no reader: connect one.")
    }

    /// What keeps members from being served.
    public struct Trouble: Sendable, Hashable {
        /// What is concerned.
        public enum Kind: String, Sendable, Hashable {
            /// Cards cannot be read.
            case readers
            /// Taps cannot be recorded.
            case storage
        }

        /// What is concerned.
        public var kind: Kind
        /// What is wrong and what to do, for the staff.
        public var sentence: String
    }
}

/// A tap that was recorded, with what a screen shows of it.
public struct RecordedTap: Sendable, Hashable {
    /// The outcome.
    public var receipt: Receipt
    /// The member's stamp card; `nil` if no scenario keeps one.
    public var stampCard: StampCard?
    /// What scenarios brought at this visit, in the words of their files.
    public var rewards: [String] = []

    /// Creates a tap that brought nothing.
    public init(receipt: Receipt) { self.receipt = receipt }
}

/// The one observable state of a kiosk's screen, joined from what readers, the club's store and messages report.
///
/// ```swift
/// let model = KioskModel()
/// model.observe { model, news in screen.show(model.status) }
/// let following = Task { try await model.follow(club) }
/// for await event in scanner.events() { model.note(event) }
/// ```
@MainActor
public final class KioskModel {
    /// What happened, besides the new status.
    public enum News: Sendable, Hashable {
        /// A reader, the state or a number changed.
        case status
        /// A reader began to read a card.
        case reading(ReaderInfo)
        /// The card was removed, or belongs to nobody who is waiting.
        case readingEnded(ReaderInfo)
        /// A tap was recorded.
        case tap(RecordedTap)
        /// A message for everybody.
        case announcement(String)
    }

    /// The number of results of scenarios in ``KioskStatus/due``.
    public static let keptResults = 20

    /// What the kiosk knows.
    public private(set) var status = KioskStatus()

    private let observers = ObserverList<News>()
    private let clock: @Sendable () -> Date
    private let calendar: Calendar
    /// When the visits of which day were counted last, besides at taps.
    private var counted: (day: Date, at: Date)?
    /// How many counts of the day's visits began, and which of them is shown.
    private var counts = (begun: 0, shown: 0)

    /// Creates the model of a kiosk that serves, without readers.
    ///
    /// - Parameters:
    ///   - calendar: decides when a day begins.
    ///   - clock: the clock.
    public init(calendar: Calendar = .current, clock: @escaping @Sendable () -> Date = { Date() }) {
        self.calendar = calendar
        self.clock = clock
    }

    /// Calls the closure after each change of ``status``, with what happened.
    ///
    /// - Returns: a closure that ends the observation.
    @discardableResult
    public func observe(_ observer: @escaping @MainActor (KioskModel, News) -> Void) -> @MainActor () -> Void {
        observers.add { [weak self] news in if let self { observer(self, news) } }
    }

    private func change(_ news: News = .status, _ body: (inout KioskStatus) -> Void = { _ in }) {
        let before = status
        body(&status)
        if news != .status || status != before { observers.notify(news) }
    }

    // MARK: Readers

    /// Takes in an event of the readers, or a tap.
    public func note(_ event: ScannerEvent) {
        switch event {
        case .scan(let tap):
            if let condition = status.readers.first(where: { $0.reader.name == tap.reader }), condition.isReading {
                change { $0.with(condition.reader) { $0.isReading = false } }
            }
        case .reader(let event):
            note(event)
        }
    }

    private func note(_ event: ReaderEvent) {
        switch event {
        case .readerAdded(let reader):
            change {
                $0.serviceFault = nil
                $0.diagnosis = nil
                $0.with(reader) { $0.fault = nil }
            }
        case .readerRemoved(let reader):
            change { $0.readers.removeAll { $0.reader == reader } }
        case .readerStuck(let reader, let error):
            change { $0.with(reader) { ($0.isReading, $0.fault) = (false, error) } }
        case .readerRecovered(let reader):
            change { $0.with(reader) { $0.fault = nil } }
        case .cardInserted(let presence) where presence.mayBeVisitors:
            change(.reading(presence.reader)) { $0.with(presence.reader) { $0.isReading = true } }
        case .cardRemoved(let presence), .cardMissed(let presence):
            change(.readingEnded(presence.reader)) { $0.with(presence.reader) { $0.isReading = false } }
        case .serviceLost(let error), .failed(let error):
            change { ($0.readers, $0.serviceFault) = ([], error) }
        case .serviceBack:
            change { ($0.serviceFault, $0.diagnosis) = (nil, nil) }
        // What has contacts is nothing that a visitor presents.
        case .cardInserted, .cardReported, .batteryLevel:
            break
        }
    }

    /// Takes in what the doctor found while there is no reader.
    public func noteDiagnosis(_ sentence: String?) {
        change { $0.diagnosis = sentence }
    }

    // MARK: Taps and messages

    /// Follows the taps and visits in the store, of this process and of others, and the state of the kiosk, until the
    /// task is cancelled or the club is closed.
    ///
    /// - Parameters:
    ///   - club: an open club.
    ///   - backups: the folder of its snapshots, for ``KioskStatus/latestBackup``.
    ///   - interval: how often what nobody reports is looked at: the state of the kiosk, the age of the backup, the
    ///     beginning of a day.
    public func follow(_ club: Club, backups: SnapshotFolder? = nil, every interval: Duration = .seconds(1))
        async throws
    {
        // From here on, not from when the group's task runs, so that no tap is missed meanwhile.
        let receipts = club.newReceipts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var next = receipts
                while true {
                    let receipts = next
                    try await self.reading(every: interval) {
                        for try await receipt in receipts { await self.note(receipt, of: club) }
                        throw CancellationError()
                    }
                    next = club.newReceipts()
                }
            }
            group.addTask { for await event in club.events { await self.note(event) } }
            group.addTask {
                while true {
                    try await self.reading(every: interval) { try await self.look(at: club, backups) }
                    try await Task.sleep(for: interval)
                }
            }
            // Whichever ends first ends all: the club was closed, or the task was cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Reads the store. Where it cannot be read for a moment that is shown, and what reads it begins again later.
    private func reading(every interval: Duration, _ work: @Sendable () async throws -> Void) async throws {
        do {
            try await work()
            if status.storageFault?.attempt != MemberStore.tapAttempt { change { $0.storageFault = nil } }
        } catch let error as ClubError where error.kind != .notOpen && error.kind != .cancelled {
            change { $0.storageFault = $0.storageFault ?? error }
            try await Task.sleep(for: interval)
        }
    }

    private func note(_ receipt: Receipt, of club: Club) async {
        var tap = RecordedTap(receipt: receipt)
        let scenarios = club.scenarios
        for execution in receipt.executions where execution.state != .refunded {
            let scenario = scenarios.first { $0.id == execution.scenario }
            tap.rewards.append(scenario?.message ?? scenario?.title ?? execution.scenario)
        }
        var visits: Int?
        if receipt.outcome.isCounted, let member = receipt.member {
            // What cannot be read is no reason to keep a member waiting.
            tap.stampCard = try? await club.stampCard(of: member.userId)
            visits = try? await countVisits(of: club)
        }
        note(recorded: tap, visitsToday: visits)
    }

    /// Takes in a tap that was recorded, and the number of visits with it, if that is to change.
    func note(recorded tap: RecordedTap, visitsToday: Int? = nil) {
        change(.tap(tap)) {
            $0.lastTap = tap.receipt
            $0.storageFault = nil
            if let visitsToday { $0.visitsToday = visitsToday }
        }
    }

    /// Counts the visits of the day. Adding up taps would count those twice that a count in between has already.
    ///
    /// - Returns: `nil` if a count that began later is shown by now.
    private func countVisits(of club: Club) async throws -> Int? {
        counts.begun += 1
        let number = counts.begun
        let (today, tomorrow) = calendar.day(of: clock())
        // What a clock that was wrong dated ahead is none of today.
        let visits = try await club.visitCount(since: today) - club.visitCount(since: tomorrow)
        guard number > counts.shown else { return nil }
        counts.shown = number
        return visits
    }

    /// Takes in what happened in the club otherwise than by a tap.
    public func note(_ event: ClubEvent) {
        switch event {
        case .scenario(let result):
            change { $0.due = Array(([result] + $0.due).prefix(Self.keptResults)) }
        case .error(let error, _):
            if error.attempt == MemberStore.tapAttempt, error.isWorthRetrying { change { $0.storageFault = error } }
        case .received:
            // Also a tap that waited for so long that the screen answers it no more.
            change { $0.storageFault = nil }
        case .scan, .added, .updated, .deleted, .imported, .merged, .routed: break
        }
    }

    /// Shows a message for everybody.
    public func announce(_ message: String) {
        change(.announcement(message)) { $0.announcement = message }
    }

    /// Looks at what nobody reports.
    private func look(at club: Club, _ backups: SnapshotFolder?) async throws {
        let now = clock()
        let state = club.configuration.application.applicationState
        change { $0.state = state }
        let today = calendar.startOfDay(for: now)
        // Visits are counted at taps; besides at midnight, and now and then for what others undid.
        guard counted?.day != today || now.timeIntervalSince(counted?.at ?? now) >= 60 else { return }
        let fault = try await club.clockFault()
        change { $0.wrongDay = fault == nil ? nil : today }
        let visits = try await countVisits(of: club)
        let latest = backups?.snapshots(now: now).first?.madeAt
        change {
            $0.latestBackup = latest
            if let visits { $0.visitsToday = visits }
        }
        // Not before: what could not be read is read again.
        counted = (today, now)
    }
}

extension Calendar {
    /// When the day began, and when the next one does.
    func day(of date: Date) -> (start: Date, end: Date) {
        let start = startOfDay(for: date)
        return (start, self.date(byAdding: .day, value: 1, to: start) ?? start.addingTimeInterval(86_400))
    }
}

extension KioskStatus {
    /// Changes what is known of a reader, which is added if it is new.
    fileprivate mutating func with(_ reader: ReaderInfo, _ change: (inout ReaderCondition) -> Void) {
        if let index = readers.firstIndex(where: { $0.reader == reader }) { return change(&readers[index]) }
        var condition = ReaderCondition(reader: reader)
        change(&condition)
        readers.append(condition)
        readers.sort { $0.reader.name < $1.reader.name }
    }
}
