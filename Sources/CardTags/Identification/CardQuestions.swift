import CardCore

/// The questions to a card, each asked only if what is known so far leaves it open.
package struct CardQuestions {
    private let channel: any CardChannel
    private var dossier: CardDossier
    private var uid: CardUID?
    private var historicalBytes: [UInt8]?

    /// Application identifiers and names that are asked for.
    package enum Application {
        static let passes = Array("OSE.VAS.01".utf8)
        package static let payment = Array("2PAY.SYS.DDF01".utf8)
        /// The application of passports and other travel documents (ICAO 9303).
        package static let travelDocument: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
    }

    init(_ channel: any CardChannel) {
        self.channel = channel
        dossier = CardDossier(technology: nil)
    }

    mutating func ask() throws(ReaderError) -> Card {
        let facts = channel.facts
        uid = CardUID(facts: facts)
        historicalBytes = CardIdentifier.historicalBytes(of: facts)
        dossier = CardIdentifier.dossier(facts: facts, uid: uid)
        guard dossier.card.product.family != .contact else { return dossier.card }
        if uid == nil, let read = try answered({ () throws(ReaderError) in try channel.identifier() }) {
            uid = read
            dossier = CardIdentifier.dossier(facts: facts, uid: read)
        }
        switch (dossier.card.tagType, dossier.card.technology) {
        case (.type1, _): try askTopaz()
        case (.type2, _): try askType2()
        case (.type3, _): try askFeliCa()
        case (.type4, _): try askSmartCard()
        case (.type5, _): try askVicinity()
        case (.mifareClassic, _), (nil, _): break
        }
        return dossier.card
    }

    // MARK: - Type 2

    private mutating func askType2() throws(ReaderError) {
        var knowsVersion: Bool?
        switch try transceive([0x60]) {
        case .answer(let version) where version.count == 8:
            return addType2(version: version)
        case .answer, .refusal:
            knowsVersion = false
            dossier.note(.version, "the tag does not know GET VERSION")
            // A tag that was asked for what it does not know waits to be selected again.
            try reselect()
        case .unsupported: break
        }
        guard let header = try readPage(3), header.count >= 4 else { return }
        guard knowsVersion == false else {
            guard header[0] == 0xE1 else { return }
            let (product, certainty) = CardTables.type2(containerSize: header[2])
            return dossier.suppose(product, certainty, .capabilityContainer, "\(Int(header[2]) * 8) bytes")
        }
        try measureType2()
    }

    private mutating func addType2(version: [UInt8]) {
        guard let product = CardTables.type2(version: version) else {
            return dossier.note(.version, "a version that is not known: \(version.hex)")
        }
        dossier.suppose(product, .certain, .version)
        if let uid, uid.bytes.count != 7 || uid.bytes[0] != 0x04 {
            dossier.doubt(.uid, "not one of NXP's, so it may be a copy")
        }
    }

    /// Without a version the number of pages distinguishes the older chips: 16, 42 or 44 that can be read.
    private mutating func measureType2() throws(ReaderError) {
        guard try gives(page: 0x10) else {
            return dossier.suppose(CardProduct(.ultralight, .ultralight), .likely, .memory, "16 pages")
        }
        guard try gives(page: 0x29) else { return dossier.note(.memory, "fewer than 42 pages") }
        if try gives(page: 0x2B) {
            dossier.suppose(CardProduct(.ultralight, .ultralightC), .likely, .memory, "44 pages that can be read")
        } else {
            dossier.suppose(CardProduct(.ntag2, "NTAG203", memory: 144), .likely, .memory, "42 pages")
        }
    }

    /// Whether a page can be read and is not the first one again.
    private mutating func gives(page: UInt8) throws(ReaderError) -> Bool {
        guard let block = try readPage(page), let first = try readPage(0) else { return false }
        return block.prefix(4) != first.prefix(4)
    }

    private mutating func readPage(_ page: UInt8) throws(ReaderError) -> [UInt8]? {
        if channel.capabilities.hasPseudoAPDUs {
            guard let answer = try send(.readPages(page)), answer.isSuccess || answer.statusWord == .endReached,
                answer.data.count >= 4
            else { return nil }
            return answer.data
        }
        switch try transceive([0x30, page]) {
        case .answer(let bytes): return bytes.count >= 4 ? bytes : nil
        case .refusal:
            try reselect()
            return nil
        case .unsupported: return nil
        }
    }

    // MARK: - Type 1, FeliCa, ISO 15693

    private mutating func askTopaz() throws(ReaderError) {
        guard case .answer(let bytes) = try transceive([0x78, 0, 0, 0, 0, 0, 0]), bytes.count >= 6,
            let product = CardTables.topaz(header: bytes[0])
        else { return }
        dossier.suppose(product, .certain, .headerROM, "HR0 \(Hex.encode([bytes[0]]))")
    }

    private mutating func askFeliCa() throws(ReaderError) {
        guard channel.facts["pmm"] == nil else { return }
        // Polling for any system: length, command, system code, no request, one slot.
        guard case .answer(let bytes) = try transceive([0x06, 0x00, 0xFF, 0xFF, 0x00, 0x00]), bytes.count >= 18,
            bytes[1] == 0x01
        else { return }
        CardIdentifier.addPMm(Array(bytes[10..<18]), to: &dossier)
    }

    private mutating func askVicinity() throws(ReaderError) {
        guard case .answer(let bytes) = try transceive([0x02, 0x2B]), bytes.count >= 10, bytes[0] & 0x01 == 0
        else { return }
        // Flags, which fields follow, identifier, then DSFID, AFI, memory and IC reference, each if announced.
        let fields = bytes[1]
        let offset = 10 + Int(fields & 0x01) + Int(fields >> 1 & 0x01)
        if uid == nil {
            uid = CardUID(readerBytes: Array(bytes[2..<10]), technology: .iso15693)
            dossier = CardIdentifier.dossier(facts: channel.facts, uid: uid)
        }
        guard fields & 0x04 != 0, bytes.count >= offset + 2 else {
            return dossier.note(.systemInformation, "no word on its memory")
        }
        let blocks = Int(bytes[offset]) + 1
        let size = Int(bytes[offset + 1] & 0x1F) + 1
        dossier.note(.systemInformation, "\(blocks) blocks of \(size) bytes")
        // It takes the place of the one in the tables.
        dossier.card.product.memory = blocks * size
    }

    // MARK: - Smart cards

    private mutating func askSmartCard() throws(ReaderError) {
        if historicalBytes?.isEmpty != false, channel.capabilities.hasPseudoAPDUs,
            dossier.card.technology != .iso14443b, let answer = try send(.getATS), answer.isSuccess,
            !answer.data.isEmpty
        {
            historicalBytes = answer.data
            CardIdentifier.addHistoricalBytes(answer.data, to: &dossier)
        }
        var hasAskedVersion = false
        if [.desfire, .plus, .ntag4].contains(dossier.card.product.family) {
            hasAskedVersion = true
            if try askVersion() { return }
        }
        let looksLikePhone = uid?.kind == .random && dossier.card.technology == .iso14443a
        if looksLikePhone, try askForPasses() { return }
        if try answers(Application.payment) {
            let product = CardProduct(.payment, looksLikePhone ? "payment card, or phone with one" : "payment card")
            dossier.suppose(product, .certain, .application, "the payment environment answers")
            dossier.card.use = .payment
            return
        }
        if try answers(Application.travelDocument) {
            let product = CardProduct(.identityDocument, "passport or identity card")
            dossier.suppose(product, .certain, .application, "the application of travel documents answers")
            dossier.card.use = .identityDocument
            return
        }
        if !hasAskedVersion, try askVersion() { return }
        guard dossier.card.product.family == .phone else { return }
        let finding = "neither payment nor a travel document answers"
        dossier.suppose(CardProduct(.phone, "phone or watch"), .likely, .application, finding)
    }

    private static func native(_ instruction: DESFireInstruction) -> CommandAPDU {
        CommandAPDU(trusted: 0x90, instruction.rawValue, 0x00, 0x00, [], 256)
    }

    /// Whether the card reported its version: GET VERSION in three parts, wrapped in ISO/IEC 7816-4.
    private mutating func askVersion() throws(ReaderError) -> Bool {
        guard let first = try send(Self.native(.getVersion)),
            first.statusWord.rawValue == 0x91AF, first.data.count >= 7
        else { return false }
        // The rest holds the identifier and the batch, and is fetched so that the card is done with the command.
        var status = first.statusWord
        for _ in 0..<2 where status.rawValue == 0x91AF {
            guard let next = try send(Self.native(.additionalFrame)) else { break }
            status = next.statusWord
        }
        guard let product = CardTables.iso14443a4(version: first.data) else {
            dossier.note(.version, "a version that is not known: \(first.data.prefix(7).hex)")
            return false
        }
        dossier.suppose(product, .certain, .version)
        dossier.card.use = .general
        return true
    }

    private mutating func askForPasses() throws(ReaderError) -> Bool {
        guard let answer = try select(Application.passes), answer.isSuccess else { return false }
        let label = BERTLV.decodePrefix(answer.data).objects.find(0x6F, 0x50)?.value ?? []
        let name: String
        switch String(decoding: label, as: UTF8.self) {
        case "ApplePay": name = "iPhone or Apple Watch"
        case "AndroidPay": name = "Android phone or watch"
        default: return false
        }
        dossier.suppose(CardProduct(.phone, name), .certain, .application, "its wallet for passes answers")
        dossier.card.use = .phone
        return true
    }

    private mutating func answers(_ name: [UInt8]) throws(ReaderError) -> Bool { try select(name)?.isSuccess == true }

    private mutating func select(_ name: [UInt8]) throws(ReaderError) -> ResponseAPDU? {
        guard let command = try? CommandAPDU.select(name: name) else { return nil }
        return try send(command)
    }

    // MARK: - The link

    private enum Answer {
        case answer([UInt8])
        /// Silence, a damaged answer or the four bits of a refusal.
        case refusal
        /// The reader carries no frames.
        case unsupported
    }

    private func transceive(_ bytes: [UInt8]) throws(ReaderError) -> Answer {
        do throws(ReaderError) {
            let frame = try channel.transceive(RawFrame(bytes))
            return frame.bitsInLastByte == 8 && frame.bytes.count > 1 ? .answer(frame.bytes) : .refusal
        } catch {
            switch error.kind {
            case .unsupported: return .unsupported
            case .timeout, .communication, .invalidAnswer, .limitExceeded: return .refusal
            default: throw error
            }
        }
    }

    /// `nil` if no meaningful answer came.
    private func send(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU? {
        try answered { () throws(ReaderError) in try channel.send(command) }
    }

    /// `nil` if the reader or the card refuses, or returns no readable answer.
    private func answered<Value>(_ ask: () throws(ReaderError) -> Value?) throws(ReaderError) -> Value? {
        do throws(ReaderError) {
            return try ask()
        } catch {
            switch error.kind {
            case .unsupported, .invalidAnswer, .limitExceeded: return nil
            default: throw error
            }
        }
    }

    /// Powers the card anew; a reader that cannot do so leaves it as it is.
    private func reselect() throws(ReaderError) {
        do throws(ReaderError) {
            try channel.reset()
        } catch {
            guard error.kind == .unsupported else { throw error }
        }
    }
}
