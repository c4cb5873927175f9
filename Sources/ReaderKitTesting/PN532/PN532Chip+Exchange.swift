import ReaderKit

/// Talking to the card that was selected: InDataExchange and InCommunicateThru.
extension PN532Chip {
    /// The most bytes of an answer in one frame.
    private static var longestAnswer: Int { 262 }

    /// The most bytes of a command that is sent in parts: no APDU is longer.
    private static var longestCommand: Int { 65_544 }

    // MARK: InDataExchange: the chip knows the card's protocol

    mutating func exchange(_ data: [UInt8]) -> Reply {
        guard let target = data.first else { return .syntaxError }
        let content = Array(data.dropFirst())
        guard target & 0x3F == 1, let selection else { return .data([Status.context]) }
        // Without content the rest of a long answer is asked for.
        if content.isEmpty, !rest.isEmpty { return .data(part(rest)) }
        rest = []
        chained += content
        guard chained.count <= PN532Chip.longestCommand else {
            chained = []
            return .data([Status.overflow])
        }
        if target & 0x40 != 0 { return .data([Status.success]) }
        let command = chained
        chained = []
        guard isSelected else { return .data([Status.timeOut]) }
        if selection.face.isISODEP, selection.blocks.isActive {
            guard let answer = transmit(command) else { return .data([Status.timeOut]) }
            return .data(part(answer))
        }
        switch selection.face.technology {
        case .typeA: return .data(exchangeTypeA(command, selection.face))
        case .topaz: return .data(exchangeTopaz(command))
        default: return .data(deliver(command))
        }
    }

    /// The chip completes commands of a Type 1 tag, and keeps the address to itself with which most answers begin.
    private mutating func exchangeTopaz(_ command: [UInt8]) -> [UInt8] {
        guard let answer = field.exchange(frame: RawFrame(complete(command))) else { return [Status.timeOut] }
        let hasAddress = command.first != 0x78 && command.first != 0x00
        return whole(Array(answer.bytes.dropFirst(hasAddress ? 1 : 0)))
    }

    /// A command of a Type 1 tag, of which a program may leave out the identifier and what is zero.
    private func complete(_ command: [UInt8]) -> [UInt8] {
        let isLong = [0x02, 0x10, 0x1B, 0x54].contains(command.first)
        let length = isLong ? 10 : 3
        guard command.count <= length else { return command }
        // The request for the identifier cannot name it.
        let identifier = command.first == 0x78 ? [0, 0, 0, 0] : Array(field.shownUID.prefix(4))
        return command + Array(repeating: 0, count: length - command.count) + identifier
    }

    /// As much of an answer as goes into a frame; the rest is kept.
    private mutating func part(_ answer: [UInt8]) -> [UInt8] {
        let part = answer.prefix(PN532Chip.longestAnswer)
        rest = Array(answer.dropFirst(part.count))
        return [rest.isEmpty ? Status.success : Status.success | Status.more] + part
    }

    private mutating func exchangeTypeA(_ command: [UInt8], _ face: RadioFace) -> [UInt8] {
        // The firmware takes these two for MIFARE authentication, whatever card it is.
        if command.first == 0x60 || command.first == 0x61 {
            guard command.count == 12 else { return [Status.parameter] }
            let frame = face.isClassic ? command : Array(command.prefix(2))
            let isOpen = field.exchange(frame: RawFrame(frame)) == .acknowledgement && face.isClassic
            return [isOpen ? Status.success : Status.authentication]
        }
        guard let answer = hear(command) else { return [Status.timeOut] }
        // Acknowledgements the chip keeps to itself; to a refusal it misses the checksum.
        if answer.bitsInLastByte < 8 { return [answer == .acknowledgement ? Status.success : Status.checksum] }
        return whole(answer.bytes)
    }

    private mutating func deliver(_ frame: [UInt8]) -> [UInt8] {
        guard let answer = field.exchange(frame: RawFrame(frame)) else { return [Status.timeOut] }
        return whole(answer.bytes)
    }

    private func whole(_ answer: [UInt8]) -> [UInt8] {
        answer.count <= PN532Chip.longestAnswer ? [Status.success] + answer : [Status.overflow]
    }

