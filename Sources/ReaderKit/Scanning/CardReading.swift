import Foundation

/// What one conversation with a card gave: as much as could be read, and what went wrong.
package struct CardReading: Sendable {
    package var technology: Technology?
    package var card = "unknown"
    package var uid: CardUID?
    package var ndef: [NDEFRecord]?
    package var passes: [Pass] = []
    /// What a phone's wallet gave, where the place trusts it.
    package var objects: [SmartTapObject] = []
    package var problems: [ScanEvent.Problem] = []
    /// Whether it is what a reader reported in a line, which anybody can imitate: its identifier binds nothing.
    package var isReported = false
    /// What a phone answered, where one was asked.
    package var wallet: WalletReport?
    package var duration: Duration = .zero
    /// The fault of the link that ended the reading early, if one did.
    package var fault: ReaderError?

    /// What is known before the card was asked anything.
    package init(facts: CardFacts) {
        let atr = facts.standingATR.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        if let atr { card = atr.cardName }
        if let identifier = CardUID(facts: facts) { take(identifier) }
    }

    /// Reads the card: identifier, passes of a phone, then NDEF, then what they say of the member.
    ///
    /// - Parameters:
    ///   - site: what passes are read and accepted; without it what is written on the card and its identifier.
    ///   - now: the moment of the tap, by which the age of passes is judged.
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

    /// A card with which no conversation could be had.
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
    package var member: (key: String, name: String?)? {
        passes.first.map { ($0.id, $0.name) }
    }

    /// Takes an identifier of a length that there is.
    private mutating func take(_ identifier: CardUID) {
        guard identifier.hasKnownLength else {
            problems.append(
                ScanEvent.Problem(
                    .invalidUID,
                    "the card's identifier has \(identifier.bytes.count) bytes, as that of no card of its kind; use another card"
                )
            )
            return
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
            problems.append(ScanEvent.Problem(code, "\(error)"))
            return
        }
        switch content.ndef {
        case .absent: break
        case .empty:
            ndef = []
            if content.isInterrupted {
                problems.append(
                    ScanEvent.Problem(
                        .tagCorrupt,
                        "the tag is empty because writing to it was interrupted; write its message again"
                    )
                )
            }
        case .message(let bytes):
            let (message, fault) = NDEFMessage.decodeLeniently(bytes, limits: limits)
            ndef = message.records
            if let fault {
                problems.append(ScanEvent.Problem(.ndefMalformed, "\(fault)"))
                return
            }
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
            problems.append(
                ScanEvent.Problem(
                    .randomUID,
                    "the card shows a new identifier at each tap, which identifies nobody; use a pass or another card"
                )
            )
        case .nonUnique:
            guard passes.isEmpty, isComplete else { return }
            problems.append(
                ScanEvent.Problem(
                    .nonUniqueUID,
                    "other cards may have the same identifier, so it identifies nobody; write a member id on the card"
                )
            )
        }
    }

    /// Says what a person at the reader can do. Codes and names of the library below are left to ``fault``: a recording
    /// keeps only the kind of a fault, and must give the same event when it is replayed.
    private static func problem(of error: ReaderError) -> ScanEvent.Problem {
        let kind: ReaderError.Kind =
            switch error.kind {
            case .cardUnresponsive, .cardUnpowered, .invalidAnswer, .other: .communication
            default: error.kind
            }
        return ScanEvent.Problem(
            kind == .cardRemoved ? .cardRemoved : .readFailed,
            "could not read all of the card: \(kind.meaning). \(kind.advice)"
        )
    }
}
