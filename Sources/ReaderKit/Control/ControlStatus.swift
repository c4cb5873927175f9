/// The status (STA) with which a SpringCard reader answers a command to itself.
public struct ControlStatus: RawRepresentable, Sendable, Hashable {
    /// The code; 00 is success.
    public var rawValue: UInt8

    /// Creates a status.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Success.
    public static let ok = ControlStatus(0x00)
    /// A byte too few or too many.
    public static let byteCount = ControlStatus(0x0C)
    /// A value out of range.
    public static let value = ControlStatus(0x0D)
    /// Access conditions of the reader forbid it.
    public static let accessDenied = ControlStatus(0x16)
    /// The reader does not have this command.
    public static let unknownCommand = ControlStatus(0x17)
    /// Malformed data.
    public static let coding = ControlStatus(0x1F)

    /// Whether nothing answered.
    var meansSilence: Bool { rawValue == 0x01 || rawValue == 0x1B }

    /// The name.
    public var name: String { StatusWord.readerStatusName(rawValue) }

    /// What a person can do about it.
    var advice: String {
        switch self {
        case .accessDenied:
            "Access conditions (registers 02F0 and following) forbid it; ask whoever configured the reader."
        case .unknownCommand: "This reader, or its firmware, does not have the command."
        case .byteCount, .value, .coding: "Check the value against the reader's documentation."
        default: "Try again; if it persists, unplug the reader and plug it in again."
        }
    }
}

extension ControlStatus: CustomStringConvertible {
    /// The name and the number, as `unknown command (17)`.
    public var description: String { "\(name) (\([rawValue].hex))" }
}

/// A command to a reader itself could not be carried out. Faults of the way to the reader are ``ReaderError``.
public enum ControlError: Error, Sendable, Hashable {
    /// The driver lets no command through to the reader, and no card on the reader opens the other way. The code is the
    /// driver's.
    case escapeDisabled(reader: String, ReaderError.Code?)
    /// Nothing is known of how this reader is controlled.
    case unknownReader(String)
    /// The reader has nothing of the kind.
    case unsupported(String, ControlDialect)
    /// The reader refused the command, of which the description is the first value.
    case refused(String, ControlStatus)
    /// A status word that is none of the reader's own; it may be the card's.
    case refusedByCard(String, StatusWord)
    /// The reader's answer is not of the form that the command has.
    case invalidAnswer(String)
    /// The register holds a key, or may: it is never read.
    case holdsKeys(UInt16)
    /// The register is a constant or a statistic.
    case notWritable(UInt16)
    /// A value is out of range or of the wrong length.
    case outOfRange(String)
    /// The register may make the reader unreachable, and was to be written without confirmation.
    case unconfirmed(UInt16, consequence: String)
    /// The settings are those of another kind of reader, and were to be written without confirmation.
    case otherFirmware
    /// The register did not keep what was written.
    case notKept(UInt16)
}

extension ControlError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String { "\(message). \(hint)" }

    /// What was attempted, and what happened.
    public var message: String {
        switch self {
        case .escapeDisabled(let reader, let code):
            "could not send a command to \(reader): the driver lets none through, and there is no card on the reader"
                + " through which it could be sent" + (code.map { " (\($0))" } ?? "")
        case .unknownReader(let reader): "could not control \(reader): how that is done is not known"
        case .unsupported(let attempt, let dialect): "could not \(attempt): \(dialect.name) readers cannot do so"
        case .refused(let command, let status): "could not carry out \(command): the reader answered \(status)"
        case .refusedByCard(let command, let word): "could not carry out \(command): the answer is \(word)"
        case .invalidAnswer(let command): "could not carry out \(command): the answer breaks the protocol"
        case .holdsKeys(let address): "could not read register \(Self.text(address)): it holds a key, or may"
        case .notWritable(let address): "could not write register \(Self.text(address)): it cannot be changed"
        case .outOfRange(let message): message
        case .unconfirmed(let address, let consequence):
            "register \(Self.text(address)) was not written, since \(consequence)"
        case .otherFirmware: "the settings were not written, since they are those of another kind of reader"
        case .notKept(let address): "could not write register \(Self.text(address)): it has another value afterwards"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .escapeDisabled:
            "Set bit 0 of ifdDriverOptions (0x0001) in /etc/libccid_Info.plist and restart pcscd, which allows commands to"
                + " the reader itself (escape commands), or lay a card on the reader."
        case .unknownReader: "SpringCard's readers and ACS' ACR122U can be controlled."
        case .unsupported: "Use a reader that has it."
        case .refused(_, let status): status.advice
        case .refusedByCard: "Lay another card on the reader, or allow escape commands (ifdDriverOptions 0x0001)."
        case .invalidAnswer: "Try again; if it persists, unplug the reader and plug it in again."
        case .holdsKeys: "Keys can be written, never read."
        case .notWritable: "Only registers 0200 to 03FF are settings."
        case .outOfRange: "Nothing was sent."
        case .unconfirmed, .otherFirmware: "Confirm it (--yes) if that is wanted."
        case .notKept: "Read it again after a reset; access conditions may forbid the change."
        }
    }

    /// The name for programs.
    public var code: String {
        switch self {
        case .escapeDisabled: "escapeDisabled"
        case .unknownReader: "unknownReader"
        case .unsupported: "unsupported"
        case .refused, .refusedByCard: "refused"
        case .invalidAnswer: "invalidAnswer"
        case .holdsKeys: "holdsKeys"
        case .notWritable: "notWritable"
        case .outOfRange: "outOfRange"
        case .unconfirmed: "unconfirmed"
        case .otherFirmware: "otherFirmware"
        case .notKept: "notKept"
        }
    }

    private static func text(_ address: UInt16) -> String { ReaderRegister(address).description }
}
