/// The two bytes that end every answer of a card or a reader (SW1 and SW2 of ISO/IEC 7816-4).
///
/// A status word other than `9000` is an answer, not an error. What some of them mean depends on who is asked: `6100`
/// and `6287` are results of their own in a mobile pass's answer, so nothing here acts on them.
public struct StatusWord: RawRepresentable, Sendable, Hashable {
    /// SW1 in the high byte, SW2 in the low byte.
    public var rawValue: UInt16

    /// A status word of that number, such as `0x9000`.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A status word of that number, such as `0x9000`.
    public init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A status word of two bytes.
    public init(sw1: UInt8, sw2: UInt8) {
        rawValue = UInt16(sw1) << 8 | UInt16(sw2)
    }

    /// The first byte.
    public var sw1: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }

    /// The second byte.
    public var sw2: UInt8 { UInt8(truncatingIfNeeded: rawValue) }

    /// Whether it is `9000`, the one normal end without anything more to fetch.
    public var isSuccess: Bool { rawValue == 0x9000 }

    /// What kind of result it is, by the ranges of ISO/IEC 7816-4.
    public enum Classification: Sendable, Hashable {
        /// `9000`.
        case success
        /// `61xx`: normal end; `count` more bytes, 1...256, can be fetched with GET RESPONSE (`6100`: 256 or more).
        case moreData(count: Int)
        /// `6Cxx`: the same command succeeds with `correct` as expected length, 1...256.
        case wrongLength(correct: Int)
        /// `62xx` and `63xx`: done, with a reservation; data may have come.
        case warning
        /// `64xx` to `66xx`: the card could not carry the command out.
        case executionError
        /// `67xx` to `6Fxx` but `6Cxx`: the card did not accept the command.
        case checkingError
        /// `90xx` (but `9000`) to `9Fxx`: defined by the card's or the reader's maker.
        case proprietary
        /// `60xx` and whatever begins with neither 6 nor 9: not a status word of the standard.
        case invalid
    }

    /// What kind of result it is.
    public var classification: Classification {
        let count = sw2 == 0 ? 256 : Int(sw2)
        return switch sw1 {
        case _ where isSuccess: .success
        case 0x61: .moreData(count: count)
        case 0x62, 0x63: .warning
        case 0x64...0x66: .executionError
        case 0x6C: .wrongLength(correct: count)
        case 0x67...0x6F: .checkingError
        case 0x90...0x9F: .proprietary
        default: .invalid
        }
    }

    /// The tries left, 0...15, that `63Cx` reports after a failed verification; otherwise `nil`.
    public var triesLeft: Int? { rawValue & 0xFFF0 == 0x63C0 ? Int(rawValue & 0x000F) : nil }

    /// The vendor's own status (STA) in a SpringCore reader's `6Fxx` and `90xx`, or `nil` for `6F00`, `9000` and others.
    ///
    /// A card may send `6Fxx` too; only an answer to a pseudo-APDU of class FF is certainly the reader's.
    public var readerStatus: UInt8? { (sw1 == 0x6F || sw1 == 0x90) && sw2 != 0 ? sw2 : nil }
}

extension StatusWord: CustomStringConvertible {
    /// The four digits and the name, as `9000 success`.
    public var description: String { "\([sw1, sw2].hex) \(name)" }
}

extension StatusWord {
    /// `9000`: done.
    public static let success = StatusWord(0x9000)
    /// `6282`: the end of the file or record was reached before all expected bytes were read.
    public static let endReached = StatusWord(0x6282)
    /// `6287`: a referenced record is deactivated (Apple VAS: unlock the phone first).
    public static let recordDeactivated = StatusWord(0x6287)
    /// `6300`: the state of the card's memory has changed; from a reader it means "operation failed".
    public static let memoryChanged = StatusWord(0x6300)
    /// `6400`: the command could not be carried out; memory is unchanged.
    public static let executionError = StatusWord(0x6400)
    /// `6700`: wrong length.
    public static let wrongLength = StatusWord(0x6700)
    /// `6982`: the security status is not satisfied: authentication is needed.
    public static let securityStatusNotSatisfied = StatusWord(0x6982)
    /// `6984`: the reference data are not usable (Apple VAS: the person must choose or confirm).
    public static let referenceDataNotUsable = StatusWord(0x6984)
    /// `6985`: the conditions of use are not satisfied.
    public static let conditionsNotSatisfied = StatusWord(0x6985)
    /// `6986`: the command is not allowed.
    public static let commandNotAllowed = StatusWord(0x6986)
    /// `6A80`: the data field has wrong parameters.
    public static let incorrectData = StatusWord(0x6A80)
    /// `6A81`: the function is not supported.
    public static let functionNotSupported = StatusWord(0x6A81)
    /// `6A82`: the file or application was not found.
    public static let fileNotFound = StatusWord(0x6A82)
    /// `6A83`: the record was not found (Apple VAS: no pass for this merchant).
    public static let recordNotFound = StatusWord(0x6A83)
    /// `6B00`: P1 and P2 are outside the file.
    public static let wrongP1P2 = StatusWord(0x6B00)
    /// `6D00`: the instruction is not supported.
    public static let instructionNotSupported = StatusWord(0x6D00)
    /// `6E00`: the class is not supported.
    public static let classNotSupported = StatusWord(0x6E00)
}

