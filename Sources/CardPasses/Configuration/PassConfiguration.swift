import CardCore
import CardTags
import Foundation

/// The file that describes what passes a place reads and accepts: JSON, with the keys in files of their own.
///
/// ```json
/// {
///   "appleVAS": {
///     "passes": [{ "passTypeIdentifier": "pass.com.example.club", "keys": ["vas.pem"] }],
///     "longestAgeSeconds": 300
///   },
///   "smartTap": { "collector": 20180608, "keyVersion": 1, "key": "smarttap.pem", "memberKinds": ["loyalty"] },
///   "signingTags": [
///     { "host": "club.example", "path": "/t", "metaReadKey": "meta.key", "fileReadKey": "file.key",
///       "layout": { "piccData": "e", "mac": "c" }, "identity": "uid" }
///   ],
///   "cards": [
///     { "uri": { "host": "club.example", "path": "/m/" } },
///     { "json": { "type": "application/vnd.club+json", "id": "token", "isToken": true } }
///   ],
///   "tokens": { "keys": ["issuer.jwks"], "issuer": "https://club.example" },
///   "order": ["appleVAS", "smartTap", "sdm", "text", "ndef", "uid"],
///   "lowestAssurance": "identifier",
///   "uidDespite": ["tagUnsupported"]
/// }
/// ```
///
/// Every part may be left out. Paths are taken from the folder of the file. A file with a key must be readable by its owner
/// alone: private keys of wallets are PEM, those of tags 32 hexadecimal digits. The public keys that signed tokens are
/// checked with are no secret, and must not be writable by others.
public struct PassConfiguration: Sendable, Hashable, Codable {
    /// Passes of Apple Wallet.
    public var appleVAS: AppleVAS?
    /// Passes of Google Wallet.
    public var smartTap: SmartTap?
    /// Tags that sign their address.
    public var signingTags: [SigningTags]?
    /// Which records of cards name a member, and where (``CardRule``); the first that is for a record decides.
    public var cards: [CardRule]?
    /// How signed tokens on cards are checked.
    public var tokens: Tokens?
    /// Which pass stands for the member (``PassSite/order``).
    public var order: [Pass.Kind]?
    /// How far a pass has to be trusted (``PassSite/lowestAssurance``).
    public var lowestAssurance: Pass.Assurance?
    /// In spite of which problems the card's own identifier counts (``PassSite/uidDespite``): `tagUnsupported`,
    /// `tagProtected`.
    public var uidDespite: [ScanEvent.Problem.Code]?

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

    /// Passes of Google Wallet: with a key, or with a signature that was made in advance.
    public struct SmartTap: Sendable, Hashable, Codable {
        /// The collector's number, 0 to 4 294 967 295.
        public var collector: Int
        /// The version under which the key is registered, in the same range.
        public var keyVersion: Int
        /// The file with the key.
        public var key: String?
        /// The file with a signature made in advance (``SmartTapPreSignature``), in place of the key.
        public var preSigned: String?
        /// Which objects name a member, in this order (``PassSite/smartTapKinds``); loyalty cards if it is left out.
        public var memberKinds: [SmartTapObject.Kind]?
        /// Whose objects name a member (``PassSite/smartTapIssuers``); those of all issuers if it is left out.
        public var issuers: [UInt64]?
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
        /// The file with the key that the codes are made with: one for all tags, or with ``diversification`` the one that
        /// the tags' keys are worked out from.
        public var fileReadKey: String
        /// How the key of each tag is worked out from its identifier.
        public var diversification: KeyDiversification?
        /// What names the member; `uid` if it is left out.
        public var identity: SDMSite.Identity?
    }

    /// How signed tokens on cards are checked (``SignedTokenVerifier``).
    public struct Tokens: Sendable, Hashable, Codable {
        /// The files with the issuer's public keys: sets of JSON Web Keys, or PEM.
        public var keys: [String]
        /// Who has to have issued a token (`iss`).
        public var issuer: String?
        /// For whom it has to be (`aud`).
        public var audience: String?
        /// The claim that names the member; `sub` if it is left out.
        public var idClaim: String?
        /// The claim with the member's name; `name` if it is left out.
        public var nameClaim: String?
        /// How far the clocks may be apart, 0 to 86 400 seconds; 60 if it is left out.
        public var leewaySeconds: Int?
        /// Whether a token without an end is refused.
        public var requiresExpiry: Bool?
    }
}

