/// A URI in its parts, each as it is written (RFC 3986, appendix B).
///
/// What is encoded is data: a part is split first, and decoded after (sections 2.2 and 2.4), since `94%2F1` is one segment
/// and `94/1` are two. A `+` is a plus sign.
struct URIParts {
    /// In lower case; empty for a reference without one.
    var scheme = ""
    /// What stands behind `//`, or `nil`.
    var authority: Substring?
    var path: Substring
    var query: Substring?

    init(_ text: String) {
        var rest = text[...]
        rest = rest.prefix { $0 != "#" }
        if let mark = rest.firstIndex(of: "?") {
            query = rest[mark...].dropFirst()
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/") {
            scheme = rest[..<colon].lowercased()
            rest = rest[colon...].dropFirst()
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            authority = rest.prefix { $0 != "/" }
            rest = rest[(authority?.endIndex ?? rest.startIndex)...]
        }
        path = rest
    }

    /// The host in lower case, without user, port and the dot at its end; `nil` where there is none, or the authority is
    /// not well formed and programs may differ on where it leads.
    var host: String? {
        guard let authority, !authority.contains("\\") else { return nil }
        let sides = authority.split(separator: "@", omittingEmptySubsequences: false)
        guard sides.count <= 2, let place = sides.last else { return nil }
        let end = place.hasPrefix("[") ? place.firstIndex(of: "]").map(place.index(after:)) : place.firstIndex(of: ":")
        let name = place[..<(end ?? place.endIndex)]
        let port = place[name.endIndex...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }),
            var host = Self.decoded(name)?.lowercased()
        else { return nil }
        if host.hasSuffix(".") { host.removeLast() }
        return host.isEmpty ? nil : host
    }

    var segments: [Substring] { Self.segments(of: path) }

    /// The segments of a path, without those that only walk (`.` and `..`, also encoded; section 5.2.4).
    ///
    /// `/m/7` are `m` and `7`; `/m/` are `m` and an empty one.
    static func segments(of path: Substring) -> [Substring] {
        if path.isEmpty { return [] }
        var kept: [Substring] = []
        let all = (path.hasPrefix("/") ? path.dropFirst() : path).split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        for (index, segment) in all.enumerated() {
            let walk = segment.lowercased().replacing("%2e", with: ".")
            guard walk == "." || walk == ".." else {
                kept.append(segment)
                continue
            }
            if walk == ".." { _ = kept.popLast() }
            if index == all.count - 1 { kept.append("") }
        }
        return kept
    }

    /// The parameters of the query, in their order: names that can be decoded, and values as they are written.
    var parameters: [(name: String, value: Substring)] {
        (query ?? "").split(separator: "&").compactMap { pair in
            let name = pair.prefix { $0 != "=" }
            return Self.decoded(name).map { ($0, pair[name.endIndex...].dropFirst()) }
        }
    }

    /// A part with what is encoded in it; `nil` for a `%` without two digits, and for bytes that are no UTF-8.
    static func decoded(_ part: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let digits = String(validating: rest.prefix(2), as: UTF8.self),
                digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
