/// Bytes are no BER-TLV data objects, or objects cannot be written as bytes.
///
/// It says what is wrong and where, and what a person can do about it. It never holds any content.
public struct BERTLVError: Error, Sendable, Hashable {
    /// What is wrong, for programs.
    public var code: Code

    /// The first byte that is wrong, or the place of what is missing, counted from 0 in what was given to the decoder.
    /// For an encoder it is the place in the output.
    public var offset: Int

    /// What can be wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The bytes end in the middle of a tag.
        case tagTruncated
        /// A tag of more than four bytes, or one that no encoder may write.
        case invalidTag
        /// The bytes end where a length should be, or in the middle of it.
        case lengthTruncated
        /// The indefinite form (80), which cards do not use.
        case indefiniteLength
        /// A length of more than four bytes.
        case lengthTooLong
        /// The length reaches beyond the object around it, or beyond the end.
        case valueTruncated
        /// More levels than ``ReaderLimits/tlvDepth``.
        case tooDeep
        /// Children in an object whose tag says that it has none.
        case primitiveWithChildren
        /// A value in place of children, in an object whose tag says that it has children.
        case constructedWithValue
        /// A value of 16 MiB or more, which no card carries.
        case valueTooLong
    }

    /// An error of that code at that offset.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// What was attempted and what happened.
    public var message: String {
        switch code {
        case .primitiveWithChildren, .constructedWithValue, .valueTooLong:
            "could not write the data objects: \(code.fact) at byte \(offset)"
        default: "could not read the data objects: \(code.fact) at byte \(offset)"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .tagTruncated, .lengthTruncated, .valueTruncated:
            "Check that all of the answer was fetched; if so, the card's data are damaged."
        case .invalidTag: "Check where the data objects begin: what is here is none."
        case .indefiniteLength, .lengthTooLong: "The card breaks ISO/IEC 7816-4; report it with a recording."
        case .tooDeep: "No card nests so deep; do not trust it."
        case .primitiveWithChildren: "Set bit 6 of the tag's first byte, or give the object a value."
        case .constructedWithValue: "Give the object children, or clear bit 6 of the tag's first byte."
        case .valueTooLong: "Split the value."
        }
    }
}

extension BERTLVError.Code {
    fileprivate var fact: String {
        switch self {
        case .tagTruncated: "the tag is cut off"
        case .invalidTag: "this is no tag of 1 to 4 bytes"
        case .lengthTruncated: "the length is cut off"
        case .indefiniteLength: "an indefinite length"
        case .lengthTooLong: "a length of more than 4 bytes"
        case .valueTruncated: "the value is shorter than its length says"
        case .tooDeep: "more than \(ReaderLimits.tlvDepth) levels"
        case .primitiveWithChildren: "the tag allows no children"
        case .constructedWithValue: "the tag asks for children"
        case .valueTooLong: "the value is too long"
        }
    }
}

extension BERTLVError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do.
    public var description: String { "\(message) [\(code.rawValue)]. \(hint)" }
}
