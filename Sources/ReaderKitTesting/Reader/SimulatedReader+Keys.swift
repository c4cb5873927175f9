import ReaderKit

extension SimulatedReader {
    /// `FF 82`: a key into one of the volatile slots 00 to 03. The reader keeps it, whatever card is there.
    func loadKey(_ command: [UInt8], for card: any SimulatedCard) -> [UInt8] {
        guard command.count == 11, command[4] == 6 else { return Status.wrongLength }
        guard command[2] == 0x00, command[3] < 4 else { return Status.wrongP1P2 }
        memory[card].keys[command[3]] = Array(command[5...])
        return Status.success
    }

    /// `FF 86`: authenticates to the sector of a block of a MIFARE Classic. The cipher is the reader's part, so the card
    /// gets key and identifier in the frame.
    func authenticate(_ command: [UInt8], to card: any SimulatedCard) -> [UInt8] {
        guard command.count == 10, command[4] == 5 else { return Status.wrongLength }
        guard card.kind.isClassic else { return card.kind == .ultralight ? Status.unsupported : Status.wrongCard }
        guard command[5] == 0x01, command[6] == 0x00, command[8] == 0x60 || command[8] == 0x61 else {
            return Status.wrongData
        }
        guard let key = memory[card].keys[command[9]] else { return Status.notAllowed }
        let frame = RawFrame([command[8], command[7]] + key + card.uid.suffix(4))
        if card.receive(frame: frame) != nil { return Status.success }
        guard selectsAgain else { return Status.failed }
        // The card is selected anew, so that the next key finds it awake.
        card.powerOff()
        card.powerOn()
        return Status.failed
    }

    /// `FF A4 00 01 02`: a service of a FeliCa card, least significant byte first.
    func selectService(_ command: [UInt8], of card: any SimulatedCard) -> [UInt8] {
        guard card.kind.isFeliCa, readsOtherCards else { return Status.unknownInstruction }
        guard command.count == 7, command[4] == 2 else { return Status.wrongLength }
        guard command[2] == 0x00, command[3] == 0x01 else { return Status.wrongP1P2 }
        memory[card].service = UInt16(command[6]) << 8 | UInt16(command[5])
        return Status.success
    }
}
