import CCrypto

/// A block of a PEM file (RFC 7468).
struct PEM {
    /// What the block says that it is.
    let label: String
    let der: SecretBytes

    /// The first block of a text with such a label; other blocks, and text around them, are passed over.
    ///
    /// - Throws: ``CryptographyError`` if there is none, or one with a passphrase, for which nobody is asked.
    init(_ text: String, where isLabel: (String) -> Bool) throws(CryptographyError) {
        guard let block = try Self.blocks(text, atMost: 1, where: isLabel).first else {
            throw CryptographyError(attempting: Self.attempt)
        }
        self = block
    }

    private static let attempt = "read PEM"

    /// The blocks of a text with such labels, up to the first that cannot be read.
    fileprivate static func blocks(
        _ text: String,
        atMost count: Int = .max,
        where isLabel: (String) -> Bool
    ) throws(CryptographyError) -> [PEM] {
        let bytes = SecretBytes(lines(text).joined(separator: "\n").utf8)
        return try bytes.withBytes { bytes throws(CryptographyError) in
            guard let length = Int32(exactly: bytes.count) else { throw CryptographyError(attempting: attempt) }
            let file = try Owned(BIO_new_mem_buf(bytes.baseAddress, length), attempting: attempt) { BIO_free($0) }
            var blocks: [PEM] = []
            while blocks.count < count, let block = try next(file) {
                if isLabel(block.label) { blocks.append(block) }
            }
            return blocks
        }
    }

    /// The library wants each line to begin where it begins, and to end as lines do here.
    fileprivate static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { $0.drop { $0.isWhitespace || $0 == "\u{FEFF}" } }
    }

    private init(label: String, der: SecretBytes) {
        self.label = label
        self.der = der
    }

    private static func next(_ file: borrowing Owned) throws(CryptographyError) -> PEM? {
        var (name, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
        var (data, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
        guard PEM_read_bio(file.pointer, &name, &header, &data, &count) == 1, let name, let header, let data else {
            return nil
        }
        defer {
            CRYPTO_clear_free(data, count, nil, 0)
            CRYPTO_free(header, nil, 0)
            CRYPTO_free(name, nil, 0)
        }
        guard header.pointee == 0 else { throw CryptographyError(attempting: "read PEM that is encrypted") }
        return PEM(
            label: String(cString: name),
            der: SecretBytes(UnsafeBufferPointer(start: data, count: count))
        )
    }

    /// What follows that beginning; nothing where the block begins otherwise.
    func body(after head: [UInt8]) -> [UInt8] {
        der.withBytes { $0.starts(with: head) ? Array($0.dropFirst(head.count)) : [] }
    }

    /// A file with one block.
    static func text(_ label: String, _ der: [UInt8]) -> String {
        // Base64, of which a file has 64 characters in a line.
        let perLine = 48
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: der.count, by: perLine) {
            let line = Array(der[start..<min(start + perLine, der.count)])
            let characters = [UInt8](unsafeUninitializedCapacity: 65) { buffer, count in
                count = Int(EVP_EncodeBlock(buffer.baseAddress, line, Int32(line.count)))
            }
            text += String(decoding: characters, as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----"
    }
}

/// A file of certificates that are trusted.
package enum CertificateFile {
    /// The certificates (X.509) of a text in PEM, without the text around them, as others read them too; `nil` if there are
    /// none, or one cannot be read.
    package static func certificates(of text: String) -> String? {
        let begun = PEM.lines(text).count { $0.hasPrefix("-----BEGIN CERTIFICATE-----") }
        guard let blocks = try? PEM.blocks(text, where: { $0 == "CERTIFICATE" }), !blocks.isEmpty,
            blocks.count == begun, blocks.allSatisfy(\.isCertificate)
        else { return nil }
        return blocks.map { PEM.text("CERTIFICATE", $0.body(after: [])) + "\n" }.joined()
    }
}

extension PEM {
    fileprivate var isCertificate: Bool {
        der.withBytes { bytes in
            var next = bytes.baseAddress
            let certificate = d2i_X509(nil, &next, bytes.count)
            defer { X509_free(certificate) }
            ERR_clear_error()
            return certificate != nil && next == bytes.baseAddress.map { $0 + bytes.count }
        }
    }
}