    /// A frame to a card of type A that may put it to sleep.
    private mutating func hear(_ frame: [UInt8]) -> RawFrame? {
        if frame == [0x50, 0x00] {
            _ = field.exchange(frame: RawFrame(frame))
            selection?.isAsleep = true
            return nil
        }
        return field.exchange(frame: RawFrame(frame))
    }

    // MARK: ISO/IEC 14443-4

    /// The chip's side of the block protocol. Nothing gets lost between chip and card, so nothing is repeated.
    private mutating func transmit(_ command: [UInt8]) -> [UInt8]? {
        guard let face = selection?.face else { return nil }
        let overhead = selection?.identifier == nil ? 3 : 4
        let room = max(1, min(face.longestBlock, 64) - overhead)
        var start = 0
        var answer: [UInt8]?
        repeat {
            let end = min(start + room, command.count)
            let isLast = end == command.count
            answer = exchangeBlock(0x02 | (isLast ? 0x00 : 0x10), Array(command[start..<end]))
            guard let control = answer?.first, isLast || control & 0xE6 == 0xA2 else { return nil }
            selection?.blockNumber ^= 1
            start = end
        } while start < command.count
        var response: [UInt8] = []
        while let block = answer, let control = block.first, control & 0xE2 == 0x02 {
            response += block.dropFirst(control & 0x08 != 0 ? 2 : 1)
            if control & 0x10 == 0 { return response }
            answer = exchangeBlock(0xA2, [])
            selection?.blockNumber ^= 1
        }
        return nil
    }

    private mutating func exchangeBlock(_ control: UInt8, _ content: [UInt8]) -> [UInt8]? {
        guard let selection else { return nil }
        let control = control | selection.blockNumber
        let header = selection.identifier.map { [control | 0x08, $0] } ?? [control]
        return hearBlock(header + content)
    }

    private mutating func hearBlock(_ block: [UInt8]) -> [UInt8]? {
        guard var blocks = selection?.blocks else { return nil }
        let answer = blocks.receive(block) { field.exchange(apdu: $0) }
        selection?.blocks = blocks
        if !blocks.isActive { selection?.isAsleep = true }
        // A card that was taken away meanwhile states nothing more.
        return field.card == nil ? nil : answer
    }

    // MARK: InCommunicateThru: the frame as it is

    mutating func communicate(_ data: [UInt8]) -> Reply {
        field.switchOn()
        registers.setReceivedBits(0)
        guard let selection, isPowered(selection), registers.framing == selection.face.technology.framing,
            registers.sentBits == 0, !data.isEmpty
        else { return .data([Status.timeOut]) }
        let checksum = selection.face.technology.checksum
        // A wrong checksum is noise to the card.
        guard let frame = registers.addsChecksum ? data : checksum.strip(data), let answer = converse(frame, selection)
        else { return .data([Status.timeOut]) }
        if answer.bitsInLastByte < 8 {
            registers.setReceivedBits(answer.bitsInLastByte)
            if habits.refusesShortAnswers, registers.takesChecksum { return .data([Status.checksum]) }
            return .data([Status.success] + answer.bytes)
        }
        let bytes = registers.takesChecksum ? answer.bytes : answer.bytes + checksum.bytes(of: answer.bytes)
        return .data(whole(bytes))
    }

    /// A card of type B that sleeps can be woken by a frame, so it need not be selected.
    private func isPowered(_ selection: Selection) -> Bool {
        guard field.card != nil, selection.activation == field.activation else { return false }
        return !selection.isAsleep || selection.face.technology == .typeB
    }

    private mutating func converse(_ frame: [UInt8], _ selection: Selection) -> RawFrame? {
        let face = selection.face
        if face.isISODEP {
            if selection.blocks.isActive, !selection.isAsleep {
                // A change of parameters, which the card accepts and which changes nothing here.
                if face.technology == .typeA, frame[0] & 0xF0 == 0xD0 { return RawFrame([frame[0]]) }
                return hearBlock(frame).map { RawFrame($0) }
            }
            if let answer = activate(frame, face) { return RawFrame(answer) }
            return face.technology == .typeA ? hear(frame) : nil
        }
        // MIFARE Classic's cipher cannot be carried: the card hears noise.
        if face.isClassic, frame[0] == 0x60 || frame[0] == 0x61 {
            return field.exchange(frame: RawFrame(Array(frame.prefix(2))))
        }
        if face.technology == .topaz || face.technology == .feliCa { return field.exchange(frame: RawFrame(frame)) }
        return hear(frame)
    }

