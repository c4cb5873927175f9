/// A return code of libpcsclite: `LONG` truncated to its 32 bits.
public struct PCSCCode: RawRepresentable, Sendable, Hashable {
    /// The number, such as `0x80100069`.
    public var rawValue: UInt32

    /// Creates a code.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let success = PCSCCode(0)
    static let cancelled = PCSCCode(0x8010_0002)
    package static let invalidHandle = PCSCCode(0x8010_0003)
    static let invalidParameter = PCSCCode(0x8010_0004)
    static let insufficientBuffer = PCSCCode(0x8010_0008)
    package static let unknownReader = PCSCCode(0x8010_0009)
    package static let timeout = PCSCCode(0x8010_000A)
    package static let sharingViolation = PCSCCode(0x8010_000B)
    package static let noSmartcard = PCSCCode(0x8010_000C)
    static let invalidValue = PCSCCode(0x8010_0011)
    static let communicationError = PCSCCode(0x8010_0013)
    package static let notTransacted = PCSCCode(0x8010_0016)
    package static let readerUnavailable = PCSCCode(0x8010_0017)
    package static let noService = PCSCCode(0x8010_001D)
    static let serviceStopped = PCSCCode(0x8010_001E)
    package static let unsupportedFeature = PCSCCode(0x8010_001F)
    static let noReadersAvailable = PCSCCode(0x8010_002E)
    package static let unresponsiveCard = PCSCCode(0x8010_0066)
    static let unpoweredCard = PCSCCode(0x8010_0067)
    static let resetCard = PCSCCode(0x8010_0068)
    static let removedCard = PCSCCode(0x8010_0069)

    /// Whether the call succeeded (`SCARD_S_SUCCESS`).
    public var isSuccess: Bool { rawValue == 0 }

    /// The name in `pcsclite.h`; `SCARD_?` for an undefined number.
    public var name: String { Self.entries[rawValue]?.name ?? "SCARD_?" }

    /// Whether this code, from a call on the context, means that pcscd itself is gone.
    ///
    /// A waiting `SCardGetStatusChange` answers `SCARD_F_COMM_ERROR` when pcscd is killed; calls on a handle answer the
    /// same code for a lost card, so this holds for calls on the context only.
    var meansServiceLost: Bool {
        self == .communicationError || self == .noService || self == .serviceStopped || self == .invalidHandle
    }

    /// Returns the typed error for this code.
    public func error(attempting attempt: String, detail: String? = nil) -> ReaderError {
        let code = ReaderError.Code(rawValue: Int64(rawValue), name: name)
        return CodeEntry.error(Self.entries[rawValue], code, attempting: attempt, detail: detail)
    }

    /// The typed error for this code from a call that asks the service itself, where a lost link is the service's.
    func serviceError(attempting attempt: String) -> ReaderError {
        var error = error(attempting: attempt)
        if self == .communicationError { error.kind = .serviceStopped }
        return error
    }

    /// The typed error for this code from a control code for the reader. The driver for CCID readers answers
    /// `SCARD_E_NOT_TRANSACTED` to an escape command that it does not let through.
    func controlError(attempting attempt: String) -> ReaderError {
        var error = error(attempting: attempt)
        if self == .notTransacted {
            error.kind = .unsupported
            error.detail = "the driver lets no such command through to the reader"
            error.advice =
                "Set bit 0 of ifdDriverOptions (0x0001) in /etc/libccid_Info.plist and restart pcscd: it allows"
                + " commands to the reader itself (escape commands)."
        }
        return error
    }

    /// Every code that `pcsclite.h` defines.
    public static var all: [PCSCCode] { entries.keys.sorted().map(PCSCCode.init(_:)) }

    private static let windowsOnly = "pcsc-lite does not use this code; report the driver that returned it."

    /// Success, and the errors, which have numbers from 8010 0001 on.
    private static let entries = Dictionary(
        uniqueKeysWithValues: table.map { ($0 == 0 ? 0 : 0x8010_0000 | $0, $1) }
    )

