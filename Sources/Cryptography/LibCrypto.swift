import CCrypto

/// libcrypto did not do what it was asked for, and its reason.
package struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was attempted.
    package let attempt: String
    /// libcrypto's first reason, or `nil` where it gave none.
    package let reason: String?

    package var description: String { "could not \(attempt)" + (reason.map { ": \($0)" } ?? "") }

    /// What libcrypto has noted on this thread, which is cleared.
    init(attempting attempt: String) {
        self.attempt = attempt
        var reason: String?
        while true {
            let code = ERR_get_error()
            if code == 0 { break }
            if reason == nil { reason = ERR_reason_error_string(code).map { String(cString: $0) } }
        }
        self.reason = reason
    }
}

/// What fails only where memory has run out, or libcrypto lacks what it has had since 3.0: there is nothing to go on with, and
/// the process ends, as where Swift's own allocations fail.
func unfailing<Value: ~Copyable>(_ body: () throws(CryptographyError) -> Value) -> Value {
    do {
        return try body()
    } catch {
        fatalError("\(error)")
    }
}

/// What a function of libcrypto returned, 1 where it has done it.
func require(_ status: Int32, attempting attempt: String) throws(CryptographyError) {
    if status != 1 { throw CryptographyError(attempting: attempt) }
}

/// Owns what libcrypto made, and frees it.
struct Owned: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    init(_ pointer: OpaquePointer, free: @escaping (OpaquePointer?) -> Void) {
        self.pointer = pointer
        self.free = free
    }

    /// - Throws: ``CryptographyError`` if nothing was made.
    init(
        _ pointer: OpaquePointer?,
        attempting attempt: String,
        free: @escaping (OpaquePointer?) -> Void
    ) throws(CryptographyError) {
        guard let pointer else { throw CryptographyError(attempting: attempt) }
        self.init(pointer, free: free)
    }

    deinit { free(pointer) }
}

/// The library itself, and what is looked up in it once: looking up takes longer than most uses.
///
/// `@unchecked Sendable`: nothing of it changes once it is made, and libcrypto counts references atomically.
struct LibCrypto: @unchecked Sendable {
    /// Apart from the process's own context, so that no configuration of the machine changes what these functions do.
    let context: OpaquePointer
    let sha256: OpaquePointer
    let block: OpaquePointer
    let chained: OpaquePointer
    let counter: OpaquePointer
    let galois: OpaquePointer
    /// Contexts of HMAC and CMAC, of which copies are made that take another key. (Without a key there is no copy of HMAC's.)
    let hmac: OpaquePointer
    let cmac: OpaquePointer

    static let shared = unfailing { () throws(CryptographyError) in try LibCrypto() }

    private init() throws(CryptographyError) {
        func found(_ pointer: OpaquePointer?, _ name: String) throws(CryptographyError) -> OpaquePointer {
            guard let pointer else { throw CryptographyError(attempting: "find \(name) in libcrypto") }
            return pointer
        }
        let context = try found(OSSL_LIB_CTX_new(), "a context")
        _ = try found(OSSL_PROVIDER_load(context, "default"), "the default provider")
        func code(_ name: String, _ parameters: borrowing Parameters) throws(CryptographyError) -> OpaquePointer {
            let algorithm = try found(EVP_MAC_fetch(context, name, nil), name)
            let code = try found(EVP_MAC_CTX_new(algorithm), name)
            EVP_MAC_free(algorithm)
            let isSet = parameters.withPointer { EVP_MAC_init(code, [UInt8](repeating: 0, count: 16), 16, $0) }
            return try found(isSet == 1 ? code : nil, name)
        }
        self.context = context
        sha256 = try found(EVP_MD_fetch(context, "SHA256", nil), "SHA256")
        block = try found(EVP_CIPHER_fetch(context, "AES-128-ECB", nil), "AES-128-ECB")
        chained = try found(EVP_CIPHER_fetch(context, "AES-128-CBC", nil), "AES-128-CBC")
        counter = try found(EVP_CIPHER_fetch(context, "AES-128-CTR", nil), "AES-128-CTR")
        galois = try found(EVP_CIPHER_fetch(context, "AES-256-GCM", nil), "AES-256-GCM")
        hmac = try code("HMAC", Parameters([(OSSL_MAC_PARAM_DIGEST, .text("SHA256"))]))
        cmac = try code("CMAC", Parameters([(OSSL_MAC_PARAM_CIPHER, .text("AES-128-CBC"))]))
    }
}

/// Parameters of a function of libcrypto, which takes pointers: what they point to lives as long as this.
struct Parameters: ~Copyable {
    enum Value {
        case text(String)
        case bytes([UInt8])
        case secret(SecretBytes)
        case integer(UInt64)
        /// A whole number, its most significant byte first.
        case number(SecretBytes)
    }

    private var list: [OSSL_PARAM] = []
    private var memory: [UnsafeMutableRawBufferPointer] = []

    init(_ values: [(name: String, value: Value)]) {
        for (name, value) in values {
            let key = keep(Array(name.utf8CString)).baseAddress?.assumingMemoryBound(to: CChar.self)
            switch value {
            case .text(let text):
                let text = keep(Array(text.utf8CString)).baseAddress?.assumingMemoryBound(to: CChar.self)
                list.append(OSSL_PARAM_construct_utf8_string(key, text, 0))
            case .bytes(let bytes):
                list.append(OSSL_PARAM_construct_octet_string(key, keep(bytes).baseAddress, bytes.count))
            case .secret(let secret):
                let bytes = secret.withBytes { keep($0) }
                list.append(OSSL_PARAM_construct_octet_string(key, bytes.baseAddress, secret.count))
            case .integer(let integer):
                let number = keep([integer]).baseAddress?.assumingMemoryBound(to: UInt64.self)
                list.append(OSSL_PARAM_construct_uint64(key, number))
            case .number(let number):
                // libcrypto takes it in the order of the machine, whose least significant byte comes first.
                let kept = number.withBytes { keep($0) }.assumingMemoryBound(to: UInt8.self)
                var bytes = UnsafeMutableBufferPointer(rebasing: kept.prefix(number.count))
                bytes.reverse()
                list.append(OSSL_PARAM_construct_BN(key, bytes.baseAddress, number.count))
            }
        }
        list.append(OSSL_PARAM_construct_end())
    }

    deinit {
        for buffer in memory {
            OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            buffer.deallocate()
        }
    }

    private mutating func keep<Element: BitwiseCopyable>(_ values: [Element]) -> UnsafeMutableRawBufferPointer {
        values.withUnsafeBufferPointer { keep($0) }
    }

    private mutating func keep<Element: BitwiseCopyable>(
        _ values: UnsafeBufferPointer<Element>
    ) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeRawBufferPointer(values)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
        copy.copyMemory(from: bytes)
        memory.append(copy)
        return copy
    }

    borrowing func withPointer<Result>(_ body: (UnsafePointer<OSSL_PARAM>?) -> Result) -> Result {
        list.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
