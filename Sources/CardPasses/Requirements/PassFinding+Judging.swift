import CardCore
import CardTags

extension PassFinding {
    /// What explains why passes are not read, or will not be: first of the reader, then of the phone. Each stands once.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - polled: which technologies the reader looks for, where that is known.
    ///   - wantsSmartTap: whether passes of Google Wallet are wanted.
    ///   - facts: what the reader knew of the card; `nil` without one.
    ///   - uid: the card's identifier, where it was read.
    ///   - walletAnswer: what answered to ``WalletSelection/command``, where it was sent.
    ///   - appleVAS: what came of asking for passes of Apple Wallet.
    ///   - smartTap: what came of asking for passes of Google Wallet.
    ///   - problems: those of the tap.
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
        findings += [smartTap?.status.flatMap { PassFinding($0) }].compactMap(\.self)
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
