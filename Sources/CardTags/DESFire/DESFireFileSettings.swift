import CardCore

/// A card's description of one of its files (the command GET FILE SETTINGS, `F5`).
public struct DESFireFileSettings: Sendable, Hashable {
    /// What the file holds.
    public var content: Content

    /// How its content travels once a key was shown.
    public var communication: DESFireCommunication

    /// Who may do what.
    public var accessRights: DESFireAccessRights

    /// Further sets of rights, where the card has them (EV2 and later). Any one of them suffices.
    public var additionalRights: [DESFireAccessRights]

    /// The settings of secure dynamic messaging, if it is switched on.
    public var sdm: DESFireSDMSettings?

    /// What a file holds.
    public enum Content: Sendable, Hashable {
        /// Bytes, written through at once. `size` in bytes.
        case standard(size: Int)
        /// Bytes, written when the transaction is committed. `size` in bytes.
        case backup(size: Int)
        /// One signed number within limits.
        case value(ValueLimits)
        /// Records of a fixed size, until the file is full.
        case linearRecords(Records)
        /// Records of a fixed size, the oldest giving way.
        case cyclicRecords(Records)
        /// The code that the card makes over each transaction.
        case transactionMAC(keyOptions: UInt8, keyVersion: UInt8)

        /// How many bytes there are to read, or `nil` where it is not bytes.
        public var size: Int? {
            switch self {
            case .standard(let size), .backup(let size): size
            default: nil
            }
        }
    }

    /// What a value file may hold.
    public struct ValueLimits: Sendable, Hashable {
        /// The lowest value.
        public var lower: Int32
        /// The highest value.
        public var upper: Int32
        /// How much may be credited with the weaker key.
        public var limitedCredit: Int32
        /// Whether it may, and whether the value may be read without a key: bits 0 and 1.
        public var options: UInt8
    }

    /// How many records a file has.
    public struct Records: Sendable, Hashable {
        /// The size of a record, in bytes.
        public var size: Int
        /// How many there can be.
        public var capacity: Int
        /// How many there are.
        public var count: Int
    }

    /// Reads settings; `nil` if they are cut off or of a kind that is not known.
    public init?(_ bytes: [UInt8]) {
        var rest = ByteReader(bytes)
        guard let kind = rest.number(1), let options = rest.number(1), let rights = rest.number(2),
            let content = Content(kind: kind, &rest)
        else { return nil }
        self.content = content
        communication = DESFireCommunication(fileOption: UInt8(truncatingIfNeeded: options))
        accessRights = DESFireAccessRights(UInt16(truncatingIfNeeded: rights))
        additionalRights = []
        if options & 0x80 != 0 {
            guard let count = rest.number(1) else { return nil }
            for _ in 0..<count {
                guard let rights = rest.number(2) else { return nil }
                additionalRights.append(DESFireAccessRights(UInt16(truncatingIfNeeded: rights)))
            }
        }
        if options & 0x40 != 0 {
            guard let settings = DESFireSDMSettings(rest.take(rest.left) ?? []) else { return nil }
            sdm = settings
        }
    }

    /// The rights and all the further sets of them.
    public var allRights: [DESFireAccessRights] { [accessRights] + additionalRights }

    /// Whether anybody may read the file, without a key.
    public var isFreeToRead: Bool { allRights.contains(where: \.isFreeToRead) }

    /// How reading travels in a session in which that key was shown: as the file requires, but in clear where nobody needs a
    /// key. `nil` is no session.
    public func readingCommunication(keyNumber: UInt8?) -> DESFireCommunication {
        communication(keyNumber, \.readingKeys)
    }

    /// How writing travels in a session in which that key was shown; see ``readingCommunication(keyNumber:)``.
    public func writingCommunication(keyNumber: UInt8?) -> DESFireCommunication {
        communication(keyNumber, \.writingKeys)
    }

    private func communication(
        _ keyNumber: UInt8?,
        _ keys: KeyPath<DESFireAccessRights, [UInt8]>
    ) -> DESFireCommunication {
        guard let keyNumber, allRights.contains(where: { $0[keyPath: keys].contains(keyNumber) }) else { return .plain }
        return communication
    }
}

extension DESFireFileSettings.Content {
    fileprivate init?(kind: Int, _ rest: inout ByteReader) {
        switch kind {
        case 0x00, 0x01:
            guard let size = rest.number(3) else { return nil }
            self = kind == 0 ? .standard(size: size) : .backup(size: size)
        case 0x02:
            guard let lower = rest.signed(), let upper = rest.signed(), let credit = rest.signed(),
                let options = rest.number(1)
            else { return nil }
            let flags = UInt8(truncatingIfNeeded: options)
            self = .value(.init(lower: lower, upper: upper, limitedCredit: credit, options: flags))
        case 0x03, 0x04:
            guard let size = rest.number(3), let capacity = rest.number(3), let count = rest.number(3) else {
                return nil
            }
            let records = DESFireFileSettings.Records(size: size, capacity: capacity, count: count)
            self = kind == 3 ? .linearRecords(records) : .cyclicRecords(records)
        case 0x05:
            guard let options = rest.number(1), let version = rest.number(1) else { return nil }
            let bytes = [options, version].map { UInt8(truncatingIfNeeded: $0) }
            self = .transactionMAC(keyOptions: bytes[0], keyVersion: bytes[1])
        default: return nil
        }
    }

