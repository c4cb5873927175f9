/// A BER-TLV data object as ISO/IEC 7816-4 uses them: in the answer to SELECT, in EF.ATR, in mobile passes.
///
/// ```text
/// tag       1 to 4 bytes; the low five bits of the first all set say that more follow
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
        var decoder = BERTLVDecoder(bytes: bytes)
        let objects = decoder.decode()
        if let error = decoder.error { throw error }
        return objects
    }

    /// Reads the objects that stand before the first fault, such as those of an EF.ATR that is filled up with FF.
    ///
    /// - Returns: the whole objects of the outermost level, and the fault if there is one.
    public static func decodePrefix(_ bytes: [UInt8]) -> (objects: [BERTLV], error: BERTLVError?) {
        var decoder = BERTLVDecoder(bytes: bytes)
        let objects = decoder.decode()
        return (objects, decoder.error)
    }

    /// The first object at the end of a path: each tag is looked for among the objects of the one before.
    ///
    /// - Parameter path: tags from the outside in, beginning with this object's children; empty gives this object.
    public func find(_ path: BERTag...) -> BERTLV? {
        find(path[...])
    }

    /// The first object at the end of that path.
    func find(_ path: ArraySlice<BERTag>) -> BERTLV? {
        guard let first = path.first else { return self }
        // Only the next tag decides, so of several objects with it the first that leads to the end is taken.
        for object in objects where object.tag == first {
            if let found = object.find(path.dropFirst()) { return found }
        }
        return nil
    }

    /// The bytes of the object, with the shortest length field.
    ///
    /// - Throws: ``BERTLVError`` with `invalidTag`, `primitiveWithChildren`, `constructedWithValue`, `valueTooLong` or
    ///   `tooDeep`.
    public func encoded() throws(BERTLVError) -> [UInt8] {
        try BERTLVEncoder.encode([self])
    }
}

extension Sequence<BERTLV> {
    /// The first object at the end of a path that begins among these objects.
    ///
    /// - Parameter path: tags from the outside in, such as `0x6F, 0xA5, 0xBF0C`.
    public func find(_ path: BERTag...) -> BERTLV? {
        guard let tag = path.first else { return nil }
        for object in self where object.tag == tag {
            if let found = object.find(path.dropFirst()) { return found }
        }
        return nil
    }

    /// The bytes of the objects, one after the other.
    ///
    /// - Throws: ``BERTLVError``.
    public func encoded() throws(BERTLVError) -> [UInt8] {
        try BERTLVEncoder.encode(self)
    }
}
