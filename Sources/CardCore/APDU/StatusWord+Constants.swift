extension StatusWord {
    /// `9000`: done.
    public static let success = StatusWord(0x9000)
    /// `6281`: part of the returned data may be corrupted.
    public static let dataMayBeCorrupted = StatusWord(0x6281)
    /// `6282`: the end of the file or record was reached before all expected bytes were read.
    public static let endReached = StatusWord(0x6282)
    /// `6283`: the selected file is deactivated.
    public static let fileDeactivated = StatusWord(0x6283)
    /// `6287`: a referenced record is deactivated (Apple VAS: unlock the phone first).
    public static let recordDeactivated = StatusWord(0x6287)
    /// `6300`: the state of the card's memory has changed; a reader says "operation failed" with it.
    public static let memoryChanged = StatusWord(0x6300)
    /// `6400`: the command could not be carried out; memory is unchanged.
    public static let executionError = StatusWord(0x6400)
    /// `6581`: memory failure.
    public static let memoryFailure = StatusWord(0x6581)
    /// `6700`: wrong length.
    public static let wrongLength = StatusWord(0x6700)
    /// `6881`: the logical channel is not supported.
    public static let logicalChannelNotSupported = StatusWord(0x6881)
    /// `6882`: secure messaging is not supported.
    public static let secureMessagingNotSupported = StatusWord(0x6882)
    /// `6981`: the command does not fit the structure of the file (a reader: wrong kind of card).
    public static let incompatibleWithFileStructure = StatusWord(0x6981)
    /// `6982`: the security status is not satisfied: authentication is needed.
    public static let securityStatusNotSatisfied = StatusWord(0x6982)
    /// `6983`: the authentication method is blocked.
    public static let authenticationBlocked = StatusWord(0x6983)
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
    /// `6A84`: not enough memory in the file.
    public static let notEnoughMemory = StatusWord(0x6A84)
    /// `6A86`: wrong P1 or P2.
    public static let incorrectP1P2 = StatusWord(0x6A86)
    /// `6A88`: the referenced data were not found.
    public static let referencedDataNotFound = StatusWord(0x6A88)
    /// `6B00`: P1 and P2 are outside the file.
    public static let wrongP1P2 = StatusWord(0x6B00)
    /// `6D00`: the instruction is not supported.
    public static let instructionNotSupported = StatusWord(0x6D00)
    /// `6E00`: the class is not supported.
    public static let classNotSupported = StatusWord(0x6E00)
    /// `6F00`: no precise diagnosis.
    public static let noPreciseDiagnosis = StatusWord(0x6F00)

    /// `61xx`: that many bytes more, 1...256, can be fetched. `nil` outside that range.
    public static func moreData(_ count: Int) -> StatusWord? {
        (1...256).contains(count) ? StatusWord(sw1: 0x61, sw2: UInt8(truncatingIfNeeded: count)) : nil
    }

    /// `6Cxx`: the expected length should be that, 1...256. `nil` outside that range.
    public static func wrongExpectedLength(correct count: Int) -> StatusWord? {
        (1...256).contains(count) ? StatusWord(sw1: 0x6C, sw2: UInt8(truncatingIfNeeded: count)) : nil
    }
}
