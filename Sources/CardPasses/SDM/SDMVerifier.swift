import CardTags

/// Checks the code that a signing tag puts into its URL at each tap (NTAG 424 DNA in AES mode, AN12196, and in LRP mode,
/// AN12304).
///
/// It says whether the tag made the code, not whether the tap is fresh: for that the counter of each tag has to grow, which
/// whoever keeps counters checks (``PassMemory``).
public struct SDMVerifier: Sendable {
    /// Where what stands in the URL.
    public var layout: SDMLayout
    /// The keys.
    public var keys: SDMKeys

    /// The longest signed part of a URL, in bytes. No tag has room for more.
    public static let longestSigned = 4096

    /// A verifier for tags of one set-up.
    public init(layout: SDMLayout, keys: SDMKeys) {
        self.layout = layout
        self.keys = keys
    }

    /// Checks a URL.
    ///
    /// - Throws: ``SDMError``. How long it takes does not tell where a wrong code differs, nor whether the tag is known.
    public func verify(_ url: String) throws(SDMError) -> SDMTap {
        let query = SDMQuery(url, layout)
        let mac = try query.bytes(.mac, count: 8)
        let (meta, mode) = try readMeta(query)
        let signed = try signedPart(query)
        let data = try fileData(query, within: signed)
        let known = keys.fileRead(meta.uid)
        do throws(CryptoFailure) {
            // A tag that is not known takes as long as a wrong code.
            let session = try SDMSession(mode, known ?? .factory, meta)
            guard ConstantTime.areEqual(try session.code(Array(query.bytes[signed])), mac), known != nil else {
                throw .forged
            }
            var tap = SDMTap(uid: meta.uid, counter: meta.counter)
            if let data { tap.fileData = try session.decrypt(data) }
            return tap
        } catch {
            throw error == .forged ? .wrongCode : .malformed(layout.fileData ?? layout.mac)
        }
    }

    private func readMeta(_ query: SDMQuery) throws(SDMError) -> (SDMMeta, SDMLayout.Mode) {
        guard let name = layout.piccData else {
            var meta = SDMMeta()
            if layout.uid != nil { meta.uid = try query.bytes(.uid, count: 7) }
            if layout.counter != nil { meta.counterBytes = try query.bytes(.counter, count: 3).reversed() }
            return (meta, layout.mode)
        }
        guard let key = keys.metaRead else { throw .noKey }
        let encrypted = try query.bytes(.piccData)
        let mode: SDMLayout.Mode
        switch encrypted.count {
        case AES128.blockLength: mode = .aes
        case SDMSession.randomLength + AES128.blockLength: mode = .lrp
        default: throw .malformed(name)
        }
        guard let plain = try? SDMSession.open(piccData: encrypted, mode, key) else { throw .malformed(name) }
        guard let meta = SDMMeta(piccData: plain) else { throw .wrongCode }
        return (meta, mode)
    }

    /// Where the signed characters stand.
    private func signedPart(_ query: SDMQuery) throws(SDMError) -> Range<Int> {
        guard let name = layout.signedFrom ?? (layout.fileData == layout.mac ? layout.mac : nil) else { return 0..<0 }
        let end = try query.place(of: .mac).lowerBound
        let place = layout.signedFrom == nil ? try query.place(of: .fileData) : query.place(of: name)
        guard let start = place?.lowerBound, start <= end else { throw .missing(name) }
        guard end - start <= Self.longestSigned else { throw .malformed(name) }
        return start..<end
    }

    private func fileData(_ query: SDMQuery, within signed: Range<Int>) throws(SDMError) -> [UInt8]? {
        guard let name = layout.fileData, query.place(of: name) != nil else { return nil }
        let place = try query.place(of: .fileData)
        // Nothing is left for them in a parameter with the other parts.
        if place.isEmpty, name == layout.mac { return nil }
        let bytes = try query.bytes(.fileData)
        // Whoever has one URL could put anything where nothing is signed.
        guard bytes.count % AES128.blockLength == 0, place.clamped(to: signed) == place else {
            throw .malformed(name)
        }
        return bytes
    }
}
