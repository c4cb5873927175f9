import Foundation

/// Rows of a file without logical times, in the file's order, as bytes: so that a new member can be written without a
/// `String` being made of any cell.
///
/// The texts are valid UTF-8 without NUL, the numbers are in their ranges, the ids usable: a batch has been checked.
package struct ImportBatch: Sendable {
    /// Where a text is in ``bytes``.
    package struct Text: Sendable, Hashable {
        package var start: Int
        package var count: Int

        package var range: Range<Int> { start..<start + count }
    }

    /// A text that a file need not say.
    package enum OptionalText: Sendable, Hashable {
        /// The file does not say it.
        case absent
        /// The file says that there is none.
        case null
        case text(Text)
    }

    /// One row.
    package struct Row: Sendable, Hashable {
        /// See ``ImportedRow/row``.
        package var row: Int
        package var userId: Text
        package var username: OptionalText
        /// In microseconds since 1970.
        package var addedAt: Int64?
        package var numVisits: Int?
        /// In microseconds since 1970.
        package var lastVisitAt: Int64?
        /// The custom fields as the store keeps them: a JSON object with sorted keys, without spaces and with slashes
        /// as they are. `nil` for none.
        package var fields: Text?
    }

    package private(set) var bytes: [UInt8] = []

    package private(set) var rows: [Row] = []

    /// Whether custom fields were read from text that knows no types, as in CSV. A stored value whose
    /// ``FieldValue/cellText`` is the same then is the same value: 5 is no change of "5".
    package let isUntyped: Bool

    package init(isUntyped: Bool) {
        self.isUntyped = isUntyped
    }

    package var count: Int { rows.count }
    package var isEmpty: Bool { rows.isEmpty }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
    }

    /// Appends a text, which must be UTF-8.
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

    package func string(_ text: Text) -> String {
        String(decoding: bytes[text.range], as: UTF8.self)
    }

    /// The row as a value.
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
        return ImportedMember(
            row: row.row,
            userId: string(row.userId),
            username: username,
            addedAt: row.addedAt,
            numVisits: row.numVisits,
            lastVisitAt: row.lastVisitAt,
            fields: fields
        )
    }
}
