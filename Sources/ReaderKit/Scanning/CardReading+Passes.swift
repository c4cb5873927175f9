import Foundation

/// What the passes of a place say: those of phones, and signed addresses.
extension CardReading {
    /// Asks a phone for the passes of its wallet.
    ///
    /// - Returns: whether a wallet was asked; then nothing else is on the phone that this place could want.
    mutating func readWallet(
        over channel: any CardChannel,
        _ site: PassSite,
        at now: Date
    ) throws(ReaderError) -> Bool {
        guard site.appleVAS != nil || site.smartTap != nil, TagReader.type(of: channel.facts) == .type4 else {
            return false
        }
        switch WalletSelection(try channel.exchange(WalletSelection.command)) {
        case .apple(let template):
            wallet = .other("ApplePay")
            guard let reader = site.appleVAS else { return false }
            card = "Apple Wallet pass"
            let outcome = try reader.read(template, over: channel)
            wallet = .apple(outcome)
            take(outcome, site, now)
            return true
        case .google(let template):
            wallet = .other("AndroidPay")
            guard let reader = site.smartTap else { return false }
            card = "Google Wallet pass"
            let finding = try reader.read(template, over: channel)
            wallet = .google(finding)
            take(finding, site)
            return true
        case .malformed:
            wallet = .malformed
            problems.append(ScanEvent.Problem(.passNotAccepted, "\(AppleVASError.malformed(.answer))"))
            return true
        case .absent(let status):
            wallet = .absent(status)
            return false
        case .unknown(let label):
            wallet = .other(label)
            return false
        }
    }

    // MARK: Apple VAS

    /// Judges an answer to GET VAS DATA without a phone: the kinds of passes of the place are tried in their order.
    package init(appleAnswer answer: ResponseAPDU, site: PassSite, at now: Date) {
        self.init(facts: CardFacts())
        card = "Apple Wallet pass"
        if let outcome = site.appleVAS?.outcome(of: answer) {
            wallet = .apple(outcome)
            take(outcome, site, now)
        } else {
            problems.append(ScanEvent.Problem(.passNotAccepted, "the configuration has no passes of Apple Wallet"))
        }
        judge(site)
    }

    private mutating func take(_ outcome: AppleVASReader.Outcome, _ site: PassSite, _ now: Date) {
        if let error = outcome.error { problems.append(ScanEvent.Problem(.passNotAccepted, "\(error)")) }
        for finding in outcome.findings {
            if let message = finding.message { take(message, finding.passTypeIdentifier, site, now) }
            if let error = finding.error { problems.append(ScanEvent.Problem(.passNotAccepted, "\(error)")) }
            switch finding.answer {
            case .locked: problems.append(Self.locked)
            case .needsUser: problems.append(Self.needsUser)
            case .refused(let status):
                problems.append(
                    ScanEvent.Problem(.passNotAccepted, "the phone refuses to be asked for passes (\(status))")
                )
            case .pass, .noData, .noSuchPass, nil: break
            }
        }
        if passes.isEmpty, problems.isEmpty { problems.append(Self.noPass) }
    }

    private mutating func take(_ message: AppleVASMessage, _ type: String, _ site: PassSite, _ now: Date) {
        let age = now.timeIntervalSince(message.at)
        guard abs(age) <= site.longestAge.seconds else {
            let what = age > 0 ? "was made too long ago" : "is of a time to come"
            problems.append(
                ScanEvent.Problem(
                    .passExpired,
                    "the phone's pass \(what), by the phone's clock; check the clocks of the phone and the reader's computer"
                )
            )
            return
        }
        // Not only for as long as it counts here and now: the place may allow a greater age later, and clocks are put right.
        let end = message.at.addingTimeInterval(Self.remembered)
        guard remember({ try site.memory.takeOnce(message.digest, until: end, now: now) }) else { return }
        add(message.text, .appleVAS, .cryptographicWithReplayProtection, type: type)
    }

    /// How long a presented pass is remembered, in seconds: a week more than the greatest age that there may be.
    private static let remembered: TimeInterval = 8 * 86_400

    // MARK: Smart Tap

