/// Replaces what is personal in a line of a reader in Smart Reader mode.
///
/// `$SCRDR;interface;protocol;template;RSSI;TagId;move;TagData;TagDetails*XOR`: the identifier and the data are replaced,
/// the checksum is made anew. Of a JSON object all texts but those of known names are replaced, of other lines all words.
struct RedactionLine {
    let text: RedactionText
    let identifiers: RedactionIdentifiers

    func redact(_ line: String) -> String {
        let bytes = Array(line.utf8)
        if line.hasPrefix("$SCRDR;") { return String(decoding: fields(bytes), as: UTF8.self) }
        if bytes.first == UInt8(ascii: "{") { return String(decoding: text.json(bytes), as: UTF8.self) }
        return String(decoding: text.text(bytes), as: UTF8.self)
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
        if check.count >= 3, old(bytes[..<star], check) {
            let sum = Self.sum(body[...], skipsMark: skipsMark(bytes[..<star], check))
            check.replaceSubrange(1..<3, with: Array(Hex.encode([sum]).utf8))
        }
        return body + check
    }

    /// A field in hexadecimal is a byte string: an identifier of a card, perhaps one that was read otherwise too.
    private func field(_ part: [UInt8]) -> [UInt8] {
        guard part.count >= 8, part.count.isMultiple(of: 2),
            let bytes = try? Hex.decode(String(decoding: part, as: UTF8.self))
        else { return text.text(part) }
        let known = identifiers.replace(in: bytes)
        let new = known == bytes ? text.vocabulary.string(bytes, keeping: bytes.count == 8 ? [0, 1] : [0]) : known
        return Array(new.hex.utf8)
    }

    private func old(_ body: ArraySlice<UInt8>, _ check: [UInt8]) -> Bool {
        let wanted = Array(check[1..<3])
        return [true, false].contains { Array(Hex.encode([Self.sum(body, skipsMark: $0)]).utf8) == wanted }
    }

    private func skipsMark(_ body: ArraySlice<UInt8>, _ check: [UInt8]) -> Bool {
        Array(Hex.encode([Self.sum(body, skipsMark: true)]).utf8) == Array(check[1..<3])
    }

    private static func sum(_ bytes: ArraySlice<UInt8>, skipsMark: Bool) -> UInt8 {
        (skipsMark ? bytes.dropFirst() : bytes).reduce(0, ^)
    }
}
