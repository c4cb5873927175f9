/// Relations: names that are registered, or URIs (RFC 8288).
public enum SirenRelation {
    /// Whether two relations are the same: case does not count, of registered names or of URIs (RFC 8288, 2.1).
    public static func isSame(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).allSatisfy { $0 == $1 || ($0 ^ $1 == 0x20 && $0.isASCIILetter) }
    }

    /// Whether it is a registered name, in whatever case, or a URI.
    public static func isValid(_ relation: String) -> Bool {
        registered.contains(relation) || registered.contains(relation.lowercased()) || isURI(relation)
    }

    private static func isURI(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8.first?.isASCIILetter == true else {
            return false
        }
        let isScheme = text.utf8[..<colon].allSatisfy {
            $0.isAlphanumeric || "+-.".utf8.contains($0)
        }
        return isScheme && URIReference.isValid(text)
    }

    /// The names of the registry of link relations at IANA, in lower case.
    public static let registered = Set(
        """
        about acl alternate amphtml api-catalog appendix apple-touch-icon apple-touch-startup-image archives author
        blocked-by bookmark c2pa-manifest canonical chapter cite-as collection compression-dictionary contents
        convertedfrom copyright create-form current deprecation derivedfrom describedby describes disclosure dns-prefetch
        duplicate edit edit-form edit-media enclosure external first geofeed glossary help hosts hub icon index
        intervalafter intervalbefore intervalcontains intervaldisjoint intervalduring intervalequals intervalfinishedby
        intervalfinishes intervalin intervalmeets intervalmetby intervaloverlappedby intervaloverlaps intervalstartedby
        intervalstarts item last latest-version license linkset lrdd manifest mask-icon me media-feed memento micropub
        modulepreload monitor monitor-group next next-archive nofollow noopener noreferrer opener openid2.local_id
        openid2.provider original p3pv1 payment pingback preconnect predecessor-version prefetch preload prerender prev
        prev-archive preview previous privacy-policy profile publication related replies restconf ruleinput search section
        self service service-desc service-doc service-meta siptrunkingcapability sponsored start status stylesheet
        subsection successor-version sunset tag terms-of-service timegate timemap type ugc up version-history via
        webmention working-copy working-copy-of
        """.split(whereSeparator: \.isWhitespace).map(String.init)
    )
}

/// References to resources (RFC 3986), by their characters.
enum URIReference {
    /// Whether each byte may stand in a reference, and each `%` begins an escape.
    static func isValid(_ text: String) -> Bool {
        var digitsDue = 0
        for byte in text.utf8 {
            if digitsDue > 0 {
                guard byte ^ 0x30 < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6 else { return false }
                digitsDue -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsDue = 2
            } else if !isAllowed(byte) {
                return false
            }
        }
        return digitsDue == 0
    }

    /// All of ASCII but for control characters, spaces and `"<>\^`{|}`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }
}
