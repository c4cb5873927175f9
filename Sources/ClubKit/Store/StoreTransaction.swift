import Foundation
import GRDB
import Glibc
import ReaderKit
import Synchronization

final class LocalDevice: Sendable {
    /// Distinguishes this store's visits from those of other devices. Two processes on one file are one device.
    let id: UUID

    let clock: @Sendable () -> Date

    /// What hides the identifiers, if they are hidden.
    let key: IdentifierKey?

    /// Under whose name what is to be delivered or processed is noted.
    let holder = WorkHolder()

    init(_ id: UUID, _ clock: @escaping @Sendable () -> Date, _ key: IdentifierKey?) {
        self.id = id
        self.clock = clock
        self.key = key
    }

    /// The present in microseconds since 1970; 0 if the clock shows no time that the store keeps.
    var now: Int64 { Timestamp.microseconds(clock()) ?? 0 }

    var kioskKey: SubjectKey { SubjectKey(.kiosk, id.uuidString) }

    /// What this device's erasures are hashed with: not secret, but its own, so that one list of hashes cannot be
    /// compared with another.
    var erasureSalt: Data { withUnsafeBytes(of: id.uuid) { Data($0) } }

    // MARK: Identifiers

    /// What stands for an identifier that was read from a card.
    func identifier(read identifier: String) -> String { key?.hidden(identifier) ?? identifier }

    /// What stands for an identifier that a person or a file provides.
    func identifier(_ identifier: String) -> String { key?.resolved(identifier) ?? identifier }

    /// What stands for an identifier of a file.
    ///
    /// - Returns: `nil` for one that was hidden under another key, which reveals nothing.
    func identifier(imported identifier: String) -> String? {
        if let check = IdentifierKey.check(of: identifier) { return check == key?.check ? identifier : nil }
        return key?.hidden(identifier) ?? identifier
    }

    /// What may stand for an identifier that a person enters: first as it is, then as a reader would report it, without
    /// the blanks around it, which is also the last one, then as files spell it that were imported.
    func identifiers(_ given: String) -> [String] {
        let trimmed = given.trimmed
        let told = CardKey.normalised(trimmed) ?? (trimmed.isEmpty ? given : trimmed)
        let others = CardKey.spellings(told).filter { $0 != given }
        return (others.isEmpty && told == given ? [given] : [given, told] + others + [told]).map { identifier($0) }
    }

    /// Facts of a file in which identifiers are what they are here; returns `nil` if one was hidden under another key.
    func translated(_ facts: MemberFacts) -> MemberFacts? {
        guard key != nil, let versions = facts.values[SystemValues.Name.mergedInto] else { return facts }
        var translated = facts.without(SystemValues.Name.mergedInto)
        for version in versions {
            var value = version.value
            if case .string(let text) = value {
                guard let identifier = identifier(imported: text) else { return nil }
                value = .string(identifier)
            }
            translated.set(SystemValues.Name.mergedInto, value, version.stamp)
        }
        return translated
    }

    /// An entry of the audit log with its identifiers as they are kept here.
    ///
    /// - Returns: `nil` if one was hidden under another key.
    func translated(_ entry: TransferRecord.Audit) -> TransferRecord.Audit? {
        guard key != nil else { return entry }
        var translated = entry
        if let subject = entry.subject, !Erasure.isText(subject) {
            guard let identifier = identifier(imported: subject) else { return nil }
            translated.subject = identifier
        }
        for (name, value) in entry.detail ?? [:] where AuditEntry.identifiers.contains(name) {
            guard case .string(let text) = value, !Erasure.isText(text) else { continue }
            guard let identifier = identifier(imported: text) else { return nil }
            translated.detail?[name] = .string(identifier)
        }
        return translated
    }
}

/// A transaction in which this device writes into its store. What is read stands on the database (``Database/members`` and
/// others), what is written on the transaction.
struct StoreTransaction {
    let db: Database
    let device: LocalDevice

