import CardTags
import Cryptography
import Foundation

/// Checks the code that a signing tag puts into its URL at each tap (NTAG 424 DNA in AES mode, AN12196, and in LRP mode,
/// AN12304).
///
/// It reports whether the tag made the code, not whether the tap is fresh: for that the counter of each tag has to
/// grow, which whoever keeps counters checks (``PassMemory``).
public struct SDMVerifier: Sendable {
    /// Where what stands in the URL.
    public var layout: SDMLayout
    /// The keys.
    public var keys: SDMKeys

    /// The longest signed part of a URL, in bytes. No tag has room for more.
    public static let longestSigned = 4096

    /// Checks tags of one set-up.
    public init(layout: SDMLayout, keys: SDMKeys) {
        self.layout = layout
        self.keys = keys
    }

    /// Checks a URL.
    ///
    /// - Throws: ``SDMError``. Its duration reveals neither where a wrong code differs nor whether the tag is known.
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
        let modes = [AES128.blockLength: SDMLayout.Mode.aes, SDMSession.randomLength + AES128.blockLength: .lrp]
        guard let mode = modes[encrypted.count],
            let plain = try? SDMSession.open(piccData: encrypted, mode, key)
        else { throw .malformed(name) }
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
        guard bytes.count % AES128.blockLength == 0, place.clamped(to: signed) == place else { throw .malformed(name) }
        return bytes
    }
}

/// One tap of a signing tag, whose code is right.
public struct SDMTap: Sendable, Hashable {
    /// The tag's identifier: 7 bytes, or 4; empty if the tag omits it.
    public var uid: [UInt8]

    /// How often the tag was read, this time included: 0 to FFFFFF. `nil` if the tag omits it, and then a recorded tap
    /// cannot be distinguished from a fresh one.
    public var counter: UInt32?

    /// What the tag had encrypted of its file, decrypted.
    public var fileData: [UInt8]?

    package init(uid: [UInt8], counter: UInt32?, fileData: [UInt8]? = nil) {
        (self.uid, self.counter, self.fileData) = (uid, counter, fileData)
    }
}

/// A URL is no tap of a signing tag, or its code is wrong.
///
/// It never holds a key, an identifier or the tag's contents.
public enum SDMError: PassFault {
    /// The URL lacks a parameter, by its name.
    case missing(String)
    /// The parameter of that name is not hexadecimal, or not as long as it should be.
    case malformed(String)
    /// There is no key to open what is encrypted.
    case noKey
    /// The code is not the one that the tag's key produces: another key, or a URL that was changed.
    case wrongCode

    /// What was attempted and what happened.
    public var message: String {
        switch self {
        case .missing(let name): "could not check the tag's signature: its address has no parameter '\(name)'"
        case .malformed(let name):
            "could not check the tag's signature: the parameter '\(name)' of its address is not what a tag writes"
        case .noKey: "could not check the tag's signature: there is no key for its encrypted part"
        case .wrongCode: "could not accept the tag: its signature is wrong"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .missing, .malformed: "Check the layout in the configuration against what the tag was set up with."
        case .noKey: "Add the key for reading PICC data (SDMMetaRead) to the configuration."
        case .wrongCode: "Check the keys in the configuration; if they are right, the tag is a copy."
        }
    }

    /// Whether the address is not what a tag of that layout writes, so that nothing could be checked.
    package var isMalformed: Bool { self != .wrongCode }
}

/// Tags that sign their address, by the place in the web that it leads to.
public struct SDMSite: Sendable {
    /// The host of the address; case does not count.
    public var host: String

    /// How the path begins, in whole segments; empty for any.
    public var path: String

    /// Checks the address.
    public var verifier: SDMVerifier

    /// What names the member.
    public var identity: Identity

    /// What names the member.
    public enum Identity: String, Sendable, Hashable, Codable, CaseIterable {
        /// The tag's identifier.
        case uid
        /// The text that the tag had encrypted of its file, without what fills it up.
        case fileData
    }

    /// Tags of one set-up.
    public init(host: String, path: String = "", verifier: SDMVerifier, identity: Identity = .uid) {
        self.host = host
        self.path = path
        self.verifier = verifier
        self.identity = identity
    }

    /// Whether all addresses of the second place are of the first.
    static func covers(_ host: String, _ path: String, _ other: String, _ otherPath: String) -> Bool {
        WebPlace(host: host, path: path).rest(of: "https://\(other)\(otherPath)") != nil
    }

    /// Whether an address is one of these tags'.
    package func matches(_ url: String) -> Bool { WebPlace(host: host, path: path).rest(of: url) != nil }
}
