import Crypto
import Foundation

/// Private keys in PEM.
enum PEMKey {
    /// The object identifier of the curve P-256, as keys have it: 1.2.840.10045.3.1.7.
    private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    /// Whether a text is of a key on P-256. The library takes any key of 32 bytes for one.
    static func isOfP256(_ pem: String) -> Bool {
        let body = pem.split(whereSeparator: \.isNewline).drop {
            !$0.hasPrefix("-----BEGIN") || $0.contains("PARAMETERS")
        }
        .dropFirst().prefix { !$0.hasPrefix("-----END") }.joined().filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: body).map({ Array($0) }), bytes.count > curve.count else { return false }
        return bytes.indices.dropLast(curve.count - 1).contains { bytes[$0...].starts(with: curve) }
    }
}
