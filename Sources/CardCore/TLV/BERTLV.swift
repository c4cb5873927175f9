/// A BER-TLV data object as ISO/IEC 7816-4 uses them: in the answer to SELECT, in EF.ATR, in mobile passes.
///
/// ```text
/// tag       1 to 4 bytes; the low five bits of the first all set state that more follow
/// length    00...7F, or 81 to 84 and as many bytes; never indefinite (80)
/// value     bytes, or for a constructed tag further objects
/// ```
///
/// Bytes 00 before, between and after objects are padding, as in EMV and ISO/IEC 7816-4.
public struct BERTLV: Sendable, Hashable {
    /// The tag.
    public var tag: BERTag

    /// What the object holds.
    public var content: Content

    /// A value, or further objects.
    public enum Content: Sendable, Hashable {
        /// The bytes of a primitive object.
        case value([UInt8])
        /// The objects in a constructed one.
        case objects([BERTLV])
    }

    /// A primitive object. Its tag must not be a constructed one.
    public init(_ tag: BERTag, _ value: [UInt8]) {
        self.tag = tag
        content = .value(value)
    }

    /// A constructed object.
    public init(_ tag: BERTag, objects: [BERTLV]) {
        self.tag = tag
        content = .objects(objects)
    }

    /// The bytes of a primitive object, or `nil`.
    public var value: [UInt8]? {
        if case .value(let bytes) = content { bytes } else { nil }
    }

    /// The objects of a constructed object; none in a primitive one.
    public var objects: [BERTLV] {
        if case .objects(let objects) = content { objects } else { [] }
    }

    /// Reads objects, one after the other, to the end of the bytes.
    ///
    /// - Throws: ``BERTLVError`` with the offset at which the bytes stop being objects.
    public static func decode(_ bytes: [UInt8]) throws(BERTLVError) -> [BERTLV] {
        let (objects, error) = decodePrefix(bytes)
        if let error { throw error }
        return objects
    }

    /// Reads the objects that stand before the first fault, such as those of an EF.ATR that is filled up with FF.
    ///
    /// - Returns: the whole objects of the outermost level, and the fault if there is one.
    public static func decodePrefix(_ bytes: [UInt8]) -> (objects: [BERTLV], error: BERTLVError?) {
        let decoder = BERTLVDecoder(bytes: bytes)
        var objects: [BERTLV] = []
        var offset = 0
        do throws(BERTLVError) {
            while let object = try decoder.next(&offset, end: bytes.count, depth: 1) { objects.append(object) }
        } catch {
            return (objects, error)
        }
        return (objects, nil)
    }

    /// The first object at the end of a path: each tag is looked for among the objects of the one before.
    ///
    /// - Parameter path: tags from the outside in, beginning with this object's children; empty returns this object.
    public func find(_ path: BERTag...) -> BERTLV? { find(path[...]) }

    private func find(_ path: ArraySlice<BERTag>) -> BERTLV? { path.isEmpty ? self : Self.find(path, among: objects) }

    /// Of several objects with the next tag, the first that leads to the end is taken.
    ///
    /// It takes an array, since what is generic over sequences is not specialized for other modules.
    fileprivate static func find(_ path: ArraySlice<BERTag>, among objects: [BERTLV]) -> BERTLV? {
        for object in objects where object.tag == path.first {
            if let found = object.find(path.dropFirst()) { return found }
        }
        return nil
    }

    /// The bytes of the object, with the shortest length field.
    ///
    /// - Throws: ``BERTLVError`` with `invalidTag`, `primitiveWithChildren`, `constructedWithValue`, `valueTooLong` or
    ///   `tooDeep`.
    public func encoded() throws(BERTLVError) -> [UInt8] { try [self].encoded() }
}

extension Sequence<BERTLV> {
    /// The first object at the end of a path that begins among these objects.
    ///
    /// - Parameter path: tags from the outside in, such as `0x6F, 0xA5, 0xBF0C`.
    public func find(_ path: BERTag...) -> BERTLV? { BERTLV.find(path[...], among: Array(self)) }

    /// The bytes of the objects, one after the other.
    public func encoded() throws(BERTLVError) -> [UInt8] {
        var output: [UInt8] = []
        for object in self { try BERTLVEncoder.append(object, to: &output, at: 0, depth: 1) }
        return output
    }
}

/// The tag of a BER-TLV data object (ISO/IEC 8825-1), as the number that its 1 to 4 bytes make: `0x50`, `0x9F26`,
/// `0xBF0C`, `0x7F66`.
public struct BERTag: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// The tag's bytes as a big-endian number.
    public var rawValue: UInt32

    /// A tag of that number. ``isValid`` reports whether it can be written.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A tag of that number, such as `0x9F26`.
    public init(integerLiteral value: UInt32) {
        rawValue = value
    }

    /// The bytes, 1 to 4.
    public var bytes: [UInt8] { Array(rawValue.bigEndianBytes.suffix(count)) }

    private var count: Int { max(1, (UInt32.bitWidth + 7 - rawValue.leadingZeroBitCount) / 8) }

    /// Whether the object's value is made of objects (bit 6 of the first byte).
    public var isConstructed: Bool { rawValue >> UInt32(8 * (count - 1)) & 0x20 != 0 }

    /// Whether the bytes are one whole tag: not the padding byte 00, and exactly as long as they state.
    public var isValid: Bool {
        let bytes = bytes
        guard bytes[0] != 0 else { return false }
        guard bytes[0] & 0x1F == 0x1F else { return bytes.count == 1 }
        // Bit 8 states that another byte follows; a first byte of 80 would be a leading zero of the number.
        guard bytes.count > 1, bytes[1] != 0x80 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 & 0x80 != 0 } && bytes[bytes.count - 1] & 0x80 == 0
    }
}

