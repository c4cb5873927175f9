import Crypto
import Foundation

extension UUID {
    /// A UUID of version 8 (RFC 9562), made of the first bits of a hash: the same for the same data everywhere.
    package init(_ digest: SHA256.Digest) {
        var bytes = Array(digest.prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// A UUID that follows from a text.
    package init(derivedFrom text: String) {
        self.init(SHA256.hash(data: Array(text.utf8)))
    }
}
