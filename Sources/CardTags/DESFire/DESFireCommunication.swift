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
        switch fileOption & 0x03 {
        case 0x01: self = .authenticated
        case 0x03: self = .encrypted
        default: self = .plain
        }
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
