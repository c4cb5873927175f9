import CardCore
import CardTags
import Foundation
import NDEFCodec

/// What a place makes of what a card or phone presents: the passes that count, in its order, and why others do not.
///
/// It needs no card: whoever reads one hands over what was read, and calls ``rank()`` at the end.
package struct PassJudgement: Sendable {
    private typealias Problem = ScanEvent.Problem

    /// `nil` where what is written on the card and its identifier count as they are.
    private let site: PassSite?
    /// The moment of the tap, by which the age of passes is judged.
    private let now: Date
    /// The identifier of the card.
    package var uid: CardUID?
    /// Whether it is what a reader reported in a line, which anybody can imitate: its identifier binds nothing.
    package var isReported = false
    package private(set) var passes: [Pass] = []
    /// The objects of a phone's wallet, if the place trusts it.
    package private(set) var objects: [SmartTapObject] = []
    package var problems: [ScanEvent.Problem] = []
    package var wallet: WalletReport?

    package init(site: PassSite?, at now: Date) {
        (self.site, self.now) = (site, now)
    }

    /// Judges records without a card. The identifier of the card that they would be on, for tokens that name it, is no
    /// pass here.
    package init(records: [NDEFRecord], uid: CardUID?, site: PassSite, at now: Date) {
        self.init(site: site, at: now)
        self.uid = uid
        take(records)
        rank()
    }

    /// Judges an answer to GET VAS DATA without a phone: the kinds of passes of the place are tried in their order.
    package init(appleAnswer answer: ResponseAPDU, site: PassSite, at now: Date) {
        self.init(site: site, at: now)
        if let outcome = site.appleVAS?.outcome(of: answer) {
            take(outcome)
        } else {
            note(.passNotAccepted, "the configuration has no passes of Apple Wallet")
        }
        rank()
    }

    /// What the club looks the member up by.
    ///
    /// The identifier of the card itself counts only when all of the card was read and nothing else was found: a member
    /// whose pass could not be read must not become a second member under the card's identifier. A place may allow it
    /// (``PassSite/uidDespite``).
    package var member: (key: String, name: String?)? { passes.first.map { ($0.id, $0.name) } }

    package mutating func note(_ code: ScanEvent.Problem.Code, _ message: String) {
        problems.append(ScanEvent.Problem(code, message))
    }

    /// Takes the identifier of the card.
    package mutating func take(_ identifier: CardUID) {
        guard identifier.hasKnownLength else {
            return note(
                .invalidUID,
                "the card's identifier has \(identifier.bytes.count) bytes, as that of no card of its kind; use another card"
            )
        }
        uid = identifier
    }

    /// Takes a pass as it is, of which nothing is proven.
    package mutating func take(_ pass: Pass) { passes.append(pass) }

    /// Adds the identifier as the last pass, where it may stand for the member.
    package mutating func addUIDPass() {
        guard let uid else { return }
        let isComplete = problems.allSatisfy { site?.uidDespite.contains($0.code) ?? false }
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

    /// Brings the passes into the order of the place, and leaves out those that it does not accept.
    package mutating func rank() {
        guard let site else { return }
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
    private mutating func add(
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

extension PassJudgement {
    // MARK: Wallets of phones

    /// Takes what an iPhone answered.
    package mutating func take(_ outcome: AppleVASReader.Outcome) {
        wallet = .apple(outcome)
        if let error = outcome.error { note(.passNotAccepted, "\(error)") }
        for finding in outcome.findings {
            if let message = finding.message { take(message, finding.passTypeIdentifier) }
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

    private mutating func take(_ message: AppleVASMessage, _ type: String) {
        guard let site else { return }
        let now = now
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

    /// Takes what an Android phone answered.
    package mutating func take(_ finding: SmartTapReader.Finding) {
        wallet = .google(finding)
        guard let site else { return }
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
}

extension PassJudgement {
    // MARK: Records

    /// The names under which a parameter of an address or a JSON object holds a signed token, if no rule specifies it.
    private static let tokenNames = ["token", "jwt"]

    /// Takes the records of a tag's message.
    package mutating func take(_ records: [NDEFRecord]) {
        guard let site else { return take(NDEFPassReader.read(records)) }
        let known = problems.count
        let open = readSigned(records, site)
        if !site.cards.isEmpty {
            readByRules(open, site)
        } else if let tokens = site.tokens {
            take(
                NDEFPassReader.read(
                    open.filter { record in
                        guard let token = Self.token(in: record) else { return true }
                        take(token, tokens)
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
        problems += finding.passes.isEmpty ? finding.problems : finding.remarks
    }

    private mutating func readByRules(_ records: [NDEFRecord], _ site: PassSite) {
        var reasons: [String] = []
        for record in records {
            // The first rule that is for a record decides.
            for case let reading? in site.cards.lazy.map({ $0.read(record) }) {
                switch reading {
                case .id(let id, let name, let kind): add(id, kind, .identifier, name: name)
                case .token(let token):
                    if let tokens = site.tokens {
                        take(token, tokens)
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

    private mutating func take(_ token: String, _ tokens: SignedTokenVerifier) {
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
        case .mime, .other:
            switch record.mediaType?.kind {
            case .token?: return String(decoding: record.payload, as: UTF8.self).trimmed
            case .json?: return record.mediaText.flatMap { token(inJSON: Array($0.utf8)) }
            default: return nil
            }
        case .empty, .external, .androidApplication, .unknown, .handover, .handoverCarrier, .signature, .malformed:
            return nil
        }
    }

    private static func token(in uri: String) -> String? {
        let written = URIParts(uri).parameters.first { tokenNames.contains($0.name.lowercased()) && !$0.value.isEmpty }
        // What cannot be decoded is no token, and is refused as one.
        return written.map { URIParts.decoded($0.value) ?? String($0.value) }
    }

    private static func token(inJSON bytes: [UInt8]) -> String? {
        guard let object = JSONValue.object(in: bytes) else { return nil }
        for name in tokenNames {
            if case .text(let token) = object[name] { return token }
        }
        return nil
    }

    // MARK: Signing tags

    /// Takes the addresses that tags of the place have signed out of the records, and returns those of which others may
    /// make a pass. An address that should be signed and is not right names nobody.
    private mutating func readSigned(_ records: [NDEFRecord], _ site: PassSite) -> [NDEFRecord] {
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
