import CardCore

/// A MIFARE application directory: which application each sector of a MIFARE Classic belongs to (NXP AN10787).
///
/// It lies in sector 0 (sectors 1 to 15) and, on larger cards, in sector 16 too (sectors 17 to 39). Each half has a
/// checksum of its own.
public struct MAD: Sendable, Hashable {
    /// The sector of the card's publisher, 0 for none. Only the lower six bits count.
    public var publisherSector: UInt8

    /// The applications of ``sectors`` in order: the first 15, or all 38 with the second half.
    private var applications: [MADApplication]

    /// The publisher's byte of the second half; `nil` without it.
    private var secondInfo: UInt8?

    private static let firstCount = 15

    /// The sectors that a directory describes.
    public static let sectors: [Int] = Array(1...15) + Array(17...39)

    /// A directory in which every sector is free.
    ///
    /// - Parameters:
    ///   - hasSecondHalf: whether there is a second half in sector 16 (MAD2), as on cards with more than 1 KiB.
    ///   - publisherSector: the sector of the card's publisher, 0 for none.
    public init(hasSecondHalf: Bool = false, publisherSector: UInt8 = 0) {
        self.publisherSector = publisherSector & 0x3F
        secondInfo = hasSecondHalf ? 0 : nil
        applications = Array(repeating: .free, count: hasSecondHalf ? Self.sectors.count : Self.firstCount)
    }

    /// Reads a directory.
    ///
    /// - Parameters:
    ///   - first: blocks 1 and 2 of the card, 32 bytes.
    ///   - second: blocks 64 to 66, 48 bytes; `nil` for a card without a second half (MAD1).
    /// - Throws: ``ClassicFormatError`` if a length or a checksum is wrong.
    public init(first: [UInt8], second: [UInt8]? = nil) throws(ClassicFormatError) {
        applications = try MAD.read(first, count: 32)
        publisherSector = first[1] & 0x3F
        guard let second else { return }
        applications += try MAD.read(second, count: 48)
        secondInfo = second[1]
    }

    package static func read(_ bytes: [UInt8], count: Int) throws(ClassicFormatError) -> [MADApplication] {
        guard bytes.count == count else { throw .length(bytes.count, expected: count) }
        let computed = checksum(bytes.dropFirst())
        guard bytes[0] == computed else { throw .checksum(found: bytes[0], computed: computed) }
        return stride(from: 2, to: count, by: 2).map {
            MADApplication(rawValue: UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]))
        }
    }

    /// Whether there is a second half in sector 16 (MAD2).
    public var hasSecondHalf: Bool { secondInfo != nil }

    /// The version as the general purpose byte of sector 0 states it: 1 or 2.
    public var version: Int { hasSecondHalf ? 2 : 1 }

    /// The application of a sector; `nil` for a sector that the directory does not describe. Setting one for such a sector does nothing.
    public subscript(sector: Int) -> MADApplication? {
        get { index(of: sector).map { applications[$0] } }
        set {
            if let newValue, let index = index(of: sector) { applications[index] = newValue }
        }
    }

    private func index(of sector: Int) -> Int? { MAD.sectors.prefix(applications.count).firstIndex(of: sector) }

    /// The first run of neighbouring sectors of an application. Sector 16, which the directory has for itself, does not
    /// end a run.
    public func firstRun(of application: MADApplication) -> [Int] {
        let start = MAD.sectors.drop { self[$0] != application }
        return Array(start.prefix { self[$0] == application })
    }

    /// Blocks 1 and 2 of the card, 32 bytes.
    public var firstBytes: [UInt8] { MAD.bytes(info: publisherSector, applications.prefix(Self.firstCount)) }

    /// Blocks 64 to 66 of the card, 48 bytes; `nil` without a second half.
    public var secondBytes: [UInt8]? { secondInfo.map { MAD.bytes(info: $0, applications.dropFirst(Self.firstCount)) } }

    private static func bytes(info: UInt8, _ applications: ArraySlice<MADApplication>) -> [UInt8] {
        let bytes = [info] + applications.flatMap { [UInt8($0.rawValue >> 8), UInt8($0.rawValue & 0xFF)] }
        return [checksum(bytes)] + bytes
    }

    /// The checksum over the info byte and the applications: CRC-8, polynomial 1D, initial value C7, most significant
    /// bit first.
    public static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        var crc: UInt8 = 0xC7
        for byte in bytes {
            crc ^= byte
            for _ in 0..<8 { crc = crc & 0x80 != 0 ? crc << 1 ^ 0x1D : crc << 1 }
        }
        return crc
    }
}

/// An application in a ``MAD``, by its number as it stands on the card: two bytes.
public struct MADApplication: RawRepresentable, Sendable, Hashable {
    /// The two bytes, the one that comes first on the card in the high half.
    public let rawValue: UInt16

    /// The application with that number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sector is free: `0000`.
    public static let free = MADApplication(rawValue: 0x0000)
    /// The sector holds a part of an NDEF message: `03E1`.
    public static let ndef = MADApplication(rawValue: 0x03E1)

    /// What the number stands for, or `nil` if it is not one of the reserved ones.
    public var name: String? { Self.names[rawValue] }

    private static let names: [UInt16: String] = [
        0x0000: "free", 0x0001: "defective", 0x0002: "reserved", 0x0003: "directory", 0x0004: "card holder",
        0x03E1: "NDEF",
    ]
}

extension MADApplication: CustomStringConvertible {
    /// The name, or the number as four hexadecimal digits.
    public var description: String { name ?? [rawValue].hex }
}
