import ReaderKit

/// How a simulated reader takes raw frames for the card within a command APDU. Every maker has a form of its own.
public enum SimulatedEncapsulation: String, Sendable, Hashable, CaseIterable {
    /// SpringCard's ENCAPSULATE, `FF FE protocol 00 Lc frame`, for type A (01), ISO 15693 (04) and FeliCa (07).
    case springCard
    /// ACS's ACR122, whose PN532 takes `D4 42 frame` (as it is) and `D4 40 01 frame` (with its own MIFARE
    /// authentication) in `FF 00 00 00 Lc`.
    case acr122
    /// Identiv's uTrust, `FF EF 00 00 Lc frame`.
    case identiv
    /// The transparent session of PC/SC part 3: `FF C2 00 00` begins and ends it, `FF C2 00 01` carries a frame.
    case transparentSession

    /// The reader's answer, or `nil` if the command is none of this form.
    func answer(_ command: [UInt8], _ card: any SimulatedCard, _ memory: SimulatedReaderMemory) -> [UInt8]? {
        switch (self, command[1]) {
        case (.springCard, 0xFE): springCard(command, card)
        case (.acr122, 0x00): acr122(command, card)
        case (.identiv, 0xEF): identiv(command, card)
        case (.transparentSession, 0xC2): session(command, card, memory)
        default: nil
        }
    }

    /// The command data, or `nil` if Lc does not fit. Le may follow.
    private static func data(_ command: [UInt8]) -> [UInt8]? {
        guard command.count > 5, command[4] > 0 else { return nil }
        let end = 5 + Int(command[4])
        guard command.count == end || command.count == end + 1 else { return nil }
        return Array(command[5..<end])
    }

    /// A frame as it is, which cannot carry MIFARE Classic's cipher: the card hears noise.
    private static func exchange(_ frame: [UInt8], _ card: any SimulatedCard) -> RawFrame? {
        if card.kind.isClassic, frame.first == 0x60 || frame.first == 0x61 {
            return card.receive(frame: RawFrame(Array(frame.prefix(2))))
        }
        return card.receive(frame: RawFrame(frame))
    }

    // MARK: SpringCard

    private func springCard(_ command: [UInt8], _ card: any SimulatedCard) -> [UInt8] {
        let isKnown =
            switch (command[2], card.kind) {
            case (0x01, .isoDEP): true
            case (0x01, let kind): kind.storageTechnology == .iso14443a
            case (0x04, let kind): kind.isVicinity
            case (0x07, let kind): kind.isFeliCa
            default: false
            }
        guard isKnown else { return Status.unsupported }
        guard let frame = SimulatedEncapsulation.data(command) else { return Status.wrongLength }
        guard let answer = SimulatedEncapsulation.exchange(frame, card) else { return Status.mute }
        return answer.bytes + Status.success
    }

    // MARK: ACS

    private func acr122(_ command: [UInt8], _ card: any SimulatedCard) -> [UInt8] {
        guard let data = SimulatedEncapsulation.data(command), data.count > 2, data[0] == 0xD4 else {
            return Status.wrongLength
        }
        // A PN532 knows nothing of ISO 15693.
        if card.kind.isVicinity { return [0xD5, data[1] &+ 1, 0x01] + Status.success }
        switch data[1] {
        case 0x42:
            let answer = SimulatedEncapsulation.exchange(Array(data[2...]), card)
            return [0xD5, 0x43, answer == nil ? 0x01 : 0x00] + (answer?.bytes ?? []) + Status.success
        case 0x40:
            guard let answer = card.receive(frame: RawFrame(Array(data[3...]))) else {
                let isKey = data[3...].first == 0x60 || data[3...].first == 0x61
                return [0xD5, 0x41, card.kind.isClassic && isKey ? 0x14 : 0x01] + Status.success
            }
            // The chip keeps acknowledgements to itself; a refusal is an error.
            if answer.bitsInLastByte < 8 {
                return [0xD5, 0x41, answer == .acknowledgement ? 0x00 : 0x02] + Status.success
            }
            return [0xD5, 0x41, 0x00] + answer.bytes + Status.success
        default:
            return Status.failed
        }
    }

    // MARK: Identiv

    private func identiv(_ command: [UInt8], _ card: any SimulatedCard) -> [UInt8] {
        guard let frame = SimulatedEncapsulation.data(command) else { return Status.wrongLength }
        return (SimulatedEncapsulation.exchange(frame, card)?.bytes ?? []) + Status.success
    }

    // MARK: PC/SC part 3

    private func session(_ command: [UInt8], _ card: any SimulatedCard, _ memory: SimulatedReaderMemory) -> [UInt8] {
        guard let data = SimulatedEncapsulation.data(command), data.count >= 2 else { return Status.wrongLength }
        switch (command[2], command[3], data[0]) {
        case (0x00, 0x00, 0x81):
            memory[card].isTransparent = true
            return SimulatedEncapsulation.done + Status.success
        case (0x00, 0x00, 0x82):
            memory[card].isTransparent = false
            return SimulatedEncapsulation.done + Status.success
        case (0x00, 0x01, 0x95) where memory[card].isTransparent:
            guard let object = BERTLV.decodePrefix(data).objects.find(0x95), let frame = object.value else {
                return [0xC0, 0x03, 0x01] + Status.wrongData + Status.success
            }
            guard let answer = SimulatedEncapsulation.exchange(frame, card) else {
                // The first object failed: no answer in time.
                return [0xC0, 0x03, 0x01, 0x64, 0x01] + Status.success
            }
            let bits = UInt8(answer.bitsInLastByte & 0x07)
            let length: [UInt8] =
                answer.bytes.count < 0x80 ? [UInt8(answer.bytes.count)] : [0x81, UInt8(answer.bytes.count & 0xFF)]
            let content = SimulatedEncapsulation.done + [0x92, 0x01, bits, 0x96, 0x02, 0x00, 0x00, 0x97]
            return content + length + answer.bytes + Status.success
        default:
            return Status.unsupported
        }
    }

    /// No object failed.
    private static let done: [UInt8] = [0xC0, 0x03, 0x00, 0x90, 0x00]
}
