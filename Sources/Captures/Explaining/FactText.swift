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
        case "sak":
            let product = bytes.first.flatMap { CardTables.iso14443a(sak: $0, atqa: facts["atqa"])?.product.name }
            return "select acknowledge (SAK)" + (product.map { ": \($0)" } ?? "")
        case "ats":
            let historical = ATSBytes.historicalBytes(of: bytes)
            return "answer to select (ATS)" + (historical.isEmpty ? ", without historical bytes" : "")
        case "syscode": return "system code" + (bytes == [0x12, 0xFC] ? ": NDEF" : "")
        default: return names[value.name] ?? "\(value.name): not known here"
        }
    }

    private static let names = [
        "atqa": "answer to request (ATQA)", "appdata": "application data of type B",
        "protinfo": "protocol information of type B", "cid": "card identifier of type B",
        "pmm": "parameters of the card (PMm)", "dsfid": "data storage format",
    ]
}
