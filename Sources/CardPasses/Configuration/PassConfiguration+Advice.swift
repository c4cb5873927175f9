import CardTags

extension PassConfiguration {
    /// Something in a configuration that works, and may not be what was meant.
    public struct Advice: Sendable, Hashable, Codable {
        /// The place, as `signingTags[0]`.
        public var place: String
        /// What it leads to, and what to do.
        public var what: String
    }

    /// What may not be meant as it stands there.
    public var advice: [Advice] {
        var advice: [Advice] = []
        func add(_ place: String, _ what: String) { advice.append(Advice(place: place, what: what)) }
        adviseOnOrder(add)
        if let appleVAS {
            if appleVAS.passes.isEmpty {
                add("appleVAS.passes", "it is empty, so no pass of Apple Wallet is asked for")
            }
            var known: Set<String> = []
            for (index, kind) in appleVAS.passes.enumerated() {
                let place = "appleVAS.passes[\(index)]"
                if kind.keys.isEmpty { add("\(place).keys", "it is empty, so a pass of this kind cannot be opened") }
                if !known.insert(kind.passTypeIdentifier).inserted {
                    add(place, "this kind of pass is asked for twice; put all its keys in one place")
                }
                if !kind.passTypeIdentifier.hasPrefix("pass.") {
                    add(place, "pass type identifiers begin with 'pass.'; check it against the pass")
                }
            }
            if let age = appleVAS.longestAgeSeconds, age > 900 {
                let message = "a pass that somebody else recorded counts for \(age) s; 300 are enough"
                add("appleVAS.longestAgeSeconds", message)
            }
        }
        if let smartTap { smartTap.advise(add) }
        adviseOnTags(add)
        return advice
    }

    private func adviseOnOrder(_ add: (String, String) -> Void) {
        var configured: Set<Pass.Kind> = [.text, .ndef, .uid]
        if appleVAS != nil { configured.insert(.appleVAS) }
        if smartTap != nil { configured.insert(.smartTap) }
        if signingTags?.isEmpty == false { configured.insert(.sdm) }
        if let order {
            for kind in Pass.Kind.allCases
            where Self.proving.contains(kind) && configured.contains(kind) && !order.contains(kind) {
                add("order", "\(kind.rawValue) is configured and not named here, so it counts for nothing; add it")
            }
            for kind in order where !configured.contains(kind) {
                add("order", "\(kind.rawValue) is named here, and nothing is configured to read it")
            }
            if Set(order).count < order.count { add("order", "a kind is named twice; the first place counts") }
            if order.isEmpty { add("order", "it is empty, so nobody is let in") }
        }
        adviseOnAssurance(configured, add)
    }

    /// The kinds that need a part of the configuration to be read at all.
    private static let proving: Set<Pass.Kind> = [.appleVAS, .smartTap, .sdm]

    /// How far the passes of a kind can be trusted at the best.
    private func highest(_ kind: Pass.Kind) -> Pass.Assurance {
        switch kind {
        case .appleVAS: appleVAS == nil ? .none : .cryptographicWithReplayProtection
        case .smartTap:
            smartTap.map { $0.preSigned == nil ? .cryptographicWithReplayProtection : .cryptographic } ?? .none
        case .sdm:
            (signingTags ?? []).map { $0.layout.counts ? .cryptographicWithReplayProtection : .cryptographic }.max()
                ?? .none
        case .ndef: tokens == nil ? .identifier : .cryptographic
        case .text, .uid: .identifier
        }
    }

    private func adviseOnAssurance(_ configured: Set<Pass.Kind>, _ add: (String, String) -> Void) {
        let lowest = lowestAssurance ?? .identifier
        let order = order ?? Pass.Kind.allCases
        if lowest > .identifier, !order.contains(where: { highest($0) >= lowest }) {
            add("lowestAssurance", "nothing that is configured can be trusted that far, so nobody is let in")
        }
        if lowest > .identifier, appleVAS != nil || smartTap != nil {
            add(
                "lowestAssurance",
                "a wallet's pass is fresh and was made for this place's keys, but anybody who has the public key of a "
                    + "pass can make one with another text: let the texts of passes be long and random"
            )
        }
        if lowest == .identifier, tokens != nil {
            add("lowestAssurance", "cards without a token count too; set 'cryptographic' where that is not wanted")
        }
        if tokens != nil, let cards, !cards.isEmpty, !cards.contains(where: \.isToken) {
            add("tokens", "no rule in 'cards' takes a token, so none is looked for; add one with \"isToken\": true")
        }
        if uidDespite?.isEmpty == false, lowest > .identifier || !order.contains(.uid) {
            add(
                "uidDespite",
                "the card's own number counts nowhere here ('order', 'lowestAssurance'), so this does nothing"
            )
        } else if uidDespite?.contains(.tagUnsupported) == true {
            let message =
                "who has a message that a reader here cannot ask for is a second member under the card's number"
            add("uidDespite", message)
        }
        if lowest == .none {
            add("lowestAssurance", "it is the same as 'identifier': who cannot be named is let in nowhere")
        }
        if lowest == .identifier, !configured.isDisjoint(with: Self.proving), order.contains(.uid) {
            let message = "numbers of cards count too, and can be copied; set 'cryptographic' where that is not enough"
            add("lowestAssurance", message)
        }
    }

    private func adviseOnTags(_ add: (String, String) -> Void) {
        for (index, tags) in (signingTags ?? []).enumerated() {
            let place = "signingTags[\(index)]"
            if !tags.layout.counts {
                add("\(place).layout", "without identifier and counter, an address that was opened before counts again")
            }
            if tags.identity != .fileData, lowestAssurance ?? .identifier == .identifier,
                (order ?? [.uid]).contains(.uid)
            {
                add(
                    place,
                    "a card with the same number is the same member without a signature; leave 'uid' out of 'order', or set "
                        + "'lowestAssurance' to 'cryptographic'"
                )
            }
            for (later, other) in (signingTags ?? []).enumerated().dropFirst(index + 1)
            where SDMSite.covers(tags.host, tags.path ?? "", other.host, other.path ?? "") {
                add(
                    "signingTags[\(later)]",
                    "addresses like these are those of \(place) already; put the longer path first"
                )
            }
        }
        if let smartTap, smartTap.preSigned != nil {
            add("smartTap.preSigned", "a recorded tap cannot be told from a fresh one; use 'key' where that matters")
        }
        if let cards, cards.isEmpty { add("cards", "it is empty, so the general rules for cards hold; leave it out") }
    }
}

extension PassConfiguration.SmartTap {
    fileprivate func advise(_ add: (String, String) -> Void) {
        let (kinds, place) = (memberKinds ?? [.loyalty], "smartTap.memberKinds")
        if kinds.isEmpty { add(place, "it is empty, so no pass of Google Wallet names a member") }
        if Set(kinds).count < kinds.count { add(place, "a kind is named twice; the first place counts") }
        if issuers?.isEmpty == true { add("smartTap.issuers", "it is empty, so the passes of no issuer count") }
        if kinds.contains(.customer), kinds.count > 1 {
            add(
                place,
                "who taps without a pass is a member under Google's number of the customer, and with the pass another one; "
                    + "name 'customer' alone or leave it out"
            )
        }
        if kinds.contains(.offer) {
            add(place, "an offer may have the same value on many phones, which are then one member; leave it out")
        }
    }
}
