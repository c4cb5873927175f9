import CardCore
import CardPasses
import NDEFCodec

/// Replaces what is personal in a line of a reader in Smart Reader mode.
///
/// `$SCRDR;interface;protocol;template;RSSI;TagId;move;TagData;TagDetails*XOR`: the identifier and the data are replaced,
/// the checksum is made anew. The same holds for a reader's JSON, of which only what is known here is kept. Of another JSON
/// object all texts but those of known names are replaced, of other lines all words and what is an identifier.
struct RedactionLine {
    let text: RedactionText
    let identifiers: RedactionIdentifiers

    func redact(_ line: String) -> String {
        let bytes = Array(line.utf8)
        if line.hasPrefix("$SCRDR;") { return String(decoding: fields(bytes), as: UTF8.self) }
        if bytes.first == UInt8(ascii: "{") { return report(line) ?? String(decoding: text.json(bytes), as: UTF8.self) }
        // MK1 and plain text: an identifier alone.
        let mark = bytes.first == UInt8(ascii: "+") ? 1 : 0
        return String(decoding: bytes[..<mark] + field(Array(bytes[mark...])), as: UTF8.self)
    }

    /// What a reader reports as JSON, made anew; `nil` if it is other JSON, or is not well formed.
    private func report(_ line: String) -> String? {
        guard case .tag(var tag)? = try? SmartReaderLine(decoding: line, as: .json) else { return nil }
        func redacted(_ value: String) -> String { String(decoding: field(Array(value.utf8)), as: UTF8.self) }
        tag.id = redacted(tag.id)
        tag.data = tag.data.map(redacted)
        tag.details = tag.details.map(redacted)
        return try? tag.line(as: .json)
    }

    private func fields(_ bytes: [UInt8]) -> [UInt8] {
        let star = bytes.lastIndex(of: UInt8(ascii: "*")) ?? bytes.count
        var body: [UInt8] = []
        let parts = bytes[..<star].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ";")) }
            body += index == 5 || index >= 7 ? field(Array(part)) : Array(part)
        }
        guard star < bytes.count else { return body }
        var check = Array(bytes[star...])
        // It may cover the mark or leave it out; one that was wrong stays.
        let told = check.dropFirst().prefix(2)
        let skipsMark = [true, false].first { told == SmartReaderChecksum.text(bytes[..<star], skipsMark: $0)[...] }
        if let skipsMark {
            check.replaceSubrange(1..<3, with: SmartReaderChecksum.text(body[...], skipsMark: skipsMark))
        }
        return body + check
    }

    /// A field in hexadecimal is a byte string: an identifier of a card, perhaps one that was read otherwise too.
    private func field(_ part: [UInt8]) -> [UInt8] {
        let string = String(decoding: part, as: UTF8.self)
        guard part.count >= 8, part.count.isMultiple(of: 2), let bytes = try? Hex.decode(string) else {
            if part.first == UInt8(ascii: "{") { return text.json(part) }
            return SmartReaderRules.isAddress(string) ? text.uri(part) : text.text(part)
        }
        if (try? NDEFMessage(decoding: bytes)) != nil {
            return Array(RedactionMessage(text: text).redact(bytes).hex.utf8)
        }
        let known = identifiers.replace(in: bytes)
        let new = known == bytes ? text.vocabulary.string(bytes, keeping: bytes.count == 8 ? [0, 1] : [0]) : known
        return Array(new.hex.utf8)
    }
}
