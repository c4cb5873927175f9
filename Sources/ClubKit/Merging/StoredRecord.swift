import Foundation
import GRDB

/// A record of a club's file as it stands in the tables.
protocol StoredRecord {
    /// The columns that ``init(_:)`` reads, and where they are from.
    static var select: String { get }

    init(_ row: Row) throws
}

extension StoredRecord {
    static func forEach(orderedBy order: String, in db: Database, _ body: (Self) throws -> Void) throws {
        let rows = try Row.fetchCursor(db, sql: "\(select) ORDER BY \(order)")
        while let row = try rows.next() { try body(Self(row)) }
    }

    static func first(where condition: String, _ arguments: StatementArguments, in db: Database) throws -> Self? {
        try db.row("\(select) WHERE \(condition)", arguments).map { try Self($0) }
    }
}

extension TransferRecord {
    /// Visits all records of a store except members, in the order of a club's file, which is the same on every device.
    ///
    /// - Parameter members: called between the erasures and all others.
    static func forEach(in db: Database, members: () throws -> Void, _ body: (TransferRecord) throws -> Void) throws {
        // Erasures first, so that those who were erased are known when their old records come, and members before what
        // belongs to them.
        try Erasure.forEach(orderedBy: "salt, hash", in: db) { try body(.erasure($0)) }
        try members()
        try Card.forEach(orderedBy: "card_id", in: db) { try body(.card($0)) }
        // Which is the order of `visit_by_device`.
        try Visit.forEach(orderedBy: "visit.device_id, hlc, event_id", in: db) { try body(.visit($0)) }
        try Undo.forEach(orderedBy: "device_id, hlc, event_id", in: db) { try body(.undo($0)) }
        try Reset.forEach(orderedBy: "kind, subject, scenario", in: db) { try body(.reset($0)) }
        try Event.forEach(orderedBy: "event_id", in: db) { try body(.event($0)) }
        try Execution.forEach(orderedBy: "execution_id", in: db) { try body(.execution($0)) }
        try Settlement.forEach(orderedBy: "execution_id, state", in: db) { try body(.settlement($0)) }
        try Audit.forEach(orderedBy: "device_id, hlc, at, action", in: db) { try body(.audit($0)) }
    }
}

extension Stamp {
    /// The stamp in a column with the time, and the one behind it with the device.
    fileprivate init(_ row: Row, _ column: Int) throws {
        self.init(time: try row.value(column), device: try row.value(column + 1))
    }
}

extension TransferRecord.Subject {
    /// The subject in a column with the kind, and the one behind it.
    fileprivate init(_ row: Row, _ column: Int) throws {
        self.init(try row.value(column), try row.value(column + 1))
    }
}

extension TransferRecord.Erasure: StoredRecord {
    static let select = "SELECT salt, hash, hlc, device_id FROM erased"

    init(_ row: Row) throws {
        self.init(salt: try row.value(0), hash: try row.value(1), stamp: try Stamp(row, 2))
    }
}

extension TransferRecord.Card: StoredRecord {
    static let select = "SELECT card_id, member_key, blocked, hlc, device_id FROM card"

    init(_ row: Row) throws {
        try self.init(cardId: row.value(0), userId: row.value(1), blocked: row.optional(2), stamp: Stamp(row, 3))
    }
}

extension TransferRecord.Visit: StoredRecord {
    /// CROSS keeps SQLite from beginning with the members.
    static let select = """
        SELECT event_id, hlc, visit.device_id, user_id, at, reader, backend, born, source, reason, actor
        FROM visit CROSS JOIN member ON member.id = member_id
        """

    init(_ row: Row) throws {
        self.init(
            eventID: try row.value(0),
            stamp: try Stamp(row, 1),
            userId: try row.value(3),
            at: try row.value(4),
            reader: try row.value(5),
            backend: try row.value(6),
            born: try row.value(7),
            source: try row.value(8),
            reason: try row.optional(9),
            actor: try row.optional(10)
        )
    }
}

extension TransferRecord.Undo: StoredRecord {
    static let select = "SELECT event_id, hlc, device_id, at, reason, actor FROM undo"

    init(_ row: Row) throws {
        self.init(
            eventID: try row.value(0),
            stamp: try Stamp(row, 1),
            at: try row.value(3),
            reason: try row.optional(4),
            actor: try row.optional(5)
        )
    }
}

extension TransferRecord.Reset: StoredRecord {
    static let select = "SELECT kind, subject, scenario, hlc, device_id FROM scenario_reset"

    init(_ row: Row) throws {
        self.init(subject: try TransferRecord.Subject(row, 0), scenario: try row.value(2), stamp: try Stamp(row, 3))
    }
}

extension TransferRecord.Event: StoredRecord {
    static let select = """
        SELECT event_id, hlc, device_id, kind, subject, name, at, born, visit, undone FROM scenario_event
        """

    init(_ row: Row) throws {
        self.init(
            eventID: try row.value(0),
            stamp: try Stamp(row, 1),
            subject: try TransferRecord.Subject(row, 3),
            name: try row.value(5),
            at: try row.value(6),
            born: try row.value(7),
            visit: try row.optional(8),
            undone: try row.value(9)
        )
    }
}

extension TransferRecord.Execution: StoredRecord {
    static let select = """
        SELECT execution_id, hlc, device_id, kind, subject, scenario, at, born, visit, number FROM scenario_execution
        """

    init(_ row: Row) throws {
        self.init(
            id: try row.value(0),
            stamp: try Stamp(row, 1),
            subject: try TransferRecord.Subject(row, 3),
            scenario: try row.value(5),
            at: try row.value(6),
            born: try row.value(7),
            visit: try row.optional(8),
            number: try row.value(9)
        )
    }
}

extension TransferRecord.Settlement: StoredRecord {
    static let select = """
        SELECT execution_id, state, hlc, device_id, at, reason, actor FROM scenario_settlement
        """

    init(_ row: Row) throws {
        self.init(
            id: try row.value(0),
            state: try row.value(1),
            stamp: try Stamp(row, 2),
            at: try row.value(4),
            reason: try row.optional(5),
            actor: try row.optional(6)
        )
    }
}

extension TransferRecord.Audit: StoredRecord {
    static let select = "SELECT hlc, device_id, at, actor, action, subject, detail FROM audit"

    init(_ row: Row) throws {
        let detail: String? = try row.optional(6)
        self.init(
            stamp: try Stamp(row, 0),
            at: try row.value(2),
            actor: try row.optional(3),
            action: try row.value(4),
            subject: try row.optional(5),
            detail: detail.map(MemberRow.fields)
        )
    }
}
