import ReaderKit

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
        let details = Array(data.dropFirst(2))
        selection = nil
        if let target = find(data[1], details) { return .data([1] + target) }
        guard retries == 0xFF else { return .data([0]) }
        wait = Wait(command: .list(brTy: data[1], data: details), patience: nil)
        return .later
    }

    /// Selects the card if that modulation finds it, and gives its target data, from the target number on.
    ///
    /// - Parameters:
    ///   - brTy: speed and modulation: 0 type A, 1 and 2 FeliCa, 3 type B, 4 Topaz.
    ///   - data: whom the request is for: an identifier, the payload of a polling request, an application family.
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
        // The chip takes blocks of 64 bytes, and gives no number to a card.
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
        // The chip gives number 1 to the card.
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
        let types = Array(data.dropFirst(2))
        selection = nil
        if let (type, target) = poll(types) {
            return .data([1, type, UInt8(truncatingIfNeeded: target.count)] + target)
        }
        // Each type is looked for so many times, and each time takes so many periods of 150 ms.
        let patience = Duration.milliseconds(150 * Int(data[0]) * Int(data[1]) * types.count)
        wait = Wait(command: .poll(types: types), patience: data[0] == 0xFF ? nil : patience)
        return .later
    }

    /// The first of the types that the card is of, and its target data.
    mutating func poll(_ types: [UInt8]) -> (type: UInt8, target: [UInt8])? {
        field.switchOn()
        guard let face = field.face else { return nil }
        for type in types {
            let found: (brTy: UInt8, type: UInt8)? =
                switch (type, face.technology) {
                // The general type is told as the particular one that it turned out to be.
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

    /// Puts the card to sleep; target number 0 means all cards.
    ///
    /// - Parameter forgets: whether the chip forgets it too.
    mutating func deselect(_ data: [UInt8], forgets: Bool) -> Reply {
        guard data.count == 1 else { return .syntaxError }
        guard data[0] <= 1 else { return .data([Status.context]) }
        if forgets { selection = nil }
        selection?.isAsleep = true
        selection?.blocks = ISODEPCard()
        return .data([Status.success])
    }
}
