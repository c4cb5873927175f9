/// The place that a formatted tag has for an NDEF message, as its capability container describes it.
public struct TagArea: Sendable, Hashable {
    /// The longest message that fits, in bytes.
    public var capacity: Int

    /// The version of the mapping that the tag follows.
    public var version: Version

    /// Who may read the message.
    public var readAccess: Access

    /// Who may write the message.
    public var writeAccess: Access

    /// Creates a place for a message.
    public init(capacity: Int, version: Version, readAccess: Access = .free, writeAccess: Access = .free) {
        self.capacity = capacity
        self.version = version
        self.readAccess = readAccess
        self.writeAccess = writeAccess
    }

    /// Whether the message may be written without a key.
    public var isReadOnly: Bool { writeAccess != .free }

    /// A version of a tag mapping.
    public struct Version: Sendable, Hashable, CustomStringConvertible {
        /// The major version; a reader refuses one that it does not know.
        public var major: Int
        /// The minor version.
        public var minor: Int

        /// A version.
        public init(major: Int, minor: Int) {
            self.major = major
            self.minor = minor
        }

        /// A version in one byte, the major number in its high half.
        package init(byte: UInt8) {
            self.init(major: Int(byte >> 4), minor: Int(byte & 0x0F))
        }

        /// The version as `1.0`.
        public var description: String { "\(major).\(minor)" }
    }

    /// Who may read or write.
    public enum Access: Sendable, Hashable {
        /// Everybody.
        case free
        /// Nobody.
        case never
        /// It takes a key or a password, in a way that the maker of the tag decides; the number is the tag's.
        case proprietary(UInt8)

        /// The access in the field of a tag: 0 is everybody, the value of all ones nobody.
        package init(_ value: UInt8, never: UInt8) {
            self = value == 0 ? .free : value == never ? .never : .proprietary(value)
        }
    }
}
