import ReaderKit

/// A file of a ``SimulatedDESFireApplication``.
public struct SimulatedDESFireFile: Sendable {
    /// Its number, 0...31.
    public var number: UInt8
    /// What it holds.
    public var content: Content
    /// Its ISO identifier, if it has one.
    public var isoFile: UInt16?
    /// How its content travels in a session.
    public var communication: DESFireCommunication
    /// Who may do what.
    public var rights: DESFireAccessRights
    /// The settings of secure dynamic messaging, as the card would send them; empty if it is off. They are kept and
    /// shown, and nothing is mirrored.
    public var sdm: [UInt8]

    /// What a file holds.
    public enum Content: Sendable, Hashable {
        /// Bytes, written through.
        case standard([UInt8])
        /// Bytes, written when the transaction is committed.
        case backup([UInt8])
        /// A number, and its limits.
        case value(Int32, lower: Int32, upper: Int32)
        /// Records of one size, the oldest first, and how many there can be.
        case records([[UInt8]], size: Int, capacity: Int, isCyclic: Bool)
        /// The code over transactions, which is not computed: the key's options and version.
        case transactionMAC(keyOptions: UInt8, keyVersion: UInt8)
    }

    /// A file; without further arguments everybody may read and write it, and nobody change its settings.
    public init(
        _ number: UInt8,
        _ content: Content,
        isoFile: UInt16? = nil,
        communication: DESFireCommunication = .plain,
        rights: DESFireAccessRights = DESFireAccessRights(0xEEEF),
        sdm: [UInt8] = []
    ) {
        self.number = number
        self.content = content
        self.isoFile = isoFile
        self.communication = communication
        self.rights = rights
        self.sdm = sdm
    }

    /// The bytes of a data file, or `nil` for other files.
    public var data: [UInt8]? {
        switch content {
        case .standard(let bytes), .backup(let bytes): bytes
        default: nil
        }
    }

    /// The answer to GET FILE SETTINGS.
    var settings: [UInt8] {
        let kind: UInt8
        var specific: [UInt8]
        switch content {
        case .standard(let bytes): (kind, specific) = (0, [UInt8].littleEndian(bytes.count, 3))
        case .backup(let bytes): (kind, specific) = (1, [UInt8].littleEndian(bytes.count, 3))
        case .value(_, let lower, let upper):
            (kind, specific) = (
                2, [UInt8].littleEndian(Int(lower), 4) + [UInt8].littleEndian(Int(upper), 4) + [0, 0, 0, 0, 0]
            )
        case .records(let records, let size, let capacity, let isCyclic):
            kind = isCyclic ? 4 : 3
            specific =
                [UInt8].littleEndian(size, 3) + [UInt8].littleEndian(capacity, 3)
                + [UInt8].littleEndian(records.count, 3)
        case .transactionMAC(let options, let version): (kind, specific) = (5, [options, version])
        }
        return [kind, communication.bits | (sdm.isEmpty ? 0 : 0x40)] + [UInt8].littleEndian(Int(rights.number), 2)
            + specific + sdm
    }

    var footprint: Int {
        switch content {
        case .standard(let bytes): (bytes.count + 31) / 32 * 32
        case .backup(let bytes): (bytes.count + 31) / 32 * 64
        case .value, .transactionMAC: 32
        case .records(_, let size, let capacity, _): (max(0, size) * max(0, capacity) + 31) / 32 * 32
        }
    }
}

extension DESFireCommunication {
    init(bits: UInt8) { self = bits & 3 == 3 ? .encrypted : bits & 3 == 1 ? .authenticated : .plain }

    var bits: UInt8 { self == .encrypted ? 3 : self == .authenticated ? 1 : 0 }
}

/// An application on a ``SimulatedDESFire``.
public struct SimulatedDESFireApplication: Sendable {
    /// Its number, 1...FFFFFF.
    public var id: UInt32
    /// Its name, for SELECT by name; empty if it has none.
    public var name: [UInt8]
    /// Its AES keys; the first is its master key.
    public var keys: [SecretKey]
    /// The settings of its master key: `02` listing is free, `04` making files is free.
    public var options: UInt8
    /// Its files.
    public var files: [SimulatedDESFireFile]

    /// An application.
    public init(
        id: UInt32,
        name: [UInt8] = [],
        keys: [SecretKey] = [.factory],
        options: UInt8 = 0x0F,
        files: [SimulatedDESFireFile] = []
    ) {
        self.id = id
        self.name = name
        self.keys = keys
        self.options = options
        self.files = files
    }

    /// The name of the NDEF application.
    public static let ndefName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

    /// The NDEF application of a DESFire: capability container in file 1, message in file 2, cut off where it is longer
    /// than the file, whose size counts the length field too (3...32767).
    public static func ndef(
        message: [UInt8] = [],
        fileSize: Int = 256,
        key: SecretKey = .factory
    ) -> SimulatedDESFireApplication {
        let size = min(max(fileSize, 3), 0x7FFF)
        let container: [UInt8] =
            [0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04] + [UInt8].bigEndian(size, 2) + [0, 0]
        return SimulatedDESFireApplication(
            id: 1,
            name: ndefName,
            keys: [key],
            options: 0x0B,
            files: SimulatedDESFireFile.ndef(container, message, size: size)
        )
    }
}

extension SimulatedDESFireFile {
    /// The capability container, which takes the key to change, and the file of the message, which anybody may write.
    /// What does not fit into it is cut off.
    static func ndef(_ container: [UInt8], _ message: [UInt8], size: Int) -> [SimulatedDESFireFile] {
        let kept = message.prefix(size - 2)
        return [
            SimulatedDESFireFile(
                1,
                .standard(container),
                isoFile: 0xE103,
                rights: DESFireAccessRights(read: .free, write: .key(0), readWrite: .key(0), change: .key(0))
            ),
            SimulatedDESFireFile(
                2,
                .standard(([UInt8].bigEndian(kept.count, 2) + kept).padded(to: size)),
                isoFile: 0xE104,
                rights: DESFireAccessRights(read: .free, write: .free, readWrite: .free, change: .key(0))
            ),
        ]
    }
}
