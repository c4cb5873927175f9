import CardCore
import CardPasses
import NDEFCodec

/// Replaces what is personal in an NDEF message, of which the beginning is enough.
///
/// Headers, types and languages stay, so the records keep their structure; a message that is malformed stays malformed
/// at the same place.
struct RedactionMessage {
    let text: RedactionText
    /// Whether identifiers of records stay, as where a protocol names its fields by them.
    var keepsIDs = false

    private struct Record {
        var flags: UInt8
        var type: Range<Int>
        var id: Range<Int>
        /// Where the payload stands; several places where it came in chunks.
        var payload: [Int]
        var end: Int
    }

    func redact(_ original: [UInt8], depth: Int = 0) -> [UInt8] {
        var bytes = original
        var place = 0
        var hasEnded = false
        while place < bytes.count, !hasEnded, var record = header(bytes, at: place) {
            var isChunked = record.flags & 0x20 != 0
            hasEnded = record.flags & 0x40 != 0
            while isChunked, record.end < bytes.count, let next = header(bytes, at: record.end), next.flags & 0x07 == 6
            {
                record.payload += next.payload
                record.end = next.end
                isChunked = next.flags & 0x20 != 0
                hasEnded = next.flags & 0x40 != 0
            }
            redact(record, in: &bytes, depth: depth)
            place = max(place + 1, record.end)
        }
        if place < bytes.count {
            bytes.replaceSubrange(place..., with: text.printableRuns(Array(bytes[place...])))
        }
        return bytes
    }

    /// A record's header; lengths are cut at the end of the bytes.
    private func header(_ bytes: [UInt8], at start: Int) -> Record? {
        guard start + 3 <= bytes.count else { return nil }
        let flags = bytes[start]
        var place = start + 3
        var length = Int(bytes[start + 2])
        if flags & 0x10 == 0 {
            guard start + 6 <= bytes.count else { return nil }
            length = bytes[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | Int($1) }
            place = start + 6
        }
        var idLength = 0
        if flags & 0x08 != 0 {
            guard place < bytes.count else { return nil }
            idLength = Int(bytes[place])
            place += 1
        }
        let typeEnd = min(place + Int(bytes[start + 1]), bytes.count)
        let idEnd = min(typeEnd + idLength, bytes.count)
        let end = min(idEnd + min(length, bytes.count), bytes.count)
        return Record(flags: flags, type: place..<typeEnd, id: typeEnd..<idEnd, payload: Array(idEnd..<end), end: end)
    }

    private func redact(_ record: Record, in bytes: inout [UInt8], depth: Int) {
        let type = Array(bytes[record.type])
        let payload = record.payload.map { bytes[$0] }
        var new = payload
        switch record.flags & 0x07 {
        case 1: new = wellKnown(type, payload, depth: depth)
        case 2: new = mime(String(decoding: type, as: UTF8.self).lowercased(), payload)
        case 3:
            bytes.replaceSubrange(record.type, with: text.uri(type))
            new = opaque(payload, depth: depth)
        case 4 where type.elementsEqual(Array("android.com:pkg".utf8)): break
        case 0: break
        default: new = opaque(payload, depth: depth)
        }
        if !keepsIDs { bytes.replaceSubrange(record.id, with: text.text(Array(bytes[record.id]))) }
        guard new.count == payload.count else { return }
        for (place, byte) in zip(record.payload, new) { bytes[place] = byte }
    }

    private func wellKnown(_ type: [UInt8], _ payload: [UInt8], depth: Int) -> [UInt8] {
        switch String(decoding: type, as: UTF8.self) {
        case "T":
            guard let status = payload.first else { return payload }
            let start = min(1 + Int(status & 0x3F), payload.count)
            let rest = Array(payload[start...])
            return Array(payload[..<start]) + (status & 0x80 != 0 ? text.utf16(rest) : text.text(rest))
        case "U":
            guard let code = payload.first else { return payload }
            return [code] + text.uri(Array(payload.dropFirst()), prefix: NDEFURIPrefix.prefix(code))
        case "Sp" where depth < 4: return redact(payload, depth: depth + 1)
        case "act", "s", "t": return payload
        default: return opaque(payload, depth: depth)
        }
    }

    private func mime(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        let type = MediaType(type)
        switch type.kind {
        case .json?: return text.json(payload)
        case .vCard?, .directory?: return text.card(payload)
        default: break
        }
        if ["text/directory", "text/calendar", "text/x-vcalendar"].contains(type.essence) { return text.card(payload) }
        return type.essence.hasPrefix("text/") ? text.text(payload) : opaque(payload, depth: 4)
    }

    /// A payload of which nothing is known: a text keeps its form, other bytes are replaced altogether.
    private func opaque(_ payload: [UInt8], depth: Int) -> [UInt8] {
        // Records inside, perhaps behind a byte of flags, as wallets answer.
        for skipped in 0...1 where depth < 4 && payload.count > skipped + 3 {
            let inner = Array(payload[skipped...])
            if (try? NDEFMessage(decoding: inner)) != nil {
                return Array(payload[..<skipped]) + redact(inner, depth: depth + 1)
            }
        }
        if payload.allSatisfy({ (0x20...0x7E).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }) {
            return text.text(payload)
        }
        return text.vocabulary.string(payload)
    }
}
