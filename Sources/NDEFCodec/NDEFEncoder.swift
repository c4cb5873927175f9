/// Makes a message's bytes of records.
enum NDEFEncoder {
    static func encode(_ records: [NDEFRecord], mode: NDEFMode, limits: NDEFLimits) throws(NDEFError) -> [UInt8] {
        if records.isEmpty {
            guard mode == .lenient else { throw NDEFError(.emptyMessage, at: 0, attempting: .encoding) }
            return []
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limits.message, records.reduce(0) { $0 + size(of: $1) }))
        for (index, record) in records.enumerated() {
            func check(_ code: NDEFError.Code?, _ value: Int? = nil) throws(NDEFError) {
                if let code { throw NDEFError(code, at: bytes.count, value: value, attempting: .encoding) }
            }
            try check(index < limits.records ? nil : .tooManyRecords, records.count)
            try check(brokenRule(of: record, isStrict: mode == .strict))
            try check(record.payload.count <= limits.payload ? nil : .payloadTooLong, record.payload.count)
            let (size, room) = (size(of: record), limits.message - bytes.count)
            try check(size <= room ? nil : .messageTooLong, bytes.count + size)

            append(record, isFirst: index == 0, isLast: index == records.count - 1, to: &bytes)
            if var error = record.payloadFault(isStrict: mode == .strict, limits: limits) {
                let payloadStart = bytes.count - record.payload.count
                let typeStart = payloadStart - record.type.count - (record.id?.count ?? 0)
                error.offset += record.tnf == .absoluteURI ? typeStart : payloadStart
                error.attempt = .encoding
                throw error
            }
        }
        return bytes
    }

    /// The rule that a record breaks by its fields, apart from the payload's own.
    private static func brokenRule(of record: NDEFRecord, isStrict: Bool) -> NDEFError.Code? {
        if record.type.count > 255 { return .typeTooLong }
        if let id = record.id, id.count > 255 { return .idTooLong }
        switch record.tnf {
        case .empty:
            let isEmpty = record.type.isEmpty && record.payload.isEmpty && (record.id ?? []).isEmpty
            return isEmpty ? nil : .emptyRecordWithContent
        case .wellKnown, .mime, .absoluteURI, .external:
            return isStrict && record.type.isEmpty ? .missingType : nil
        case .unknown:
            return record.type.isEmpty ? nil : .unknownRecordWithType
        case .reserved:
            return isStrict ? .reservedTNF : nil
        }
    }

    private static func size(of record: NDEFRecord) -> Int {
        let header = record.payload.count <= 255 ? 3 : 6
        return header + (record.id.map { 1 + $0.count } ?? 0) + record.type.count + record.payload.count
    }

    private static func append(_ record: NDEFRecord, isFirst: Bool, isLast: Bool, to bytes: inout [UInt8]) {
        let isShort = record.payload.count <= 255
        var flags = record.tnf.rawValue
        if isFirst { flags |= 0x80 }
        if isLast { flags |= 0x40 }
        if isShort { flags |= 0x10 }
        if record.id != nil { flags |= 0x08 }
        bytes.append(flags)
        // The lengths were checked: the type and the identifier by `brokenRule`, the payload by the limits.
        bytes.append(UInt8(truncatingIfNeeded: record.type.count))
        for shift in isShort ? [0] : [24, 16, 8, 0] {
            bytes.append(UInt8(truncatingIfNeeded: record.payload.count >> shift))
        }
        if let id = record.id { bytes.append(UInt8(truncatingIfNeeded: id.count)) }
        bytes += record.type
        if let id = record.id { bytes += id }
        bytes += record.payload
    }
}
