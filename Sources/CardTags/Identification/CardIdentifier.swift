import CardCore

/// Finds out which product a card is.
public enum CardIdentifier {
    /// Identifies a card by its facts, without asking it anything.
    ///
    /// - Parameters:
    ///   - facts: what the reader knows.
    ///   - uid: the identifier, where it was read; else the facts' own is used.
    public static func identify(facts: CardFacts, uid: CardUID? = nil) -> Card {
        dossier(facts: facts, uid: uid ?? CardUID(facts: facts)).card
    }

    /// Asks the card what it is: its version, sizes, and which applications answer. Nothing on the card is changed; what
    /// was selected and authenticated before is lost.
    ///
    /// A payment card or an identity document is recognised by the answer to the one SELECT that readers everywhere send
    /// first, and is asked nothing more.
    ///
    /// - Parameter channel: the conversation with the card.
    /// - Throws: ``ReaderError`` if the link to the card is lost. A card or a reader that refuses a question is no error.
    public static func identify(over channel: any CardChannel) throws(ReaderError) -> Card {
        var questions = CardQuestions(channel)
        return try questions.ask()
    }

    static func dossier(facts: CardFacts, uid: CardUID?) -> CardDossier {
        let atr = facts.atr.flatMap { try? ATR($0) }
        var dossier = CardDossier(technology: facts.technology ?? atr?.technology ?? uid?.technology)
        dossier.card.tagType = TagReader.type(of: facts)
        if let atr {
            guard atr.isContactless else {
                dossier.suppose(CardProduct(.contact, "contact card"), .certain, .atr)
                return dossier
            }
            if let storage = atr.storageCard {
                let (product, certainty) = CardTables.storage(storage)
                dossier.suppose(product, certainty, .atr, "the reader names it \(storage.displayName)")
            } else if atr.technology == .iso14443b {
                dossier.suppose(CardProduct(.iso14443b, "ISO 14443-4 B card"), .possible, .atr)
            } else {
                dossier.suppose(CardProduct(.iso14443a4, "ISO 14443-4 A card"), .possible, .atr)
            }
        }
        if let sak = facts["sak"]?.first, let (product, certainty) = CardTables.iso14443a(sak: sak, atqa: facts["atqa"])
        {
            dossier.suppose(product, certainty, .anticollision, "SAK \(Hex.encode([sak])): \(product.name)")
        }
        switch facts.technology {
        case .iso14443b: dossier.suppose(CardProduct(.iso14443b, "ISO 14443 B card"), .possible, .anticollision)
        case .felica: dossier.suppose(CardProduct(.felica, "FeliCa"), .possible, .anticollision)
        case .iso15693: dossier.suppose(CardProduct(.iso15693, "ISO 15693 tag"), .possible, .anticollision)
        case .iso14443a, nil: break
        }
        if let pmm = facts["pmm"] { addPMm(pmm, to: &dossier) }
        let historicalBytes = historicalBytes(of: facts)
        if let historicalBytes { addHistoricalBytes(historicalBytes, to: &dossier) }
        if let uid { add(uid, historicalBytes: historicalBytes, to: &dossier) }
        return dossier
    }

    /// The historical bytes of an ISO 14443-4 A card, or `nil` where they are not known.
    static func historicalBytes(of facts: CardFacts) -> [UInt8]? {
        if let bytes = facts.atr {
            guard let atr = try? ATR(bytes), atr.isContactless, atr.storageCard == nil, atr.technology == .iso14443a
            else { return nil }
            return atr.historicalBytes
        }
        return facts["ats"].map(ATSBytes.historicalBytes)
    }

    static func addHistoricalBytes(_ bytes: [UInt8], to dossier: inout CardDossier) {
        guard let (product, certainty) = CardTables.iso14443a4(historicalBytes: bytes) else { return }
        dossier.suppose(product, certainty, .historicalBytes, "usual for \(product.name)")
    }

    static func addPMm(_ pmm: [UInt8], to dossier: inout CardDossier) {
        guard pmm.count == 8 else { return }
        let product = CardTables.feliCa(code: pmm[1])
        dossier.suppose(product, product.name == "FeliCa" ? .likely : .certain, .pmm, "IC code \(Hex.encode([pmm[1]]))")
    }

    private static func add(_ uid: CardUID, historicalBytes: [UInt8]?, to dossier: inout CardDossier) {
        let technology = uid.technology ?? dossier.card.technology
        switch technology {
        case .iso15693:
            guard let (product, certainty) = CardTables.iso15693(uid: uid.bytes) else { return }
            dossier.suppose(product, certainty, .uid)
        case .iso14443a where uid.kind == .random:
            dossier.note(.uid, "random, new at each presentation")
            guard dossier.card.tagType == .type4, historicalBytes?.isEmpty != false else { return }
            // Payment cards and passports can look just like it.
            dossier.suppose(CardProduct(.phone, "phone or watch"), .possible, .uid, "usual for phones")
            if dossier.card.product.family == .phone { dossier.card.use = .phone }
        case .iso14443a where uid.bytes.count == 7:
            dossier.note(.uid, "7 bytes, maker \(uid.manufacturer ?? "unknown")")
        case .iso14443a, .iso14443b, .felica, nil: break
        }
    }
}

/// Gathers what is found of a card: the surest product is kept, and everything that was found.
struct CardDossier {
    var card: Card

    init(technology: Technology?) {
        card = Card(product: CardProduct(.unknown, "unknown card"), certainty: .possible, technology: technology)
    }

    /// Something that states nothing of the product.
    mutating func note(_ source: Card.Source, _ finding: String) {
        card.evidence.append(Card.Evidence(source: source, finding: finding))
    }

    /// A product that something speaks for. What is at least as sure as before takes its place, for it was asked later.
    mutating func suppose(
        _ product: CardProduct,
        _ certainty: Card.Certainty,
        _ source: Card.Source,
        _ finding: String? = nil
    ) {
        note(source, finding ?? product.name)
        guard certainty >= card.certainty else { return }
        card.product = product
        card.certainty = certainty
    }

    /// Something speaks against the product: it is not certain any more.
    mutating func doubt(_ source: Card.Source, _ finding: String) {
        note(source, finding)
        card.certainty = min(card.certainty, .likely)
    }
}
