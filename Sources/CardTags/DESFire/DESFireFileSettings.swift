/// What a card says of one of its files (the command GET FILE SETTINGS, `F5`).
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

    /// What follows, on cards newer than this code. Empty on all that are known.
    public var trailing: [UInt8]

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
            guard let tail = rest.take(rest.left), let (settings, count) = DESFireSDMSettings.decode(tail) else {
                return nil
            }
            sdm = settings
            trailing = Array(tail.dropFirst(count))
        } else {
            trailing = rest.take(rest.left) ?? []
        }
    }

    /// The rights and all the further sets of them.
    public var allRights: [DESFireAccessRights] { [accessRights] + additionalRights }

    /// Whether anybody may read the file, without a key.
    public var isFreeToRead: Bool { allRights.contains(where: \.isFreeToRead) }

    /// How reading travels in a session in which that key was shown: as the file says, but in clear where nobody needs a
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
            self = .value(
                .init(
                    lower: lower,
                    upper: upper,
                    limitedCredit: credit,
                    options: UInt8(truncatingIfNeeded: options)
                )
            )
        case 0x03, 0x04:
            guard let size = rest.number(3), let capacity = rest.number(3), let count = rest.number(3) else {
                return nil
            }
            let records = DESFireFileSettings.Records(size: size, capacity: capacity, count: count)
            self = kind == 3 ? .linearRecords(records) : .cyclicRecords(records)
        case 0x05:
            guard let options = rest.number(1), let version = rest.number(1) else { return nil }
            self = .transactionMAC(
                keyOptions: UInt8(truncatingIfNeeded: options),
                keyVersion: UInt8(truncatingIfNeeded: version)
            )
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
