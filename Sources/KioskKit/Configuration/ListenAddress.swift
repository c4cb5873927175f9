import Foundation

/// Where the screen is served to browsers: an address and a port.
package struct ListenAddress: Sendable {
    package var host: String
    package var port: Int

    /// Whether only this machine reaches it.
    package var isLoopback: Bool {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        if inet_pton(AF_INET6, host, &six) == 1 { return host == "::1" || host.hasPrefix("::ffff:127.") }
        return host == "localhost"
    }

    /// The host as a browser reaches it: where all are listened on, the machine's own name.
    package var hostInURL: String {
        if ["0.0.0.0", "::"].contains(host) { return ProcessInfo.processInfo.hostName }
        return host.contains(":") ? "[\(host)]" : host
    }

    /// Takes `127.0.0.1:8080`, `[::1]:8080`, or a port alone.
    package init?(_ text: String) {
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        guard digits.allSatisfy(\.isNumber), let port = UInt16(digits) else { return nil }
        self.port = Int(port)
        host = colon.map { text[..<$0].lowercased() } ?? ""
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        // An address of six groups without brackets, or a whole URL.
        if host.isEmpty ? text.hasPrefix("[") : host.contains(where: "/[]".contains) { return nil }
        if host.contains(":"), !text.hasPrefix("[") { return nil }
        if host.isEmpty { host = "127.0.0.1" }
    }

    /// Whether a text is the name of a host alone, without a port.
    package static func isHost(_ name: String) -> Bool { isWord(name, besides: "-._") }

    /// Whether a text is the name of a header.
    package static func isHeader(_ name: String) -> Bool { isWord(name, besides: "-_") }

    private static func isWord(_ text: String, besides signs: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || signs.contains($0)) }
    }
}
