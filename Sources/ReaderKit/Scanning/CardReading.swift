import Foundation

/// The result of one conversation with a card: as much as could be read, and what went wrong.
package struct CardReading: Sendable {
    private typealias Problem = ScanEvent.Problem

    package var technology: Technology?
    package var card = "unknown"
    package var uid: CardUID?
    package var ndef: [NDEFRecord]?
    package var passes: [Pass] = []
    /// The objects of a phone's wallet, if the place trusts it.
    package var objects: [SmartTapObject] = []
    package var problems: [ScanEvent.Problem] = []
    /// Whether it is what a reader reported in a line, which anybody can imitate: its identifier binds nothing.
    package var isReported = false
    package var wallet: WalletReport?
    package var duration: Duration = .zero
    /// The fault of the link that ended the reading early, if one did.
    package var fault: ReaderError?

    package init(facts: CardFacts) {
        let atr = facts.effectiveATR.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        if let atr { card = atr.cardName }
        if let identifier = CardUID(facts: facts) { take(identifier) }
    }

    /// Reads the card: identifier, passes of a phone, then NDEF, then what they contain about the member; without a
    /// site what is written on the card and its identifier. The age of passes is judged by the moment of the tap.
    package init(over channel: any CardChannel, limits: NDEFLimits, site: PassSite? = nil, at now: Date = Date()) {
        self.init(facts: channel.facts)
        do throws(ReaderError) {
            if uid == nil, problems.isEmpty, let found = try channel.anyIdentifier() { take(found) }
            var isPhone = false
            if let site { isPhone = try readWallet(over: channel, site, at: now) }
            if !isPhone { try readNDEF(over: channel, limits, site, at: now) }
        } catch {
            fault = error
            problems.append(Self.problem(of: error))
        }
        addUIDPass()
        if let site { judge(site) }
        duration = channel.elapsed
    }

    package init(facts: CardFacts, fault: ReaderError) {
        self.init(facts: facts)
        self.fault = fault
        problems.append(Self.problem(of: fault))
        addUIDPass()
    }

    /// What the club looks the member up by.
    ///
    /// The identifier of the card itself counts only when all of the card was read and nothing else was found: a member
    /// whose pass could not be read this time must not become a second member under the card's identifier.
    package var member: (key: String, name: String?)? { passes.first.map { ($0.id, $0.name) } }

    mutating func note(_ code: ScanEvent.Problem.Code, _ message: String) {
        problems.append(ScanEvent.Problem(code, message))
    }

    private mutating func take(_ identifier: CardUID) {
        guard identifier.hasKnownLength else {
            return note(
                .invalidUID,
                "the card's identifier has \(identifier.bytes.count) bytes, as that of no card of its kind; use another card"
            )
        }
        uid = identifier
    }

    private mutating func readNDEF(
        over channel: any CardChannel,
        _ limits: NDEFLimits,
        _ site: PassSite?,
        at now: Date
    ) throws(ReaderError) {
        let content: TagContent
        do {
            content = try TagReader.readNDEF(over: channel, limits: limits)
        } catch {
            if case .link(let fault) = error { throw fault }
            let code: ScanEvent.Problem.Code =
                switch error {
                case .protected where error.isPermanent: .tagProtected
                case .unsupportedVersion: .tagUnsupported
                default: .tagCorrupt
                }
            return note(code, "\(error)")
        }
        switch content.ndef {
        case .absent: break
        case .empty:
            ndef = []
            if content.isInterrupted {
                note(.tagCorrupt, "the tag is empty because writing to it was interrupted; write its message again")
            }
        case .message(let bytes):
            let (message, fault) = NDEFMessage.decodeLeniently(bytes, limits: limits)
            ndef = message.records
            if let fault { return note(.ndefMalformed, "\(fault)") }
            readRecords(message.records, site, at: now)
        }
    }

    /// Adds the identifier as the last pass, where it may stand for the member.
    mutating func addUIDPass() {
        guard let uid else { return }
        // What the tag keeps to itself at every tap does not change who it is; what failed this time may.
        let isComplete = problems.allSatisfy { $0.code == .tagProtected || $0.code == .tagUnsupported }
        switch uid.kind {
        case .fixed:
            if isComplete { passes.append(Pass(kind: .uid, id: uid.hex, assurance: .identifier)) }
        case .random:
            guard passes.isEmpty, isComplete else { return }
            note(
                .randomUID,
                "the card shows a new identifier at each tap, which identifies nobody; use a pass or another card"
            )
        case .nonUnique:
            guard passes.isEmpty, isComplete else { return }
            note(
                .nonUniqueUID,
                "other cards may have the same identifier, so it identifies nobody; write a member id on the card"
            )
        }
    }

    /// Reports what a person at the reader can do. Codes and names of the library below are left to ``fault``: a
    /// recording keeps only the kind of a fault, and must yield the same event when it is replayed.
    private static func problem(of error: ReaderError) -> ScanEvent.Problem {
        let kind: ReaderError.Kind =
            switch error.kind {
            case .cardUnresponsive, .cardUnpowered, .invalidAnswer, .other: .communication
            default: error.kind
            }
        let message = "could not read all of the card: \(kind.meaning). \(kind.advice)"
        return ScanEvent.Problem(kind == .cardRemoved ? .cardRemoved : .readFailed, message)
    }
}