extension PassConfiguration {
    /// Reads a configuration file, without the keys that it names.
    ///
    /// - Throws: ``PassConfigurationError`` with the place in the file.
    public init(path: String) throws(PassConfigurationError) {
        let bytes = try PassKeyFiles.configuration(path)
        do throws(PassConfigurationError.Fault) {
            self = try Self(json: Data(bytes))
        } catch {
            throw .malformed(path, error)
        }
    }

    /// Reads a configuration.
    public init(json data: Data) throws(PassConfigurationError.Fault) {
        guard let object = try? JSONSerialization.jsonObject(with: data) else {
            throw PassConfigurationError.Fault(place: "", what: "this is no JSON")
        }
        try Self.checkNames(object, Self.names, "")
        let smartTap = (object as? [String: Any])?["smartTap"] as? [String: Any]
        for (index, issuer) in (smartTap?["issuers"] as? [Any] ?? []).enumerated() {
            // Scan events have an issuer's bytes in hexadecimal; digits alone might be meant as either.
            guard let text = issuer as? String else { continue }
            let number = UInt64(text, radix: 16).map { "; '\(text)' in hexadecimal, as in scan events, is \($0)" } ?? ""
            throw .init(place: "smartTap.issuers[\(index)]", what: "a whole number belongs here" + number)
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch let error as DecodingError {
            throw PassConfigurationError.Fault(error)
        } catch {
            throw PassConfigurationError.Fault(place: "", what: "\(error)")
        }
        try check()
    }

    /// No place has more of anything.
    private static let longestList = 64

    func check() throws(PassConfigurationError.Fault) {
        func check(_ number: Int?, _ range: ClosedRange<Int>, _ place: String) throws(PassConfigurationError.Fault) {
            guard let number, !range.contains(number) else { return }
            throw .init(place: place, what: "a number from \(range.lowerBound) to \(range.upperBound) belongs here")
        }
        try check(appleVAS?.longestAgeSeconds, 1...86_400, "appleVAS.longestAgeSeconds")
        try check(smartTap?.collector, 0...Int(UInt32.max), "smartTap.collector")
        try check(smartTap?.keyVersion, 0...Int(UInt32.max), "smartTap.keyVersion")
        try check(tokens?.leewaySeconds, 0...86_400, "tokens.leewaySeconds")
        func check(_ count: Int?, _ place: String) throws(PassConfigurationError.Fault) {
            guard let count, count > Self.longestList else { return }
            throw .init(place: place, what: "at most \(Self.longestList) belong here")
        }
        try check(appleVAS?.passes.count, "appleVAS.passes")
        for (index, kind) in (appleVAS?.passes ?? []).enumerated() {
            try check(kind.keys.count, "appleVAS.passes[\(index)].keys")
        }
        try check(smartTap?.memberKinds?.count, "smartTap.memberKinds")
        try check(smartTap?.issuers?.count, "smartTap.issuers")
        try check(signingTags?.count, "signingTags")
        try check(cards?.count, "cards")
        try check(tokens?.keys.count, "tokens.keys")
        try check(order?.count, "order")
        for (index, code) in (uidDespite ?? []).enumerated() where !PassSite.unread.contains(code) {
            let known = PassSite.unread.map(\.rawValue).sorted().joined(separator: ", ")
            let what = "this is no value that there may be here; there are: \(known)"
            throw .init(place: "uidDespite[\(index)]", what: what)
        }
        for (index, tags) in (signingTags ?? []).enumerated() { try tags.check("signingTags[\(index)]") }
        for (index, rule) in (cards ?? []).enumerated() {
            if case .uri(let rule) = rule { try Self.check(rule.host, rule.path, "cards[\(index)].uri") }
        }
        if tokens?.keys.isEmpty == true {
            throw .init(place: "tokens.keys", what: "there is no key to check tokens with")
        }
        if let smartTap, (smartTap.key == nil) == (smartTap.preSigned == nil) {
            throw .init(place: "smartTap", what: "either 'key' or 'preSigned' belongs here")
        }
        for (index, rule) in (cards ?? []).enumerated() where rule.isToken && tokens == nil {
            throw .init(place: "cards[\(index)]", what: "it takes a token, and there is no 'tokens' to check it with")
        }
    }

    /// A host alone, and a path that begins as paths do: anything else would never be that of an address.
    fileprivate static func check(
        _ host: String,
        _ path: String?,
        _ place: String
    ) throws(PassConfigurationError.Fault) {
        guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }) else {
            throw .init(place: "\(place).host", what: "the name of a host belongs here, as club.example")
        }
        if let path, !path.isEmpty, !path.hasPrefix("/") {
            throw .init(place: "\(place).path", what: "a path begins with '/'")
        }
    }

    /// The names that there may be in each object.
    private indirect enum Names: Sendable {
        case any
        case object([String: Names])
        case list(Names)

        static func flat(_ names: String...) -> Names {
            .object(Dictionary(names.map { ($0, .any) }) { first, _ in first })
        }
    }

    private static let names = Names.object([
        "appleVAS": .object([
            "passes": .list(.flat("passTypeIdentifier", "keys")), "longestAgeSeconds": .any, "triesVariant": .any,
        ]),
        "smartTap": .flat("collector", "keyVersion", "key", "preSigned", "memberKinds", "issuers"),
        "signingTags": .list(
            .object([
                "host": .any, "path": .any, "metaReadKey": .any, "fileReadKey": .any, "identity": .any,
                "layout": .flat("piccData", "uid", "counter", "fileData", "mac", "signedFrom", "mode"),
                "diversification": .flat("method", "applicationID", "systemIdentifier"),
            ])
        ),
        "cards": .list(
            .object([
                "uri": .flat("host", "path", "parameter", "isToken"), "json": .flat("type", "id", "name", "isToken"),
                "text": .flat("prefix", "isMembershipText", "isToken"), "mime": .flat("type", "isToken"),
            ])
        ),
        "tokens": .flat("keys", "issuer", "audience", "idClaim", "nameClaim", "leewaySeconds", "requiresExpiry"),
        "order": .any, "lowestAssurance": .any, "uidDespite": .any,
    ])

    /// A name with a slip in it would silently be as if it were not there.
    private static func checkNames(_ value: Any, _ names: Names, _ place: String) throws(PassConfigurationError.Fault) {
        switch (names, value) {
        case (.object(let known), let object as [String: Any]):
            for (name, value) in object.sorted(by: { $0.key < $1.key }) {
                let inner = place.isEmpty ? name : "\(place).\(name)"
                guard let next = known[name] else {
                    let what = "nothing has this name; there are: \(known.keys.sorted().joined(separator: ", "))"
                    throw PassConfigurationError.Fault(place: inner, what: what)
                }
                try checkNames(value, next, inner)
            }
        case (.list(let element), let list as [Any]):
            for (index, value) in list.enumerated() { try checkNames(value, element, "\(place)[\(index)]") }
        default: break
        }
    }
}

