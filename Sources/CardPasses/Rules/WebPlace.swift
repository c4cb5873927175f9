import Foundation

/// A place in the web: a host, and how the path begins.
struct WebPlace {
    /// Case does not count.
    var host: String
    /// Whole segments: `/t` is the beginning of `/t` and `/t/7`, not of `/tags`.
    var path: String

    /// What follows the path in an address of the place, without a `/` before it.
    ///
    /// - Returns: `nil` for an address elsewhere.
    func rest(of address: URLComponents) -> Substring? {
        guard let scheme = address.scheme?.lowercased(), ["https", "http"].contains(scheme),
            address.host?.lowercased() == host.lowercased(), address.path.hasPrefix(path)
        else { return nil }
        let rest = address.path.dropFirst(path.count)
        if path.hasSuffix("/") || rest.isEmpty { return rest }
        return rest.first == "/" ? rest.dropFirst() : nil
    }
}
