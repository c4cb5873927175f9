/// What one conversation with a card gave: as much as could be read, and what went wrong.
struct CardReading: Sendable {
    var technology: Technology?
    var card = "unknown"
    var uid: CardUID?
    var ndef: [NDEFRecord]?
    var passes: [Pass] = []
    var problems: [ScanEvent.Problem] = []
    var duration: Duration = .zero
    /// The fault of the link that ended the reading early, if one did.
    var fault: ReaderError?

    /// What is known before the card was asked anything.
    init(facts: CardFacts) {
        let atr = facts.atr.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        if let atr { card = atr.cardName }
        let technology = technology
        uid = facts["uid"].map { CardUID(readerBytes: $0, technology: technology) }
    }

    /// Reads the card: identifier, then NDEF, then what both say of the member.
    init(over channel: any CardChannel, limits: NDEFLimits) {
        self.init(facts: channel.facts)
        do throws(ReaderError) {
            if uid == nil { uid = try Self.readUID(over: channel, technology) }
            try readNDEF(over: channel, limits)
        } catch {
            fault = error
            problems.append(Self.problem(of: error))
        }
        addUIDPass()
        duration = channel.elapsed
    }

    /// A card with which no conversation could be had.
    init(facts: CardFacts, fault: ReaderError) {
        self.init(facts: facts)
        self.fault = fault
        problems.append(Self.problem(of: fault))
        addUIDPass()
    }

    /// What the club looks the member up by.
    ///
    /// The identifier of the card itself counts only when all of the card was read and nothing else was found: a member
    /// whose pass could not be read this time must not become a second member under the card's identifier.
    var member: (key: String, name: String?)? {
        passes.first.map { ($0.id, $0.name) }
    }

    private static func readUID(
        over channel: any CardChannel,
        _ technology: Technology?
    ) throws(ReaderError) -> CardUID? {
        let answer = try channel.exchange(.getUID)
        // 6282: the identifier is shorter than asked for, and complete.
        guard answer.isSuccess || answer.statusWord.rawValue == 0x6282, !answer.data.isEmpty, answer.data.count <= 16
        else { return nil }
        return CardUID(readerBytes: answer.data, technology: technology)
    }

    private mutating func readNDEF(over channel: any CardChannel, _ limits: NDEFLimits) throws(ReaderError) {
        let content: TagContent
        do {
            content = try TagReader.readNDEF(over: channel, limits: limits)
        } catch {
            if case .link(let fault) = error { throw fault }
            problems.append(ScanEvent.Problem(.tagCorrupt, "\(error)"))
            return
        }
        switch content.ndef {
        case .absent: break
        case .empty: ndef = []
        case .message(let bytes):
            let (message, fault) = NDEFMessage.decodeLeniently(bytes, limits: limits)
            ndef = message.records
            if let fault {
                problems.append(ScanEvent.Problem(.ndefMalformed, "\(fault)"))
                return
            }
            let finding = NDEFPassReader.read(message.records)
            passes += finding.passes
            if finding.passes.isEmpty { problems += finding.problems }
        }
    }

    private mutating func addUIDPass() {
        guard let uid else { return }
        switch uid.kind {
        case .fixed:
            // Listed although the NDEF could not be read would make it the member's key; see `member`.
            if problems.isEmpty { passes.append(Pass(kind: .uid, id: uid.hex, assurance: .identifier)) }
        case .random:
            guard passes.isEmpty, problems.isEmpty else { return }
            problems.append(
                ScanEvent.Problem(
                    .randomUID,
                    "the card shows a new identifier at each tap, which identifies nobody; use a pass or another card"
                )
            )
        case .nonUnique:
            guard passes.isEmpty, problems.isEmpty else { return }
            problems.append(
                ScanEvent.Problem(
                    .nonUniqueUID,
                    "other cards may have the same identifier, so it identifies nobody; write a member id on the card"
                )
            )
        }
    }

    private static func problem(of error: ReaderError) -> ScanEvent.Problem {
        ScanEvent.Problem(error.kind == .cardRemoved ? .cardRemoved : .readFailed, "\(error)")
    }
}
