/// The parameters of a URL as they stand there: what a tag signs are the characters themselves.
struct SDMQuery {
    let bytes: [UInt8]
    private let places: [String: Range<Int>]

    init(_ url: String) {
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

    /// Where a value stands.
    func place(of name: String) -> Range<Int>? { places[name] }

    /// The bytes of a value.
    func bytes(_ name: String) throws(SDMError) -> [UInt8] {
        guard let place = places[name] else { throw .missing(name) }
        guard let bytes = Self.digits(String(decoding: bytes[place], as: UTF8.self)) else { throw .malformed(name) }
        return bytes
    }

    /// The bytes of a value that has so many.
    func bytes(_ name: String, count: Int) throws(SDMError) -> [UInt8] {
        let bytes = try bytes(name)
        guard bytes.count == count else { throw .malformed(name) }
        return bytes
    }

    /// The bytes of digits with nothing between them, as a tag writes them.
    private static func digits(_ text: String) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "-") && $0 > 0x20 }) else {
            return nil
        }
        return try? Hex.decode(text)
    }
}
