import Foundation

/// The file that says what passes a place reads and accepts: JSON, with the keys in files of their own.
///
/// ```json
/// {
///   "appleVAS": {
///     "passes": [{ "passTypeIdentifier": "pass.com.example.club", "keys": ["vas.pem"] }],
///     "longestAgeSeconds": 300
///   },
///   "smartTap": { "collector": 20180608, "keyVersion": 1, "key": "smarttap.pem" },
///   "signingTags": [
///     { "host": "club.example", "path": "/t", "metaReadKey": "meta.key", "fileReadKey": "file.key",
///       "layout": { "piccData": "e", "mac": "c" }, "identity": "uid" }
///   ],
///   "order": ["appleVAS", "smartTap", "sdm", "text", "ndef", "uid"],
///   "lowestAssurance": "identifier"
/// }
/// ```
///
/// Every part may be left out. Paths are taken from the folder of the file. A file with a key must be readable by its owner
/// alone: private keys of wallets are PEM, those of tags 32 hexadecimal digits.
public struct PassConfiguration: Sendable, Hashable, Codable {
    /// Passes of Apple Wallet.
    public var appleVAS: AppleVAS?
    /// Passes of Google Wallet.
    public var smartTap: SmartTap?
    /// Tags that sign their address.
    public var signingTags: [SigningTags]?
    /// Which pass stands for the member (``PassSite/order``).
    public var order: [Pass.Kind]?
    /// How far a pass has to be trusted (``PassSite/lowestAssurance``).
    public var lowestAssurance: Pass.Assurance?

    /// Passes of Apple Wallet.
    public struct AppleVAS: Sendable, Hashable, Codable {
        /// The kinds of passes, in the order in which they are asked for.
        public var passes: [Kind]
        /// How old a pass may be by the phone's clock, 1 to 86 400 seconds.
        public var longestAgeSeconds: Int?
        /// Whether the variant of ``AppleVASCryptogram/open(for:allowsVariant:)`` is tried too.
        public var triesVariant: Bool?

        /// A kind of pass.
        public struct Kind: Sendable, Hashable, Codable {
            /// The pass type identifier.
            public var passTypeIdentifier: String
            /// The files with the keys.
            public var keys: [String]
        }
    }

    /// Passes of Google Wallet.
    public struct SmartTap: Sendable, Hashable, Codable {
        /// The collector's number, 0 to 4 294 967 295.
        public var collector: Int
        /// The version under which the key is registered, in the same range.
        public var keyVersion: Int
        /// The file with the key.
        public var key: String
    }

    /// Tags that sign their address.
    public struct SigningTags: Sendable, Hashable, Codable {
        /// The host of the address.
        public var host: String
        /// How its path begins.
        public var path: String?
        /// Where what stands in it.
        public var layout: SDMLayout
        /// The file with the key that opens identifier and counter.
        public var metaReadKey: String?
        /// The file with the key that the codes are made with.
        public var fileReadKey: String
        /// What names the member; `uid` if it is left out.
        public var identity: SDMSite.Identity?
    }

    /// Reads a configuration file, without the keys that it names.
    ///
    /// - Throws: ``PassConfigurationError`` with the place in the file.
    public init(path: String) throws(PassConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else { throw .notReadable(path) }
        do throws(PassConfigurationError.Fault) {
            self = try Self(json: data)
        } catch {
            throw .malformed(path, error)
        }
    }

