import CCrypto

/// The curves in use (SEC 2).
package enum EllipticCurve: String, Sendable {
    /// P-256: passes, signed tokens.
    case p256 = "prime256v1"
    /// secp128r1: with it NXP signs the identifiers of its tags.
    case secp128r1

    /// The length of a coordinate, and of a number of a signature, in bytes.
    package var length: Int { self == .p256 ? 32 : 16 }

    /// A key without its point, which other keys take the curve from: to make the curve anew takes half the time of an import.
    var parameters: EVPKey { self == .p256 ? Self.ofP256 : Self.ofSECP128R1 }

    private static let ofP256 = parameters(of: .p256)
    private static let ofSECP128R1 = parameters(of: .secp128r1)

    private static func parameters(of curve: EllipticCurve) -> EVPKey {
        unfailing { () throws(CryptographyError) in
            let values = Parameters([(OSSL_PKEY_PARAM_GROUP_NAME, .text(curve.rawValue))])
            return try EVPKey("EC", values, selection: EVPKey.domain)
        }
    }
}

/// A key as libcrypto holds it.
///
/// `@unchecked Sendable`: nothing of it changes once it is made, and libcrypto counts references atomically.
final class EVPKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Parts of a key, as sums of what libcrypto names.
    static let domain = OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS
    static let pair = domain | OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_PRIVATE_KEY

    /// Takes a key over.
    init(_ pointer: OpaquePointer?, attempting attempt: String = "read a key") throws(CryptographyError) {
        guard let pointer else { throw CryptographyError(attempting: attempt) }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// A new key of the context's kind.
    convenience init(generating context: borrowing Owned, attempting attempt: String) throws(CryptographyError) {
        var key: OpaquePointer?
        let isMade = EVP_PKEY_keygen_init(context.pointer) == 1 && EVP_PKEY_keygen(context.pointer, &key) == 1
        try self.init(isMade ? key : nil, attempting: attempt)
    }

    /// A key of its parts.
    convenience init(_ type: String, _ values: borrowing Parameters, selection: Int32) throws(CryptographyError) {
        let attempt = "make a key"
        let context = try Owned(
            EVP_PKEY_CTX_new_from_name(LibCrypto.shared.context, type, nil),
            attempting: attempt,
            free: EVP_PKEY_CTX_free
        )
        var key: OpaquePointer?
        let isMade = values.withPointer {
            EVP_PKEY_fromdata_init(context.pointer) == 1
                && EVP_PKEY_fromdata(context.pointer, &key, selection, UnsafeMutablePointer(mutating: $0)) == 1
        }
        try self.init(isMade ? key : nil, attempting: attempt)
    }

    /// The public key with a point, compressed (02 or 03, and X) or not (04, X and Y). It is checked to lie on the curve. SEC 1
    /// knows of other forms, hybrid ones and that of the point at infinity, which nobody uses.
    convenience init(_ curve: EllipticCurve, point: [UInt8]) throws(CryptographyError) {
        let attempt = "take a point of a curve"
        switch (point.first, point.count - 1) {
        case (0x02, curve.length), (0x03, curve.length), (0x04, 2 * curve.length): break
        default: throw CryptographyError(attempting: attempt)
        }
        try self.init(EVP_PKEY_new(), attempting: attempt)
        guard EVP_PKEY_copy_parameters(pointer, curve.parameters.pointer) == 1,
            EVP_PKEY_set1_encoded_public_key(pointer, point, point.count) == 1
        else { throw CryptographyError(attempting: attempt) }
    }

    func context(attempting attempt: String) throws(CryptographyError) -> Owned {
        let context = EVP_PKEY_CTX_new_from_pkey(LibCrypto.shared.context, pointer, nil)
        return try Owned(context, attempting: attempt, free: EVP_PKEY_CTX_free)
    }

    /// A number of the key by its name, at that length.
    func number(_ name: String, length: Int) throws(CryptographyError) -> SecretBytes {
        let attempt = "read a number of a key"
        var number: OpaquePointer?
        _ = EVP_PKEY_get_bn_param(pointer, name, &number)
        let owned = try Owned(number, attempting: attempt, free: BN_clear_free)
        return try SecretBytes(count: length) { bytes throws(CryptographyError) in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard BN_bn2binpad(owned.pointer, start, Int32(length)) == length else {
                throw CryptographyError(attempting: attempt)
            }
        }
    }
}