    private mutating func take(_ finding: SmartTapReader.Finding, _ site: PassSite) {
        if finding.assurance >= site.lowestAssurance, site.order.contains(.smartTap) { objects = finding.objects }
        for object in finding.objects.named(by: site) {
            // Who has a pass that cannot be used is nobody else because of it.
            guard add(object.memberID, .smartTap, finding.assurance, type: object.kind.name) else { break }
        }
        // A pass that cannot be used was told already.
        if problems.contains(where: { $0.code == .invalidPass }) { return }
        switch finding.status {
        case .locked: problems.append(Self.locked)
        case .needsUser: problems.append(Self.needsUser)
        case .noPasses, .absent, .doneWithoutPayment(hasPasses: false):
            if passes.isEmpty { problems.append(Self.noPass) }
        default:
            if let error = finding.error {
                problems.append(ScanEvent.Problem(.passNotAccepted, "\(error)"))
            } else if passes.isEmpty {
                problems.append(finding.hasPasses ? Self.otherPasses : Self.noPass)
            }
        }
    }

    /// What is to be said of a tap of Google Wallet that comes from a recording.
    package static let recordedSmartTap = ScanEvent.Problem(
        .passNotAccepted,
        "a tap of Google Wallet cannot be opened again from its recording, since its keys ended with it; 'readerctl pass "
            + "explain' shows what can be seen of it"
    )

    /// Explains why a recorded phone refuses: it was asked with other keys, to which it has no answer.
    package mutating func explainRecording() {
        guard case .google(let finding) = wallet, let error = finding.error else { return }
        problems = problems.map { $0.message == "\(error)" ? Self.recordedSmartTap : $0 }
    }

    // MARK: Signing tags

    /// Takes the addresses that tags of the place have signed out of the records.
    ///
    /// - Returns: the records of which others may make a pass. An address that should be signed and is not right names
    ///   nobody.
    mutating func readSigned(_ records: [NDEFRecord], _ site: PassSite) -> [NDEFRecord] {
        records.filter { record in
            guard let url = Self.address(of: record), let tags = site.signingTags.first(where: { $0.matches(url) })
            else {
                return true
            }
            do throws(SDMError) {
                take(try tags.verifier.verify(url), tags, site)
            } catch {
                problems.append(ScanEvent.Problem(.passNotAccepted, "\(error)"))
            }
            return false
        }
    }

    private static func address(of record: NDEFRecord) -> String? {
        switch record.content {
        case .uri(let uri), .absoluteURI(let uri, _): uri
        case .smartPoster(let poster): poster.uri
        default: nil
        }
    }

    private mutating func take(_ tap: SDMTap, _ tags: SDMSite, _ site: PassSite) {
        if let uid, uid.kind == .fixed, !tap.uid.isEmpty, uid.bytes != tap.uid {
            problems.append(
                ScanEvent.Problem(
                    .passNotAccepted,
                    "the address was signed by another tag than the one it is on, so it is a copy; use the tag itself"
                )
            )
            return
        }
        // Without an identifier it cannot be told whose counter it is.
        let counter = tap.uid.isEmpty ? nil : tap.counter
        if let counter {
            guard remember({ try site.memory.takeCounter(counter, of: tap.uid) }) else { return }
        }
        let id: String?
        switch tags.identity {
        case .uid: id = tap.uid.isEmpty ? nil : Hex.encode(tap.uid)
        case .fileData:
            let text = tap.fileData.map { $0[...($0.lastIndex { $0 != 0 } ?? -1)] }
            id = text.flatMap { String(validating: $0, as: UTF8.self) }?.trimmed
        }
        guard let id, !id.isEmpty else {
            problems.append(
                ScanEvent.Problem(.invalidPass, "the tag's signed address names nobody; check how it is set up")
            )
            return
        }
        add(id, .sdm, counter == nil ? .cryptographic : .cryptographicWithReplayProtection)
    }

    // MARK: What is accepted

