import CardCore

/// The status byte of a DESFire card's native commands, which the ISO wrapping gives as status word `91xx`.
public struct DESFireStatus: RawRepresentable, Sendable, Hashable {
    /// The byte.
    public var rawValue: UInt8

    /// A status of that number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The status in a status word, or `nil` if the word is not `91xx` and so not that of a native command.
    public init?(_ word: StatusWord) {
        guard word.sw1 == 0x91 else { return nil }
        rawValue = word.sw2
    }

    /// `00`: done.
    public static let done = DESFireStatus(rawValue: 0x00)
    /// `0C`: there was nothing to change.
    public static let noChanges = DESFireStatus(rawValue: 0x0C)
    /// `0E`: the card's memory is full.
    public static let outOfMemory = DESFireStatus(rawValue: 0x0E)
    /// `1C`: the card does not know the command.
    public static let illegalCommand = DESFireStatus(rawValue: 0x1C)
    /// `1E`: checksum, code or padding do not fit.
    public static let integrityError = DESFireStatus(rawValue: 0x1E)
    /// `40`: there is no key of that number.
    public static let noSuchKey = DESFireStatus(rawValue: 0x40)
    /// `7E`: the command has a wrong length.
    public static let lengthError = DESFireStatus(rawValue: 0x7E)
    /// `97`: the card's cryptographic unit failed.
    public static let cryptoError = DESFireStatus(rawValue: 0x97)
    /// `9D`: not allowed as things stand.
    public static let permissionDenied = DESFireStatus(rawValue: 0x9D)
    /// `9E`: a parameter has a value that is not allowed.
    public static let parameterError = DESFireStatus(rawValue: 0x9E)
    /// `A0`: there is no application of that number.
    public static let applicationNotFound = DESFireStatus(rawValue: 0xA0)
    /// `A1`: the application is damaged and shut off.
    public static let applicationIntegrityError = DESFireStatus(rawValue: 0xA1)
    /// `AD`: keys were wrong too often; the card waits before it lets anybody try again.
    public static let authenticationDelay = DESFireStatus(rawValue: 0xAD)
    /// `AE`: the key is wrong, or nobody has shown one.
    public static let authenticationError = DESFireStatus(rawValue: 0xAE)
    /// `AF`: there is more to come, or more is expected.
    public static let additionalFrame = DESFireStatus(rawValue: 0xAF)
    /// `BE`: beyond the end of the file.
    public static let boundaryError = DESFireStatus(rawValue: 0xBE)
    /// `C1`: the card is damaged and shut off.
    public static let cardIntegrityError = DESFireStatus(rawValue: 0xC1)
    /// `CA`: the command before was not finished.
    public static let commandAborted = DESFireStatus(rawValue: 0xCA)
    /// `CD`: the card is shut off.
    public static let cardDisabled = DESFireStatus(rawValue: 0xCD)
    /// `CE`: there is no room for another application.
    public static let countError = DESFireStatus(rawValue: 0xCE)
    /// `DE`: there is one of that number already.
    public static let duplicate = DESFireStatus(rawValue: 0xDE)
    /// `EE`: writing to the card's memory failed.
    public static let memoryError = DESFireStatus(rawValue: 0xEE)
    /// `F0`: there is no file of that number.
    public static let fileNotFound = DESFireStatus(rawValue: 0xF0)
    /// `F1`: the file is damaged and shut off.
    public static let fileIntegrityError = DESFireStatus(rawValue: 0xF1)

    /// The name, in words.
    public var name: String { Self.names[rawValue] ?? "unknown status" }

    private static let names: [UInt8: String] = [
        0x00: "done", 0x0C: "nothing to change", 0x0E: "memory is full", 0x1C: "command not known",
        0x1E: "integrity error", 0x40: "no such key", 0x7E: "wrong length", 0x97: "cryptographic error",
        0x9D: "permission denied", 0x9E: "parameter not allowed", 0xA0: "application not found",
        0xA1: "application is damaged", 0xAD: "authentication delayed", 0xAE: "authentication error",
        0xAF: "more to come", 0xBE: "beyond the end of the file", 0xC1: "card is damaged",
        0xCA: "command before was not finished", 0xCD: "card is shut off", 0xCE: "too many applications",
        0xDE: "exists already", 0xEE: "writing to memory failed", 0xF0: "file not found", 0xF1: "file is damaged",
    ]
}

extension DESFireStatus: CustomStringConvertible {
    /// The two digits and the name, as `AE authentication error`.
    public var description: String { "\([rawValue].hex) \(name)" }
}