    /// What the program does that activates the card by itself: RATS, or a request of type B and ATTRIB.
    private mutating func activate(_ frame: [UInt8], _ face: RadioFace) -> [UInt8]? {
        switch face.technology {
        case .typeA where frame.count == 2 && frame[0] == 0xE0:
            selection?.blocks.activate(sizeCode: Int(frame[1] >> 4), identifier: frame[1] & 0x0F)
            return face.activation
        case .typeB where frame.count == 3 && frame[0] == 0x05:
            selection?.isAsleep = false
            return face.activation
        case .typeB where frame.count >= 9 && frame[0] == 0x1D:
            guard frame[1..<5].elementsEqual(face.activation[1..<5]), selection?.isAsleep == false else { return nil }
            selection?.blocks.activate(sizeCode: Int(frame[6] & 0x0F), identifier: frame[8] & 0x0F)
            return [frame[8] & 0x0F]
        default:
            return nil
        }
    }
}

/// Finding cards: InListPassiveTarget, InAutoPoll, InSelect, InDeselect, InRelease.
extension PN532Chip {
    /// Whether the card that was selected is there and has not forgotten it.
    var isSelected: Bool {
        guard let selection, !selection.isAsleep else { return false }
        return field.card != nil && field.isOn && selection.activation == field.activation
    }

    // MARK: InListPassiveTarget

    mutating func list(_ data: [UInt8]) -> Reply {
        guard data.count >= 2, (1...2).contains(data[0]), data[1] <= 0x04 else { return .syntaxError }
        let command = Wait.Command.list(brTy: data[1], data: Array(data.dropFirst(2)))
        selection = nil
        if let found = find(command) { return .data(found) }
        guard retries == 0xFF else { return .data([0]) }
        wait = Wait(command: command, patience: nil)
        return .later
    }

    /// The answer to a command, if the card is what it looks for.
    mutating func find(_ command: Wait.Command) -> [UInt8]? {
        switch command {
        case .list(let brTy, let data): find(brTy, data).map { [1] + $0 }
        case .poll(let types): poll(types).map { [1, $0, UInt8(truncatingIfNeeded: $1.count)] + $1 }
        }
    }

    /// Selects the card if that modulation (`brTy`: 0 type A, 1 and 2 FeliCa, 3 type B, 4 Topaz) finds it, and returns
    /// its target data, from the target number on. The data specifies whom the request is for: an identifier, the
    /// payload of a polling request, an application family.
    mutating func find(_ brTy: UInt8, _ data: [UInt8]) -> [UInt8]? {
        field.switchOn()
        let face = field.face
        if brTy == 0 { registers.setRequestAnswered(face.map { !$0.atqa.isEmpty } ?? false) }
        guard let face else { return nil }
        switch (brTy, face.technology) {
        case (0, .typeA): return findTypeA(face, data)
        case (1, .feliCa), (2, .feliCa): return findFeliCa(face, brTy, data)
        case (3, .typeB): return findTypeB(face)
        case (4, .topaz): return findTopaz(face)
        default: return nil
        }
    }

    private mutating func select(_ face: RadioFace, _ brTy: UInt8) {
        field.wake()
        selection = Selection(face: face, activation: field.activation, brTy: brTy)
        registers.set(face.technology, speed: brTy == 1 || brTy == 2 ? brTy : 0)
    }

    private mutating func findTypeA(_ face: RadioFace, _ data: [UInt8]) -> [UInt8]? {
        let uid = field.shownUID
        guard data.isEmpty || data == uid || data == PN532Chip.cascade(uid) else { return nil }
        select(face, 0)
        let size = UInt8(truncatingIfNeeded: uid.count)
        let target = [1] + face.atqa + [face.sak, size] + uid
        guard face.isISODEP, parameters & 0x10 != 0 else { return target }
        // The chip takes blocks of 64 bytes, and assigns no number to a card.
        selection?.blocks.activate(sizeCode: 5, identifier: 0)
        return target + face.activation
    }

