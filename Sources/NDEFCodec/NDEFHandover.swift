import CardCore

/// A Handover Request (`Hr`) or Handover Select (`Hs`) record, read to be shown: the carriers over which two devices could
/// go on (NFC Forum Connection Handover 1.2 to 1.5).
///
/// What a carrier needs lies in other records of the same message, which it names by their identifiers. Its `Encodable` form
/// is the JSON object that the tools print; bytes are upper-case hexadecimal.
public struct NDEFHandover: Sendable, Hashable, Encodable {
    /// The two records of a handover.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Encodable {
        /// `Hr`: these carriers are offered.
        case request
        /// `Hs`: these carriers are chosen, or none.
        case select
    }

    /// A carrier (`ac`).
    public struct Carrier: Sendable, Hashable, Encodable {
        /// Whether it is switched on: `inactive`, `active`, `activating` or `unknown`.
        public var power: String
        /// The identifier of the record that configures it.
        public var reference: String
        /// The identifiers of records that describe it further.
        public var auxiliary: [String]
    }

    /// Why an earlier request failed (`err`).
    public struct Failure: Sendable, Hashable, Encodable {
        /// 1: too little memory now; 2: too little memory; 3: the carrier cannot be used now; others are reserved.
        public var reason: UInt8
        /// Milliseconds to wait (1, 3), bytes that would fit (2), or what stands there.
        public var data: [UInt8]

        private enum CodingKeys: String, CodingKey { case reason, data }

        /// `reason`, and `data` as a number, or in hexadecimal for a reserved reason.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(reason, forKey: .reason)
            if (1...3).contains(reason) {
                try container.encode(data.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, forKey: .data)
            } else {
                try container.encode(data.hex, forKey: .data)
            }
        }
    }

    /// Which of the two records it is.
    public var kind: Kind
    /// The version of the standard that the record follows, such as `1.2`. Other major versions are not read.
    public var version: String
    /// The random number that decides between two devices that ask at the same time (`cr`). Requests only.
    public var collisionResolution: UInt16?
    /// The carriers, the preferred one first.
    public var carriers: [Carrier] = []
    /// Why an earlier request failed. Selections only.
    public var failure: Failure?
}

extension NDEFHandover {
    static func kind(of record: NDEFRecord) -> Kind? {
        guard record.tnf == .wellKnown else { return nil }
        switch record.type {
        case NDEFType.handoverRequest: return .request
        case NDEFType.handoverSelect: return .select
        default: return nil
        }
    }

    /// The handover in a record; `nil` for other records and for other major versions.
    init?(_ record: NDEFRecord, mode: NDEFMode, limits: NDEFLimits) throws(NDEFError) {
        guard let kind = Self.kind(of: record) else { return nil }
        guard let code = record.payload.first else { throw NDEFError(.handoverWithoutVersion, at: 0) }
        guard code >> 4 == 1 else { return nil }
        (self.kind, version) = (kind, "1.\(code & 0x0F)")
        let isStrict = mode == .strict
        for (nested, offset, start) in try Self.records(in: record.payload, mode: mode, limits: limits) {
            let payload = nested.payload
            if nested.isWellKnown(NDEFType.alternativeCarrier) {
                carriers.append(try Self.carrier(payload, isStrict: isStrict, at: start))
            } else if kind == .request, nested.isWellKnown(NDEFType.collisionResolution) {
                guard payload.count == 2 else {
                    throw NDEFError(.handoverCollisionLength, at: offset, value: payload.count)
                }
                if collisionResolution == nil {
                    collisionResolution = payload.reduce(0) { $0 << 8 | UInt16($1) }
                } else if isStrict {
                    throw NDEFError(.handoverRepeatedRecord, at: offset)
                }
            } else if kind == .select, nested.isWellKnown(NDEFType.handoverError) {
                let found = try Self.failure(payload, at: start)
                if failure == nil {
                    failure = found
                } else if isStrict {
                    throw NDEFError(.handoverRepeatedRecord, at: offset)
                }
            }
        }
        guard kind == .request, isStrict else { return }
        if code & 0x0F >= 2, collisionResolution == nil {
            throw NDEFError(.handoverWithoutCollision, at: record.payload.count)
        }
        if carriers.isEmpty { throw NDEFError(.handoverWithoutCarrier, at: record.payload.count) }
    }