    var members: MemberSaving { MemberSaving(transaction: self) }
    var ledger: Ledger { Ledger(transaction: self) }
    var executions: Executions { Executions(transaction: self) }
    var scenarios: ScenarioReading { ScenarioReading(db: db, device: device) }
    var events: SubjectEvents { SubjectEvents(transaction: self) }
    var messages: StoredMessages { StoredMessages(db: db, device: device) }
    var erasing: Erasing { Erasing(transaction: self) }
    var retention: Retention { Retention(transaction: self) }

    /// The next moment of this device's clock.
    func nextStamp() throws -> Stamp {
        // The state is in the database, not here, since two processes on one file are one device.
        // The largest counter is that of files (see Stamp.isLegacy(time:)).
        // What is before 1970 or no time at all does not move the clock; what is after 9999 is not believed.
        let now = Stamp.time(milliseconds: device.now / 1000, counter: 0)
        let time: Int64? = try db.first(
            "UPDATE clock SET hlc = max(hlc + 1 + ((hlc + 1) & 65535 = 65535), ?) RETURNING hlc",
            [.integer(now)]
        ) { try $0.value(0) }
        guard let time else {
            throw ClubError(.corrupt, attempting: "read the member database", detail: "it has no clock")
        }
        return Stamp(time: time, device: device.id)
    }

    /// Takes note of other devices' moments, so that what is recorded here from now on is later.
    func observe(_ time: Int64) throws {
        try db.execute(sql: "UPDATE clock SET hlc = ? WHERE hlc < ?", arguments: [time, time])
    }

    func audit(
        _ action: AuditEntry.Action,
        of subject: String?,
        _ context: ActionContext,
        detail: [String: FieldValue] = [:]
    ) throws {
        let stamp = try nextStamp()
        var detail = detail
        if let reason = context.reason, !reason.isEmpty { detail["reason"] = .string(PlainText.line(reason)) }
        try db.cachedStatement(
            sql: "INSERT INTO audit (device_id, hlc, at, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            stamp.device, stamp.time, device.now, context.actor.map(PlainText.line),
            action.rawValue, subject, try detail.isEmpty ? nil : MemberRow.json(detail),
        ])
    }

    func changed(_ id: Int64, _ attempt: String) throws -> MemberStore.Changed {
        guard let row = try db.members.row(id: id) else { throw ClubError(.noSuchMember, attempting: attempt) }
        return MemberStore.Changed(member: row.member, at: device.clock())
    }

    /// Does what the triggers of the ledger and the audit log refuse otherwise.
    func permittingChanges(_ body: () throws -> Void) throws {
        try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('merge, erasure or retention')")
        try body()
        try db.execute(sql: "DELETE FROM ledger_permit")
    }
}

/// Who has something in hand that is yet to be delivered or processed: one opening of a store, in one process.
///
/// It is distinguished from a later process with the same number by when that began and by the machine's start, and
/// from another opening in the same process by an identifier. Of a process in another container nothing can be seen, so
/// it counts as gone: kiosks in several containers must not share a database.
struct WorkHolder: Sendable {
    /// The process, when it began (in ticks since the machine was started, as `/proc/PID/stat` has it), the machine's start
    /// and the opening.
    let text = "\(getpid()):\(Self.beginning(of: getpid()) ?? 0):\(Self.boot):\(UUID().uuidString)"

    /// The openings of this process that have not ended.
    private static let openings = Mutex<Set<String>>([])

    /// A new opening in this process; ``end()`` ends it.
    init() {
        Self.openings.withLock { [text] in _ = $0.insert(text) }
    }

    /// What it has in hand is anybody's from now on.
    func end() {
        Self.openings.withLock { _ = $0.remove(text) }
    }

    /// Whether what is noted under a text is still in somebody's hand.
    static func isAlive(_ text: String) -> Bool {
        if openings.withLock({ $0.contains(text) }) { return true }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, let pid = Int32(parts[0]), pid != getpid(), let began = UInt64(parts[1]) else {
            return false
        }
        return parts[2] == boot && beginning(of: pid) == began
    }

    /// Which start of the machine this is.
    private static let boot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }()

    private static func beginning(of pid: Int32) -> UInt64? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The name of the program may hold anything, also parentheses.
            let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[end...].dropFirst().split(separator: " ")
        // The 22nd field; the first behind the name is the third.
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}