    private static let table: [UInt32: CodeEntry] = [
        0x00: .init("SCARD_S_SUCCESS", .other, "success"),
        0x01: .init("SCARD_F_INTERNAL_ERROR", .other, "an internal check of pcscd failed", "Restart pcscd."),
        0x02: .init("SCARD_E_CANCELLED", .cancelled),
        0x03: .init(
            "SCARD_E_INVALID_HANDLE",
            .serviceStopped,
            "the connection to pcscd is no longer valid",
            "pcscd was restarted; the next attempt uses a new connection."
        ),
        0x04: .init("SCARD_E_INVALID_PARAMETER", .other, "a parameter was refused", CodeEntry.bug),
        0x05: .init("SCARD_E_INVALID_TARGET", .other, "the registry start-up information is invalid", windowsOnly),
        0x06: .init("SCARD_E_NO_MEMORY", .other, "pcscd is out of memory", "Free memory, then restart pcscd."),
        0x07: .init("SCARD_F_WAITED_TOO_LONG", .timeout),
        0x08: .init("SCARD_E_INSUFFICIENT_BUFFER", .limitExceeded, "the answer does not fit the buffer"),
        0x09: .init("SCARD_E_UNKNOWN_READER", .readerUnavailable, "pcscd does not know this reader (any more)"),
        0x0A: .init("SCARD_E_TIMEOUT", .timeout),
        0x0B: .init("SCARD_E_SHARING_VIOLATION", .sharingViolation),
        0x0C: .init("SCARD_E_NO_SMARTCARD", .cardRemoved, "there is no card in the reader"),
        0x0D: .init("SCARD_E_UNKNOWN_CARD", .other, "the card name is not known", windowsOnly),
        0x0E: .init("SCARD_E_CANT_DISPOSE", .unsupported, "the reader cannot eject the card"),
        0x0F: .init(
            "SCARD_E_PROTO_MISMATCH",
            .cardUnresponsive,
            "reader and card agree on no protocol",
            "The card sends an unusable answer to reset; try another card of the same kind."
        ),
        0x10: .init("SCARD_E_NOT_READY", .communication, "the reader is not ready", "Wait a moment and try again."),
        0x11: .init("SCARD_E_INVALID_VALUE", .other, "a value was refused", CodeEntry.bug),
        0x12: .init("SCARD_E_SYSTEM_CANCELLED", .cancelled, "the system is shutting down"),
        0x13: .init("SCARD_F_COMM_ERROR", .communication),
        0x14: .init("SCARD_F_UNKNOWN_ERROR", .other, "pcscd reports an unknown failure", "Restart pcscd."),
        0x15: .init("SCARD_E_INVALID_ATR", .cardUnresponsive, "the answer to reset is invalid"),
        0x16: .init(
            "SCARD_E_NOT_TRANSACTED",
            .communication,
            "the exchange did not take place",
            "Hold the card still and closer to the reader."
        ),
        0x17: .init("SCARD_E_READER_UNAVAILABLE", .readerUnavailable),
        0x18: .init("SCARD_P_SHUTDOWN", .serviceStopped),
        0x19: .init("SCARD_E_PCI_TOO_SMALL", .other, "the protocol control information is too small", CodeEntry.bug),
        0x1A: .init("SCARD_E_READER_UNSUPPORTED", .unsupported, "the driver does not support this reader"),
        0x1B: .init("SCARD_E_DUPLICATE_READER", .other, "two readers have one name", "Restart pcscd."),
        0x1C: .init("SCARD_E_CARD_UNSUPPORTED", .unsupported, "the driver does not support this card"),
        0x1D: .init("SCARD_E_NO_SERVICE", .serviceUnavailable),
        0x1E: .init(
            "SCARD_E_SERVICE_STOPPED",
            .serviceStopped,
            "pcscd ended, or speaks another version of its protocol than libpcsclite",
            "If it persists, install pcscd and libpcsclite1 of one version."
        ),
        0x1F: .init("SCARD_E_UNSUPPORTED_FEATURE", .unsupported),
        0x20: .init("SCARD_E_ICC_INSTALLATION", .other, "no primary provider for the card", windowsOnly),
        0x21: .init("SCARD_E_ICC_CREATEORDER", .other, "the order of creation is not supported", windowsOnly),
        0x23: .init("SCARD_E_DIR_NOT_FOUND", .other, "the directory is not on the card", windowsOnly),
        0x24: .init("SCARD_E_FILE_NOT_FOUND", .other, "the file is not on the card", windowsOnly),
        0x25: .init("SCARD_E_NO_DIR", .other, "the path is not a directory", windowsOnly),
        0x26: .init("SCARD_E_NO_FILE", .other, "the path is not a file", windowsOnly),
        0x27: .init("SCARD_E_NO_ACCESS", .accessDenied, "the file may not be accessed", windowsOnly),
        0x28: .init("SCARD_E_WRITE_TOO_MANY", .other, "the card is full", windowsOnly),
        0x29: .init("SCARD_E_BAD_SEEK", .other, "the file position is invalid", windowsOnly),
        0x2A: .init("SCARD_E_INVALID_CHV", .accessDenied, "the PIN is wrong", windowsOnly),
        0x2B: .init("SCARD_E_UNKNOWN_RES_MNG", .other, "a lower layer gave an unknown code", "Restart pcscd."),
        0x2C: .init("SCARD_E_NO_SUCH_CERTIFICATE", .other, "the certificate does not exist", windowsOnly),
        0x2D: .init("SCARD_E_CERTIFICATE_UNAVAILABLE", .other, "the certificate is not available", windowsOnly),
        0x2E: .init("SCARD_E_NO_READERS_AVAILABLE", .readerUnavailable, "there is no reader"),
        0x2F: .init("SCARD_E_COMM_DATA_LOST", .communication, "data was lost"),
        0x30: .init("SCARD_E_NO_KEY_CONTAINER", .other, "the key container does not exist", windowsOnly),
        0x31: .init(
            "SCARD_E_SERVER_TOO_BUSY",
            .serviceUnavailable,
            "pcscd is too busy",
            "Close other programs that use cards."
        ),
        0x65: .init("SCARD_W_UNSUPPORTED_CARD", .cardUnresponsive, "the reader cannot talk to this card"),
        0x66: .init("SCARD_W_UNRESPONSIVE_CARD", .cardUnresponsive),
        0x67: .init("SCARD_W_UNPOWERED_CARD", .cardUnpowered),
        0x68: .init("SCARD_W_RESET_CARD", .cardReset),
        0x69: .init("SCARD_W_REMOVED_CARD", .cardRemoved),
        0x6A: .init("SCARD_W_SECURITY_VIOLATION", .accessDenied),
        0x6B: .init("SCARD_W_WRONG_CHV", .accessDenied, "the PIN is wrong", windowsOnly),
        0x6C: .init("SCARD_W_CHV_BLOCKED", .accessDenied, "the PIN is blocked", windowsOnly),
        0x6D: .init("SCARD_W_EOF", .other, "the end of the file was reached", windowsOnly),
        0x6E: .init("SCARD_W_CANCELLED_BY_USER", .cancelled),
        0x6F: .init("SCARD_W_CARD_NOT_AUTHENTICATED", .accessDenied, "no PIN was presented", windowsOnly),
    ]
}

extension PCSCCode: CustomStringConvertible {
    /// The name and the number.
    public var description: String { "\(name) 0x" + String(rawValue, radix: 16, uppercase: true) }
}
