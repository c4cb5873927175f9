/// Bytes are not an APDU, or values do not fit into one.
///
/// It describes what is wrong and where, and what a person can do about it.
public typealias APDUError = InputError<APDUErrorCode>

/// What can be wrong with an APDU.
public enum APDUErrorCode: String, InputErrorCode {
    /// A command without its four header bytes, or a response without a status word.
    case tooShort
    /// More bytes than any APDU has.
    case tooLong
    /// The length field Lc announces more data than follows.
    case dataTruncated
    /// The three bytes of an extended length field are not all there, or the second byte of an extended Le is missing.
    case lengthTruncated
    /// An extended Lc of zero, which ISO/IEC 7816-3 does not allow.
    case zeroLength
    /// Bytes follow the end of the APDU.
    case trailingBytes
    /// More than 65 535 bytes of data.
    case dataTooLong
    /// An expected length outside 1...65 536, or outside what that command can ask for.
    case expectedLengthOutOfRange
    /// Data or an expected length that only the extended form carries, with the short form asked for.
    case needsExtendedForm
    /// A parameter outside its range, such as an offset above 7FFF or a name of no byte.
    case parameterOutOfRange

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .tooShort: "A command has at least 4 bytes (CLA INS P1 P2), a response at least 2 (SW1 SW2)."
        case .tooLong: "Split the transfer into several commands."
        case .dataTruncated: "Check Lc, the fifth byte, against the number of bytes after it."
        case .lengthTruncated: "Write an extended length as 00 and two bytes; after extended data, Le has two bytes."
        case .zeroLength: "Leave Lc out when there is no data."
        case .trailingBytes: "After the data only Le may follow: one byte in the short form, two in the extended form."
        case .dataTooLong: "Split the data into commands of at most 255 bytes (extended form: 65 535)."
        case .expectedLengthOutOfRange: "Ask for 1 to 256 bytes, or up to 65 536 in the extended form."
        case .needsExtendedForm: "Use the extended form, or split the transfer to 255 bytes of data and 256 of answer."
        case .parameterOutOfRange: "Look up the command's ranges in its documentation."
        }
    }
}
