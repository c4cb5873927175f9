import Foundation
import ReaderKit

extension ReaderEvent {
    /// The JSON object: `event`, `at`, and where they apply `reader`, `backend`, `serial`, `atr`, `card`, `percent` and
    /// `error`; and the line for people.
    package func line(at now: Date) -> (json: JSONObject, text: String) {
        let name = reader?.name ?? ""
        var (at, presence, error, percent) = (now, nil as CardPresence?, nil as ReaderError?, nil as Int?)
        let (event, words): (String, String)
        switch self {
        case .serviceLost(let failure):
            (event, words, error) = ("serviceLost", "the reader service is gone: \(failure)", failure)
        case .serviceBack: (event, words) = ("serviceBack", "the reader service is back")
        case .readerAdded: (event, words) = ("readerAdded", "reader added: \(name)")
        case .readerRemoved: (event, words) = ("readerRemoved", "reader removed: \(name)")
        case .cardInserted(let inserted):
            (at, presence) = (inserted.at, inserted)
            (event, words) = ("cardInserted", "card on \(name)" + (inserted.facts.cardName.map { ": \($0)" } ?? ""))
        case .cardRemoved(let removed):
            (event, words, presence) = ("cardRemoved", "card gone from \(name)", removed)
        case .cardMissed(let missed):
            (event, words, presence) = ("cardMissed", "a card came and went too quickly on \(name)", missed)
        case .cardReported(let report): (event, words, at) = ("cardReported", "card reported by \(name)", report.at)
        case .readerStuck(_, let failure):
            (event, words, error) = ("readerStuck", "reader stuck: \(name): \(failure)", failure)
        case .readerRecovered: (event, words) = ("readerRecovered", "reader serves again: \(name)")
        case .batteryLevel(_, let level):
            (event, words, percent) = ("batteryLevel", "battery of \(name): \(level) %", level)
        case .failed(let failure): (event, words, error) = ("failed", "\(failure)", failure)
        }
        let time = ISO8601.text(at)
        let json: JSONObject = [
            "event": event, "at": time, "reader": reader?.name, "backend": reader?.backend, "serial": reader?.serial,
            "atr": presence?.facts.atr?.hex, "card": presence?.facts.cardName, "error": error.map { ErrorLine($0) },
            "percent": percent,
        ]
        return (json, "\(time)  \(words)")
    }
}

extension CardFacts {
    /// The name of the card by its answer to reset; `nil` without one that can be read.
    package var cardName: String? { effectiveATR.flatMap { try? ATR($0) }?.cardName }
}
