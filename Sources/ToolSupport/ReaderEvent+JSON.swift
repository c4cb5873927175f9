import Foundation
import ReaderKit

/// The JSON object for a ``ReaderEvent``: `event`, `at`, and where they apply `reader`, `backend`, `serial`, `atr`,
/// `card` and `error`.
package struct ReaderEventLine: Encodable {
    package var event: String
    package var at: String
    package var reader: String?
    package var backend: BackendKind?
    package var serial: String?
    package var atr: String?
    package var card: String?
    package var error: ErrorLine?

    package init(_ event: ReaderEvent, at now: Date) {
        at = ISO8601.text(now)
        switch event {
        case .serviceLost(let failure):
            self.event = "serviceLost"
            error = ErrorLine(failure)
        case .serviceBack:
            self.event = "serviceBack"
        case .readerAdded(let info):
            self.event = "readerAdded"
            take(info)
        case .readerRemoved(let info):
            self.event = "readerRemoved"
            take(info)
        case .cardInserted(let presence):
            self.event = "cardInserted"
            take(presence)
        case .cardRemoved(let presence):
            self.event = "cardRemoved"
            take(presence)
        case .cardMissed(let presence):
            self.event = "cardMissed"
            take(presence)
        case .cardReported(let report):
            self.event = "cardReported"
            take(report.reader)
            at = ISO8601.text(report.at)
        case .readerStuck(let info, let failure):
            self.event = "readerStuck"
            take(info)
            error = ErrorLine(failure)
        case .readerRecovered(let info):
            self.event = "readerRecovered"
            take(info)
        case .failed(let failure):
            self.event = "failed"
            error = ErrorLine(failure)
        }
    }

    private mutating func take(_ info: ReaderInfo) {
        reader = info.name
        backend = info.backend
        serial = info.serial
    }

    private mutating func take(_ presence: CardPresence) {
        take(presence.reader)
        if event == "cardInserted" { at = ISO8601.text(presence.at) }
        atr = presence.facts.atr?.hex
        card = presence.facts.effectiveATR.flatMap { try? ATR($0) }?.cardName
    }

    /// The line for people.
    package var text: String {
        let what: String
        switch event {
        case "serviceLost": what = "the reader service is gone: \(error?.message ?? "")"
        case "serviceBack": what = "the reader service is back"
        case "readerAdded": what = "reader added: \(reader ?? "")"
        case "readerRemoved": what = "reader removed: \(reader ?? "")"
        case "cardInserted": what = "card on \(reader ?? "")" + (card.map { ": \($0)" } ?? "")
        case "cardRemoved": what = "card gone from \(reader ?? "")"
        case "cardMissed": what = "a card came and went too quickly on \(reader ?? "")"
        case "cardReported": what = "card reported by \(reader ?? "")"
        case "readerStuck": what = "reader stuck: \(reader ?? ""): \(error?.message ?? "")"
        case "readerRecovered": what = "reader serves again: \(reader ?? "")"
        default: what = error?.message ?? event
        }
        return "\(at)  \(what)"
    }
}

/// The JSON object for a reader that cannot be used, among the events of a kiosk.
package struct ReaderErrorLine: Encodable {
    package let event = "error"
    package var at: String
    package var reader: String?
    package var error: ErrorLine

    package init(_ error: ReaderError, reader: ReaderInfo? = nil, at now: Date) {
        at = ISO8601.text(now)
        self.reader = reader?.name
        self.error = ErrorLine(error)
    }
}
