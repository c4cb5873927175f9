import Foundation

/// The files with keys that a configuration names.
package struct PassKeyFiles {
    /// Where relative paths begin.
    package var folder: String

    /// - Parameter folder: where relative paths begin.
    package init(folder: String) { self.folder = folder }

    /// What a file with a key has to have in it.
    package enum Kind: String {
        case curve = "a P-256 private key in PEM"
        case tag = "a key of 32 hexadecimal digits"
        case preSignature = "a signature made in advance for that collector and key version"
    }

    /// No key is longer, in bytes.
    private static let longest = 16_384
    /// No set of public keys is longer.
    private static let longestSet = 1 << 20

    func path(of name: String) -> String { name.hasPrefix("/") ? name : "\(folder)/\(name)" }

    /// A secret key, which its owner alone may read.
    package func key<Key>(
        _ name: String,
        _ kind: Kind,
        _ make: (String) -> Key?
    ) throws(PassConfigurationError) -> Key {
        let path = path(of: name)
        let (text, mode) = try read(path, Self.longest)
        guard mode & 0o077 == 0 else { throw .keyOpenToOthers(path, mode: mode) }
        guard let text, let key = make(text) else { throw .noKey(path, kind.rawValue) }
        return key
    }

    /// Public keys, which anybody may read and only their owner may change.
    func publicKeys(_ name: String) throws(PassConfigurationError) -> String {
        let path = path(of: name)
        let (text, mode) = try read(path, Self.longestSet)
        guard mode & 0o022 == 0 else { throw .keyWritableByOthers(path, mode: mode) }
        guard let text else { throw .badPublicKeys(path, .malformed) }
        return text
    }

    /// The text of a file, `nil` if it is no text, and its mode: of the file that is open, not of what has its name by now.
    private func read(_ path: String, _ longest: Int) throws(PassConfigurationError) -> (text: String?, mode: UInt32) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .keyNotReadable(path, String(cString: strerror(errno))) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .keyNotReadable(path, "it is no file")
        }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = Foundation.read(file, &bytes, bytes.count)
        let text = count >= 0 ? String(validating: bytes.prefix(count), as: UTF8.self) : nil
        return (text, status.st_mode & 0o777)
    }
}
