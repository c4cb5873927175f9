import CardCore
import SwiftASN1

/// Private keys in PEM.
enum PEMKey {
    /// The block with a private key on P-256, without what may stand before it, such as the parameters that openssl writes.
    ///
    /// - Returns: `nil` if absent. The library takes any key of 32 bytes for one, on whatever curve.
    static func p256(in pem: String) -> String? {
        let lines = pem.split(whereSeparator: \.isNewline).map(\.trimmed)
            .drop { !$0.hasPrefix("-----BEGIN") || !$0.hasSuffix("PRIVATE KEY-----") }
        guard let end = lines.firstIndex(where: { $0.hasPrefix("-----END") }),
            let block = try? PEMDocument(pemString: lines[...end].joined(separator: "\n")),
            let key = try? DER.parse(block.derBytes), isOnP256(key)
        else { return nil }
        return block.pemString
    }

    /// Whether the curve's name stands anywhere in the key, as PKCS #8 and SEC 1 have it in different places.
    private static func isOnP256(_ node: ASN1Node) -> Bool {
        switch node.content {
        case .constructed(let nodes): nodes.contains(where: isOnP256)
        case .primitive: (try? ASN1ObjectIdentifier(derEncoded: node)) == ASN1ObjectIdentifier.NamedCurves.secp256r1
        }
    }
}