    /// The records of the message behind the version, and where they and their payloads begin. There are none if a
    /// handover chooses nothing.
    private static func records(
        in payload: [UInt8],
        mode: NDEFMode,
        limits: NDEFLimits
    ) throws(NDEFError) -> [(record: NDEFRecord, offset: Int, payloadStart: Int)] {
        guard payload.count > 1 else { return [] }
        guard limits.nesting > 0 else { throw NDEFError(.nestingTooDeep, at: 1, value: 1) }
        let message = Array(payload.dropFirst())
        var (records, fault) = NDEFDecoder.decode(message, mode: mode, limits: limits, depth: 1)
        let places = message.withUnsafeBufferPointer { bytes in
            var scanner = NDEFScanner(bytes, isStrict: false, limits: limits)
            return Array(sequence(state: ()) { _ in scanner.next().map { (1 + $0.start, 1 + $0.payloadStart) } })
        }
        // Messages in a handover could hold handovers again; no standard has such, and refusing them bounds the depth.
        if fault == nil,
            let wrong = records.firstIndex(where: { kind(of: $0) != nil || $0.isWellKnown(NDEFType.smartPoster) })
        {
            throw NDEFError(.handoverNestedMessage, at: places[wrong].0)
        }
        if fault?.code == .trailingBytes { fault?.code = .trailingBytesInPayload }
        if var fault {
            fault.offset += 1
            throw fault
        }
        return zip(records, places).map { ($0, $1.0, $1.1) }
    }

    private static let powers = ["inactive", "active", "activating", "unknown"]

    private static func carrier(_ payload: [UInt8], isStrict: Bool, at start: Int) throws(NDEFError) -> Carrier {
        var cursor = NDEFCursor(payload)
        func beyondEnd(_ value: Int? = nil) -> NDEFError {
            NDEFError(.handoverCarrierBeyondEnd, at: start + cursor.offset, value: value)
        }
        func reference() throws(NDEFError) -> String {
            guard let count = cursor.byte() else { throw beyondEnd() }
            guard let bytes = cursor.take(Int(count)) else { throw beyondEnd(Int(count)) }
            return bytes.hex
        }
        guard let flags = cursor.byte() else { throw beyondEnd() }
        var carrier = Carrier(power: powers[Int(flags & 0x03)], reference: try reference(), auxiliary: [])
        guard let count = cursor.byte() else { throw beyondEnd() }
        for _ in 0..<count { carrier.auxiliary.append(try reference()) }
        // The upper bits of the flags, and bytes that a later version may add, are reserved.
        if isStrict, !cursor.isAtEnd {
            throw NDEFError(.handoverCarrierTrailingBytes, at: start + cursor.offset, value: cursor.left)
        }
        return carrier
    }

    private static func failure(_ payload: [UInt8], at start: Int) throws(NDEFError) -> Failure {
        guard let reason = payload.first else { throw NDEFError(.handoverErrorLength, at: start, value: 0) }
        let data = Array(payload.dropFirst())
        let count = [1: 1, 2: 4, 3: 1][reason]
        guard count == nil || count == data.count else {
            throw NDEFError(.handoverErrorLength, at: start + 1, value: data.count)
        }
        return Failure(reason: reason, data: data)
    }
}

/// A Handover Carrier record (`Hc`), read to be shown: a carrier by its type, where there is no configuration of it yet.
public struct NDEFHandoverCarrier: Sendable, Hashable, Encodable {
    /// How the type is to be understood: the name of ``NDEFRecord/TNF``.
    public var tnf: String
    /// The type of the record that would configure the carrier, in the form of ``NDEFRecord/typeName``.
    public var type: String
    /// Data of the carrier, in hexadecimal.
    public var data: String

    init(_ payload: [UInt8]) throws(NDEFError) {
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
        (tnf, self.type) = (format.name, NDEFRecord(tnf: format, type: type).typeName)
        data = cursor.rest().hex
    }
}
