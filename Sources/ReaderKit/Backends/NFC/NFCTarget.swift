/// A card as anticollision showed it (`nfc_target`).
package struct NFCTarget: Sendable, Hashable {
    package var modulation: NFCModulation
    /// What it showed, under the names of the capture format.
    package var values: [CardFacts.Value]

    package init(_ modulation: NFCModulation, _ values: [CardFacts.Value]) {
        self.modulation = modulation
        self.values = values
    }

    /// Whether it is what a look of its kind finds: a FeliCa shows its identifier, or it is none.
    var isAnswer: Bool { modulation.technology != .felica || self["idm"] != nil }

    package subscript(name: String) -> [UInt8]? { values.first { $0.name == name }?.bytes }

    var facts: CardFacts { CardFacts(technology: modulation.technology, values: values) }

    var sak: UInt8? { modulation == .iso14443a ? self["sak"]?.first : nil }

    var isISODEP: Bool { modulation == .iso14443b || (sak ?? 0) & 0x20 != 0 }

    /// Whether the chip does the cipher of MIFARE Classic for it.
    var isClassic: Bool { !isISODEP && sak.flatMap(ClassicSize.init(sak:)) != nil }

    /// Whether `nfc_initiator_target_is_present` can ask the card without changing its state: ISO-DEP cards (an R-block),
    /// and Type 2 tags (a READ of page 0). For the others selecting them again is what it comes to in the library too, or
    /// is surer than what the library does.
    var canBePinged: Bool { isISODEP || (sak == 0x00 && self["atqa"] == [0x00, 0x44]) }

    /// What selects this card and no other. Only type A is selected by its identifier, and only if that is its own.
    var selection: [UInt8] {
        guard modulation == .iso14443a, !hasRandomIdentifier, let uid = self["uid"], [4, 7, 10].contains(uid.count)
        else { return [] }
        return uid
    }

    /// Whether it makes up an identifier each time that it is selected (ISO/IEC 14443-3: four bytes that begin with 08).
    var hasRandomIdentifier: Bool {
        guard modulation == .iso14443a, let uid = self["uid"] else { return false }
        return uid.count == 4 && uid[0] == 0x08
    }

    /// Whether the card that was selected now is the same as this one.
    ///
    /// A card with random identifiers cannot be known again but by all the rest; type B may make up its PUPI as well, but
    /// most do not, so there it counts.
    func isSame(as other: NFCTarget) -> Bool {
        guard modulation.technology == other.modulation.technology else { return false }
        switch modulation {
        case .iso14443a:
            guard hasRandomIdentifier, other.hasRandomIdentifier else { return self["uid"] == other["uid"] }
            return ["atqa", "sak", "ats"].allSatisfy { self[$0] == other[$0] }
        case .felica212, .felica424: return self["idm"] == other["idm"]
        case .iso14443b: return self["pupi"] == other["pupi"]
        case .jewel: return self["uid"]?.prefix(4) == other["uid"]?.prefix(4)
        }
    }
}
