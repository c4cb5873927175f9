/// What a column of a file means: the name of the column and that of the member's value.
public struct ColumnMapping: Sendable, Hashable {
    /// The name in the file: a column of a CSV file, a key of a user list.
    public var column: String

    /// The value: one of the five base values (`MembershipUser.CodingKeys`) or a custom field; `nil` leaves the
    /// column out.
    public var field: String?

    /// A mapping.
    public init(column: String, field: String?) {
        self.column = column
        self.field = field
    }

    /// Reads `COLUMN=FIELD`; `COLUMN=` leaves the column out. The last `=` divides, since names of fields have none.
    /// `nil` without one, or without a column.
    public init?(_ text: String) {
        guard let divider = text.lastIndex(of: "="), divider > text.startIndex else { return nil }
        column = String(text[..<divider])
        let field = String(text[text.index(after: divider)...])
        self.field = field.isEmpty ? nil : field
    }
}
