/// Walks over the records of one message and checks all rules but those of the payloads. It copies nothing except the
/// payloads of chunked records, which it joins.
///
/// Every read of `bytes` lies behind a comparison with `count`, the buffer's own length: the subscript of an unsafe
/// buffer does not check in a release build.
package struct NDEFScanner {
    /// Where a record or a chunk lies in the buffer. The payload of a chunked record is in ``NDEFScanner/joined`` instead.
    package struct Item {
        package var tnf: NDEFRecord.TNF = .empty
        package var start: Int
        fileprivate var flags: UInt8
        package var typeStart: Int
        package var typeCount: Int
        package var idCount: Int
        package var payloadStart: Int
        package var payloadCount: Int

        package var hasID: Bool { flags & Flag.idLength != 0 }
        package var isChunked: Bool { flags & Flag.chunk != 0 }
        package var idStart: Int { typeStart + typeCount }
        var payloadLengthOffset: Int { start + 2 }
        fileprivate var end: Int { payloadStart + payloadCount }
    }

    fileprivate enum Flag {
        static let messageBegin: UInt8 = 0x80
        static let messageEnd: UInt8 = 0x40
        static let chunk: UInt8 = 0x20
        static let short: UInt8 = 0x10
        static let idLength: UInt8 = 0x08
        static let tnf: UInt8 = 0x07
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let isStrict: Bool
    let limits: NDEFLimits

    package private(set) var fault: NDEFError?
    /// The payload of the last item, if it was chunked.
    package private(set) var joined: [UInt8] = []

    private let count: Int
    private var position = 0
    private var records = 0
    private var hasEnded = false

    package init(_ bytes: UnsafeBufferPointer<UInt8>, isStrict: Bool, limits: NDEFLimits) {
        self.bytes = bytes
        self.isStrict = isStrict
        self.limits = limits
        count = bytes.count
        if bytes.isEmpty {
            if isStrict { fault = NDEFError(.emptyMessage, at: 0) }
            hasEnded = true
        }
    }

    /// The next record, or `nil` at the end of the message or at a fault.
    package mutating func next() -> Item? {
        if hasEnded || fault != nil { return nil }
        guard position < count else { return fail(.missingMessageEnd, at: count) }
        guard var item = readHeader() else { return nil }
        if item.flags & Flag.tnf == 6 { return fail(.chunkOutsideRun, at: item.start) }
        guard let tnf = NDEFRecord.TNF(rawValue: item.flags & Flag.tnf) else {
            return fail(.reservedTNF, at: item.start)
        }
        guard isInPlace(item) else { return nil }
        guard records < limits.records else { return fail(.tooManyRecords, at: item.start, value: records + 1) }
        guard item.payloadCount <= limits.payload else {
            return fail(.payloadTooLong, at: item.start + 2, value: item.payloadCount)
        }
        item.tnf = tnf
        position = item.end
        if item.isChunked {
            guard joinChunks(after: item, isEmptyRecord: tnf == .empty) else { return nil }
            item.payloadCount = joined.count
        } else {
            finish(after: item)
        }
        records += 1
        return item
    }

    /// The place in the buffer of a byte of a record's payload; the chunks are walked again for it.
    func offset(ofPayloadByte index: Int, in item: Item) -> Int {
        guard item.isChunked else { return item.payloadStart + index }
        var walker = self
        walker.position = item.start
        walker.fault = nil
        var left = index
        while let header = walker.readHeader() {
            let isLast = !header.isChunked
            // The byte after the last one belongs to the last chunk.
            if left < header.payloadCount || isLast { return header.payloadStart + min(left, header.payloadCount) }
            left -= header.payloadCount
            walker.position = header.end
        }
        return item.payloadStart
    }

    // MARK: - Headers

    /// Reads the header at `position` and checks its lengths and the record's own rules.
    @inline(__always)
    private mutating func readHeader() -> Item? {
        let start = position
        let left = count - start
        guard left >= 3 else { return fail(.truncatedHeader, at: count) }
        let flags = bytes[start]
        let typeCount = Int(bytes[start + 1])
        var cursor = start + 3
        var payloadCount = Int(bytes[start + 2])
        if flags & Flag.short == 0 {
            guard left >= 6 else { return fail(.truncatedHeader, at: count) }
            let low = UInt32(bytes[start + 3]) << 16 | UInt32(bytes[start + 4]) << 8 | UInt32(bytes[start + 5])
            payloadCount = Int(clamping: UInt32(bytes[start + 2]) << 24 | low)
            cursor = start + 6
        }
        var idCount = 0
        if flags & Flag.idLength != 0 {
            guard cursor < count else { return fail(.truncatedHeader, at: count) }
            idCount = Int(bytes[cursor])
            cursor += 1
        }
        let typeStart = cursor
        guard typeCount <= count - cursor else { return fail(.typeBeyondEnd, at: start + 1, value: typeCount) }
        cursor += typeCount
        guard idCount <= count - cursor else { return fail(.idBeyondEnd, at: typeStart - 1, value: idCount) }
        cursor += idCount
        guard payloadCount <= count - cursor else { return fail(.payloadBeyondEnd, at: start + 2, value: payloadCount) }
        let header = Item(
            start: start,
            flags: flags,
            typeStart: typeStart,
            typeCount: typeCount,
            idCount: idCount,
            payloadStart: cursor,
            payloadCount: payloadCount
        )
        return followsOwnRules(header) ? header : nil
    }

    @inline(__always)
    private mutating func followsOwnRules(_ header: Item) -> Bool {
        switch header.flags & Flag.tnf {
        case 0:
            if header.typeCount != 0 { return refuse(.emptyRecordWithContent, at: header.start + 1) }
            if header.payloadCount != 0 { return refuse(.emptyRecordWithContent, at: header.start + 2) }
            if header.idCount != 0 { return refuse(.emptyRecordWithContent, at: header.typeStart - 1) }
        case 1...4:
            if header.typeCount == 0, isStrict { return refuse(.missingType, at: header.start + 1) }
        case 5:
            if header.typeCount != 0 {
                return refuse(.unknownRecordWithType, at: header.start + 1, value: header.typeCount)
            }
        case 6:
            if header.typeCount != 0 { return refuse(.chunkWithType, at: header.start + 1, value: header.typeCount) }
            if header.hasID { return refuse(.chunkWithID, at: header.start) }
        default:
            if isStrict { return refuse(.reservedTNF, at: header.start) }
        }
        return true
    }

    /// Checks the marks of the message's begin and end.
    @inline(__always)
    private mutating func isInPlace(_ header: Item) -> Bool {
        if header.flags & (Flag.chunk | Flag.messageEnd) == Flag.chunk | Flag.messageEnd {
            return refuse(.chunkWithMessageEnd, at: header.start)
        }
        if header.flags & Flag.messageBegin == 0 {
            if header.start == 0 { return refuse(.missingMessageBegin, at: 0) }
        } else if header.start != 0 {
            return refuse(.repeatedMessageBegin, at: header.start)
        }
        return true
    }

    /// Notes the end of the message, and what follows it.
    @inline(__always)
    private mutating func finish(after header: Item) {
        guard header.flags & Flag.messageEnd != 0 else { return }
        hasEnded = true
        // The record itself is good, so it is still delivered.
        if header.end < count { _ = refuse(.trailingBytes, at: header.end, value: count - header.end) }
    }

    // MARK: - Chunks

    /// Appends the payloads of all chunks of the record that begins with `first`.
    private mutating func joinChunks(after first: Item, isEmptyRecord: Bool) -> Bool {
        joined = Array(bytes[first.payloadStart..<first.end])
        while true {
            guard position < count else { return refuse(.chunkRunUnfinished, at: count) }
            guard let header = readHeader() else { return false }
            guard header.flags & Flag.tnf == 6 else { return refuse(.chunkRunBroken, at: header.start) }
            guard isInPlace(header) else { return false }
            if isEmptyRecord, header.payloadCount != 0 { return refuse(.emptyRecordWithContent, at: header.start + 2) }
            guard header.payloadCount <= limits.payload - joined.count else {
                return refuse(.payloadTooLong, at: header.start + 2, value: joined.count + header.payloadCount)
            }
            joined += bytes[header.payloadStart..<header.end]
            position = header.end
            if !header.isChunked {
                finish(after: header)
                return true
            }
        }
    }

    // MARK: - Faults

    private mutating func refuse(_ code: NDEFError.Code, at offset: Int, value: Int? = nil) -> Bool {
        fault = NDEFError(code, at: offset, value: value)
        return false
    }

    private mutating func fail<Value>(_ code: NDEFError.Code, at offset: Int, value: Int? = nil) -> Value? {
        fault = NDEFError(code, at: offset, value: value)
        return nil
    }
}