extension CardReading {
    /// Asks a phone for the passes of its wallet; whether one was asked, after which nothing else on the phone matters.
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
            note(.passNotAccepted, "\(AppleVASError.malformed(.answer))")
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
            note(.passNotAccepted, "the configuration has no passes of Apple Wallet")
        }
        judge(site)
    }

    private mutating func take(_ outcome: AppleVASReader.Outcome, _ site: PassSite, _ now: Date) {
        if let error = outcome.error { note(.passNotAccepted, "\(error)") }
        for finding in outcome.findings {
            if let message = finding.message { take(message, finding.passTypeIdentifier, site, now) }
            if let error = finding.error { note(.passNotAccepted, "\(error)") }
            switch finding.answer {
            case .locked: problems.append(Self.locked)
            case .needsUser: problems.append(Self.needsUser)
            case .refused(let status):
                note(.passNotAccepted, "the phone refuses to be asked for passes (\(status))")
            case .pass, .noData, .noSuchPass, nil: break
            }
        }
        if passes.isEmpty, problems.isEmpty { problems.append(Self.noPass) }
    }

    private mutating func take(_ message: AppleVASMessage, _ type: String, _ site: PassSite, _ now: Date) {
        let age = now.timeIntervalSince(message.at)
        guard abs(age) <= site.longestAge.seconds else {
            let what = age > 0 ? "was made too long ago" : "is of a time to come"
            return note(
                .passExpired,
                "the phone's pass \(what), by the phone's clock; check the clocks of the phone and the reader's computer"
            )
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
            guard add(object.memberID, .smartTap, finding.assurance, type: object.kind.rawValue) else { break }
        }
        // A pass that cannot be used was reported already.
        if problems.contains(where: { $0.code == .invalidPass }) { return }
        switch finding.status {
        case .locked: problems.append(Self.locked)
        case .needsUser: problems.append(Self.needsUser)
        case .noPasses, .absent, .doneWithoutPayment(hasPasses: false):
            if passes.isEmpty { problems.append(Self.noPass) }
        default:
            if let error = finding.error {
                note(.passNotAccepted, "\(error)")
            } else if passes.isEmpty {
                problems.append(finding.hasPasses ? Self.otherPasses : Self.noPass)
            }
        }
    }

    /// The problem of a tap of Google Wallet that comes from a recording.
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

    /// Takes the addresses that tags of the place have signed out of the records, and returns those of which others may
    /// make a pass. An address that should be signed and is not right names nobody.
    mutating func readSigned(_ records: [NDEFRecord], _ site: PassSite) -> [NDEFRecord] {
        records.filter { record in
            guard let url = Self.address(of: record), let tags = site.signingTags.first(where: { $0.matches(url) })
            else { return true }
            do throws(SDMError) {
                take(try tags.verifier.verify(url), tags, site)
            } catch {
                note(.passNotAccepted, "\(error)")
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
            return note(
                .passNotAccepted,
                "the address was signed by another tag than the one it is on, so it is a copy; use the tag itself"
            )
        }
        // Without an identifier it is unknown whose counter it is.
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
            return note(.invalidPass, "the tag's signed address names nobody; check how it is set up")
        }
        add(id, .sdm, counter == nil ? .cryptographic : .cryptographicWithReplayProtection)
    }

    // MARK: What is accepted

    /// Brings the passes into the order of the place, and leaves out those that it does not accept.
    mutating func judge(_ site: PassSite) {
        let ranked = passes.filter { site.order.contains($0.kind) }
        let accepted = ranked.filter { $0.assurance >= site.lowestAssurance }
        if accepted.isEmpty, let best = ranked.first {
            note(
                .passNotTrusted,
                best.assurance == .identifier
                    ? "what the card shows (\(best.kind.rawValue)) can be copied, and this place wants proof; use a pass that proves itself"
                    : "what the card shows (\(best.kind.rawValue)) is proven and might be a recording or a copy, and this place wants more; use another pass"
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

    /// Adds a pass, or the problem that its id cannot be one; whether it is a pass.
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
            note(.invalidPass, "the pass has an id that is empty, too long or not printable; issue it anew")
            return false
        }
        let name = name.map(MemberID.name).flatMap { $0.isEmpty ? nil : $0 }
        passes.append(Pass(kind: kind, id: id, assurance: assurance, name: name, type: type))
        return true
    }

    /// Whether something is new; reports if it is not, or cannot be known.
    private mutating func remember(_ take: () throws -> Bool) -> Bool {
        do {
            if try take() { return true }
            note(.passReplayed, "this tap was presented before; hold the phone or card itself to the reader again")
        } catch {
            note(
                .passNotAccepted,
                "it cannot be known whether this tap was presented before (\(error)), so it does not count; try again, or ask "
                    + "at the desk"
            )
        }
        return false
    }

    private static let locked = Problem(.phoneLocked, "the phone is locked; unlock it and hold it to the reader again")
    private static let needsUser = Problem(
        .phoneNeedsOwner,
        "the phone wants its owner to choose or confirm; do so and hold it to the reader again"
    )
    private static let noPass = Problem(.noPass, "there is no pass of this place on the phone; add it to the wallet")
    private static let otherPasses = Problem(
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
    fileprivate var memberID: String { (kind == .customer ? customerID?.hex : value) ?? "" }
}

extension CardReading {
    /// The names under which a parameter of an address or a JSON object holds a signed token, if no rule specifies it.
    static let tokenNames = ["token", "jwt"]

    /// Judges records without a card. The identifier of the card that they would be on, for tokens that name it, is no
    /// pass here.
    package init(records: [NDEFRecord], uid: CardUID?, site: PassSite, at now: Date) {
        self.init(facts: CardFacts())
        self.uid = uid
        ndef = records
        readRecords(records, site, at: now)
        judge(site)
    }

    mutating func readRecords(_ records: [NDEFRecord], _ site: PassSite?, at now: Date) {
        guard let site else { return take(NDEFPassReader.read(records)) }
        let known = problems.count
        let open = readSigned(records, site)
        if !site.cards.isEmpty {
            readByRules(open, site, now)
        } else if let tokens = site.tokens {
            take(
                NDEFPassReader.read(
                    open.filter { record in
                        guard let token = Self.token(in: record) else { return true }
                        take(token, tokens, now)
                        return false
                    }
                )
            )
        } else {
            take(NDEFPassReader.read(open))
        }
        // What stands beside a proof that failed does not take its place.
        let failures: Set<ScanEvent.Problem.Code> = [.passNotAccepted, .passReplayed, .passExpired]
        if problems[known...].contains(where: { failures.contains($0.code) }) {
            passes.removeAll { $0.assurance <= .identifier }
        }
    }

    private mutating func take(_ finding: NDEFPassReader.Finding) {
        passes += finding.passes
        if finding.passes.isEmpty { problems += finding.problems }
    }

    private mutating func readByRules(_ records: [NDEFRecord], _ site: PassSite, _ now: Date) {
        var reasons: [String] = []
        for record in records {
            // The first rule that is for a record decides.
            for case let reading? in site.cards.lazy.map({ $0.read(record) }) {
                switch reading {
                case .id(let id, let name, let kind): add(id, kind, .identifier, name: name)
                case .token(let token):
                    if let tokens = site.tokens {
                        take(token, tokens, now)
                    } else {
                        note(.passNotAccepted, "\(SignedTokenError.noVerifier)")
                    }
                case .nobody(let reason): reasons.append(reason)
                }
                break
            }
        }
        if passes.isEmpty { problems += reasons.map { ScanEvent.Problem(.invalidPass, $0) } }
    }

    private mutating func take(_ token: String, _ tokens: SignedTokenVerifier, _ now: Date) {
        do throws(SignedTokenError) {
            let token = try tokens.verify(token, at: now, on: isReported ? nil : uid)
            add(token.id, .ndef, .cryptographic, name: token.name)
        } catch {
            note(error.isOfTime ? .passExpired : .passNotAccepted, "\(error)")
        }
    }

    /// A signed token in a record, where one is expected by its form or its name.
    private static func token(in record: NDEFRecord) -> String? {
        switch record.content {
        case .text(let text):
            let text = text.text.trimmed
            if SignedTokenVerifier.isToken(text) { return text }
            return text.first == "{" ? token(inJSON: Array(text.utf8)) : nil
        case .uri(let uri), .absoluteURI(let uri, _): return token(in: uri)
        case .smartPoster(let poster): return token(in: poster.uri)
        case .mime(let type, let payload):
            let type = type.prefix { $0 != ";" }.trimmed.lowercased()
            if type == "application/jwt" { return String(decoding: payload, as: UTF8.self).trimmed }
            return type == "application/json" || type.hasSuffix("+json") ? token(inJSON: payload) : nil
        case .empty, .external, .androidApplication, .unknown, .handover, .handoverCarrier, .signature, .other,
            .malformed:
            return nil
        }
    }

    private static func token(in uri: String) -> String? {
        let items = URLComponents(string: uri)?.queryItems ?? []
        return items.first { tokenNames.contains($0.name.lowercased()) && $0.value?.isEmpty == false }?.value
    }

    private static func token(inJSON bytes: [UInt8]) -> String? {
        guard let object = JSONValue.object(in: bytes) else { return nil }
        for name in tokenNames {
            if case .text(let token) = object[name] { return token }
        }
        return nil
    }
}
