import Foundation

/// The result of one conversation with a card: as much as could be read, and what went wrong.
package struct CardReading: Sendable {
    package var technology: Technology?
    package var card = "unknown"
    package var ndef: [NDEFRecord]?
    /// What the place makes of it.
    package var judgement: PassJudgement
    package var duration: Duration = .zero
    /// The fault of the link that ended the reading early, if one did.
    package var fault: ReaderError?

    package init(facts: CardFacts, site: PassSite? = nil, at now: Date = Date()) {
        judgement = PassJudgement(site: site, at: now)
        let atr = facts.effectiveATR.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        if let atr { card = atr.cardName }
        if let identifier = CardUID(facts: facts) { judgement.take(identifier) }
    }

    /// Reads the card: identifier, passes of a phone, then NDEF, then what they contain about the member; without a
    /// site what is written on the card and its identifier. The age of passes is judged by the moment of the tap.
    package init(over channel: any CardChannel, limits: NDEFLimits, site: PassSite? = nil, at now: Date = Date()) {
        self.init(facts: channel.facts, site: site, at: now)
        do throws(ReaderError) {
            if uid == nil, problems.isEmpty, let found = try channel.anyIdentifier() { judgement.take(found) }
            // What has contacts and no identifier is asked nothing more: it may be a module of the reader.
            if uid != nil || !channel.facts.areOfContacts {
                var isPhone = false
                if let site { isPhone = try readWallet(over: channel, site) }
                if !isPhone { try readNDEF(over: channel, limits) }
                if uid == nil, !isPhone, passes.isEmpty, problems.isEmpty {
                    judgement.note(
                        .invalidUID,
                        "the reader does not give the card's identifier, and nothing on the card names anybody; use another "
                            + "reader, or write a member id on the card"
                    )
                }
            }
        } catch {
            fault = error
            problems.append(Self.problem(of: error))
        }
        judgement.addUIDPass()
        judgement.rank()
        duration = channel.elapsed
    }

    package init(facts: CardFacts, fault: ReaderError) {
        self.init(facts: facts)
        self.fault = fault
        problems.append(Self.problem(of: fault))
        judgement.addUIDPass()
    }

    package var uid: CardUID? { judgement.uid }

    package var passes: [Pass] { judgement.passes }

    package var objects: [SmartTapObject] { judgement.objects }

    package var problems: [ScanEvent.Problem] {
        get { judgement.problems }
        set { judgement.problems = newValue }
    }

    package var member: (key: String, name: String?)? { judgement.member }

    private mutating func readNDEF(
        over channel: any CardChannel,
        _ limits: NDEFLimits
    ) throws(ReaderError) {
        let content: TagContent
        do {
            content = try TagReader.readNDEF(over: channel, limits: limits)
        } catch {
            if case .link(let fault) = error { throw fault }
            // Of a recording of the identifier alone nobody knows what the card would have answered.
            if case .notAsked(.some, _, _) = error, channel.capabilities.knowsIdentifierOnly { return }
            return judgement.note(error.outcome.problem ?? .tagCorrupt, "\(error)")
        }
        switch content.ndef {
        case .absent: break
        case .empty:
            ndef = []
            if content.isInterrupted {
                judgement.note(
                    .tagCorrupt,
                    "the tag is empty because writing to it was interrupted; write its message again"
                )
            }
        case .message(let bytes):
            let (message, fault) = NDEFMessage.decodeLeniently(bytes, limits: limits)
            ndef = message.records
            if let fault { return judgement.note(.ndefMalformed, "\(fault)") }
            judgement.take(message.records)
        }
    }

    /// Asks a phone for the passes of its wallet; whether one was asked, after which nothing else on the phone matters.
    private mutating func readWallet(over channel: any CardChannel, _ site: PassSite) throws(ReaderError) -> Bool {
        guard site.appleVAS != nil || site.smartTap != nil, TagReader.type(of: channel.facts) == .type4 else {
            return false
        }
        switch WalletSelection(try channel.exchange(WalletSelection.command)) {
        case .apple(let template):
            judgement.wallet = .other("ApplePay")
            guard let reader = site.appleVAS else { return false }
            card = "Apple Wallet pass"
            judgement.take(try reader.read(template, over: channel))
            return true
        case .google(let template):
            judgement.wallet = .other("AndroidPay")
            guard let reader = site.smartTap else { return false }
            card = "Google Wallet pass"
            judgement.take(try reader.read(template, over: channel))
            return true
        case .malformed:
            judgement.wallet = .malformed
            judgement.note(.passNotAccepted, "\(AppleVASError.malformed(.answer))")
            return true
        case .absent(let status):
            judgement.wallet = .absent(status)
            return false
        case .unknown(let label):
            judgement.wallet = .other(label)
            return false
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
