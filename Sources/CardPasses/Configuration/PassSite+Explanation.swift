import CardCore
import CardTags

extension PassSite {
    /// What is read at the place, part by part, in words for whoever set it up.
    package var explanation: [PassConfiguration.Advice] {
        var parts: [PassConfiguration.Advice] = []
        func add(_ place: String, _ what: String) { parts.append(.init(place: place, what: what)) }
        for (index, merchant) in (appleVAS?.merchants ?? []).enumerated() {
            let keys = merchant.keys.map { Hex.encode($0.identifier) }.joined(separator: ", ")
            add(
                "appleVAS.passes[\(index)]",
                "\(merchant.passTypeIdentifier), asked for as \(Hex.encode(merchant.merchantID)), keys \(keys)"
            )
            for key in merchant.keys {
                add("key \(Hex.encode(key.identifier))", "nfc.encryptionPublicKey: \(key.passEncryptionPublicKey)")
            }
        }
        if appleVAS != nil {
            add("appleVAS", "a pass counts once, and for \(Int(longestAge.seconds)) s by the phone's clock")
        }
        if let smartTap {
            let (collector, version) = smartTap.credential.collector
            let signs = if case .key = smartTap.credential { true } else { false }
            let how = signs ? "signs at each tap" : "with a signature made in advance"
            add("smartTap", "collector \(collector), key \(version), \(how)")
            let kinds = smartTapKinds.map(\.rawValue).joined(separator: ", ")
            let issuers = smartTapIssuers.map { $0.sorted().map(String.init).joined(separator: ", ") }
            add(
                "smartTap.memberKinds",
                (kinds.isEmpty ? "no object names a member" : "the member is the first of \(kinds)")
                    + (issuers.map { ", issued by \($0.isEmpty ? "nobody" : $0)" } ?? "")
                    + "; other objects are part of the tap and name nobody"
                    + (smartTapKinds.contains(.customer) ? "" : ", nor does Google's number of the customer")
            )
        }
        for (index, tags) in signingTags.enumerated() {
            let counts = tags.verifier.layout.counts
            add(
                "signingTags[\(index)]",
                "https://\(tags.host)\(tags.path)…, the member is the tag's \(tags.identity == .uid ? "identifier" : "text")"
                    + (counts ? ", each tap counts once" : "")
            )
        }
        for (index, rule) in cards.enumerated() { add("cards[\(index)]", rule.explanation) }
        if cards.isEmpty { add("cards", "texts, addresses and JSON that name a member, by the general rules") }
        if let tokens {
            let names = tokens.keyNames.joined(separator: ", ")
            let who = tokens.issuer.map { ", issued by \($0)" } ?? ""
            let whom = tokens.audience.map { ", for \($0)" } ?? ""
            add("tokens", "\(tokens.keyCount) public keys\(names.isEmpty ? "" : " (\(names))")\(who)\(whom)")
        }
        if !uidDespite.isEmpty {
            let problems = uidDespite.map(\.rawValue).sorted().joined(separator: ", ")
            add("uidDespite", "the card's own number counts in spite of \(problems)")
        }
        return parts
    }
}

extension CardRule {
    /// What the rule is for, in words.
    fileprivate var explanation: String {
        let what = isToken ? "a signed token" : "the id"
        switch self {
        case .uri(let rule):
            let place = rule.parameter.map { "the parameter '\($0)' is" } ?? "what follows is"
            return "addresses of \(rule.host)\(rule.path ?? ""): \(place) \(what)"
        case .json(let rule): return "\(rule.type ?? "any") JSON: '\(rule.id)' is \(what)"
        case .text(let rule):
            if rule.isMembershipText == true { return "texts number|id|payload|name" }
            return "texts"
                + (rule.prefix.map { " that begin with '\($0)': what follows is \(what)" } ?? ": each is \(what)")
        case .mime(let rule): return "records of type \(rule.type): the content is \(what)"
        }
    }
}
