/// Checks the code that a signing tag puts into its URL at each tap (NTAG 424 DNA in AES mode, AN12196).
///
/// It says whether the tag made the code, not whether the tap is fresh: for that the counter of each tag has to grow, which
/// whoever keeps counters checks (``PassMemory``).
public struct SDMVerifier: Sendable {
    /// Where what stands in the URL.
    public var layout: SDMLayout
    /// The keys.
    public var keys: SDMKeys

    /// A verifier for tags of one set-up.
    public init(layout: SDMLayout, keys: SDMKeys) {
        self.layout = layout
        self.keys = keys
    }

    /// Checks a URL.
    ///
    /// - Throws: ``SDMError``. How long it takes does not tell where a wrong code differs.
    public func verify(_ url: String) throws(SDMError) -> SDMTap {
        let query = SDMQuery(url)
        let mac = try query.bytes(layout.mac, count: 8)
        let meta = try readMeta(query)
        let key = keys.fileRead(meta.uid)
        let session = meta.encoded
        let signed = try signedPart(query)
        do throws(CryptoFailure) {
            let macKey = try sessionKey(key, [0x3C, 0xC3], session)
            let full = try AES128.cmac(signed, macKey)
            // Every second byte, from the second on.
            let code = stride(from: 1, to: full.count, by: 2).map { full[$0] }
            guard ConstantTime.areEqual(code, mac) else { throw .forged }
            var tap = SDMTap(uid: meta.uid, counter: meta.counter)
            if let name = layout.fileData, let data = query.value(name) {
                guard let bytes = SDMQuery.digits(data), bytes.count % AES128.blockLength == 0 else {
                    throw .wrongLength
                }
                let dataKey = try sessionKey(key, [0xC3, 0x3C], session)
                let counter = Array((meta.counterBytes + AES128.zeroBlock).prefix(AES128.blockLength))
                tap.fileData = try AES128.decrypt(bytes, dataKey, vector: AES128.encrypt(block: counter, dataKey))
            }
            return tap
        } catch {
            throw error == .forged ? .wrongCode : .malformed(layout.fileData ?? layout.mac)
        }
    }

    /// Identifier and counter, as the session keys are made of them.
    private struct Meta {
        var uid: [UInt8] = []
        /// The least significant byte first; empty if the tag does not tell it.
        var counterBytes: [UInt8] = []

        var counter: UInt32? {
            counterBytes.isEmpty ? nil : counterBytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }

        var encoded: [UInt8] { uid + counterBytes }
    }

    private func readMeta(_ query: SDMQuery) throws(SDMError) -> Meta {
        guard let name = layout.piccData else {
            var meta = Meta()
            if let name = layout.uid { meta.uid = try query.bytes(name, count: 7) }
            if let name = layout.counter { meta.counterBytes = try query.bytes(name, count: 3).reversed() }
            return meta
        }
        guard let key = keys.metaRead else { throw .noKey }
        let encrypted = try query.bytes(name, count: AES128.blockLength)
        guard let plain = try? AES128.decrypt(encrypted, key) else { throw .malformed(name) }
        // Bit 7: an identifier follows; bit 6: a counter; the low four bits: how long the identifier is.
        let tag = plain[0]
        let length = Int(tag & 0x0F)
        var meta = Meta()
        var rest = plain.dropFirst()
        if tag & 0x80 != 0 {
            // Another key makes other bytes of it.
            guard length == 7 || length == 4 else { throw .wrongCode }
            meta.uid = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        if tag & 0x40 != 0 { meta.counterBytes = Array(rest.prefix(3)) }
        guard tag & 0xC0 != 0 else { throw .wrongCode }
        return meta
    }

    private func signedPart(_ query: SDMQuery) throws(SDMError) -> [UInt8] {
        guard let name = layout.signedFrom else { return [] }
        guard let start = query.place(of: name), let end = query.place(of: layout.mac), start <= end else {
            throw .missing(name)
        }
        return Array(query.bytes[start..<end])
    }

    /// A session key: CMAC over a label, 1, the length in bits, identifier and counter, filled up with zeros.
    private func sessionKey(
        _ key: SecretKey,
        _ label: [UInt8],
        _ session: [UInt8]
    ) throws(CryptoFailure) -> SecretKey {
        let vector = label + [0x00, 0x01, 0x00, 0x80] + session
        let padded = vector + [UInt8](repeating: 0, count: max(0, AES128.blockLength - vector.count))
        guard let result = SecretKey(try AES128.cmac(padded, key)) else { throw .wrongLength }
        return result
    }
}

/// The parameters of a URL as they stand there: what a tag signs are the characters themselves.
struct SDMQuery {
    let bytes: [UInt8]
    private let places: [String: Range<Int>]

    init(_ url: String) {
        // What stands behind a '#' is no part of what a tag writes.
        bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        var places: [String: Range<Int>] = [:]
        var start = (bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex - 1) + 1
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.endIndex
            if let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) {
                let name = String(decoding: bytes[start..<equals], as: UTF8.self)
                // The first of a name counts; a second one would let somebody add what is not signed.
                if places[name] == nil { places[name] = (equals + 1)..<end }
            }
            start = end + 1
        }
        self.places = places
    }

    /// Where a value begins.
    func place(of name: String) -> Int? { places[name]?.lowerBound }

    func value(_ name: String) -> String? { places[name].map { String(decoding: bytes[$0], as: UTF8.self) } }

    func bytes(_ name: String, count: Int) throws(SDMError) -> [UInt8] {
        guard let value = value(name) else { throw .missing(name) }
        guard let bytes = Self.digits(value), bytes.count == count else { throw .malformed(name) }
        return bytes
    }

    /// The bytes of digits with nothing between them, as a tag writes them.
    static func digits(_ text: String) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "-") && $0 > 0x20 }) else {
            return nil
        }
        return try? Hex.decode(text)
    }
}