    /// An identifier as it is sent in anticollision, with the cascade tag before all parts but the last.
    private static func cascade(_ uid: [UInt8]) -> [UInt8] {
        switch uid.count {
        case 7: [0x88] + uid
        case 10: [0x88] + uid[0..<3] + [0x88] + uid[3...]
        default: uid
        }
    }

    private mutating func findTypeB(_ face: RadioFace) -> [UInt8]? {
        select(face, 3)
        // The chip assigns number 1 to the card.
        selection?.blocks.activate(sizeCode: 5, identifier: 1)
        selection?.identifier = 1
        return [1] + face.activation + [0x01, 0x01]
    }

    private mutating func findFeliCa(_ face: RadioFace, _ brTy: UInt8, _ data: [UInt8]) -> [UInt8]? {
        let payload = data.isEmpty ? [0x00, 0xFF, 0xFF, 0x00, 0x00] : data
        guard payload.count == 5, let card = field.card else { return nil }
        select(face, brTy)
        let request = [UInt8(payload.count + 1)] + payload
        if let answer = card.receive(frame: RawFrame(request))?.bytes, answer.count >= 18 { return [1] + answer }
        let isAnySystem = payload[1] == 0xFF && payload[2] == 0xFF
        guard face.isIdentityOnly, isAnySystem, field.shownUID.count == 8 else {
            selection = nil
            return nil
        }
        return [1, 0x12, 0x01] + field.shownUID + [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]
    }

    private mutating func findTopaz(_ face: RadioFace) -> [UInt8]? {
        guard field.shownUID.count >= 4 else { return nil }
        select(face, 4)
        return [1] + face.atqa + field.shownUID.prefix(4)
    }

    // MARK: InAutoPoll

    mutating func autoPoll(_ data: [UInt8]) -> Reply {
        guard (3...17).contains(data.count), data[0] > 0, (1...15).contains(data[1]) else { return .syntaxError }
        let command = Wait.Command.poll(types: Array(data.dropFirst(2)))
        selection = nil
        if let found = find(command) { return .data(found) }
        // Each type is looked for so many times, and each time takes so many periods of 150 ms.
        let patience = Duration.milliseconds(150 * Int(data[0]) * Int(data[1]) * (data.count - 2))
        wait = Wait(command: command, patience: data[0] == 0xFF ? nil : patience)
        return .later
    }

    mutating func poll(_ types: [UInt8]) -> (type: UInt8, target: [UInt8])? {
        field.switchOn()
        guard let face = field.face else { return nil }
        for type in types {
            let found: (brTy: UInt8, type: UInt8)? =
                switch (type, face.technology) {
                // The general type is reported as the particular one that it turned out to be.
                case (0x00, .typeA): (0, face.isISODEP ? 0x20 : 0x10)
                case (0x10, .typeA) where !face.isISODEP: (0, 0x10)
                case (0x20, .typeA) where face.isISODEP: (0, 0x20)
                case (0x01, .feliCa), (0x11, .feliCa): (1, 0x11)
                case (0x02, .feliCa), (0x12, .feliCa): (2, 0x12)
                case (0x03, .typeB), (0x23, .typeB): (3, type)
                case (0x04, .topaz): (4, 0x04)
                default: nil
                }
            if let found, let target = find(found.brTy, []) { return (found.type, target) }
        }
        return nil
    }

    // MARK: InSelect, InDeselect, InRelease

    mutating func select(_ data: [UInt8]) -> Reply {
        guard data.count == 1 else { return .syntaxError }
        guard data[0] == 1, let old = selection else { return .data([Status.context]) }
        guard old.isAsleep else { return .data([Status.success]) }
        let isBack = field.face == old.face && find(old.brTy, []) != nil
        if !isBack { selection = old }
        return .data([isBack ? Status.success : Status.timeOut])
    }

    /// Puts the card to sleep; target number 0 means all cards. `forgets` is whether the chip forgets it too.
    mutating func deselect(_ data: [UInt8], forgets: Bool) -> Reply {
        guard data.count == 1 else { return .syntaxError }
        guard data[0] <= 1 else { return .data([Status.context]) }
        if forgets { selection = nil }
        selection?.isAsleep = true
        selection?.blocks = ISODEPCard()
        return .data([Status.success])
    }
}
