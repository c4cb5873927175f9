/// A value on which a file and the club differ.
public struct FieldDifference: Sendable, Hashable, Encodable {
    /// The name of the value: `username`, `numVisits`, `timeStampAdded`, `timeStampOfLastVisit` or a custom field.
    public var field: String

    /// What the club had, `nil` for nothing.
    public var stored: FieldValue?

    /// What the file says, `nil` for nothing.
    public var imported: FieldValue?

    /// A difference.
    public init(_ field: String, stored: FieldValue?, imported: FieldValue?) {
        self.field = field
        self.stored = stored
        self.imported = imported
    }
}
