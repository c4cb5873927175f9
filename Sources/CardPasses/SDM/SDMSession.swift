import CardCore
import CardTags

/// The keys of one tap, and what a tag does with them (AN12196; for LRP the data sheet of NTAG 424 DNA).
struct SDMSession {
    /// What the codes are made with, and what file data are encrypted with.
    enum Keys {
        case aes(code: SecretKey, data: SecretKey)
        case lrp(code: LRP, data: LRP)
    }

    let keys: Keys
    private let meta: SDMMeta

    /// The number of bytes of encrypted PICC data in LRP mode that are no data, but chosen anew at each tap.
    static let randomLength = 8

    private static let dataCounterLength = 6

    /// The keys of a tap, from the tag's key (SDMFileRead).
    init(_ mode: SDMLayout.Mode, _ key: SecretKey, _ meta: SDMMeta) throws(CryptoFailure) {
        self.meta = meta
        switch mode {
        case .aes:
            keys = .aes(
                code: try Self.key(AES128.cmac(Self.vector([0x3C, 0xC3], meta), key)),
                data: try Self.key(AES128.cmac(Self.vector([0xC3, 0x3C], meta), key))
            )
        case .lrp:
            let master = try Self.key(LRP(key).cmac(Self.vector([], meta, end: [0x1E, 0xE1])))
            keys = .lrp(code: try LRP(master), data: try LRP(master, updatedKey: 1))
        }
    }

    /// Opens encrypted PICC data with the key for it (SDMMetaRead): 16 bytes, in LRP mode behind eight random ones.
    static func open(
        piccData bytes: [UInt8],
        _ mode: SDMLayout.Mode,
        _ key: SecretKey
    ) throws(CryptoFailure) -> [UInt8] {
        switch mode {
        case .aes: try AES128.decrypt(bytes, key)
        case .lrp:
            try LRP(key).decrypt(Array(bytes.dropFirst(randomLength)), counter: Array(bytes.prefix(randomLength)))
        }
    }

    /// The code over the signed part, eight bytes: every second one, from the second on.
    func code(_ signed: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let full =
            switch keys {
            case .aes(let code, _): try AES128.cmac(signed, code)
            case .lrp(let code, _): try code.cmac(signed)
            }
        return stride(from: 1, to: full.count, by: 2).map { full[$0] }
    }

    /// Decrypts file data, whole blocks.
    func decrypt(_ data: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        switch keys {
        case .aes(_, let key):
            let counter = meta.counter(filledTo: AES128.blockLength)
            return try AES128.decrypt(data, key, vector: AES128.encrypt(block: counter, key))
        case .lrp(_, let key):
            return try key.decrypt(data, counter: meta.counter(filledTo: Self.dataCounterLength))
        }
    }

    /// What keys of the tap are made of: a label, 1, their length in bits, identifier and counter, zeros up to a whole
    /// block, and an end.
    private static func vector(_ label: [UInt8], _ meta: SDMMeta, end: [UInt8] = []) -> [UInt8] {
        let start = label + [0x00, 0x01, 0x00, 0x80] + meta.encoded
        let zeros = max(0, AES128.blockLength - start.count - end.count)
        return start + [UInt8](repeating: 0, count: zeros) + end
    }

    private static func key(_ bytes: [UInt8]) throws(CryptoFailure) -> SecretKey {
        guard let key = SecretKey(bytes) else { throw .wrongLength }
        return key
    }
}

/// The keys by which the taps of signing tags are checked (NTAG 424 DNA, Secure Dynamic Messaging).
public struct SDMKeys: Sendable {
    /// Opens encrypted PICC data (SDMMetaRead); `nil` where the tag shows identifier and counter in the open.
    public var metaRead: SecretKey?

    /// Returns the key of one tag that its codes are made with (SDMFileRead), from the tag's identifier; `nil` for a
    /// tag that is none of this place, whose code is then wrong.
    public var fileRead: @Sendable (_ uid: [UInt8]) -> SecretKey?

    /// One key for all tags.
    public init(metaRead: SecretKey?, fileRead: SecretKey) {
        self.metaRead = metaRead
        self.fileRead = { _ in fileRead }
    }

    /// A key for each tag, worked out from a master key, as AN10922 does.
    public init(metaRead: SecretKey?, master: SecretKey, diversification: KeyDiversification) {
        self.metaRead = metaRead
        fileRead = { uid in diversification.key(master: master, uid: uid) }
    }

    /// A key for each tag, in a way of one's own.
    ///
    /// - Parameter diversified: returns the key of the tag with that identifier (7 bytes, or 4, or none if the tag
    ///   omits it); `nil` if absent.
    public init(metaRead: SecretKey?, diversified: @escaping @Sendable (_ uid: [UInt8]) -> SecretKey?) {
        self.metaRead = metaRead
        fileRead = diversified
    }
}