extension StatusWord {
    /// Whether a reader, or a card to which a reader passes a command of class FF on, states by it that it does not know
    /// the command or does not take it so. The card was then not asked.
    package var refusesCommand: Bool { Self.refusals.contains(rawValue) }

    package static let refusals: Set<UInt16> = [
        0x6700, 0x6800, 0x6881, 0x6882, 0x6900, 0x6981, 0x6985, 0x6986, 0x6A81, 0x6A86, 0x6B00, 0x6D00, 0x6E00,
    ]

    /// A short name in the terms of ISO/IEC 7816-4, such as "file or application not found".
    public var name: String {
        if let name = Self.standardNames[rawValue] { return name }
        switch classification {
        case .success: return "success"
        case .moreData(let count):
            if sw2 == 0 { return "256 or more bytes available" }
            return count == 1 ? "1 byte available" : "\(count) bytes available"
        case .wrongLength(let correct): return "wrong Le, \(correct) is right"
        case .warning:
            if let triesLeft { return triesLeft == 1 ? "1 try left" : "\(triesLeft) tries left" }
            return sw1 == 0x62
                ? Self.isTrigger(sw2) ? "warning, the card has a query of \(sw2) bytes" : "warning, memory unchanged"
                : "warning, memory changed"
        case .executionError:
            switch sw1 {
            case 0x64:
                return Self.isTrigger(sw2) ? "error, the card has a query of \(sw2) bytes" : "error, memory unchanged"
            case 0x65: return "error, memory changed"
            default: return "security-related error"
            }
        case .checkingError:
            if let status = readerStatus {
                return "reader or radio error: \(Self.readerStatusName(status)) (\(Hex.encode([status])))"
            }
            return Self.standardNames[rawValue & 0xFF00] ?? "checking error"
        case .proprietary:
            if let status = readerStatus {
                return "reader status: \(Self.readerStatusName(status)) (\(Hex.encode([status])))"
            }
            return sw1 == 0x91 ? Self.desfireNames[sw2] ?? "proprietary" : "proprietary"
        case .invalid: return "not a status word"
        }
    }

    /// What it means, as a sentence for people.
    ///
    /// For answers to pseudo-APDUs of class FF, ``readerMeaning`` is closer.
    public var meaning: String {
        if let meaning = Self.standardMeanings[rawValue] { return meaning }
        switch classification {
        case .success: return "The command was carried out."
        case .moreData: return "The command was carried out; GET RESPONSE fetches the rest of the answer (\(name))."
        case .wrongLength(let correct):
            return "The expected length does not fit; the same command with Le \(correct) succeeds."
        case .warning:
            if let triesLeft {
                return triesLeft == 0
                    ? "The verification failed and no try is left."
                    : "The verification failed; \(name)."
            }
            return "The command was carried out with a reservation: \(name)."
        case .executionError: return "The card accepted the command and could not carry it out: \(name)."
        case .checkingError:
            return readerStatus == nil
                ? "The card did not accept the command: \(name)." : "The command did not reach its end: \(name)."
        case .proprietary:
            if readerStatus != nil { return "The reader's own answer: \(Self.readerStatusName(sw2))." }
            return name == "proprietary"
                ? "The maker of the card or the reader gives it its meaning." : "A DESFire card's own answer: \(name)."
        case .invalid: return "No status word of ISO/IEC 7816-4 begins with \(Hex.encode([sw1]))."
        }
    }

    /// What it means in a reader's answer to a pseudo-APDU of class FF, or `nil` where that is nothing special.
    public var readerMeaning: String? { Self.readerMeanings[rawValue] }

    /// The name of a SpringCore reader's status (STA), 00 being "OK".
    public static func readerStatusName(_ status: UInt8) -> String {
        if (0x21...0x24).contains(status) { return "card command failed" }
        return status < readerStatusNames.count ? readerStatusNames[Int(status)] : "unknown status"
    }

    /// `xx` of `62xx` and `64xx` between 02 and 80 announces a query by the card.
    private static func isTrigger(_ sw2: UInt8) -> Bool { (0x02...0x80).contains(sw2) }