extension PassConfiguration.SigningTags {
    /// What could never be right.
    fileprivate func check(_ place: String) throws(PassConfigurationError.Fault) {
        try PassConfiguration.check(host, path, place)
        if layout.piccData != nil, metaReadKey == nil {
            throw .init(place: place, what: "'piccData' is encrypted, and there is no 'metaReadKey' to open it")
        }
        if layout.piccData != nil, layout.uid != nil || layout.counter != nil {
            let what = "'piccData' has identifier and counter in it: leave out 'uid' and 'counter', or 'piccData'"
            throw .init(place: "\(place).layout", what: what)
        }
        if let fileData = layout.fileData, layout.signedFrom == nil, fileData != layout.mac {
            throw .init(place: "\(place).layout", what: "'fileData' has to be signed, and there is no 'signedFrom'")
        }
        let (named, has) =
            identity == .fileData
            ? ("fileData", layout.fileData != nil)
            : ("uid", layout.piccData != nil || layout.uid != nil)
        guard has else {
            throw .init(place: "\(place).layout", what: "'\(named)' is to name the member, and is not there")
        }
    }
}

extension PassConfiguration {
    /// What the place reads and accepts, with the keys.
    ///
    /// - Parameter folder: where relative paths begin: the folder of the file.
    /// - Throws: ``PassConfigurationError`` for a key that cannot be read, is none, or can be read by others.
    public func site(
        folder: String,
        memory: any PassMemory = VolatilePassMemory()
    ) throws(PassConfigurationError) -> PassSite {
        // One that was made in a program was not checked when it was read.
        do throws(PassConfigurationError.Fault) { try check() } catch { throw .malformed(folder, error) }
        let files = PassKeyFiles(folder: folder)
        var site = PassSite(memory: memory)
        if let appleVAS {
            site.appleVAS = try appleVAS.reader(files)
            if let age = appleVAS.longestAgeSeconds { site.longestAge = .seconds(age) }
        }
        if let smartTap {
            site.smartTap = try smartTap.reader(files)
            if let kinds = smartTap.memberKinds { site.smartTapKinds = kinds }
            site.smartTapIssuers = smartTap.issuers.map(Set.init)
        }
        for tags in signingTags ?? [] { site.signingTags.append(try tags.site(files)) }
        site.cards = cards ?? []
        site.tokens = try tokens?.verifier(files)
        if let order { site.order = order }
        if let lowestAssurance { site.lowestAssurance = lowestAssurance }
        site.uidDespite = Set(uidDespite ?? [])
        return site
    }
}

