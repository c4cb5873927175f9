import Foundation
import ReaderKit

/// Why a tap cannot be used.
enum Rejection {
    /// The longest identifier, in bytes of UTF-8. Longer ones are no membership numbers.
    static let identifierLength = 1024

    static let unknownCard = Receipt.Reason(.unknownCard, "This card is not known here. Ask at the desk to join.")

    /// The reason to reject the tap, or `nil` if it can be used.
    ///
    /// - Parameter time: the tap's time, `nil` if it is none that the store can keep.
    static func reason(for event: ScanEvent, time: Int64?) -> Receipt.Reason? {
        guard time != nil else {
            return Receipt.Reason(
                .invalidTime,
                "The time of the tap is not valid. Check the clock of the reader's computer."
            )
        }
        guard let key = event.memberKey else { return reason(from: event.problems) }
        let isUsable =
            !key.isEmpty && key.utf8.count <= identifierLength
            && !key.unicodeScalars.contains(where: PlainText.isControl)
            && !key.allSatisfy(\.isWhitespace)
        return isUsable
            ? nil
            : Receipt.Reason(.invalidIdentifier, "The membership number on this card is not valid. Ask at the desk.")
    }

    /// The most useful of the problems: what another try can mend comes first, then what is wrong on the card, then
    /// what kind of card it is.
    private static func reason(from problems: [ScanEvent.Problem]) -> Receipt.Reason {
        let order: [ScanEvent.Problem.Code] = [
            .cardRemoved, .readFailed, .tagCorrupt, .ndefMalformed, .invalidPass, .tagProtected, .tagUnsupported,
            .nonUniqueUID, .randomUID,
        ]
        let first = order.lazy.compactMap { code in problems.first { $0.code == code } }.first
        guard let problem = first ?? problems.first else {
            return Receipt.Reason(
                .noIdentifier,
                "Nothing was read that says who this is. Try again, or ask at the desk."
            )
        }
        let text = PlainText.line(problem.message)
        return switch problem.code {
        case .cardRemoved: reason(.cardRemoved, text, "The card left too soon. Hold it to the reader until it signals.")
        case .readFailed: reason(.readFailed, text, "The card could not be read. Hold it still and closer.")
        case .tagCorrupt: reason(.tagCorrupt, text, "The data on this card is damaged. Ask at the desk.")
        case .tagProtected: reason(.tagProtected, text, "The data on this card is locked. Ask at the desk.")
        case .tagUnsupported: reason(.tagUnsupported, text, "This kind of card is not known here. Use another one.")
        case .ndefMalformed: reason(.ndefMalformed, text, "The data on this card is damaged. Ask at the desk.")
        case .invalidPass: reason(.invalidPass, text, "The membership text on this card is not valid. Ask at the desk.")
        case .randomUID: reason(.randomUID, text, "This card shows a new number each time. Use another one.")
        case .nonUniqueUID: reason(.nonUniqueUID, text, "The number of this card is not unique. Use another one.")
        }
    }

    private static func reason(_ code: Receipt.Reason.Code, _ text: String, _ fallback: String) -> Receipt.Reason {
        Receipt.Reason(code, text.isEmpty ? fallback : text)
    }
}
