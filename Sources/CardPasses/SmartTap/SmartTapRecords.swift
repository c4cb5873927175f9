import CardCore
import NDEFCodec

/// The NDEF of Smart Tap: messages within records, under names of one to three letters.
package enum SmartTapRecords {
    package static func record(_ name: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(tnf: .external, type: Array(name.utf8), payload: payload)
    }

    /// The bytes of a message within limits that its parts keep.
    package static func bytes(_ records: [NDEFRecord]) -> [UInt8] {
        (try? NDEFMessage(records).encoded(mode: .lenient)) ?? []
    }

    /// Reads a message. What stands in a record is looked at by whoever needs it: its Texts, for one, may lack a language,
    /// and one that is malformed takes nothing from the others.
    package static func read(_ bytes: some Collection<UInt8>) throws(SmartTapError) -> [NDEFRecord] {
        let (records, fault) = NDEFDecoder.decode(Array(bytes), mode: .lenient, limits: .default, checksPayloads: false)
        guard fault?.isTolerable ?? true else { throw .malformed(.records) }
        return records
    }
}

extension Sequence<NDEFRecord> {
    /// The first record of that name, which stands in the type of an external record or else in its id.
    package func first(named name: String) -> NDEFRecord? { first { $0.isNamed(name) } }
}

extension NDEFRecord {
    package func isNamed(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return tnf == .external && type == name || id == name
    }

    /// The bytes of a primitive: what stands behind its format.
    package var primitive: [UInt8]? { payload.isEmpty ? nil : Array(payload.dropFirst()) }

    /// The text of a record: an RTD text, which may lack a language here, or a primitive of characters.
    package var smartTapText: String? {
        guard let first = payload.first else { return nil }
        if tnf == .wellKnown, type == [UInt8(ascii: "T")] {
            let start = 1 + Int(first & 0x3F)
            guard payload.count >= start else { return nil }
            let text = payload[start...]
            return first & 0x80 == 0 ? String(validating: text, as: UTF8.self) : Self.utf16(text)
        }
        let text = payload.dropFirst()
        switch first {
        case 0x01: return text.allSatisfy { $0 < 0x80 } ? String(decoding: text, as: UTF8.self) : nil
        case 0x00, 0x02: return String(validating: text, as: UTF8.self)
        case 0x03: return Self.utf16(text)
        case 0x05: return Self.decimal(text)
        default: return nil
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(validating: units, as: UTF16.self)
    }

    /// Two digits a byte; F fills up an odd number.
    private static func decimal(_ bytes: ArraySlice<UInt8>) -> String? {
        var digits = bytes.flatMap { [$0 >> 4, $0 & 0x0F] }
        if digits.last == 0x0F { digits.removeLast() }
        guard digits.allSatisfy({ $0 < 10 }) else { return nil }
        return digits.map(String.init).joined()
    }
}

/// Limits for what a phone sends.
package enum SmartTapLimits {
    /// The longest answer of all its parts, and the longest data after they were inflated, in bytes.
    package static let data = 65_536
    /// How often more data are fetched.
    static let rounds = 32
    /// How often a command is repeated after a passing failure.
    static let retries = 2
}
