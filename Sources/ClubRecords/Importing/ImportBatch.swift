import CardPasses
import Foundation

/// Rows of a file without logical times, in the file's order, as bytes: so that a new member can be written without a
/// `String` being made of any cell.
///
/// The texts are valid UTF-8 without NUL, the numbers are in their ranges, the ids usable: a batch has been checked.
package struct ImportBatch: Sendable {
    package struct Text: Sendable, Hashable {
        package var start: Int
        package var count: Int

        package var range: Range<Int> { start..<start + count }
    }

    /// A text that a file may omit.
    package enum OptionalText: Sendable, Hashable {
        /// The file omits it.
        case absent
        /// The file states that there is none.
        case null
        case text(Text)
    }

    /// One row.
    package struct Row: Sendable, Hashable {
        /// See ``ImportedRow/row``.
        package var row: Int
        package var userId: Text
        package var username: OptionalText
        package var addedAt: Moment?
        package var numVisits: Int?
        package var lastVisitAt: Moment?
        /// The custom fields as the store keeps them: a JSON object with sorted keys, without spaces and with slashes
        /// as they are. `nil` for none.
        package var fields: Text?
    }

    package private(set) var bytes: [UInt8] = []

    package private(set) var rows: [Row] = []

    /// Whether custom fields were read from text that knows no types, as in CSV. A stored value whose
    /// ``FieldValue/cellText`` is the same then is the same value: 5 is no change of "5".
    package let isUntyped: Bool

    /// What is worth knowing of rows that are taken all the same, by ``Row/row``.
    package private(set) var notes: [Int: [String]] = [:]

    package init(isUntyped: Bool) {
        self.isUntyped = isUntyped
    }

    package var count: Int { rows.count }
    package var isEmpty: Bool { rows.isEmpty }

    mutating func text(_ content: some Collection<UInt8>) -> Text {
        let start = bytes.count
        bytes.append(contentsOf: content)
        return Text(start: start, count: bytes.count - start)
    }

    /// Appends what the closure writes, which must be UTF-8; `nil` if that is nothing.
    mutating func text(writing body: (inout [UInt8]) -> Void) -> Text? {
        let start = bytes.count
        body(&bytes)
        return bytes.count > start ? Text(start: start, count: bytes.count - start) : nil
    }

    mutating func append(_ row: Row) {
        rows.append(row)
    }

    /// What rows state of what the club keeps besides values, by ``Row/row``.
    package private(set) var standings: [Int: Standing] = [:]

    package mutating func set(_ standing: Standing, of row: Int) {
        if !standing.statements.isEmpty { standings[row] = standing }
    }

    /// Takes note of what a person has to know of a row.
    package mutating func note(_ row: Int, _ text: String) { notes[row, default: []].append(text) }

    package func string(_ text: Text) -> String { String(decoding: bytes[text.range], as: UTF8.self) }

    package func member(_ row: Row) -> ImportedMember {
        var fields: [String: FieldValue] = [:]
        if let text = row.fields {
            fields = (try? JSONDecoder().decode([String: FieldValue].self, from: Data(bytes[text.range]))) ?? [:]
        }
        let username: FieldValue? =
            switch row.username {
            case .absent: nil
            case .null: .null
            case .text(let text): .string(string(text))
            }
        var member = ImportedMember(
            row: row.row,
            userId: string(row.userId),
            username: username,
            numVisits: row.numVisits,
            fields: fields,
            standing: standings[row.row]
        )
        (member.addedAt, member.lastVisitAt) = (row.addedAt, row.lastVisitAt)
        return member
    }
}

/// What one row of a file without logical times states of a member. It omits what is `nil`, or not in ``fields``.
package struct ImportedMember: Sendable, Hashable {
    /// Where it stands; see ``ImportedRow/row``.
    package var row: Int

    /// Usable as an identifier (`MemberID.isUsable`).
    package var userId: String

    /// A string, or null if the file states that there is no name.
    package var username: FieldValue?

    /// When the member was created, from 1970 to the year 9999; 0 if the file states that it does not know.
    package var addedAt: Moment?

    /// The total of visits, not negative.
    package var numVisits: Int?

    /// When the latest visit was. 0 if the file states that there was none.
    package var lastVisitAt: Moment?

    /// The custom fields, none of which has the name of a base value or begins with `$`.
    package var fields: [String: FieldValue]

    /// What else it states.
    package var standing: Standing?

    /// Creates a row whose times are as exact as ``Moment/init(_:)`` has it, in microseconds since 1970.
    package init(
        row: Int,
        userId: String,
        username: FieldValue? = nil,
        addedAt: Int64? = nil,
        numVisits: Int? = nil,
        lastVisitAt: Int64? = nil,
        fields: [String: FieldValue] = [:],
        standing: Standing? = nil
    ) {
        self.row = row
        self.userId = userId
        self.username = username
        self.addedAt = addedAt.map { Moment($0) }
        self.numVisits = numVisits
        self.lastVisitAt = lastVisitAt.map { Moment($0) }
        self.fields = fields
        self.standing = standing
    }
}

/// Rows that were read, and those between them that could not be.
struct RowBatch: Sendable {
    var batch: ImportBatch
    /// In the file's order, as ``batch`` is; both together cover all rows.
    var faults: [(row: Int, fault: RowFault)] = []

    let rows: Int

    /// The fewest and the most rows that are merged in one transaction. Each transaction writes anew every page of the
    /// database's indexes that it touches, and with members in no order that is soon all of them: so the more the
    /// faster. But taps wait for it, for some tenths of a second.
    static let sizes = 5000...20_000

    static let bytes = 4 * 1024 * 1024

    init(isUntyped: Bool, rows: Int = sizes.lowerBound) {
        batch = ImportBatch(isUntyped: isUntyped)
        self.rows = rows
    }

    var count: Int { batch.count + faults.count }

    var isFull: Bool { count >= rows || batch.bytes.count >= Self.bytes }
}

/// Reads the members of a file without logical times.
protocol RowReader {
    var columns: [ImportReport.Column] { get }
    var notes: [String] { get }
    var offset: Int { get }
    var totalBytes: Int? { get }

    /// Appends rows until the batch is full, or the file is at its end. Returns false at the end.
    mutating func read(into batch: inout RowBatch) throws(TransferError) -> Bool
}