    /// Brings the passes into the order of the place, and leaves out those that it does not accept.
    mutating func judge(_ site: PassSite) {
        let ranked = passes.filter { site.order.contains($0.kind) }
        let accepted = ranked.filter { $0.assurance >= site.lowestAssurance }
        if accepted.isEmpty, let best = ranked.first {
            problems.append(
                ScanEvent.Problem(
                    .passNotTrusted,
                    best.assurance == .identifier
                        ? "what the card shows (\(best.kind.rawValue)) can be copied, and this place wants proof; use a pass that proves itself"
                        : "what the card shows (\(best.kind.rawValue)) is proven and might be a recording or a copy, and this place wants more; use another pass"
                )
            )
        }
        func place(_ kind: Pass.Kind) -> Int { site.order.firstIndex(of: kind) ?? site.order.count }
        // A signed token stands on the same cards as what anybody can write, and comes before it.
        func place(_ pass: Pass) -> Int {
            let isToken = pass.kind == .ndef && pass.assurance > .identifier
            return isToken ? min(place(.ndef), place(.text)) : place(pass.kind)
        }
        // Of one kind, what is trusted further comes first; else the order stays as it is.
        passes = accepted.enumerated().sorted { left, right in
            let places = (place(left.element), place(right.element))
            if places.0 != places.1 { return places.0 < places.1 }
            if left.element.assurance != right.element.assurance {
                return left.element.assurance > right.element.assurance
            }
            return left.offset < right.offset
        }
        .map(\.element)
    }

    /// Adds a pass, or the problem that its id cannot be one.
    ///
    /// - Returns: whether it is a pass.
    @discardableResult
    mutating func add(
        _ text: String,
        _ kind: Pass.Kind,
        _ assurance: Pass.Assurance,
        name: String? = nil,
        type: String? = nil
    ) -> Bool {
        let id = text.trimmed
        guard MemberID.isUsable(id) else {
            problems.append(
                ScanEvent.Problem(
                    .invalidPass,
                    "the pass has an id that is empty, too long or not printable; issue it anew"
                )
            )
            return false
        }
        let name = name.map(MemberID.name).flatMap { $0.isEmpty ? nil : $0 }
        passes.append(Pass(kind: kind, id: id, assurance: assurance, name: name, type: type))
        return true
    }

    /// Whether something is new; tells if it is not, or cannot be known.
    private mutating func remember(_ take: () throws -> Bool) -> Bool {
        do {
            if try take() { return true }
            problems.append(
                ScanEvent.Problem(
                    .passReplayed,
                    "this tap was presented before; hold the phone or card itself to the reader again"
                )
            )
        } catch {
            problems.append(
                ScanEvent.Problem(
                    .passNotAccepted,
                    "it cannot be known whether this tap was presented before (\(error)), so it does not count; try again, or ask "
                        + "at the desk"
                )
            )
        }
        return false
    }

    private static let locked = ScanEvent.Problem(
        .phoneLocked,
        "the phone is locked; unlock it and hold it to the reader again"
    )
    private static let needsUser = ScanEvent.Problem(
        .phoneNeedsOwner,
        "the phone wants its owner to choose or confirm; do so and hold it to the reader again"
    )
    private static let noPass = ScanEvent.Problem(
        .noPass,
        "there is no pass of this place on the phone; add it to the wallet"
    )
    private static let otherPasses = ScanEvent.Problem(
        .noPass,
        "the passes that the phone gives are of kinds or issuers that name no member here; check 'smartTap.memberKinds' and "
            + "'smartTap.issuers' in the configuration"
    )
}

extension [SmartTapObject] {
    /// Those that name a member at a place: in the order of its kinds, of one kind in the phone's.
    fileprivate func named(by site: PassSite) -> [SmartTapObject] {
        site.smartTapKinds.flatMap { kind in
            filter { object in
                guard object.kind == kind else { return false }
                guard kind != .customer, let issuers = site.smartTapIssuers else { return true }
                return object.issuer.number.map(issuers.contains) ?? false
            }
        }
    }
}

extension SmartTapObject {
    /// The value of a pass as it stands there; a customer's id is no text.
    fileprivate var memberID: String { (kind == .customer ? customerID?.hex : value) ?? "" }
}
