import ReaderKit

/// What stands between a computer and a card: the part of a PC/SC reader that answers commands of class `FF` itself
/// (PC/SC part 3) and passes everything else on.
///
/// A real card never sees `FF CA` or `FF B0`: the reader knows the identifier from anticollision, and turns a read into
/// the card's own command. A simulated card is therefore only a card, and this type does the reader's part, in process
/// as well as behind pcscd. Its properties are the habits in which real readers differ.
public struct SimulatedReader: Sendable, Hashable {
    /// How many bytes `FF B0` returns of a Type 2 tag: all 16 that the tag sends, or the 4 of the page asked for.
    public var bytesPerRead: Int

    /// Whether `FF CA F1 00` and `FF CA F1 01` are answered, as SpringCard's readers do.
    public var tellsTagType: Bool

    /// Whether a wrong `Le` in `FF CA` and `FF B0` is answered `6Cxx`, instead of with what there is.
    public var insistsOnLength: Bool

    /// The status word of `FF B0` and `FF D6` where a sector of a MIFARE Classic is not open: `6982` by the standard,
    /// `6300` on many readers.
    public var securityStatus: UInt16

    /// How raw frames for the card are carried within a command APDU.
    public var encapsulation: SimulatedEncapsulation?

    /// Whether a card is powered anew before `FF 86` if it halted after a wrong key. Otherwise the program has to do so.
    public var selectsAgain: Bool

    /// Whether `FF B0` and `FF D6` read and write cards that are neither of Type 2 nor MIFARE Classic: FeliCa and
    /// ISO 15693. Some readers carry only frames to those.
    public var readsOtherCards: Bool

    /// Whether a service of a FeliCa card must be selected (`FF A4`) before its blocks are read or written.
    public var wantsService: Bool

    /// Whether `FF B0` reads blocks of 8 bytes of a Type 1 tag.
    public var readsTopaz: Bool

    /// What answers commands to the reader itself (`FF F0`); `nil` for a reader that has none.
    public var control: SimulatedS550?

    /// What the reader keeps from one command to the next. Copies of a reader are the same reader.
    let memory = SimulatedReaderMemory()

    /// A reader. Without arguments it answers like most: 16 bytes a read, no word on the kind of tag, and frames in
    /// SpringCard's form.
    public init(
        bytesPerRead: Int = 16,
        tellsTagType: Bool = false,
        insistsOnLength: Bool = false,
        securityStatus: UInt16 = 0x6982,
        encapsulation: SimulatedEncapsulation? = .springCard,
        selectsAgain: Bool = false,
        readsOtherCards: Bool = true,
        wantsService: Bool = false,
        readsTopaz: Bool = false,
        control: SimulatedS550? = nil
    ) {
        self.bytesPerRead = bytesPerRead
        self.tellsTagType = tellsTagType
        self.insistsOnLength = insistsOnLength
        self.securityStatus = securityStatus
        self.encapsulation = encapsulation
        self.selectsAgain = selectsAgain
        self.readsOtherCards = readsOtherCards
        self.wantsService = wantsService
        self.readsTopaz = readsTopaz
        self.control = control
    }

    /// Answers a command APDU: class `FF` itself, any other through the card.
    ///
    /// - Returns: the response APDU, or `nil` if the card stays silent. A silence behind `FF B0`, `FF D6` and raw
    ///   frames is the reader's to report, so it returns a status word.
    public func transmit(_ command: [UInt8], to card: any SimulatedCard) -> [UInt8]? {
        guard command.count >= 4 else { return Status.wrongLength }
        guard command[0] == 0xFF else {
            guard case .isoDEP = card.kind else { return Status.unknownClass }
            return card.receive(apdu: command)
        }
        if let control, command[1] == 0xF0 { return control.receive(apdu: command) }
        // What a reader answered for a recorded card is in the recording.
        if let answer = (card as? RecordedCard)?.recordedAnswer(ofReader: command) { return answer }
        if let encapsulation, let answer = encapsulation.answer(command, card, memory) { return answer }
        switch command[1] {
        case Instruction.getData: return getData(command, of: card)
        case Instruction.select: return selectService(command, of: card)
        case Instruction.loadKey: return loadKey(command, for: card)
        case Instruction.generalAuthenticate: return authenticate(command, to: card)
        case Instruction.readBinary: return readBinary(command, of: card)
        case Instruction.updateBinary: return updateBinary(command, of: card)
        default: return Status.unknownInstruction
        }
    }

    // MARK: FF CA: what the reader knows

    private func getData(_ command: [UInt8], of card: any SimulatedCard) -> [UInt8] {
        guard command.count <= 5 else { return Status.wrongLength }
        let data: [UInt8]
        switch (command[2], command[3], card.kind) {
        case (0x00, 0x00, _): data = card.uid
        case (0x01, 0x00, .isoDEP(let historicalBytes)): data = historicalBytes
        case (0xF1, 0x00, .storage(let standard, let name)) where tellsTagType:
            data = [standard] + [UInt8].bigEndian(Int(name), 2)
        case (0xF1, 0x01, let kind) where tellsTagType:
            guard let type = kind.forumType else { return Status.unsupported }
            data = [type]
        default: return Status.unsupported
        }
        return answer(data, expected: command.count == 5 ? Int(command[4]) : 0)
    }

    /// `expected` 0 asks for all.
    func answer(_ data: [UInt8], expected: Int) -> [UInt8] {
        if expected == 0 || expected == data.count { return data + Status.success }
        if expected < data.count || insistsOnLength { return [0x6C, UInt8(data.count & 0xFF)] }
        return data + Status.endOfData
    }
}

extension RawFrame {
    /// A Type 2 tag's "done": `A` in four bits.
    static let acknowledgement = RawFrame([0x0A], bitsInLastByte: 4)

    /// A Type 2 tag's "not done", with the reason in four bits.
    static func refusal(_ code: UInt8) -> RawFrame { RawFrame([code & 0x0F], bitsInLastByte: 4) }
}

extension SimulatedCardKind {
    var isClassic: Bool { self == .classic1K || self == .classic4K || self == .classicMini }

    /// The technology of a storage card, as its standard or its name states.
    var storageTechnology: Technology? {
        guard case .storage(let standard, let name) = self else { return nil }
        return StorageCard(standard: standard, nameCode: name).technology
    }

    var isFeliCa: Bool { storageTechnology == .felica }

    var isVicinity: Bool { storageTechnology == .iso15693 }

    var isType2: Bool {
        if case .storage(0x03, let name) = self { [0x0003, 0x003A, 0x003D].contains(name) } else { false }
    }

    /// The NFC Forum's number of the tag type.
    var forumType: UInt8? {
        switch self {
        case .topaz: 1
        case _ where isType2: 2
        case _ where isFeliCa: 3
        case .isoDEP: 4
        case .storage(0x0B, _): 5
        case .storage: nil
        }
    }
}