extension PassConfiguration.AppleVAS {
    fileprivate func reader(_ files: PassKeyFiles) throws(PassConfigurationError) -> AppleVASReader {
        var merchants: [AppleVASMerchant] = []
        for kind in passes {
            var keys: [AppleVASKey] = []
            for name in kind.keys { keys.append(try files.key(name, .curve) { AppleVASKey(pem: $0) }) }
            merchants.append(AppleVASMerchant(passTypeIdentifier: kind.passTypeIdentifier, keys: keys))
        }
        return AppleVASReader(merchants, allowsVariant: triesVariant ?? false)
    }
}

extension PassConfiguration.SmartTap {
    fileprivate func reader(_ files: PassKeyFiles) throws(PassConfigurationError) -> SmartTapReader? {
        let (collector, version) = (UInt32(clamping: collector), UInt32(clamping: keyVersion))
        if let key {
            return SmartTapReader(
                key: try files.key(key, .curve) { SmartTapKey(pem: $0, collectorID: collector, version: version) }
            )
        }
        guard let preSigned else { return nil }
        let signature = try files.key(preSigned, .preSignature) { text in
            SmartTapPreSignature(text: text).flatMap {
                $0.collectorID == collector && $0.version == version ? $0 : nil
            }
        }
        return SmartTapReader(preSigned: signature)
    }
}

extension PassConfiguration.SigningTags {
    fileprivate func site(_ files: PassKeyFiles) throws(PassConfigurationError) -> SDMSite {
        var meta: SecretKey?
        if let metaReadKey { meta = try files.key(metaReadKey, .tag) { SecretKey(text: $0.trimmed) } }
        let file = try files.key(fileReadKey, .tag) { SecretKey(text: $0.trimmed) }
        let keys =
            diversification.map { SDMKeys(metaRead: meta, master: file, diversification: $0) }
            ?? SDMKeys(metaRead: meta, fileRead: file)
        let verifier = SDMVerifier(layout: layout, keys: keys)
        return SDMSite(host: host, path: path ?? "", verifier: verifier, identity: identity ?? .uid)
    }
}

extension PassConfiguration.Tokens {
    fileprivate func verifier(_ files: PassKeyFiles) throws(PassConfigurationError) -> SignedTokenVerifier {
        var texts: [String] = []
        for name in keys { texts.append(try files.publicKeys(name)) }
        func verifier(_ texts: [String], _ path: String) throws(PassConfigurationError) -> SignedTokenVerifier {
            do throws(SignedTokenVerifier.KeyFault) {
                return try SignedTokenVerifier(
                    keys: texts,
                    issuer: issuer,
                    audience: audience,
                    idClaim: idClaim ?? "sub",
                    nameClaim: nameClaim ?? "name",
                    leeway: .seconds(leewaySeconds ?? 60),
                    requiresExpiry: requiresExpiry ?? false
                )
            } catch {
                throw .badPublicKeys(path, error)
            }
        }
        // One file after the other, so that the error names the one that is wrong.
        for (name, text) in zip(keys, texts) { _ = try verifier([text], files.path(of: name)) }
        return try verifier(texts, "")
    }
}
