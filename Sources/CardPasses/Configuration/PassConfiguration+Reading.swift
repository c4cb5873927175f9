import Foundation

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
        "tokens": .flat(
            "keys",
            "issuer",
            "audience",
            "idClaim",
            "nameClaim",
            "leewaySeconds",
            "requiresExpiry"
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