    /// The name of the kind of file, for people.
    public var name: String {
        switch self {
        case .standard: "standard data file"
        case .backup: "backup data file"
        case .value: "value file"
        case .linearRecords: "linear record file"
        case .cyclicRecords: "cyclic record file"
        case .transactionMAC: "transaction MAC file"
        }
    }
}

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
    public var description: String { "read \(read), write \(write), read and write \(readWrite), change \(change)" }
}

/// How the content of a file travels between card and reader once a key was shown.
public enum DESFireCommunication: String, Sendable, Hashable, Codable, CaseIterable {
    /// In clear. DESFire EV1 sends an authentication code all the same while a session lasts; EV2 and later do not.
    case plain
    /// In clear, with a message authentication code.
    case authenticated
    /// Encrypted, with a checksum (EV1) or a message authentication code (EV2).
    case encrypted

    /// The mode in the lowest two bits of a file's options: `x0` plain, `01` authenticated, `11` encrypted.
    init(fileOption: UInt8) {
        self = Self.allCases.first { $0.fileOption == fileOption & 0x03 } ?? .plain
    }

    /// The mode as the lowest two bits of a file's options.
    var fileOption: UInt8 {
        switch self {
        case .plain: 0x00
        case .authenticated: 0x01
        case .encrypted: 0x03
        }
    }
}

/// Secure dynamic messaging (SDM) of a file: what the card puts into it at each tap, and where.
///
/// Offsets and lengths are in bytes; an offset is `nil` where the card mirrors nothing of the kind.
public struct DESFireSDMSettings: Sendable, Hashable {
    /// The options byte: `80` identifier, `40` counter, `20` counter limit, `10` encrypted file data, `01` as ASCII.
    public var options: UInt8
    /// Who may read the tap counter.
    public var counterAccess: DESFireAccessRights.Access
    /// The key that encrypts identifier and counter; ``DESFireAccessRights/Access/free``: they stand in clear.
    public var metaRead: DESFireAccessRights.Access
    /// The key that the message authentication code is made with.
    public var fileRead: DESFireAccessRights.Access
    /// Where the identifier stands in clear.
    public var uidOffset: Int?
    /// Where the counter stands in clear.
    public var counterOffset: Int?
    /// Where identifier and counter stand encrypted.
    public var encryptedTagOffset: Int?
    /// Where the authenticated part begins.
    public var macInputOffset: Int?
    /// Where the encrypted part of the file begins.
    public var encryptedOffset: Int?
    /// How long the encrypted part of the file is.
    public var encryptedLength: Int?
    /// Where the message authentication code stands.
    public var macOffset: Int?
    /// How many taps the card answers with dynamic data.
    public var counterLimit: Int?
    /// The settings as the card sent them, from the options byte on: what it takes to set them again unchanged.
    public var encoded: [UInt8] = []

    /// Whether the identifier is mirrored.
    public var mirrorsUID: Bool { options & 0x80 != 0 }
    /// Whether the tap counter is mirrored.
    public var mirrorsCounter: Bool { options & 0x40 != 0 }

    /// Reads the settings at the start of the bytes; `nil` if they are cut off.
    init?(_ bytes: [UInt8]) {
        var rest = ByteReader(bytes)
        guard let options = rest.number(1), let rights = rest.number(2) else { return nil }
        // Two bytes, the low one first: F and who may read the counter, then meta read and file read.
        self.options = UInt8(truncatingIfNeeded: options)
        counterAccess = .init(nibble: UInt8(truncatingIfNeeded: rights))
        metaRead = .init(nibble: UInt8(truncatingIfNeeded: rights >> 12))
        fileRead = .init(nibble: UInt8(truncatingIfNeeded: rights >> 8))
        let clear = metaRead == .free
        let signs = fileRead != .never
        let encrypts = signs && options & 0x10 != 0
        let numbers: [(WritableKeyPath<DESFireSDMSettings, Int?>, Bool)] = [
            (\.uidOffset, clear && mirrorsUID), (\.counterOffset, clear && mirrorsCounter),
            (\.encryptedTagOffset, metaRead.keyNumber != nil), (\.macInputOffset, signs),
            (\.encryptedOffset, encrypts), (\.encryptedLength, encrypts), (\.macOffset, signs),
            (\.counterLimit, options & 0x20 != 0),
        ]
        for (target, isThere) in numbers where isThere {
            guard let number = rest.number(3) else { return nil }
            self[keyPath: target] = number
        }
        encoded = Array(bytes.prefix(rest.offset))
    }
}

/// Takes numbers off the front of bytes, and never more than there are.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// How many bytes are left.
    var left: Int { bytes.count - offset }

    /// The next bytes, or `nil` if there are fewer.
    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= left else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// A number of 1 to 4 bytes, least significant first, or `nil` if there are fewer.
    mutating func number(_ count: Int) -> Int? { take(count).map(\.littleEndianNumber) }

    /// A signed number of 4 bytes, least significant first.
    mutating func signed() -> Int32? { take(4).map { Int32(truncatingIfNeeded: $0.littleEndianNumber) } }
}
