/// The payloads of the records of a connection handover.
enum NDEFHandoverPayload {
    /// A handover, and where its carriers stand in the payload.
    struct Parsed {
        var handover: NDEFHandover
        var carrierOffsets: [Int] = []
    }

    static func kind(of record: NDEFRecord) -> NDEFHandover.Kind? {
        guard record.tnf == .wellKnown else { return nil }
        switch record.type {
        case NDEFType.handoverRequest: return .request
        case NDEFType.handoverSelect: return .select
        default: return nil
        }
    }

    // MARK: - Reading

    /// The handover in a record; `nil` for other records and for other major versions.
    static func parse(_ record: NDEFRecord, mode: NDEFMode, limits: NDEFLimits) throws(NDEFError) -> Parsed? {
        guard let kind = kind(of: record) else { return nil }
        let isStrict = mode == .strict
        guard let code = record.payload.first else { throw NDEFError(.handoverWithoutVersion, at: 0) }
        let version = NDEFHandover.Version(code: code)
        guard version.major == 1 else { return nil }
        var parsed = Parsed(handover: NDEFHandover(kind, version: version))
        var isAnswered = false
        try forEachRecord(in: record.payload, mode: mode, limits: limits) {
            (nested: NDEFRecord, offset: Int, payloadStart: Int) throws(NDEFError) in
            if nested.isWellKnown(NDEFType.alternativeCarrier) {
                let carrier = try carrier(nested.payload, isStrict: isStrict, at: payloadStart)
                parsed.handover.carriers.append(carrier)
                parsed.carrierOffsets.append(payloadStart)
            } else if kind == .request, nested.isWellKnown(NDEFType.collisionResolution) {
                guard nested.payload.count == 2 else {
                    throw NDEFError(.handoverCollisionLength, at: offset, value: nested.payload.count)
                }
                guard parsed.handover.collisionResolution == nil else {
                    if isStrict { throw NDEFError(.handoverRepeatedRecord, at: offset) }
                    return
                }
                parsed.handover.collisionResolution = nested.payload.reduce(0) { $0 << 8 | UInt16($1) }
            } else if kind == .select, nested.isWellKnown(NDEFType.handoverError) {
                let failure = try failure(nested.payload, at: payloadStart)
                guard !isAnswered else {
                    if isStrict { throw NDEFError(.handoverRepeatedRecord, at: offset) }
                    return
                }
                isAnswered = true
                parsed.handover.failure = failure
            } else {
                parsed.handover.others.append(nested)
            }
        }
        if kind == .request, isStrict {
            let end = record.payload.count
            if version.minor >= 2, parsed.handover.collisionResolution == nil {
                throw NDEFError(.handoverWithoutCollision, at: end)
            }
            if parsed.handover.carriers.isEmpty { throw NDEFError(.handoverWithoutCarrier, at: end) }
        }
        return parsed
    }

    /// Goes through the records of the message behind the version. A handover may choose nothing, then there is none.
    private static func forEachRecord(
        in payload: [UInt8],
        mode: NDEFMode,
        limits: NDEFLimits,
        _ body: (NDEFRecord, _ offset: Int, _ payloadStart: Int) throws(NDEFError) -> Void
    ) throws(NDEFError) {
        guard payload.count > 1 else { return }
        guard limits.nesting > 0 else { throw NDEFError(.nestingTooDeep, at: 1, value: 1) }
        let message = Array(payload.dropFirst())
        var (records, fault) = NDEFDecoder.decode(message, mode: mode, limits: limits, depth: 1)
        if fault == nil, let wrong = records.firstIndex(where: holdsMessage) {
            fault = NDEFError(.handoverNestedMessage, at: places(in: message, limits)[wrong].start)
        }
        if var fault {
            if fault.code == .trailingBytes { fault.code = .trailingBytesInPayload }
            fault.offset += 1
            throw fault
        }
        for (record, place) in zip(records, places(in: message, limits)) {
            try body(record, 1 + place.start, 1 + place.payload)
        }
        records.removeAll()
    }

    /// Where the records of a message without faults stand.
    private static func places(in message: [UInt8], _ limits: NDEFLimits) -> [(start: Int, payload: Int)] {
        message.withUnsafeBufferPointer { bytes in
            var scanner = NDEFScanner(bytes, isStrict: false, limits: limits)
            var places: [(start: Int, payload: Int)] = []
            while let item = scanner.next() { places.append((item.start, item.payloadStart)) }
            return places
        }
    }

    /// Messages in a handover could hold handovers again; no standard has such, and refusing them bounds the depth.
    static func holdsMessage(_ record: NDEFRecord) -> Bool {
        kind(of: record) != nil || record.isWellKnown(NDEFType.smartPoster)
    }

