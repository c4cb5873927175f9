/// Reads objects without trusting any length in them: the work and the memory are bounded by the bytes that are there.
struct BERTLVDecoder {
    let bytes: [UInt8]
    private(set) var error: BERTLVError?

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The whole objects of the outermost level before the first fault, which is left in ``error``.
    mutating func decode() -> [BERTLV] {
        var objects: [BERTLV] = []
        var offset = 0
        do throws(BERTLVError) {
            while let object = try next(&offset, end: bytes.count, depth: 1) { objects.append(object) }
        } catch {
            self.error = error
        }
        return objects
    }

    private func next(_ offset: inout Int, end: Int, depth: Int) throws(BERTLVError) -> BERTLV? {
        while offset < end, bytes[offset] == 0 { offset += 1 }
        guard offset < end else { return nil }
        guard depth <= ReaderLimits.tlvDepth else { throw BERTLVError(.tooDeep, at: offset) }
        let tag = try readTag(&offset, end: end)
        let lengthOffset = offset
        let length = try readLength(&offset, end: end)
        guard length <= end - offset else { throw BERTLVError(.valueTruncated, at: lengthOffset) }
        let valueEnd = offset + length
        guard tag.isConstructed else {
            let value = Array(bytes[offset..<valueEnd])
            offset = valueEnd
            return BERTLV(tag, value)
        }
        var objects: [BERTLV] = []
        while let object = try next(&offset, end: valueEnd, depth: depth + 1) { objects.append(object) }
        return BERTLV(tag, objects: objects)
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

enum BERTLVEncoder {
    static func encode(_ objects: some Sequence<BERTLV>) throws(BERTLVError) -> [UInt8] {
        var output: [UInt8] = []
        for object in objects { try append(object, to: &output, at: 0, depth: 1) }
        return output
    }

    /// Appends an object to bytes that will stand at `start` of the whole output.
    private static func append(
        _ object: BERTLV,
        to output: inout [UInt8],
        at start: Int,
        depth: Int
    ) throws(BERTLVError) {
        let offset = start + output.count
        guard depth <= ReaderLimits.tlvDepth else { throw BERTLVError(.tooDeep, at: offset) }
        guard object.tag.isValid else { throw BERTLVError(.invalidTag, at: offset) }
        output += object.tag.bytes
        switch object.content {
        case .value(let value):
            guard !object.tag.isConstructed else { throw BERTLVError(.constructedWithValue, at: offset) }
            try appendLength(value.count, to: &output, at: offset)
            output += value
        case .objects(let objects):
            guard object.tag.isConstructed else { throw BERTLVError(.primitiveWithChildren, at: offset) }
            var value: [UInt8] = []
            // The length field's size is not known before the value is, and is left out of the place.
            for child in objects { try append(child, to: &value, at: start + output.count, depth: depth + 1) }
            try appendLength(value.count, to: &output, at: offset)
            output += value
        }
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
