import ClubKit
import Diagnosis
import Foundation
import ReaderKit
import Synchronization
import ToolSupport

/// Hands taps to the club, prints what becomes of them, and keeps count.
final class FrontDesk: Sendable {
    let club: Club
    let output: Output
    private let messages: MessageDesk
    /// How scenarios reach people; `nil` without scenarios.
    private let deliveries: Deliveries?
    private let counts = Mutex<[String: Int]>([:])

    /// Reports what happens in the club otherwise than by a tap here.
    private let listening: Task<Void, Never>

    init(club: Club, output: Output, messages: MessageDesk, hasScenarios: Bool) {
        self.club = club
        self.output = output
        self.messages = messages
        deliveries = hasScenarios ? Deliveries(club: club, output: output) : nil
        listening = Task { [events = club.events] in
            for await event in events { Self.tell(event, output) }
        }
    }

    /// Shows what earlier runs left to be delivered, which it returns too, and begins to take messages.
    func open() async throws -> [ScenarioResult] {
        let leftOver = try await deliveries?.tellLeftOver() ?? []
        try await messages.open()
        return leftOver
    }

    /// Ends what needs an open club: takes no more messages, and settles what was shown. To be called before the club
    /// is closed.
    func close() async {
        await messages.close()
        await deliveries?.finish()
    }

    /// Waits until all that happened until the club was closed has been reported.
    func leave() async {
        await listening.value
    }

    /// What became of taps here is reported by ``take(_:patience:)``, in order with what they brought.
    private static func tell(_ event: ClubEvent, _ output: Output) {
        switch event {
        case .scan, .received, .scenario, .routed: return
        // What taps wait for is reported with whose they are.
        case .error(let error, _) where error.attempt == MemberStore.tapAttempt: return
        case .error(let error, _):
            output.message("\(error)")
            try? output.json(event)
            return
        case .added, .updated, .deleted, .imported, .merged: break
        }
        // Where it cannot be written, the next tap ends the kiosk.
        try? output.result(event, text: "\(LocalTime.ofDay(event.at))  \(event.name.padded(to: 8))  \(words(event))")
    }

    private static func words(_ event: ClubEvent) -> String {
        switch event {
        case .added(let member, _): "\(member.caption), by hand"
        case .updated(let member, let reason, _):
            "\(member.caption), \(Count.text(member.numVisits, "visit")) (\(word(reason)))"
        case .deleted(let member, _): member.caption
        case .imported(let report, _): "\(report.file): \(report.created) new, \(report.changed) changed"
        case .merged(let report, _): "\(report.created) new, \(report.changed) changed"
        case .scan, .received, .scenario, .routed, .error: ""
        }
    }

    private static func word(_ reason: MembershipUpdateReason) -> String {
        switch reason {
        case .visit: "tap"
        case .manualVisit: "by hand"
        case .undo: "undone"
        case .edit: "edited"
        case .merge: "merged"
        }
    }

    /// Takes in taps until they end. What it prints is committed.
    ///
    /// - Parameter patience: how long a tap waits for a store that is full or in use, before an error ends this; `nil` for as
    ///   long as it takes, and then a tap that cannot be recorded at all, which is reported as an event, is followed by
    ///   the next.
    /// - Parameter pausing: called before each pause of a tap that waits.
    func take<Taps: AsyncSequence>(
        _ taps: Taps,
        patience: Duration? = nil,
        pausing: @escaping @Sendable () -> Void = {}
    ) async throws
    where Taps.Element == ScanEvent, Taps: Sendable {
        let current = Mutex<(tap: ScanEvent, brought: [Message])?>(nil)
        let end = Mutex<ClubError?>(nil)
        let waiting = Mutex<(tap: UUID, kind: ClubError.Kind)?>(nil)
        let receipts = club.receipts(
            of: try taps.prefix(while: { _ in end.withLock { $0 == nil } }),
            patience: patience,
            keeping: { [messages] tap in
                let brought = messages.messages(on: tap)
                current.withLock { $0 = (tap, brought) }
                return brought
            },
            waiting: { tap, error in
                waiting.withLock { $0 = (tap.id, error.kind) }
                self.tell(tap, "waits and is given again: \(error.kind.meaning)", error)
            },
            pausing: pausing,
            unrecorded: { tap, error in
                if error.kind == .cancelled {
                    let advice = "Tap again, or record it by hand ('clubctl members visit')."
                    self.tell(tap, "was not recorded: the kiosk was ended while it waited. \(advice)", error)
                } else if error.kind != .notOpen, waiting.withLock({ $0?.tap != tap.id || $0?.kind != error.kind }) {
                    self.tell(tap, "was not recorded: \(error.kind.meaning)", error)
                }
                if error.kind == .cancelled || patience != nil { end.withLock { $0 = error } }
            }
        )
        for try await receipt in receipts {
            if waiting.withLock({ $0?.tap == receipt.eventID }), let tap = current.withLock(\.self)?.tap {
                waiting.withLock { $0 = nil }
                output.message("\(who(tap).words) is recorded; taps go on.")
            }
            guard let (tap, brought) = current.withLock(\.self) else { continue }
            // A replay with the same ids submits taps that the club has; they are reported as before, not counted.
            counts.withLock { counts in
                counts["taps", default: 0] += 1
                counts[receipt.isDuplicate ? "known" : receipt.outcome.name, default: 0] += 1
            }
            try output.json(tap)
            try output.result(
                ClubEvent.received(receipt),
                text: describe(receipt, of: tap) + (receipt.isDuplicate ? " (received before)" : "")
            )
            try deliveries?.tell(receipt.executions, of: receipt.member)
            try await messages.takeUp(brought)
        }
        if let error = end.withLock(\.self) {
            try printAccount()
            // It was reported with whose tap it was.
            throw error.kind == .cancelled ? ToolExit.interrupted : error
        }
    }

