import Foundation
import ReaderKit

/// Why a tap cannot be used.
enum Rejection {
    static let unknownCard = Receipt.Reason(.unknownCard, "This card is not known here. Ask at the desk to join.")

    static let cardBlocked = Receipt.Reason(
        .cardBlocked,
        "This card is blocked. Use your new card, or ask at the desk."
    )

    static func blocked(_ reason: String) -> Receipt.Reason {
        let words = PlainText.line(reason)
        return Receipt.Reason(
            .blocked,
            "This membership is blocked\(words.isEmpty ? "" : ": \(words)"). Ask at the desk."
        )
    }

    static let expired = Receipt.Reason(.expired, "This membership has ended. Ask at the desk to renew it.")

    static let noVisitsLeft = Receipt.Reason(.noVisitsLeft, "No visits are left. Ask at the desk for more.")

    static let maintenance = Receipt.Reason(
        .maintenance,
        "Somebody works on this kiosk: the visit was not counted. Tap again later, or ask at the desk."
    )

    static let erased = Receipt.Reason(.erased, "What was known of this tap was erased.")

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
        let isUsable = MemberID.isUsable(key) && !key.allSatisfy(\.isWhitespace)
        return isUsable
            ? nil
            : Receipt.Reason(.invalidIdentifier, "The membership number on this card is not valid. Ask at the desk.")
    }

    /// The most useful of the problems: they are declared so that what another try can mend comes first, then what is
    /// wrong on the card, then what kind of card it is.
    private static func reason(from problems: [ScanEvent.Problem]) -> Receipt.Reason {
        let order = ScanEvent.Problem.Code.allCases
        guard let problem = order.lazy.compactMap({ code in problems.first { $0.code == code } }).first else {
            return Receipt.Reason(
                .noIdentifier,
                "Nothing was read that says who this is. Try again, or ask at the desk."
            )
        }
        let text = PlainText.line(problem.message)
        return Receipt.Reason(.card(problem.code), text.isEmpty ? problem.code.advice : text)
    }
}
