import CardCore
import CardTags

/// Something about a reader, a phone or a place that explains why a pass was not read, or will not be.
///
/// It describes what was found, what follows from it and what a person can do. It never holds anything of a pass, a key
/// or an identifier.
public struct PassFinding: Sendable, Hashable, Codable {
    /// What it is, for programs.
    public var code: Code

    /// What was found.
    public var what: String

    /// What follows from it.
    public var consequence: String

    /// What a person can do.
    public var advice: String

    /// What can be found.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        case readerDoesNotAnnotate
        case readerUnknown
        case walletAbsent
        case phoneLocked
        case phoneNeedsOwner
        case keyNotAccepted
        case noPass
        /// There are passes, of kinds or issuers that name no member here.
        case otherPasses
        /// The reader does not look for cards of type B, which Smart Tap wants.
        case typeBNotPolled
    }

    /// What was found, what follows and what to do, in one line.
    public var message: String { "\(what). \(consequence). \(advice)" }

    /// The finding of that code.
    public init(_ code: Code) {
        self.code = code
        (what, consequence, advice) =
            switch code {
            case .readerDoesNotAnnotate:
                (
                    "the reader does not tell phones that passes are wanted (ECP)",
                    "An iPhone does not offer a pass by itself; one that shows its pass already can be read",
                    "Let people open the pass before they tap, or use a reader whose firmware is certified for it."
                )
            case .readerUnknown:
                (
                    "it is not known whether the reader tells phones that passes are wanted (ECP)",
                    "If it does not, an iPhone does not offer a pass by itself",
                    "Try with a phone whose screen is off; if it offers nothing, ask the maker for firmware that sends ECP."
                )
            case .walletAbsent:
                (
                    "it looks like a phone, and no wallet answered",
                    "It was not told that passes are wanted, it is locked, or NFC is set to payments alone; "
                        + "some payment cards look alike",
                    "Unlock the phone, open the pass and hold it to the reader again."
                )
            case .phoneLocked:
                (
                    "the phone is locked",
                    "It gives passes only once it is unlocked; an iPhone with the pass shows it now",
                    "Unlock it and hold it to the reader again."
                )
            case .phoneNeedsOwner:
                (
                    "the phone asks its owner to choose or to confirm",
                    "Nothing more comes in this tap",
                    "Choose the pass on the phone and hold it to the reader again."
                )
            case .keyNotAccepted:
                (
                    "the phone does not accept the terminal's key",
                    "No phone will give passes to this configuration",
                    "Check collector, key and key version against the Google Pay & Wallet console; a key that was registered "
                        + "just now may take a day."
                )
            case .noPass:
                (
                    "the phone has no pass of the kind that was asked for",
                    "There is nothing to be read for this place; or, of an iPhone, another pass is shown",
                    "Add the pass of this place to the wallet, and check the pass type or collector in the configuration."
                )
            case .otherPasses:
                (
                    "the phone gives passes, and none is of a kind and an issuer that name a member",
                    "The tap names nobody",
                    "Check 'smartTap.memberKinds' and 'smartTap.issuers' in the configuration against the passes."
                )
            case .typeBNotPolled:
                (
                    "the reader looks for cards of type A only",
                    "Google wants terminals to look for type A and type B; a phone that answers as type B is not seen",
                    "Switch type B on in the reader's configuration, or use a reader that looks for both."
                )
            }
    }

    /// What an Apple phone's answer finds, if anything.
    public init?(_ answer: AppleVASAnswer) {
        switch answer {
        case .locked: self.init(.phoneLocked)
        case .needsUser: self.init(.phoneNeedsOwner)
        case .noSuchPass: self.init(.noPass)
        case .pass, .noData, .refused: return nil
        }
    }

    /// What a Google phone's status finds, if anything.
    public init?(_ status: SmartTapStatus) {
        switch status {
        case .locked: self.init(.phoneLocked)
        case .needsUser: self.init(.phoneNeedsOwner)
        case .noPasses, .doneWithoutPayment(hasPasses: false): self.init(.noPass)
        case .notAuthentic: self.init(.keyNotAccepted)
        case .absent: self.init(.walletAbsent)
        default: return nil
        }
    }

    /// What a tap's problem finds, if anything.
    public init?(_ problem: ScanEvent.Problem) {
        switch problem.code {
        case .phoneLocked: self.init(.phoneLocked)
        case .phoneNeedsOwner: self.init(.phoneNeedsOwner)
        case .noPass: self.init(.noPass)
        default: return nil
        }
    }
}

extension PassFinding: CustomStringConvertible {
    /// The same as ``message``.
    public var description: String { message }

    /// What explains why passes are not read, or will not be: first of the reader, then of the phone. Each stands once.
    ///
    /// - Parameters:
    ///   - polled: which technologies the reader looks for, where that is known.
    ///   - facts: what the reader knew of the card; `nil` without one.
    ///   - walletAnswer: what answered to ``WalletSelection/command``, where it was sent.
    public static func findings(
        reader: ReaderInfo,
        polled: Set<Technology>? = nil,
        wantsSmartTap: Bool = true,
        facts: CardFacts? = nil,
        uid: CardUID? = nil,
        walletAnswer: WalletSelection? = nil,
        appleVAS: AppleVASReader.Outcome? = nil,
        smartTap: SmartTapReader.Finding? = nil,
        problems: [ScanEvent.Problem] = []
    ) -> [PassFinding] {
        var findings: [PassFinding] = []
        switch PollingAnnotation.support(by: reader) {
        case .supported: break
        case .notSupported: findings.append(PassFinding(.readerDoesNotAnnotate))
        case .unknown: findings.append(PassFinding(.readerUnknown))
        }
        if wantsSmartTap, let polled, polled.contains(.iso14443a), !polled.contains(.iso14443b) {
            findings.append(PassFinding(.typeBNotPolled))
        }
        if case .absent(.fileNotFound) = walletAnswer, let facts, looksLikePhone(facts, uid) {
            findings.append(PassFinding(.walletAbsent))
        }
        let answers = appleVAS?.findings.compactMap(\.answer) ?? []
        // Of several kinds of passes that are asked for a phone may lack all but one.
        let isGiven = answers.contains { if case .pass = $0 { true } else { false } }
        findings += answers.compactMap { PassFinding($0) }.filter { !isGiven || $0.code != .noPass }
        if let finding = smartTap?.status.flatMap({ PassFinding($0) }) { findings.append(finding) }
        let others = smartTap?.hasPasses == true
        findings += problems.compactMap { $0.code == .noPass && others ? PassFinding(.otherPasses) : PassFinding($0) }
        var seen: Set<Code> = []
        return findings.filter { seen.insert($0.code).inserted }
    }

    /// Whether a card looks like a phone: an ISO 14443-4 card of type A without historical bytes that shows a random
    /// identifier, where it was read. Payment cards and passports may look so too.
    public static func looksLikePhone(_ facts: CardFacts, _ uid: CardUID? = nil) -> Bool {
        let card = CardIdentifier.identify(facts: facts, uid: uid)
        if card.use == .phone { return true }
        guard facts["uid"] == nil, uid == nil, let atr = facts.atr.flatMap({ try? ATR($0) }) else { return false }
        return atr.isContactless && atr.storageCard == nil && atr.historicalBytes.isEmpty
    }
}
