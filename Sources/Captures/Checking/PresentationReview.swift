import CardCore
import CardTags

struct PresentationReview {
    let presentation: Capture.Presentation
    let number: Int
    private let conversation: RedactionConversation
    private(set) var warnings: [CaptureWarning] = []

    init(_ presentation: Capture.Presentation, number: Int) {
        self.presentation = presentation
        self.number = number
        conversation = RedactionConversation(presentation)
    }

    private mutating func warn(_ code: CaptureWarning.Code, line: Int? = nil, _ message: String) {
        let line = line ?? presentation.sourceLine
        warnings.append(CaptureWarning(code: code, line: line, presentation: number, message: message))
    }

    mutating func look() {
        lookAtATR()
        lookAtIdentifiers()
        for exchange in presentation.exchanges {
            guard case .apdu = exchange.request, case .bytes(let bytes) = exchange.answer else { continue }
            let high = bytes.dropLast().last ?? 0
            guard bytes.count < 2 || !(0x61...0x6F).contains(high) && !(0x90...0x9F).contains(high) else { continue }
            warn(.noStatusWord, line: exchange.sourceLine, "the answer does not end in a status word")
        }
        if presentation.removedAt == nil { warn(.notRemoved, "it is not told when the card left; add 'removed at T'") }
    }

    // MARK: Facts

    private mutating func lookAtATR() {
        guard let bytes = presentation.facts.atr else { return }
        do throws(ATRError) {
            let atr = try ATR(bytes)
            for warning in atr.warnings {
                switch warning {
                case .wrongTCK(let expected, let actual):
                    warn(.wrongTCK, "the ATR's check byte is \([actual].hex), and should be \([expected].hex)")
                case .missingTCK(let expected):
                    warn(.wrongTCK, "the ATR's check byte is missing, and should be \([expected].hex)")
                case .zeroPadding, .trailingBytes: break
                }
            }
            guard let told = presentation.facts.technology, let technology = atr.technology, told != technology else {
                return
            }
            warn(.differentTechnology, "the ATR is one of \(technology.rawValue), and the card one of \(told.rawValue)")
        } catch {
            warn(.malformedATR, "\(error)")
        }
    }

    private mutating func lookAtIdentifiers() {
        let facts = presentation.facts
        if let uid = facts["uid"], facts.technology == .iso14443a, let atqa = facts["atqa"]?.last {
            let length = [0: 4, 1: 7, 2: 10][Int(atqa >> 6)]
            if let length, length != uid.count {
                warn(.wrongUIDLength, "ATQA says \(length) bytes of identifier, and there are \(uid.count)")
            }
        }
        let pages = conversation.memory.image(.pages(sector: 0))
        let bytes = (0..<9).compactMap { pages[$0] }
        if bytes.count == 9, facts.shownTechnology == .iso14443a {
            let checks = [
                (name: "BCC0", told: bytes[3], right: CardUID.checkByte(of: [CardUID.cascadeTag] + bytes[0..<3])),
                (name: "BCC1", told: bytes[8], right: CardUID.checkByte(of: bytes[4..<8])),
            ]
            for check in checks where check.told != check.right {
                let (told, right) = ([check.told].hex, [check.right].hex)
                warn(.wrongBCC, "\(check.name) in pages 0 to 2 is \(told), and should be \(right)")
            }
        }
        // In either order: some readers report those of ISO 15693 backwards.
        var seen: [[UInt8]] = []
        for identifier in conversation.identifiers where !seen.contains(identifier) {
            let isKnown = seen.contains(identifier.reversed())
            // A card with a random identifier reports its own on request.
            let isOwn = seen.contains { CardUID($0, technology: facts.shownTechnology).kind == .random }
            if !seen.isEmpty, !isKnown, !isOwn { warn(.differentUID, "two different identifiers are told of one card") }
            seen.append(identifier)
        }
    }

    // MARK: Secrets

    mutating func lookForSecrets() {
        let technology = presentation.facts.shownTechnology
        if conversation.identifiers.contains(where: { CardUID($0, technology: technology).kind == .fixed }) {
            warn(.identifier, "it holds the identifier of a card that may be somebody's; redact it")
        }
        for (code, kind, text) in [
            (CaptureWarning.Code.key, CaptureSecret.Kind.key, "a key or password stands here"),
            (.authentication, .authentication, "the proof of a key stands here"),
            (.passPayload, .pass, "what a phone's pass answered stands here"),
        ] {
            let spans = conversation.spans.filter { $0.kind == kind && !$0.isPublic(in: presentation) }
            for index in Set(spans.map(\.exchange)).sorted() {
                warn(code, line: presentation.exchanges[index].sourceLine, text + "; redact it")
            }
        }
    }
}