    private static func carrier(
        _ payload: [UInt8],
        isStrict: Bool,
        at start: Int
    ) throws(NDEFError) -> NDEFHandover.AlternativeCarrier {
        var cursor = NDEFCursor(payload)
        func beyondEnd(_ value: Int? = nil) -> NDEFError {
            NDEFError(.handoverCarrierBeyondEnd, at: start + cursor.offset, value: value)
        }
        guard let flags = cursor.byte(), let count = cursor.byte() else { throw beyondEnd() }
        guard let reference = cursor.take(Int(count)) else { throw beyondEnd(Int(count)) }
        guard let auxiliaryCount = cursor.byte() else { throw beyondEnd() }
        var auxiliary: [[UInt8]] = []
        for _ in 0..<auxiliaryCount {
            guard let count = cursor.byte() else { throw beyondEnd() }
            guard let reference = cursor.take(Int(count)) else { throw beyondEnd(Int(count)) }
            auxiliary.append(reference)
        }
        // The upper bits of the flags, and bytes that a later version may add, are reserved.
        if isStrict, !cursor.isAtEnd {
            throw NDEFError(.handoverCarrierTrailingBytes, at: start + cursor.offset, value: cursor.left)
        }
        return NDEFHandover.AlternativeCarrier(
            power: NDEFHandover.PowerState(rawValue: flags & 0x03) ?? .unknown,
            reference: reference,
            auxiliary: auxiliary
        )
    }

    private static func failure(_ payload: [UInt8], at start: Int) throws(NDEFError) -> NDEFHandover.Failure {
        guard let reason = payload.first else { throw NDEFError(.handoverErrorLength, at: start, value: 0) }
        let data = Array(payload.dropFirst())
        func check(_ count: Int) throws(NDEFError) {
            guard data.count == count else {
                throw NDEFError(.handoverErrorLength, at: start + 1, value: data.count)
            }
        }
        switch reason {
        case 1:
            try check(1)
            return .temporaryMemory(milliseconds: data.first ?? 0)
        case 2:
            try check(4)
            return .permanentMemory(bytes: data.reduce(0) { $0 << 8 | UInt32($1) })
        case 3:
            try check(1)
            return .carrier(milliseconds: data.first ?? 0)
        default:
            return .reserved(reason: reason, data: data)
        }
    }

    /// The content of a Handover Carrier record.
    static func handoverCarrier(_ payload: [UInt8]) throws(NDEFError) -> NDEFHandoverCarrier {
        var cursor = NDEFCursor(payload)
        guard let flags = cursor.byte(), let count = cursor.byte() else {
            throw NDEFError(.handoverCarrierBeyondEnd, at: payload.count)
        }
        guard (1...4).contains(flags & 0x07), let format = NDEFRecord.TNF(rawValue: flags & 0x07) else {
            throw NDEFError(.handoverCarrierFormat, at: 0, value: Int(flags & 0x07))
        }
        guard let type = cursor.take(Int(count)) else {
            throw NDEFError(.handoverCarrierBeyondEnd, at: 1, value: Int(count))
        }
        return NDEFHandoverCarrier(format: format, type: type, data: cursor.rest())
    }

    // MARK: - Writing

    static func bytes(of handover: NDEFHandover) throws(NDEFError) -> [UInt8] {
        guard handover.version.major == 1 else {
            throw NDEFError(.handoverVersion, at: 0, value: handover.version.major, attempting: .encoding)
        }
        var records: [NDEFRecord] = []
        if let number = handover.collisionResolution, handover.kind == .request {
            let payload = [UInt8(number >> 8), UInt8(number & 0xFF)]
            records.append(NDEFRecord(tnf: .wellKnown, type: NDEFType.collisionResolution, payload: payload))
        }
        for carrier in handover.carriers {
            let payload = try bytes(of: carrier)
            records.append(NDEFRecord(tnf: .wellKnown, type: NDEFType.alternativeCarrier, payload: payload))
        }
        if let failure = handover.failure, handover.kind == .select {
            let payload = bytes(of: failure)
            records.append(NDEFRecord(tnf: .wellKnown, type: NDEFType.handoverError, payload: payload))
        }
        records += handover.others
        guard !records.isEmpty else { return [handover.version.code] }
        return [handover.version.code] + (try NDEFEncoder.encode(records, mode: .lenient, limits: .maximum))
    }

    private static func bytes(of carrier: NDEFHandover.AlternativeCarrier) throws(NDEFError) -> [UInt8] {
        func length(_ count: Int) throws(NDEFError) -> UInt8 {
            guard let length = UInt8(exactly: count) else {
                throw NDEFError(.handoverReferenceTooLong, at: 0, value: count, attempting: .encoding)
            }
            return length
        }
        var bytes = [carrier.power.rawValue, try length(carrier.reference.count)]
        bytes += carrier.reference
        bytes.append(try length(carrier.auxiliary.count))
        for reference in carrier.auxiliary {
            bytes.append(try length(reference.count))
            bytes += reference
        }
        return bytes
    }

    private static func bytes(of failure: NDEFHandover.Failure) -> [UInt8] {
        switch failure {
        case .temporaryMemory(let milliseconds): [1, milliseconds]
        case .permanentMemory(let bytes): [2] + (0..<4).map { UInt8(truncatingIfNeeded: bytes >> (24 - 8 * $0)) }
        case .carrier(let milliseconds): [3, milliseconds]
        case .reserved(let reason, let data): [reason] + data
        }
    }

    static func bytes(of carrier: NDEFHandoverCarrier) throws(NDEFError) -> [UInt8] {
        guard (1...4).contains(carrier.format.rawValue) else {
            throw NDEFError(.handoverCarrierFormat, at: 0, value: Int(carrier.format.rawValue), attempting: .encoding)
        }
        guard let count = UInt8(exactly: carrier.type.count) else {
            throw NDEFError(.typeTooLong, at: 1, value: carrier.type.count, attempting: .encoding)
        }
        return [carrier.format.rawValue, count] + carrier.type + carrier.data
    }
}
