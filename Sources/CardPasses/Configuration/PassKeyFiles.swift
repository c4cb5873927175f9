import CLinux
import CardCore
import Foundation

/// The files with keys that a configuration names.
package struct PassKeyFiles {
    private let folder: String

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
        let path = try Self.checked(name, path(of: name))
        let (bytes, mode) = try Self.read(path, Self.longest)
        guard mode & 0o077 == 0 else { throw .keyOpenToOthers(path, mode: mode) }
        guard let text = Self.text(bytes), let key = make(text) else {
            throw .noKey(path, kind.rawValue)
        }
        return key
    }

    /// A text in UTF-8, without the byte order mark that an editor put before it.
    private static func text(_ bytes: [UInt8]) -> String? {
        String(validating: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
    }

    /// Public keys, which anybody may read and only their owner may change.
    func publicKeys(_ name: String) throws(PassConfigurationError) -> String {
        let path = try Self.checked(name, path(of: name))
        let (bytes, mode) = try Self.read(path, Self.longestSet)
        guard mode & 0o022 == 0 else { throw .writableByOthers(path, mode: mode) }
        guard let text = Self.text(bytes) else { throw .badPublicKeys(path, .malformed) }
        return text
    }

    /// The configuration, which only its owner may change: it decides who is let in.
    static func configuration(_ path: String) throws(PassConfigurationError) -> [UInt8] {
        do throws(PassConfigurationError) {
            let (bytes, mode) = try read(path, longestSet)
            guard mode & 0o022 == 0 else { throw .writableByOthers(path, mode: mode) }
            return bytes
        } catch {
            if case .keyNotReadable = error { throw .notReadable(path) }
            throw error
        }
    }

    /// A name that is none: it must not be shown, since it is the key.
    private static func checked(_ name: String, _ path: String) throws(PassConfigurationError) -> String {
        let digits = name.filter { !$0.isWhitespace && $0 != ":" }
        let isKey =
            name.contains("-----BEGIN") || name.contains("\n") || name.trimmed.first == "{"
            || digits.utf8.count >= 32 && digits.allSatisfy(\.isHexDigit)
        if isKey { throw .keyInPlaceOfFile }
        guard !name.isEmpty, !name.utf8.contains(0) else { throw .keyNotReadable(path, "this is no name of a file") }
        return path
    }

    /// The content of a file and its mode: of the file that is open, not of what has its name by now.
    private static func read(
        _ path: String,
        _ longest: Int
    ) throws(PassConfigurationError) -> (bytes: [UInt8], mode: UInt32) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .keyNotReadable(path, String(cString: strerror(errno))) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .keyNotReadable(path, "it is no file")
        }
        // As whom this thread opens files: the user of the process, unless the thread looks in another's place.
        guard status.st_uid == 0 || status.st_uid == setfsuid(.max) else { throw .ownedByAnother(path) }
        let bytes: [UInt8]
        do throws(FileSteps.Failure) {
            bytes = try FileSteps.read(file, until: longest)
        } catch {
            throw .keyNotReadable(path, String(cString: strerror(error.code)))
        }
        guard bytes.count <= longest else { throw .keyNotReadable(path, "it is longer than any such file") }
        return (bytes, status.st_mode & 0o777)
    }
}
