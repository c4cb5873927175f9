/// A value whose description leaves out what is personal, so that it does not end up in a log by accident.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible {}

extension Redacted {
    /// The same as the description.
    public var debugDescription: String { description }
}

/// A value that is never shown, such as a key: its description names what it is, and a dump has nothing.
public protocol Secret: Redacted, CustomReflectable {}

extension Secret {
    /// Nothing, so that neither `dump(_:)` nor a test framework prints it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
