import CCrypto

/// Bytes that are never shown, such as a key: they lie in one place of memory, which is cleared when nobody uses them any
/// more. Comparing two takes the same time whether and wherever they differ.
package struct SecretBytes: Sendable {
    private let storage: Storage

    /// `@unchecked Sendable`: written before anybody else knows of it, and only read afterwards.
    private final class Storage: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        init(count: Int) {
            bytes = .allocate(byteCount: max(1, count), alignment: 16)
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
        }

        deinit {
            OPENSSL_cleanse(bytes.baseAddress, bytes.count)
            bytes.deallocate()
        }
    }

    /// How many there are.
    package let count: Int

    /// A copy of those bytes.
    package init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// So many bytes, zeros at first, that `write` writes.
    init<Failure>(count: Int, _ write: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        storage = Storage(count: count)
        self.count = count
        try write(UnsafeMutableRawBufferPointer(rebasing: storage.bytes[..<count]))
    }

    /// Calls `body` with the bytes, which it must not keep.
    package func withBytes<Result, Failure>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = UnsafePointer(storage.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        return try body(UnsafeBufferPointer(start: start, count: count))
    }

    /// Some of the bytes.
    package subscript(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes($0[range]) }
    }
}

extension SecretBytes: Equatable {
    /// Whether both are the same, in a time that depends on their lengths alone.
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.withBytes { left in right.withBytes { ConstantTime.areEqual(left, $0) } }
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// What it is, without its bytes.
    package var description: String { "\(count) secret bytes" }

    /// Nothing, so that neither `dump(_:)` nor a test framework prints it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Comparisons that take the same time whether and wherever two secrets differ.
package enum ConstantTime {
    /// Whether two sequences of bytes are the same. Only their lengths show in the time it takes.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        withPointer(to: left) { left, count in
            withPointer(to: right) { count == $1 && CRYPTO_memcmp(left, $0, count) == 0 }
        }
    }
}

/// Calls `body` with the bytes at one place and their number. There is a place for no bytes too, as libcrypto takes a null
/// pointer for something else than no bytes.
func withPointer<Result, Failure>(
    to bytes: some Collection<UInt8>,
    _ body: (UnsafePointer<UInt8>, Int) throws(Failure) -> Result
) throws(Failure) -> Result {
    func call(_ buffer: UnsafeBufferPointer<UInt8>) -> Swift.Result<Result, Failure> {
        var nothing: UInt8 = 0
        guard let start = buffer.baseAddress else {
            return withUnsafePointer(to: &nothing) { start in Swift.Result { () throws(Failure) in try body(start, 0) }
            }
        }
        return Swift.Result { () throws(Failure) in try body(start, buffer.count) }
    }
    let result = bytes.withContiguousStorageIfAvailable(call) ?? Array(bytes).withUnsafeBufferPointer(call)
    return try result.get()
}
