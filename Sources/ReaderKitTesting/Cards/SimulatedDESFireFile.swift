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
        case .standard(let bytes): (kind, specific) = (0, number(bytes.count, 3))
        case .backup(let bytes): (kind, specific) = (1, number(bytes.count, 3))
        case .value(_, let lower, let upper):
            (kind, specific) = (2, number(Int(lower), 4) + number(Int(upper), 4) + [0, 0, 0, 0, 0])
        case .records(let records, let size, let capacity, let isCyclic):
            kind = isCyclic ? 4 : 3
            specific = number(size, 3) + number(capacity, 3) + number(records.count, 3)
        case .transactionMAC(let options, let version): (kind, specific) = (5, [options, version])
        }
        var options: UInt8 =
            switch communication {
            case .plain: 0
            case .authenticated: 1
            case .encrypted: 3
            }
        if !sdm.isEmpty { options |= 0x40 }
        return [kind, options] + number(Int(rights.number), 2) + specific + sdm
    }

    /// How much memory it takes.
    var footprint: Int {
        switch content {
        case .standard(let bytes): (bytes.count + 31) / 32 * 32
        case .backup(let bytes): (bytes.count + 31) / 32 * 64
        case .value, .transactionMAC: 32
        case .records(_, let size, let capacity, _): (max(0, size) * max(0, capacity) + 31) / 32 * 32
        }
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
