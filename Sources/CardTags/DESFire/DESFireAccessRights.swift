/// Who may do what with a file of a DESFire card.
public struct DESFireAccessRights: Sendable, Hashable {
    /// Who may read.
    public var read: Access
    /// Who may write.
    public var write: Access
    /// Who may read and write.
    public var readWrite: Access
    /// Who may change the file's settings, these rights among them.
    public var change: Access

    /// What it takes.
    public enum Access: Sendable, Hashable {
        /// The application's key of that number, 0...13.
        case key(UInt8)
        /// Nothing: everybody may.
        case free
        /// Nobody may.
        case never

        /// The lowest four bits: `E` free, `F` never, else the key's number.
        init(nibble: UInt8) {
            switch nibble & 0x0F {
            case 0x0E: self = .free
            case 0x0F: self = .never
            case let key: self = .key(key)
            }
        }

        /// Four bits. A key's number above 13 does not exist and is taken as never.
        var nibble: UInt8 {
            switch self {
            case .key(let number): min(number, 0x0F) == 0x0E ? 0x0F : min(number, 0x0F)
            case .free: 0x0E
            case .never: 0x0F
            }
        }
    }

    /// Rights.
    public init(read: Access, write: Access, readWrite: Access, change: Access) {
        self.read = read
        self.write = write
        self.readWrite = readWrite
        self.change = change
    }

    /// The rights in a number of 16 bits: read, write, read and write, change, four bits each, from the highest.
    public init(_ number: UInt16) {
        read = Access(nibble: UInt8(truncatingIfNeeded: number >> 12))
        write = Access(nibble: UInt8(truncatingIfNeeded: number >> 8))
        readWrite = Access(nibble: UInt8(truncatingIfNeeded: number >> 4))
        change = Access(nibble: UInt8(truncatingIfNeeded: number))
    }

    /// The number of 16 bits; on the wire its low byte comes first.
    public var number: UInt16 {
        UInt16(read.nibble) << 12 | UInt16(write.nibble) << 8 | UInt16(readWrite.nibble) << 4 | UInt16(change.nibble)
    }

    /// Whether anybody may read, without a key.
    public var isFreeToRead: Bool { read == .free || readWrite == .free }

    /// Whether anybody may write, without a key.
    public var isFreeToWrite: Bool { write == .free || readWrite == .free }

    /// The keys that let read, in the order in which to prefer them.
    public var readingKeys: [UInt8] { [read, readWrite].compactMap(\.keyNumber) }

    /// The keys that let write, in the order in which to prefer them.
    public var writingKeys: [UInt8] { [write, readWrite].compactMap(\.keyNumber) }
}

extension DESFireAccessRights.Access: CustomStringConvertible {
    /// The number of the key, if it takes one.
    public var keyNumber: UInt8? {
        if case .key(let number) = self { number } else { nil }
    }

    /// "key 3", "free" or "never".
    public var description: String {
        switch self {
        case .key(let number): "key \(number)"
        case .free: "free"
        case .never: "never"
        }
    }
}

extension DESFireAccessRights: CustomStringConvertible {
    /// As "read free, write key 0, read and write key 0, change key 0".
    public var description: String {
        "read \(read), write \(write), read and write \(readWrite), change \(change)"
    }
}
