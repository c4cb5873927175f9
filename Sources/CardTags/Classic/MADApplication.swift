import CardCore

/// An application in a ``MAD``, by its number as it stands on the card: two bytes.
public struct MADApplication: RawRepresentable, Sendable, Hashable {
    /// The two bytes, the one that comes first on the card in the high half.
    public let rawValue: UInt16

    /// The application with that number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sector is free: `0000`.
    public static let free = MADApplication(rawValue: 0x0000)
    /// The sector is defective or its keys are lost: `0001`.
    public static let defective = MADApplication(rawValue: 0x0001)
    /// The sector is reserved: `0002`.
    public static let reserved = MADApplication(rawValue: 0x0002)
    /// The sector holds more of the directory: `0003`.
    public static let directoryInfo = MADApplication(rawValue: 0x0003)
    /// The sector tells of the card's holder: `0004`.
    public static let holder = MADApplication(rawValue: 0x0004)
    /// The sector holds a part of an NDEF message: `03E1`.
    public static let ndef = MADApplication(rawValue: 0x03E1)

    /// What the number stands for, or `nil` if it is not one of the reserved ones.
    public var name: String? {
        switch self {
        case .free: "free"
        case .defective: "defective"
        case .reserved: "reserved"
        case .directoryInfo: "directory"
        case .holder: "card holder"
        case .ndef: "NDEF"
        default: nil
        }
    }
}

extension MADApplication: CustomStringConvertible {
    /// The name, or the number as four hexadecimal digits.
    public var description: String { name ?? [rawValue].hex }
}
