import Foundation

/// Templates of URIs (RFC 6570), whose values are texts.
enum URITemplate {
    /// The URI, and the names of the values that stand in it; `nil` if the template is malformed.
    ///
    /// A template that begins with `{@`, a URL and `}` is relative to that URL: what it expands to is resolved.
    static func expand(_ template: String, _ values: [String: String]) -> (uri: String, used: Set<String>)? {
        guard template.hasPrefix("{@"), let end = template.firstIndex(of: "}") else {
            return expandAlone(template, values)
        }
        let base = URL(string: String(template[..<end].dropFirst(2)))
        guard let (uri, used) = expandAlone(String(template[end...].dropFirst()), values),
            let url = SirenReference.resolve(uri, against: base)
        else { return nil }
        return (url.absoluteString, used)
    }

    private static func expandAlone(
        _ template: String,
        _ values: [String: String]
    ) -> (uri: String, used: Set<String>)? {
        var (uri, used) = ("", Set<String>())
        var rest = template[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            uri += rest[..<open]
            var expression = rest[open..<close].dropFirst()
            rest = rest[close...].dropFirst()
            let form = expression.first.flatMap { forms[$0] }
            if form != nil { expression.removeFirst() }
            let (first, between, isNamed, keepsReserved) = form ?? ("", ",", false, false)
            var parts: [String] = []
            for part in expression.split(separator: ",", omittingEmptySubsequences: false) {
                // A text is written with `*` as it is without.
                let cut =
                    part.hasSuffix("*")
                    ? [part.dropLast()] : part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard let length = cut.count > 1 ? Int(cut[1]) : Int.max, length > 0 else { return nil }
                let name = String(cut[0])
                guard !name.isEmpty, name.utf8.allSatisfy({ isUnreserved($0) || $0 == UInt8(ascii: "%") }) else {
                    return nil
                }
                guard let value = values[name] else { continue }
                used.insert(name)
                let text = escaped(String(value.unicodeScalars.prefix(length)), keepsReserved: keepsReserved)
                parts.append(isNamed ? name + (text.isEmpty && first == ";" ? "" : "=" + text) : text)
            }
            if !parts.isEmpty { uri += first + parts.joined(separator: between) }
        }
        return (uri + rest, used)
    }

    /// What stands before the first value, what between two, whether they have names, and whether reserved characters stay.
    private static let forms: [Character: (String, String, Bool, Bool)] = [
        "+": ("", ",", false, true), "#": ("#", ",", false, true), ".": (".", ".", false, false),
        "/": ("/", "/", false, false), ";": (";", ";", true, false), "?": ("?", "&", true, false),
        "&": ("&", "&", true, false),
    ]

    private static func isUnreserved(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "-._~".utf8.contains(byte) }

    private static func escaped(_ text: String, keepsReserved: Bool) -> String {
        text.percentEscaped { isUnreserved($0) || keepsReserved && ":/?#[]@!$&'()*+,;=".utf8.contains($0) }
    }
}

extension SirenLink {
    /// The names of the values for which its reference has places (RFC 6570), each once; none if it is no template.
    public var variables: [String] {
        // What it is relative to comes first.
        let template = href.hasPrefix("{@") ? href.drop { $0 != "}" }.dropFirst() : href[...]
        var names: [String] = []
        for expression in template.matches(of: /\{[+#.\/;?&]?([^}]*)\}/) {
            for part in expression.1.split(separator: ",") {
                // Behind a name may stand how its value is written.
                let name = String(part.prefix { $0 != "*" && $0 != ":" })
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }
}

extension String {
    /// With `%` and two digits in place of each byte that is not kept.
    func percentEscaped(keeping isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = utf8.flatMap { isKept($0) ? [$0] : [0x25, digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