    private func who(_ tap: ScanEvent) -> (member: Member?, words: String) {
        let member = tap.memberKey.flatMap { try? club.memberNow(withUserID: $0) }
        return (
            member, "The tap of \(member?.caption ?? "somebody new") at \(LocalTime.ofDay(tap.at)) on \(tap.reader)"
        )
    }

    /// Reports what keeps a tap from being recorded: a message, and with `--json` an `error` line.
    private func tell(_ tap: ScanEvent, _ what: String, _ error: ClubError) {
        let (member, words) = who(tap)
        // Where it cannot be written, the next tap ends the kiosk.
        try? output.json(fields: [
            "event": "error", "at": ISO8601.text(club.configuration.clock()), "id": tap.id.uuidString,
            "reader": tap.reader, "member": member, "error": ErrorLine(error),
        ])
        let code = error.code.map { " (\($0.name) \($0.rawValue))" } ?? ""
        output.message("\(words) \(what)" + (error.kind == .cancelled ? "" : "\(code). \(error.hint)"))
    }

    /// Reports that readers cannot be used: with `--json` an `error` line, and a message unless it comes with the end.
    func tell(_ error: ReaderError, of reader: ReaderInfo? = nil, isEnd: Bool = false) throws {
        try output.json(fields: [
            "event": "error", "at": ISO8601.text(Date()), "reader": reader?.name, "error": ErrorLine(error),
        ])
        if !isEnd { output.message("\(error)") }
    }

    /// Reports that the clock cannot be right, or is again: a message, and with `--json` an `error` line.
    func tell(wrongDay: Date?) {
        guard let wrongDay else { return output.message("The clock of this kiosk is set now.") }
        let fault =
            "The clock of this kiosk is not set: it shows \(LocalTime.text(wrongDay).prefix(10)), and visits are recorded by it"
        // Else it may as well have been the latest visit whose time was wrong.
        let doubt =
            wrongDay < MachineDiagnosis.released
            ? "" : " If that is the day, the latest visit was recorded by a wrong clock, and the next one ends this."
        let error = ErrorLine(code: "clockNotSet", "\(fault). Set it; 'readerctl doctor' shows how.\(doubt)")
        try? output.json(fields: ["event": "error", "at": ISO8601.text(club.configuration.clock()), "error": error])
        output.message(error.message)
    }

    /// How many taps there were so far.
    var taps: Int { counts.withLock { $0["taps"] ?? 0 } }

    /// Prints how many taps there were and what became of them.
    func printAccount() throws {
        let counts = counts.withLock(\.self)
        func count(_ name: String) -> Int { counts[name] ?? 0 }
        let account = """

            Taps         \(count("taps"))
            New members  \(count("created"))
            Visits       \(count("created") + count("visit"))
            Repeats      \(count("repeat"))
            Ignored      \(count("ignored"))
            Rejected     \(count("rejected"))
            """ + (count("known") == 0 ? "" : "\nKnown        \(count("known")), received before and not counted again")
        if output.isJSON { output.message(account) } else { try output.text(account) }
    }

    private func describe(_ receipt: Receipt, of tap: ScanEvent) -> String {
        let who = receipt.member?.caption ?? "somebody"
        let visits = receipt.member?.numVisits ?? 0
        let words: String =
            switch receipt.outcome {
            case .created: "welcome   \(who), first visit"
            case .visit: "visit     \(who), visit \(visits)"
            case .repeat: "repeat    \(who), counted already"
            case .ignored(let reason): "ignored   \(refusal(reason, receipt))\(card(tap, reason))"
            case .rejected(let reason): "rejected  \(refusal(reason, receipt))"
            }
        let notices = receipt.notices.map { ". " + $0.message.trimmedPeriod }.joined()
        return "\(LocalTime.ofDay(receipt.at))  \(words)\(notices)"
    }

    private func card(_ tap: ScanEvent, _ reason: Receipt.Reason) -> String {
        guard reason.code == .maintenance else { return "" }
        let uid = tap.uid.map { ", identifier \($0.bytes.hex)" } ?? ""
        let key = tap.memberKey.map { ", key \($0)" } ?? ", no key"
        return " \(tap.card)\(uid)\(key)"
    }

    private func refusal(_ reason: Receipt.Reason, _ receipt: Receipt) -> String {
        receipt.member.map { "\($0.caption): \(reason.message)" } ?? reason.message
    }
}

extension String {
    fileprivate var trimmedPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}
