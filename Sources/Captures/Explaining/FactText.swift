import CardCore
import CardPasses
import CardTags

enum FactText {
    static func title(_ facts: CardFacts) -> String {
        let card = CardIdentifier.identify(facts: facts)
        let technology = card.technology.map { ", \($0.rawValue)" } ?? ""
        return "a card comes: \(card.product.name) (\(card.certainty.rawValue))\(technology)"
    }

    static func atr(_ bytes: [UInt8]) -> ExplainedExchange.Message {
        let atr: ATR
        do throws(ATRError) {
            atr = try ATR(bytes)
        } catch {
            let fault = ExplainedField(name: "not read", length: bytes.count, meaning: error.message)
            return .init("answer to reset: malformed", [fault])
        }
        var fields: [ExplainedField] = []
        let historical = atr.historicalBytes
        let end = atr.bytes.count - (atr.tck == nil ? 0 : 1)
        if !historical.isEmpty {
            let (place, text) = (end - historical.count, ExplanationText.ascii(historical))
            let meaning = atr.storageCard.map { "the reader names the card \($0.displayName)" }
            fields.append(ExplainedField("historical bytes", at: place, historical, text: text, meaning: meaning))
        }
        if let tck = atr.tck {
            let meaning = atr.isTCKValid == true ? "right" : "wrong"
            fields.append(ExplainedField("check byte", at: end, [tck], meaning: meaning))
        }
        let phone =
            atr.isContactless && historical.isEmpty
            ? "; without historical bytes, as phones answer, and payment cards and passports" : ""
        return .init("answer to reset: \(atr.cardName)\(phone)", fields)
    }

    static func value(_ value: CardFacts.Value, _ facts: CardFacts) -> String {
        let bytes = value.bytes
        switch value.name {
        case "uid", "idm":
            let uid = CardUID(readerBytes: bytes, technology: facts.technology)
            let maker = uid.manufacturer.map { "; maker \($0)" } ?? ""
            return "identifier, \(ReaderExplainer.text(of: uid.kind))\(maker)"
        case "pupi":
            let uid = CardUID(bytes, technology: .iso14443b)
            return "identifier (PUPI), \(ReaderExplainer.text(of: uid.kind))"
        case "atqa": return "answer to request (ATQA)"
        case "sak":
            let product = bytes.first.flatMap { CardTables.iso14443a(sak: $0, atqa: facts["atqa"])?.product.name }
            return "select acknowledge (SAK)" + (product.map { ": \($0)" } ?? "")
        case "ats":
            let historical = ATSBytes.historicalBytes(of: bytes)
            return "answer to select (ATS)" + (historical.isEmpty ? ", without historical bytes" : "")
        case "appdata": return "application data of type B"
        case "protinfo": return "protocol information of type B"
        case "cid": return "card identifier of type B"
        case "pmm": return "parameters of the card (PMm)"
        case "syscode": return "system code" + (bytes == [0x12, 0xFC] ? ": NDEF" : "")
        case "dsfid": return "data storage format"
        default: return "\(value.name): not known here"
        }
    }
}
