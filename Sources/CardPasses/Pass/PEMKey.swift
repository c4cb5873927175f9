import CardCore
import Foundation

/// Private keys in PEM.
enum PEMKey {
    /// The object identifier of the curve P-256, as keys have it: 1.2.840.10045.3.1.7.
    private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    /// The block with a private key on P-256, without what may stand before it, such as the parameters that openssl writes.
    ///
    /// - Returns: `nil` if absent. The library takes any key of 32 bytes for one, on whatever curve.
    static func p256(in pem: String) -> String? {
        let lines = pem.split(whereSeparator: \.isNewline).map(\.trimmed)
            .drop { !$0.hasPrefix("-----BEGIN") || !$0.contains("PRIVATE KEY") }
        guard let end = lines.firstIndex(where: { $0.hasPrefix("-----END") }) else { return nil }
        let block = lines[...end]
        guard let data = Data(base64Encoded: block.dropFirst().dropLast().joined()) else { return nil }
        let bytes = Array(data)
        guard bytes.count > curve.count,
            bytes.indices.dropLast(curve.count - 1).contains(where: { bytes[$0...].starts(with: curve) })
        else { return nil }
        return block.joined(separator: "\n")
    }
}
