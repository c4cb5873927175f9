/// Makes records of a message's bytes.
package enum NDEFDecoder {
    /// The records before the first fault, and the fault.
    ///
    /// - Parameters:
    ///   - depth: How many messages this one lies in the payloads of.
    ///   - checksPayloads: Whether what stands in records of known types has to be well formed too.
    package static func decode(
        _ bytes: [UInt8],
        mode: NDEFMode,
        limits: NDEFLimits,
        depth: Int = 0,
        checksPayloads: Bool = true
    ) -> (records: [NDEFRecord], fault: NDEFError?) {
        guard depth > 0 || bytes.count <= limits.message else {
            return ([], NDEFError(.messageTooLong, at: limits.message, value: bytes.count))
        }
        return bytes.withUnsafeBufferPointer {
            decode($0, mode: mode, limits: limits, depth: checksPayloads ? depth : nil)
        }
    }

    private static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        mode: NDEFMode,
        limits: NDEFLimits,
        depth: Int?
    ) -> (records: [NDEFRecord], fault: NDEFError?) {
        var scanner = NDEFScanner(bytes, isStrict: mode == .strict, limits: limits)
        var records: [NDEFRecord] = []
        // One allocation instead of several for the usual message. The bytes that are there decide, not their claims.
        records.reserveCapacity(min(1 + bytes.count / 16, 32))
        while let item = scanner.next() {
            if let depth, let fault = scanner.payloadFault(of: item, depth: depth) { return (records, fault) }
            records.append(
                NDEFRecord(
                    tnf: item.tnf,
                    type: type(of: item, in: scanner),
                    id: item.hasID ? Array(scanner.part(item.idStart, item.idCount)) : nil,
                    payload: item.isChunked
                        ? scanner.joined : Array(scanner.part(item.payloadStart, item.payloadCount))
                )
            )
        }
        return (records, scanner.fault)
    }

    /// The type of a record; the usual ones share one array each.
    private static func type(of item: NDEFScanner.Item, in scanner: NDEFScanner) -> [UInt8] {
        if item.typeCount == 1 {
            switch scanner.bytes[item.typeStart] {
            case 0x54: return NDEFType.text
            case 0x55: return NDEFType.uri
            default: break
            }
        }
        return Array(scanner.part(item.typeStart, item.typeCount))
    }
}

/// Reads the fields of a payload one after another. It never reads beyond the end and never allocates by a claimed length.
struct NDEFCursor {
    let bytes: [UInt8]
    private(set) var offset: Int
    let end: Int

    init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.end = min(max(end ?? bytes.count, 0), bytes.count)
        offset = min(max(start, 0), self.end)
    }

    var left: Int { end - offset }
    var isAtEnd: Bool { offset >= end }

    mutating func byte() -> UInt8? {
        guard offset < end else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func bigEndian16() -> Int? {
        guard left >= 2 else { return nil }
        defer { offset += 2 }
        return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    mutating func littleEndian16() -> Int? {
        guard left >= 2 else { return nil }
        defer { offset += 2 }
        return Int(bytes[offset + 1]) << 8 | Int(bytes[offset])
    }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= left else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func rest() -> [UInt8] {
        defer { offset = end }
        return Array(bytes[offset..<end])
    }
}
