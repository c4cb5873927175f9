import CCrypto

/// The two numbers of a signature by ECDSA.
package struct ECDSASignature: Sendable, Hashable {
    /// Both numbers, each at the length of the curve's.
    package let numbers: [UInt8]
    /// Both numbers in DER (RFC 3279).
    package let der: [UInt8]

    /// Both numbers, one behind the other: 64 bytes for P-256, as JSON Web Tokens have them, 32 for secp128r1.
    package init?(numbers: some Collection<UInt8>, curve: EllipticCurve = .p256) {
        guard numbers.count == 2 * curve.length, let der = Self.der(Array(numbers)) else { return nil }
        self.numbers = Array(numbers)
        self.der = der
    }

    /// Both numbers in DER (RFC 3279), of P-256; `nil` for whatever else, and for more than that.
    package init?(der: some Collection<UInt8>) {
        let length = EllipticCurve.p256.length
        let numbers: [UInt8]? = withPointer(to: der) { start, count in
            var next: UnsafePointer<UInt8>? = start
            guard let pointer = d2i_ECDSA_SIG(nil, &next, count) else { return nil }
            let signature = Owned(pointer, free: ECDSA_SIG_free)
            guard next == start + count else { return nil }
            var numbers = [UInt8](repeating: 0, count: 2 * length)
            let isPut = numbers.withUnsafeMutableBufferPointer { bytes in
                bytes.baseAddress.map { bytes in
                    BN_bn2binpad(ECDSA_SIG_get0_r(signature.pointer), bytes, Int32(length)) == length
                        && BN_bn2binpad(ECDSA_SIG_get0_s(signature.pointer), bytes + length, Int32(length)) == length
                }
            }
            return isPut == true ? numbers : nil
        }
        ERR_clear_error()
        // The library takes some lengths in more bytes than they need.
        guard let numbers, Self.der(numbers) == Array(der) else { return nil }
        self.numbers = numbers
        self.der = Array(der)
    }

    private static func der(_ numbers: [UInt8]) -> [UInt8]? {
        guard let pointer = ECDSA_SIG_new() else { return nil }
        let signature = Owned(pointer, free: ECDSA_SIG_free)
        let length = Int32(numbers.count / 2)
        let (r, s) = numbers.withUnsafeBufferPointer { bytes in
            let start = bytes.baseAddress
            return (BN_bin2bn(start, length, nil), BN_bin2bn(start.map { $0 + Int(length) }, length, nil))
        }
        guard ECDSA_SIG_set0(signature.pointer, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: numbers.count + 16)
        let count = bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return i2d_ECDSA_SIG(signature.pointer, &next)
        }
        return count > 0 ? Array(bytes[..<Int(count)]) : nil
    }
}

/// A public key on secp128r1, with which NXP signs the identifiers of its tags.
package struct SECP128R1PublicKey: Sendable {
    private let key: EVPKey

    /// Both coordinates of a point, 32 bytes.
    package init(coordinates: [UInt8]) throws(CryptographyError) {
        key = try EVPKey(.secp128r1, point: [0x04] + coordinates)
    }

    /// Whether a signature is that of those bytes, which take the place of a digest, by the private half of this key.
    package func isValid(_ signature: ECDSASignature, for bytes: [UInt8]) -> Bool {
        guard let context = try? key.context(attempting: "check a signature") else {
            return false
        }
        let isValid =
            EVP_PKEY_verify_init(context.pointer) == 1
            && EVP_PKEY_verify(context.pointer, signature.der, signature.der.count, bytes, bytes.count) == 1
        ERR_clear_error()
        return isValid
    }
}

extension EVPKey {
    /// Whether a signature is that of the message.
    ///
    /// - Parameter digest: `nil` where the kind of signature has its own.
    func isValid(_ signature: [UInt8], for message: some Collection<UInt8>, digest: String? = nil) -> Bool {
        guard let pointer = EVP_MD_CTX_new() else { return false }
        let context = Owned(pointer, free: EVP_MD_CTX_free)
        let library = LibCrypto.shared.context
        let isValid = withPointer(to: message) { start, count in
            EVP_DigestVerifyInit_ex(context.pointer, nil, digest, library, nil, self.pointer, nil) == 1
                && EVP_DigestVerify(context.pointer, signature, signature.count, start, count) == 1
        }
        ERR_clear_error()
        return isValid
    }

    /// Signs a message.
    ///
    /// - Parameter digest: `nil` where the kind of signature has its own.
    func sign(_ message: some Collection<UInt8>, digest: String? = nil) throws(CryptographyError) -> [UInt8] {
        let attempt = "sign"
        let context = try Owned(EVP_MD_CTX_new(), attempting: attempt, free: EVP_MD_CTX_free)
        let library = LibCrypto.shared.context
        var (signature, count) = ([UInt8](repeating: 0, count: 80), 80)
        let isSigned = withPointer(to: message) { start, length in
            EVP_DigestSignInit_ex(context.pointer, nil, digest, library, nil, pointer, nil) == 1
                && EVP_DigestSign(context.pointer, &signature, &count, start, length) == 1
        }
        guard isSigned else { throw CryptographyError(attempting: attempt) }
        return Array(signature[..<count])
    }
}
