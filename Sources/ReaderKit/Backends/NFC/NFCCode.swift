/// A return code of libnfc: zero and above is success, often a count; below are the errors of `nfc.h`.
public struct NFCCode: RawRepresentable, Sendable, Hashable {
    /// The number, such as -20.
    public var rawValue: Int32

    /// Creates a code.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    static let success = NFCCode(0)
    static let inputOutput = NFCCode(-1)
    static let invalidArgument = NFCCode(-2)
    static let notSupported = NFCCode(-3)
    static let noSuchDevice = NFCCode(-4)
    static let overflow = NFCCode(-5)
    static let timeout = NFCCode(-6)
    static let aborted = NFCCode(-7)
    static let notImplemented = NFCCode(-8)
    static let targetReleased = NFCCode(-10)
    static let radio = NFCCode(-20)
    static let authenticationFailed = NFCCode(-30)
    static let software = NFCCode(-80)
    static let chip = NFCCode(-90)

    /// Whether the call succeeded (`NFC_SUCCESS`, or a count).
    public var isSuccess: Bool { rawValue >= 0 }

    /// The name in `nfc.h`; `NFC_?` for an undefined number.
    public var name: String { rawValue >= 0 ? "NFC_SUCCESS" : Self.entries[rawValue]?.name ?? "NFC_?" }

    /// Whether this code means that the device itself is not usable as it is: it is gone, or what comes from it makes no
    /// sense. Opening it anew is the only remedy.
    var meansDeviceLost: Bool { self == .inputOutput || self == .noSuchDevice || self == .software }

    var isRefusal: Bool { self == .invalidArgument || self == .notSupported || self == .notImplemented }

    /// Returns the typed error for this code.
    public func error(attempting attempt: String, detail: String? = nil) -> ReaderError {
        CodeEntry.error(Self.entries[rawValue], code, attempting: attempt, detail: detail)
    }

    var code: ReaderError.Code { ReaderError.Code(rawValue: Int64(rawValue), name: name) }

    /// Every error that `nfc.h` defines.
    public static var all: [NFCCode] { entries.keys.sorted(by: >).map(NFCCode.init(_:)) }

    private static let replug = "Check the reader's cable and power; it is used again as soon as it answers."

    private static let entries: [Int32: CodeEntry] = [
        -1: .init("NFC_EIO", .readerUnavailable, "the reader does not answer, or not what it should", replug),
        -2: .init("NFC_EINVARG", .other, "libnfc or the reader's chip refused an argument", CodeEntry.bug),
        -3: .init("NFC_EDEVNOTSUPP", .unsupported),
        -4: .init("NFC_ENOTSUCHDEV", .readerUnavailable, "libnfc knows no such device", replug),
        -5: .init("NFC_EOVFLOW", .limitExceeded, "the answer does not fit the buffer"),
        -6: .init("NFC_ETIMEOUT", .timeout),
        -7: .init("NFC_EOPABORTED", .cancelled),
        -8: .init("NFC_ENOTIMPL", .unsupported, "libnfc's driver for this reader does not implement it"),
        -10: .init("NFC_ETGRELEASED", .cardRemoved),
        -20: .init("NFC_ERFTRANS", .communication),
        // After a wrong key a card is silent, and so it is recorded.
        -30: .init(
            "NFC_EMFCAUTHFAIL",
            .timeout,
            "the card did not accept the key, and is silent until it is selected again",
            "Use the key of that sector."
        ),
        -80: .init(
            "NFC_ESOFT",
            .other,
            "libnfc could not get memory or a file descriptor",
            "Free memory, or restart this program."
        ),
        -90: .init("NFC_ECHIP", .communication, "the reader's chip reports a fault"),
    ]
}

extension NFCCode: CustomStringConvertible {
    /// The name and the number.
    public var description: String { "\(name) \(rawValue)" }
}
