/// Media types (RFC 6838) as texts.
enum MediaType {
    /// Type and subtype without parameters, in lower case.
    static func essence(_ text: String) -> String {
        let end = text.firstIndex(of: ";") ?? text.endIndex
        return text[..<end].trimmingSpaces.lowercased()
    }

    /// Whether the published schema takes the text for a media type.
    static func isOfSchema(_ text: String) -> Bool {
        if text == SirenEntity.mediaType { return true }
        var rest = text.utf8[...]
        let type = rest.prefix { $0 != UInt8(ascii: "/") }
        rest = rest[type.endIndex...].dropFirst()
        let subtype = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[subtype.endIndex...]
        guard types.contains(String(type) ?? ""), text.utf8.count > type.count, (1...127).contains(subtype.count),
            subtype.allSatisfy({ $0.isAlphanumeric || "!#$&.+-^_".utf8.contains($0) })
        else { return false }
        while rest.popFirst() != nil {
            if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
            let name = rest.prefix { $0 != UInt8(ascii: "=") }
            rest = rest[name.endIndex...]
            guard !name.isEmpty, name.allSatisfy(isToken), rest.popFirst() != nil else { return false }
            if rest.first == UInt8(ascii: "\"") {
                rest.removeFirst()
                let value = rest.prefix { $0 != UInt8(ascii: "\"") }
                rest = rest[value.endIndex...]
                guard !value.isEmpty, value.allSatisfy(isQuoted), rest.popFirst() != nil else { return false }
                guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { return false }
            } else {
                let value = rest.prefix { $0 != UInt8(ascii: ";") }
                rest = rest[value.endIndex...]
                guard !value.isEmpty, value.allSatisfy(isToken) else { return false }
            }
        }
        return true
    }

    private static let types: Set<String> = [
        "application", "audio", "image", "message", "model", "multipart", "text", "video",
    ]

    /// What the schema lets stand in a parameter's name, and in its value without quotes.
    private static func isToken(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&'()*+,-./^_`]|~".utf8.contains(byte)
    }

    private static func isQuoted(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&.()*+,-./:;<=>?@[\\]^_`{|}~".utf8.contains(byte)
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    var trimmingSpaces: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}
