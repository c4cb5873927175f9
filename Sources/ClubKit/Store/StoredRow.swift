import Foundation
import GRDB

/// A row of a result, whose values are looked at before they are believed: the file may be damaged.
protocol StoredRow {
    /// The value of a column, counted from 0.
    func stored(_ index: Int) -> DatabaseValue

    /// How the column is called.
    func columnName(_ index: Int) -> String
}

extension StoredRow {
    /// A value that the schema wants. GRDB's own subscripts trap on a damaged one.
    func value<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value {
        guard let value: Value = try optional(index) else { throw damage(index) }
        return value
    }

    /// A value that may be missing.
    func optional<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value? {
        let stored = stored(index)
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw damage(index) }
        return value
    }

    private func damage(_ index: Int) -> ClubError {
        ClubError(
            .corrupt,
            attempting: "read the member database",
            detail: "'\(columnName(index))' holds no usable value"
        )
    }
}

extension Row: StoredRow {
    func stored(_ index: Int) -> DatabaseValue { self[index] }

    func columnName(_ index: Int) -> String { Array(columnNames)[index] }
}
