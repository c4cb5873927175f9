import CardCore

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

    /// Reads the settings; `nil` if they are cut off. `count` tells how many bytes they took.
    static func decode(_ bytes: some Collection<UInt8>) -> (settings: DESFireSDMSettings, count: Int)? {
        var rest = ByteReader(bytes)
        guard let options = rest.number(1), let rights = rest.number(2) else { return nil }
        // Two bytes, the low one first: F and who may read the counter, then meta read and file read.
        var settings = DESFireSDMSettings(
            options: UInt8(truncatingIfNeeded: options),
            counterAccess: .init(nibble: UInt8(truncatingIfNeeded: rights)),
            metaRead: .init(nibble: UInt8(truncatingIfNeeded: rights >> 12)),
            fileRead: .init(nibble: UInt8(truncatingIfNeeded: rights >> 8))
        )
        func read(_ target: WritableKeyPath<DESFireSDMSettings, Int?>, if wanted: Bool) -> Bool {
            guard wanted else { return true }
            guard let number = rest.number(3) else { return false }
            settings[keyPath: target] = number
            return true
        }
        let clear = settings.metaRead == .free
        let signs = settings.fileRead != .never
        let encrypts = signs && options & 0x10 != 0
        guard read(\.uidOffset, if: clear && settings.mirrorsUID),
            read(\.counterOffset, if: clear && settings.mirrorsCounter),
            read(\.encryptedTagOffset, if: settings.metaRead.keyNumber != nil),
            read(\.macInputOffset, if: signs),
            read(\.encryptedOffset, if: encrypts),
            read(\.encryptedLength, if: encrypts),
            read(\.macOffset, if: signs),
            read(\.counterLimit, if: options & 0x20 != 0)
        else { return nil }
        settings.encoded = Array(bytes.prefix(rest.offset))
        return (settings, rest.offset)
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
    mutating func number(_ count: Int) -> Int? {
        take(count).map(\.littleEndianNumber)
    }

    /// A signed number of 4 bytes, least significant first.
    mutating func signed() -> Int32? {
        take(4).map { Int32(truncatingIfNeeded: $0.littleEndianNumber) }
    }
}
