import CCrypto
import Glibc

/// Keys on the curve P-256 (FIPS 186-4): agreement (ECDH) and signatures (ECDSA with SHA-256).
package enum P256 {
    /// The length of a coordinate, and of a private key, in bytes.
    package static let length = 32

    /// A point of the curve that is not the one at infinity.
    package struct PublicKey: Sendable {
        let key: EVPKey
        /// Both coordinates, 64 bytes, with their leading zeros.
        package let coordinates: [UInt8]

        /// A compressed point: 02 or 03, and the X coordinate.
        ///
        /// - Throws: ``CryptographyError`` for another form, and for what is no point of the curve.
        package init(compressed point: some Collection<UInt8>) throws(CryptographyError) {
            guard point.count == 1 + P256.length else {
                throw CryptographyError(attempting: "take a compressed point of P-256")
            }
            try self.init(EVPKey(.p256, point: Array(point)))
        }

        /// Both coordinates of a point, 64 bytes.
        ///
        /// - Throws: ``CryptographyError`` for what is no point of the curve.
        package init(coordinates: some Collection<UInt8>) throws(CryptographyError) {
            try self.init(EVPKey(.p256, point: [0x04] + coordinates))
        }

        /// The public key of a PEM file (`PUBLIC KEY`, RFC 5480), whose point is not compressed.
        ///
        /// - Throws: ``CryptographyError`` if it is none, or one on another curve.
        package init(pem: String) throws(CryptographyError) {
            let block = try PEM(pem) { $0 == "PUBLIC KEY" }
            // There is one way to write it, so that whatever else there may be is refused, such as a curve that is spelled out.
            try self.init(coordinates: block.body(after: P256.head))
        }

        fileprivate init(_ key: EVPKey) throws(CryptographyError) {
            self.key = key
            var coordinates: [UInt8] = []
            for name in [OSSL_PKEY_PARAM_EC_PUB_X, OSSL_PKEY_PARAM_EC_PUB_Y] {
                coordinates += try key.number(name, length: P256.length).withBytes { Array($0) }
            }
            self.coordinates = coordinates
        }

        /// The compressed point, 33 bytes.
        package var compressed: [UInt8] { [0x02 | coordinates[63] & 1] + coordinates[..<32] }

        /// SubjectPublicKeyInfo (RFC 5480), as a PEM file has it.
        package var pem: String { PEM.text("PUBLIC KEY", P256.head + coordinates) }

        /// Whether a signature is that of the message by the private half of this key.
        package func isValid(_ signature: ECDSASignature, for message: some Collection<UInt8>) -> Bool {
            key.isValid(signature.der, for: message, digest: "SHA256")
        }
    }

    /// A private key, with the point that belongs to it. It is never shown.
    package struct PrivateKey: Sendable {
        private let key: EVPKey
        /// The number, 32 bytes.
        package let number: SecretBytes
        /// The point.
        package let publicKey: PublicKey

        /// A new key.
        package init() {
            self = unfailing { () throws(CryptographyError) in
                let attempt = "make a key on P-256"
                let context = try EllipticCurve.p256.parameters.context(attempting: attempt)
                return try PrivateKey(EVPKey(generating: context, attempting: attempt))
            }
        }

        /// The key with that number.
        ///
        /// - Parameter bytes: 32 bytes.
        /// - Throws: ``CryptographyError`` if the number is 0, or not below the order of the curve.
        package init(_ bytes: some Collection<UInt8>) throws(CryptographyError) {
            let attempt = "take a number for a private key on P-256"
            guard bytes.count == P256.length else { throw CryptographyError(attempting: attempt) }
            let number = try Owned(
                withPointer(to: bytes) { BN_bin2bn($0, Int32($1), nil) },
                attempting: attempt,
                free: BN_clear_free
            )
            // In a time that does not depend on it.
            BN_set_flags(number.pointer, BN_FLG_CONSTTIME)
            let group = try Owned(
                EC_GROUP_new_by_curve_name_ex(LibCrypto.shared.context, nil, NID_X9_62_prime256v1),
                attempting: attempt,
                free: EC_GROUP_free
            )
            let point = try Owned(EC_POINT_new(group.pointer), attempting: attempt, free: EC_POINT_free)
            var encoded = [UInt8](repeating: 0, count: 1 + 2 * P256.length)
            guard BN_is_zero(number.pointer) == 0,
                BN_cmp(number.pointer, EC_GROUP_get0_order(group.pointer)) < 0,
                EC_POINT_mul(group.pointer, point.pointer, number.pointer, nil, nil, nil) == 1,
                EC_POINT_point2oct(
                    group.pointer,
                    point.pointer,
                    POINT_CONVERSION_UNCOMPRESSED,
                    &encoded,
                    encoded.count,
                    nil
                ) == encoded.count
            else { throw CryptographyError(attempting: attempt) }
            let values = Parameters([
                (OSSL_PKEY_PARAM_GROUP_NAME, .text(EllipticCurve.p256.rawValue)),
                (OSSL_PKEY_PARAM_PUB_KEY, .bytes(encoded)), (OSSL_PKEY_PARAM_PRIV_KEY, .number(SecretBytes(bytes))),
            ])
            try self.init(EVPKey("EC", values, selection: EVPKey.pair))
        }

        /// The private key of a PEM file (`PRIVATE KEY`, RFC 5958, or `EC PRIVATE KEY`, RFC 5915).
        ///
        /// - Throws: ``CryptographyError`` if it is none, or one on another curve.
        package init(pem: String) throws(CryptographyError) {
            let attempt = "read a private key on P-256"
            let block = try PEM(pem) { $0.hasSuffix("PRIVATE KEY") }
            guard ["PRIVATE KEY", "EC PRIVATE KEY"].contains(block.label) else {
                throw CryptographyError(attempting: attempt)
            }
            let key = try block.der.withBytes { bytes throws(CryptographyError) in
                var next = bytes.baseAddress
                let key = d2i_AutoPrivateKey_ex(nil, &next, bytes.count, LibCrypto.shared.context, nil)
                let owned = try EVPKey(key, attempting: attempt)
                guard next == bytes.baseAddress.map({ $0 + bytes.count }), owned.isOnP256 else {
                    throw CryptographyError(attempting: attempt)
                }
                return owned
            }
            // Its number alone counts: a file may hold another key's point, or none.
            let number = try key.number(OSSL_PKEY_PARAM_PRIV_KEY, length: P256.length)
            self = try number.withBytes { bytes throws(CryptographyError) in try PrivateKey(bytes) }
        }

        private init(_ key: EVPKey) throws(CryptographyError) {
            self.key = key
            number = try key.number(OSSL_PKEY_PARAM_PRIV_KEY, length: P256.length)
            publicKey = try PublicKey(key)
        }

        /// PrivateKeyInfo (PKCS #8, RFC 5958) with the public key in it, as a PEM file has it.
        package var pem: String {
            let number = number.withBytes { Array($0) }
            let point: [UInt8] = [0xA1, 0x44, 0x03, 0x42, 0x00, 0x04] + publicKey.coordinates
            let key: [UInt8] = [0x30, 0x6B, 0x02, 0x01, 0x01, 0x04, 0x20] + number + point
            let head: [UInt8] = [0x30, 0x81, 0x87, 0x02, 0x01, 0x00] + P256.algorithm
            return PEM.text("PRIVATE KEY", head + [0x04, 0x6D] + key)
        }

        /// What two private keys have in common, each with the other's point: the X coordinate of the product, 32 bytes (ECDH).
        package func sharedSecret(with other: PublicKey) throws(CryptographyError) -> SecretBytes {
            let attempt = "agree on a secret"
            let context = try key.context(attempting: attempt)
            // The other's point was checked when it was taken.
            guard EVP_PKEY_derive_init(context.pointer) == 1,
                EVP_PKEY_derive_set_peer_ex(context.pointer, other.key.pointer, 0) == 1
            else { throw CryptographyError(attempting: attempt) }
            return try SecretBytes(count: P256.length) { bytes throws(CryptographyError) in
                var count = P256.length
                let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                guard EVP_PKEY_derive(context.pointer, start, &count) == 1, count == P256.length else {
                    throw CryptographyError(attempting: attempt)
                }
            }
        }

        /// Signs a message.
        package func sign(_ message: some Collection<UInt8>) throws(CryptographyError) -> ECDSASignature {
            guard let signature = ECDSASignature(der: try key.sign(message, digest: "SHA256")) else {
                throw CryptographyError(attempting: "sign")
            }
            return signature
        }
    }

    /// AlgorithmIdentifier: id-ecPublicKey, prime256v1.
    private static let algorithm: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03,
        0x01, 0x07,
    ]

    /// What stands before the coordinates in SubjectPublicKeyInfo.
    private static let head = [0x30, 0x59] + algorithm + [0x03, 0x42, 0x00, 0x04]
}

extension EVPKey {
    /// Whether it is a key on P-256 that names its curve. One that spells out the curve's numbers is refused (RFC 5480): in
    /// that way others have made keys of their own for the same point.
    fileprivate var isOnP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        var isSpelledOut: Int32 = 0
        let isNamed = EVP_PKEY_get_utf8_string_param(pointer, OSSL_PKEY_PARAM_GROUP_NAME, &name, name.count, nil) == 1
        _ = EVP_PKEY_get_int_param(pointer, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isSpelledOut)
        return isNamed && strcmp(name, EllipticCurve.p256.rawValue) == 0 && isSpelledOut == 0
    }
}

extension P256.PrivateKey: CustomStringConvertible, CustomReflectable {
    /// What it is, without its bytes.
    package var description: String { "private key on P-256" }

    /// Nothing, so that neither `dump(_:)` nor a test framework prints it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
