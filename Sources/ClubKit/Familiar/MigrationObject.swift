/// A record in a ``Migration``.
public final class MigrationObject {
    private var values: [String: FieldValue]
    private(set) var changes: [String: FieldValue] = [:]

    init(_ values: [String: FieldValue]) {
        self.values = values
    }

    /// The value of that name; `nil` where there is none. Setting a base value does nothing, setting `nil` takes the value
    /// away.
    public subscript(_ name: String) -> FieldValue? {
        get { values[name] }
        set {
            guard FieldKey.isCustom(name), values[name] ?? .null != newValue ?? .null else { return }
            values[name] = newValue
            changes[name] = newValue ?? .null
        }
    }
}