    /// Reads a configuration.
    ///
    /// - Throws: ``PassConfigurationError/Fault``.
    public init(json data: Data) throws(PassConfigurationError.Fault) {
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: data)
        } catch {
            throw PassConfigurationError.Fault(place: "", what: "this is no JSON")
        }
        try Self.checkNames(object, Self.names, "")
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch let error as DecodingError {
            throw PassConfigurationError.Fault(error)
        } catch {
            throw PassConfigurationError.Fault(place: "", what: "\(error)")
        }
        try Self.check(appleVAS?.longestAgeSeconds, 1...86_400, "appleVAS.longestAgeSeconds")
        try Self.check(smartTap?.collector, 0...Int(UInt32.max), "smartTap.collector")
        try Self.check(smartTap?.keyVersion, 0...Int(UInt32.max), "smartTap.keyVersion")
    }

    private static func check(
        _ number: Int?,
        _ range: ClosedRange<Int>,
        _ place: String
    ) throws(PassConfigurationError.Fault) {
        guard let number, !range.contains(number) else { return }
        throw PassConfigurationError.Fault(
            place: place,
            what: "a number from \(range.lowerBound) to \(range.upperBound) belongs here"
        )
    }

    /// The names that there may be in each object.
    private indirect enum Names: Sendable {
        case any
        case object([String: Names])
        case list(Names)
    }

    private static let names = Names.object([
        "appleVAS": .object([
            "passes": .list(.object(["passTypeIdentifier": .any, "keys": .any])), "longestAgeSeconds": .any,
            "triesVariant": .any,
        ]),
        "smartTap": .object(["collector": .any, "keyVersion": .any, "key": .any]),
        "signingTags": .list(
            .object([
                "host": .any, "path": .any, "metaReadKey": .any, "fileReadKey": .any, "identity": .any,
                "layout": .object([
                    "piccData": .any, "uid": .any, "counter": .any, "fileData": .any, "mac": .any, "signedFrom": .any,
                ]),
            ])
        ),
        "order": .any, "lowestAssurance": .any,
    ])

    /// A name with a slip in it would silently be as if it were not there.
    private static func checkNames(
        _ value: Any,
        _ names: Names,
        _ place: String
    ) throws(PassConfigurationError.Fault) {
        switch (names, value) {
        case (.object(let known), let object as [String: Any]):
            for (name, value) in object.sorted(by: { $0.key < $1.key }) {
                let inner = place.isEmpty ? name : "\(place).\(name)"
                guard let next = known[name] else {
                    throw PassConfigurationError.Fault(
                        place: inner,
                        what: "nothing has this name; there are: \(known.keys.sorted().joined(separator: ", "))"
                    )
                }
                try checkNames(value, next, inner)
            }
        case (.list(let element), let list as [Any]):
            for (index, value) in list.enumerated() { try checkNames(value, element, "\(place)[\(index)]") }
        default: break
        }
    }

    // MARK: - With its keys

    /// What the place reads and accepts, with the keys.
    ///
    /// - Parameters:
    ///   - folder: where relative paths begin: the folder of the file.
    ///   - memory: what was presented before.
    /// - Throws: ``PassConfigurationError`` for a key that cannot be read, is none, or can be read by others.
    public func site(
        folder: String,
        memory: any PassMemory = VolatilePassMemory()
    ) throws(PassConfigurationError) -> PassSite {
        let files = PassKeyFiles(folder: folder)
        var site = PassSite(memory: memory)
        if let appleVAS {
            var merchants: [AppleVASMerchant] = []
            for kind in appleVAS.passes {
                var keys: [AppleVASKey] = []
                for name in kind.keys {
                    keys.append(try files.key(name, "a P-256 private key in PEM") { AppleVASKey(pem: $0) })
                }
                merchants.append(AppleVASMerchant(passTypeIdentifier: kind.passTypeIdentifier, keys: keys))
            }
            site.appleVAS = AppleVASReader(merchants, allowsVariant: appleVAS.triesVariant ?? false)
            if let age = appleVAS.longestAgeSeconds { site.longestAge = .seconds(age) }
        }
        if let smartTap {
            let key = try files.key(smartTap.key, "a P-256 private key in PEM") {
                SmartTapKey(
                    pem: $0,
                    collectorID: UInt32(clamping: smartTap.collector),
                    version: UInt32(clamping: smartTap.keyVersion)
                )
            }
            site.smartTap = SmartTapReader(key: key)
        }
        for tags in signingTags ?? [] {
            let hex = "a key of 32 hexadecimal digits"
            var meta: SecretKey?
            if let name = tags.metaReadKey { meta = try files.key(name, hex) { SecretKey(text: $0.trimmed) } }
            let file = try files.key(tags.fileReadKey, hex) { SecretKey(text: $0.trimmed) }
            let verifier = SDMVerifier(layout: tags.layout, keys: SDMKeys(metaRead: meta, fileRead: file))
            site.signingTags.append(
                SDMSite(host: tags.host, path: tags.path ?? "", verifier: verifier, identity: tags.identity ?? .uid)
            )
        }
        if let order { site.order = order }
        if let lowestAssurance { site.lowestAssurance = lowestAssurance }
        return site
    }
}

/// Files with keys, which their owner alone may read.
private struct PassKeyFiles {
    var folder: String

    func key<Key>(_ name: String, _ kind: String, _ make: (String) -> Key?) throws(PassConfigurationError) -> Key {
        let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .keyNotReadable(path, String(cString: strerror(errno))) }
        defer { close(file) }
        var status = stat()
        // Of the file that is open, not of what has its name by now.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .keyNotReadable(path, "it is no file")
        }
        guard status.st_mode & 0o077 == 0 else { throw .keyOpenToOthers(path, mode: status.st_mode & 0o777) }
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0, let text = String(validating: bytes.prefix(count), as: UTF8.self), let key = make(text) else {
            throw .noKey(path, kind)
        }
        return key
    }

    /// No key is longer, in bytes.
    private static let longest = 16_384
}