    private static let standardNames: [UInt16: String] = [
        0x6200: "warning, memory unchanged",
        0x6281: "returned data may be corrupted",
        0x6282: "end of file or record reached",
        0x6283: "selected file deactivated",
        0x6284: "file control information not formatted",
        0x6285: "selected file in termination state",
        0x6286: "no input data from the card's sensor",
        0x6287: "referenced record deactivated",
        0x6300: "warning, memory changed",
        0x6381: "file filled up by the last write",
        0x6400: "execution error, memory unchanged",
        0x6401: "immediate response required by the card",
        0x6481: "access to shared logical channel denied",
        0x6482: "opening of logical channel denied",
        0x6500: "execution error, memory changed",
        0x6581: "memory failure",
        0x6600: "security-related error",
        0x6700: "wrong length",
        0x6701: "command format not compliant",
        0x6702: "wrong Lc",
        0x6800: "function in CLA not supported",
        0x6881: "logical channel not supported",
        0x6882: "secure messaging not supported",
        0x6883: "last command of the chain expected",
        0x6884: "command chaining not supported",
        0x6900: "command not allowed",
        0x6981: "command incompatible with file structure",
        0x6982: "security status not satisfied",
        0x6983: "authentication method blocked",
        0x6984: "reference data not usable",
        0x6985: "conditions of use not satisfied",
        0x6986: "command not allowed, no current file",
        0x6987: "secure messaging objects missing",
        0x6988: "secure messaging objects incorrect",
        0x6A00: "wrong parameters P1-P2",
        0x6A80: "incorrect parameters in the data field",
        0x6A81: "function not supported",
        0x6A82: "file or application not found",
        0x6A83: "record not found",
        0x6A84: "not enough memory in the file",
        0x6A85: "Lc inconsistent with TLV structure",
        0x6A86: "incorrect parameters P1-P2",
        0x6A87: "Lc inconsistent with P1-P2",
        0x6A88: "referenced data not found",
        0x6A89: "file already exists",
        0x6A8A: "DF name already exists",
        0x6B00: "wrong parameters P1-P2",
        0x6D00: "instruction not supported",
        0x6E00: "class not supported",
        0x6F00: "no precise diagnosis",
    ]

    private static let standardMeanings: [UInt16: String] = [
        0x6281: "Data came, but part of it may be corrupted.",
        0x6282: "Fewer bytes came than were expected, because the file or record ends there.",
        0x6283: "The file was selected, but it is deactivated.",
        0x6287: "A record is there but deactivated; a phone says so while it is locked.",
        0x6581: "The card could not write its memory.",
        0x6700: "The card does not take a command of this length.",
        0x6982: "The card wants an authentication first.",
        0x6983: "The authentication is blocked, mostly by too many wrong tries.",
        0x6984: "The referenced data cannot be used; a phone says so while its owner has to choose or confirm.",
        0x6985: "The card does not allow this in its present state.",
        0x6986: "The command is not allowed; perhaps no file is selected.",
        0x6A81: "The card does not have this function.",
        0x6A82: "There is no such file or application on the card.",
        0x6A83: "There is no such record; a phone says so when it has no pass for this merchant.",
        0x6B00: "P1 and P2 point outside of the file.",
        0x6D00: "The card does not know this instruction.",
        0x6E00: "The card does not know this class.",
        0x6F00: "The card gives no reason.",
    ]

    private static let readerMeanings: [UInt16: String] = [
        0x6282: "The card has fewer bytes than were expected (a UID may be shorter, too).",
        0x6300: "The operation failed.",
        0x6581: "The card's memory failed.",
        0x6700: "The length is wrong.",
        0x6800: "The reader does not support this class, or the card has no such function.",
        0x6881: "The reader does not answer pseudo-APDUs; its interpreter may be off (register 02BF).",
        0x6981: "This kind of card does not take the command.",
        0x6982: "The card wants an authentication first.",
        0x6986: "The command is not allowed.",
        0x6A81: "The card or the reader does not have this function.",
        0x6A82: "There is no such block on the card.",
        0x6B00: "P1 and P2 are wrong.",
        0x6D00: "The reader does not know this instruction, or its interpreter is off (register 02BF).",
        0x6E00: "The reader does not know this class, or its interpreter is off (register 02BF).",
    ]

    /// By their numbers, from 00 on.
    private static let readerStatusNames = [
        "OK", "no card, or it is mute", "CRC", "empty", "authentication", "parity", "code", "cascade", "serial",
        "locked", "not authenticated", "bit count", "byte count", "value", "transceive", "write", "increment",
        "decrement", "read", "overflow", "polling", "framing", "access denied", "unknown command", "collision",
        "command failed", "interface", "time-out", "no anticollision", "external field", "quit", "coding", "custom",
    ]

    private static let desfireNames: [UInt8: String] = [
        0x00: "DESFire: operation OK",
        0x0C: "DESFire: no changes",
        0x0E: "DESFire: out of memory",
        0x1C: "DESFire: illegal command code",
        0x1E: "DESFire: integrity error",
        0x40: "DESFire: no such key",
        0x7E: "DESFire: length error",
        0x9D: "DESFire: permission denied",
        0x9E: "DESFire: parameter error",
        0xA0: "DESFire: application not found",
        0xA1: "DESFire: application integrity error",
        0xAE: "DESFire: authentication error",
        0xAF: "DESFire: additional frame",
        0xBE: "DESFire: boundary error",
        0xC1: "DESFire: card integrity error",
        0xCA: "DESFire: command aborted",
        0xCD: "DESFire: card disabled",
        0xCE: "DESFire: count error",
        0xDE: "DESFire: duplicate",
        0xEE: "DESFire: memory error",
        0xF0: "DESFire: file not found",
        0xF1: "DESFire: file integrity error",
    ]
}
