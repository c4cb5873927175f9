import CardCore
import CardTags

/// The parameters of a URL as they stand there: what a tag signs are the characters themselves.
struct SDMQuery {
    let bytes: [UInt8]
    private let layout: SDMLayout
    private let places: [String: Range<Int>]

    init(_ url: String, _ layout: SDMLayout) {
        self.layout = layout
        // What stands behind a '#' is no part of what a tag writes.
        bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        var places: [String: Range<Int>] = [:]
        var start = (bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex - 1) + 1
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.endIndex
            if let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) {
                let name = String(decoding: bytes[start..<equals], as: UTF8.self)
                // The first of a name counts; a second one would let somebody add what is not signed.
                if places[name] == nil { places[name] = (equals + 1)..<end }
            }
            start = end + 1
        }
        self.places = places
    }

    func place(of name: String) -> Range<Int>? { places[name] }

    /// Where a part of the layout stands: in a parameter of its own, or in its place among those that share one.
    func place(of part: SDMLayout.Part) throws(SDMError) -> Range<Int> {
        let name = layout.name(of: part)
        guard let whole = places[name] else { throw .missing(name) }
        let parts = SDMLayout.Part.allCases.filter { layout.name(of: $0) == name }
        guard parts.count > 1 else { return whole }
        // What is left for parts without a fixed length: the length of identifier and counter determines the mode.
        var rest = whole.count - parts.reduce(0) { $0 + ($1.digits ?? 0) }
        guard rest >= 0 else { throw .malformed(name) }
        let block = 2 * AES128.blockLength
        var lengths: [SDMLayout.Part: Int] = [:]
        if parts.contains(.piccData) {
            let length = rest % block == 0 ? block : block + 2 * SDMSession.randomLength
            lengths[.piccData] = length
            rest -= length
        }
        if parts.contains(.fileData) { (lengths[.fileData], rest) = (rest, 0) }
        guard rest == 0, (lengths[.fileData] ?? 0) % block == 0, lengths.values.allSatisfy({ $0 >= 0 }) else {
            throw .malformed(name)
        }
        var start = whole.lowerBound
        for other in parts.prefix(while: { $0 != part }) { start += other.digits ?? lengths[other] ?? 0 }
        return start..<start + (part.digits ?? lengths[part] ?? 0)
    }

    /// The bytes of a part, which has so many if a count is specified: digits with nothing between them.
    func bytes(_ part: SDMLayout.Part, count: Int? = nil) throws(SDMError) -> [UInt8] {
        let text = String(decoding: bytes[try place(of: part)], as: UTF8.self)
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "-") && $0 > 0x20 }),
            let bytes = try? Hex.decode(text), bytes.count == count ?? bytes.count
        else { throw .malformed(layout.name(of: part)) }
        return bytes
    }
}

/// Identifier and counter of a tap, as the keys of the tap are made of them.
struct SDMMeta: Hashable {
    /// 7 bytes, or 4; empty if the tag omits it.
    var uid: [UInt8] = []
    /// Three bytes, the least significant first; empty if the tag omits it.
    var counterBytes: [UInt8] = []

    init(uid: [UInt8] = [], counterBytes: [UInt8] = []) {
        (self.uid, self.counterBytes) = (uid, counterBytes)
    }

    /// Reads decrypted PICC data, 16 bytes; `nil` for what no tag writes, such as another key makes.
    init?(piccData plain: [UInt8]) {
        // Bit 7: an identifier follows; bit 6: a counter; the low four bits: how long the identifier is.
        guard let tag = plain.first, tag & 0xC0 != 0 else { return nil }
        var rest = plain.dropFirst()
        if tag & 0x80 != 0 {
            let length = Int(tag & 0x0F)
            guard length == 7 || length == 4 else { return nil }
            uid = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        if tag & 0x40 != 0 { counterBytes = Array(rest.prefix(3)) }
    }

    var counter: UInt32? { counterBytes.isEmpty ? nil : counterBytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }

    var encoded: [UInt8] { uid + counterBytes }

    /// The counter, filled up with zeros: where the encryption of file data begins.
    func counter(filledTo length: Int) -> [UInt8] {
        Array((counterBytes + [UInt8](repeating: 0, count: length)).prefix(length))
    }
}
