import Foundation
import GRDB
import ReaderKit

/// A tap, or a visit that was recorded by hand, and whether it counts.
public struct TapRecord: Sendable, Hashable, Identifiable {
    /// The identifier of the tap or visit.
    public var id: UUID

    /// The time of the tap or visit.
    public var at: Date

    /// The ``Member/userId`` of the member; `nil` if it belongs to no member.
    public var userId: String?

    /// The name of that member.
    public var username: String?

    /// The name of the reader; empty for a visit that was recorded by hand.
    public var reader: String

    /// How it was recorded.
    public var source: Visit.Source

    /// Whether it counts, or why not.
    public var standing: Standing

    /// Why it was recorded by hand, undone, ignored or rejected.
    public var reason: String?

    /// Whether a tap or visit counts, or why not.
    public enum Standing: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is a visit.
        case counted
        /// It was a visit and was undone.
        case undone
        /// It was the visit of a member who has been deleted.
        case deleted
        /// It was inside the cooldown.
        case `repeat`
        /// It was ignored by configuration.
        case ignored
        /// It was rejected.
        case rejected
    }

    /// Whether it counts.
    public var isCounted: Bool { standing == .counted }
}

/// The result of an export of taps.
public struct TapExportReport: Sendable, Hashable, Encodable {
    /// The file.
    public var file: String

    /// The number of taps and visits in it, including those that do not count.
    public var rows = 0

    /// The number of those that count.
    public var counted = 0

    /// The size of the file in bytes.
    public var bytes = 0

    /// The reason why the export is not in the audit log, such as a full disk; `nil` if it is.
    public var auditFailure: String?

    /// Creates an empty report.
    public init(file: String) {
        self.file = file
    }
}

extension MemberStore {
    package func forEachTap(
        from: Date?,
        to: Date?,
        _ body: @escaping @Sendable (TapRecord) throws -> Void
    ) async throws {
        try await reading("list the taps") { db, rethrowing in
            try db.receipts.eachTap(from: from, to: to) { record in try rethrowing { try body(record) } }
        }
    }

    /// Reads while somebody else's code runs in between, whose errors are not the store's.
    func reading(
        _ attempt: String,
        _ work: @escaping @Sendable (Database, (() throws -> Void) throws -> Void) throws -> Void
    ) async throws {
        do {
            try await database.read { db in
                try work(db) { body in
                    do { try body() } catch { throw Foreign(error: error) }
                }
            }
        } catch let foreign as Foreign {
            throw foreign.error
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }

    private struct Foreign: Error {
        var error: any Error
    }
}

extension StoredReceipts {
    func eachTap(from: Date?, to: Date?, _ body: (TapRecord) throws -> Void) throws {
        let arguments: StatementArguments = [from.map(Self.limit) ?? 0, to.map(Self.limit) ?? .max]
        // Looked up once, since there are many more taps than members who were joined to others.
        let standIns = try db.members.standIns()
        var shown: [Int64: Member] = [:]
        for target in Set(standIns.values) { shown[target] = try db.members.row(id: target)?.member }
        let people = standIns.compactMapValues { shown[$0] }
        let visits = try Row.fetchCursor(db, sql: Self.visitRecords, arguments: arguments)
        let others = try Row.fetchCursor(db, sql: Self.otherRecords, arguments: arguments)
        func next(_ rows: RowCursor) throws -> TapRecord? { try rows.next().map { row in try TapRecord(row, people) } }
        // Each comes in order from its index, and so are they merged.
        var (visit, other) = (try next(visits), try next(others))
        while visit != nil || other != nil {
            if let record = visit, other.map({ record.at <= $0.at }) ?? true {
                try body(record)
                visit = try next(visits)
            } else if let record = other {
                try body(record)
                other = try next(others)
            }
        }
    }

    /// A time outside of those that the store knows is before or after all of them.
    private static func limit(_ date: Date) -> Int64 {
        Timestamp.microseconds(date) ?? (date.timeIntervalSince1970 < 0 ? 0 : .max)
    }

    private static let visitRecords = """
        SELECT visit.event_id, visit.at, member.user_id, member.username, visit.reader, visit.source,
            CASE WHEN visit.born <= member.ended_hlc THEN 'deleted' WHEN undo.at IS NOT NULL THEN 'undone'
                ELSE 'counted' END AS standing,
            coalesce(undo.reason, visit.reason) AS reason, member.id
        FROM visit LEFT JOIN undo USING (event_id) LEFT JOIN member ON member.id = visit.member_id
        WHERE visit.at >= ? AND visit.at < ? ORDER BY visit.at, visit.id
        """

    private static let otherRecords = """
        SELECT receipt.event_id, receipt.at, member.user_id, member.username, receipt.reader, 'card' AS source,
            receipt.outcome AS standing, receipt.reason, member.id
        FROM receipt LEFT JOIN member ON member.id = receipt.member_id
        WHERE receipt.at >= ? AND receipt.at < ? AND receipt.outcome IN ('repeat', 'ignored', 'rejected')
            AND \(Erasing.keptReceipt)
        ORDER BY receipt.at, receipt.event_id
        """
}

extension TapRecord {
    /// - Parameter people: whom the rows of members stand for who were joined to others.
    fileprivate init(_ row: Row, _ people: [Int64: Member]) throws(ClubError) {
        let id: Int64? = try row.optional("id")
        let other = id.flatMap { people[$0] }
        self.init(
            id: try row.value("event_id"),
            at: try row.date("at"),
            userId: try other == nil ? row.optional("user_id") : other?.userId,
            username: try other == nil ? row.optional("username") : other?.username,
            reader: try row.value("reader"),
            source: try Visit.Source(rawValue: try row.value("source")).orCorrupt("read a visit"),
            standing: try Standing(rawValue: try row.value("standing")).orCorrupt("read a visit"),
            reason: try row.optional("reason")
        )
    }
}

extension TapRecord {
    /// The columns of an export.
    static let columns = ["time", "userId", "username", "reader", "source", "counted", "reason", "id"]

    /// The cells of ``columns``. What is not known is an empty one.
    var cells: [String] {
        [
            ISO8601.text(at), userId ?? "", username ?? "", reader, source.rawValue,
            isCounted ? "yes" : standing.rawValue, reason ?? "", id.uuidString,
        ]
    }
}

extension CSVWriter {
    mutating func append(_ cells: [String], _ bytes: inout [UInt8]) {
        beginRow(&bytes)
        for cell in cells { text(cell, marksEmpty: false, &bytes) }
    }
}