extension BERTag: CustomStringConvertible {
    /// The bytes in hexadecimal, as `9F26`.
    public var description: String { bytes.hex }
}

/// Reads objects without trusting any length in them: the work and the memory are bounded by the bytes that are there.
package struct BERTLVDecoder {
    let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    func next(_ offset: inout Int, end: Int, depth: Int) throws(BERTLVError) -> BERTLV? {
        while offset < end, bytes[offset] == 0 { offset += 1 }
        guard offset < end else { return nil }
        guard depth <= ReaderLimits.tlvDepth else { throw BERTLVError(.tooDeep, at: offset) }
        let (tag, content) = try header(at: offset, end: end)
        offset = content.upperBound
        guard tag.isConstructed else { return BERTLV(tag, Array(bytes[content])) }
        var objects: [BERTLV] = []
        var place = content.lowerBound
        while let object = try next(&place, end: offset, depth: depth + 1) { objects.append(object) }
        return BERTLV(tag, objects: objects)
    }

    /// The tag that begins there, and where its content lies.
    package func header(at place: Int, end: Int) throws(BERTLVError) -> (tag: BERTag, content: Range<Int>) {
        var offset = place
        let tag = try readTag(&offset, end: end)
        let lengthOffset = offset
        let length = try readLength(&offset, end: end)
        guard length <= end - offset else { throw BERTLVError(.valueTruncated, at: lengthOffset) }
        return (tag, offset..<offset + length)
    }

    private func readTag(_ offset: inout Int, end: Int) throws(BERTLVError) -> BERTag {
        let start = offset
        var number = UInt32(bytes[offset])
        offset += 1
        guard number & 0x1F == 0x1F else { return BERTag(rawValue: number) }
        while true {
            guard offset < end else { throw BERTLVError(.tagTruncated, at: offset) }
            guard offset - start < 4 else { throw BERTLVError(.invalidTag, at: start) }
            let byte = bytes[offset]
            offset += 1
            number = number << 8 | UInt32(byte)
            if byte & 0x80 == 0 { break }
        }
        let tag = BERTag(rawValue: number)
        guard tag.isValid else { throw BERTLVError(.invalidTag, at: start) }
        return tag
    }

    private func readLength(_ offset: inout Int, end: Int) throws(BERTLVError) -> Int {
        guard offset < end else { throw BERTLVError(.lengthTruncated, at: offset) }
        let first = bytes[offset]
        guard first >= 0x80 else {
            offset += 1
            return Int(first)
        }
        guard first != 0x80 else { throw BERTLVError(.indefiniteLength, at: offset) }
        let count = Int(first & 0x7F)
        guard count <= 4 else { throw BERTLVError(.lengthTooLong, at: offset) }
        guard count < end - offset else { throw BERTLVError(.lengthTruncated, at: end) }
        var length = 0
        for index in offset + 1...offset + count { length = length << 8 | Int(bytes[index]) }
        offset += 1 + count
        return length
    }
}

private enum BERTLVEncoder {
    /// Appends an object to bytes that will stand at `start` of the whole output.
    static func append(_ object: BERTLV, to output: inout [UInt8], at start: Int, depth: Int) throws(BERTLVError) {
        let offset = start + output.count
        guard depth <= ReaderLimits.tlvDepth else { throw BERTLVError(.tooDeep, at: offset) }
        guard object.tag.isValid else { throw BERTLVError(.invalidTag, at: offset) }
        output += object.tag.bytes
        var value: [UInt8] = []
        switch object.content {
        case .value(let bytes):
            guard !object.tag.isConstructed else { throw BERTLVError(.constructedWithValue, at: offset) }
            value = bytes
        case .objects(let objects):
            guard object.tag.isConstructed else { throw BERTLVError(.primitiveWithChildren, at: offset) }
            // The length field's size is not known before the value is, and is left out of the place.
            for child in objects { try append(child, to: &value, at: start + output.count, depth: depth + 1) }
        }
        try appendLength(value.count, to: &output, at: offset)
        output += value
    }

    private static func appendLength(_ length: Int, to output: inout [UInt8], at offset: Int) throws(BERTLVError) {
        switch length {
        case 0...0x7F: break
        case 0x80...0xFF: output.append(0x81)
        case 0x100...0xFFFF: output += [0x82, UInt8(truncatingIfNeeded: length >> 8)]
        case 0x1_0000...0xFF_FFFF:
            output += [0x83, UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8)]
        default: throw BERTLVError(.valueTooLong, at: offset)
        }
        output.append(UInt8(truncatingIfNeeded: length))
    }
}

/// Bytes are no BER-TLV data objects, or objects cannot be written as bytes.
///
/// It describes what is wrong and where, and what a person can do about it. It never holds any content.
public struct BERTLVError: Error, Sendable, Hashable {
    /// What is wrong, for programs.
    public var code: Code

    /// The first byte that is wrong, or the place of what is missing, counted from 0 in the decoder's input.
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
        /// The indefinite form (80), which cards do not use, or a length of more than four bytes.
        case indefiniteLength, lengthTooLong
        /// The length reaches beyond the object around it, or beyond the end.
        case valueTruncated
        /// More levels than ``ReaderLimits/tlvDepth``.
        case tooDeep
        /// Children in an object whose tag states that it has none, or a value in one that has children.
        case primitiveWithChildren, constructedWithValue
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
