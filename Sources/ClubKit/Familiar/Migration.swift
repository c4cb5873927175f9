/// What a step of an application's migrations can do to the records: to their custom fields, that is. It changes copies,
/// which are stored together when all steps are done.
public final class Migration {
    /// The step that was the last one when the records were stored; 0 if there was none.
    public let oldSchemaVersion: UInt64

    /// This step.
    public let newSchemaVersion: UInt64

    init(from oldSchemaVersion: UInt64, to newSchemaVersion: UInt64) {
        self.oldSchemaVersion = oldSchemaVersion
        self.newSchemaVersion = newSchemaVersion
    }
}
