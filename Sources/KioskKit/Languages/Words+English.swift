import ClubKit

extension Words {
    /// The title of a reason, and what to do.
    typealias Reason = (title: Phrase, advice: Phrase)

    static func english(_ key: Key) -> Phrase {
        switch key {
        case .holdCard: "Hold your card or phone here"
        case .place: "Reader: {place}"
        case .idle: "Ready for your card or phone"
        case .join: "Become a member: {address}"
        case .reading: "Reading … please hold still"
        case .holdLonger: "Please hold it a little longer"
        case .welcome: "Welcome"
        case .welcomeName: "Welcome, {name}"
        case .firstVisit: "This is your first visit. Great to have you here!"
        case .visitNumber: "Visit number {number}"
        case .milestone: "Your visit number {number}. Congratulations!"
        case .birthday: "Happy birthday!"
        case .birthdayName: "Happy birthday, {name}!"
        case .alreadyCounted: "Already counted"
        case .alreadyCountedNote: "Your visit has been counted already."
        case .notRecognised: "Card not recognised"
        case .visitsLeft: [.one: "{count} visit left", .other: "{count} visits left"]
        case .membershipEnds: "Your membership ends on {date}"
        case .stampsLeft: [.one: "{count} more visit until: {reward}", .other: "{count} more visits until: {reward}"]
        case .announcement: "Announcement"
        case .outOfOrder: "This reader is out of order"
        case .askAtDesk: "Please ask at the desk."
        case .cannotRecord: "Visits cannot be recorded right now"
        case .maintenance: "This kiosk is under maintenance"
        case .noReader: "Staff: no reader is connected. Please plug one in."
        case .serviceLost: "Staff: the service for readers (pcscd) is not answering."
        case .readerStuck: "Staff: reader {reader} is stuck. Unplug it and plug it in again."
        case .clockWrong: "Staff: the clock of this kiosk is not set. It shows {date}. Please set it."
        case .someone: "Member"
        case .outcomeFirstVisit: "First visit"
        case .outcomeVisit: "Visit"
        case .outcomeRepeat: "Already counted"
        case .outcomeIgnored: "Not counted"
        case .outcomeRefused: "Refused"
        case .visitsToday: [.one: "{count} visit today", .other: "{count} visits today"]
        case .latestTaps: "Latest taps"
        case .tapsToday: "Taps today"
        case .connecting: "Connecting …"
        case .disconnected: "No connection to the kiosk. Trying again …"
        case .soundOn: "Turn sound on"
        case .soundOff: "Turn sound off"
        case .reason(let code): english(code).title
        case .advice(let code): english(code).advice
        }
    }

    private static func english(_ code: Receipt.Reason.Code) -> Reason {
        switch code {
        case .unknownCard: ("Card not recognised", "To join, please ask at the desk.")
        case .noIdentifier: ("Nothing could be read", "Please try again, or ask at the desk.")
        case .invalidIdentifier: ("The number on this card is not valid", "Please ask at the desk.")
        case .invalidTime: ("The clock of this kiosk is wrong", "Please ask at the desk.")
        case .cardBlocked: ("This card is blocked", "Please use your new card, or ask at the desk.")
        case .blocked: ("This membership is blocked", "Please ask at the desk.")
        case .expired: ("Your membership has ended", "To renew it, please ask at the desk.")
        case .noVisitsLeft: ("No visits left", "For more visits, please ask at the desk.")
        case .erased: ("This entry has been erased", "Please ask at the desk.")
        case .maintenance: ("This kiosk is under maintenance", "Please try again later, or ask at the desk.")
        case .card(let problem):
            switch problem {
            case .cardRemoved: ("Removed too soon", "Please hold it to the reader until it signals.")
            case .readFailed: ("The card could not be read", "Please hold it closer, and keep it still.")
            case .phoneLocked: ("Your phone is locked", "Please unlock it and hold it here again.")
            case .phoneNeedsOwner:
                ("Your phone asks for your choice", "Choose the pass, then hold the phone here again.")
            case .tagCorrupt: ("This card is damaged", "Please ask at the desk.")
            case .ndefMalformed: ("The data on this card is damaged", "Please ask at the desk.")
            case .invalidPass: ("The pass on this card is not valid", "Please ask at the desk.")
            case .passNotAccepted: ("This pass could not be checked", "Please ask at the desk.")
            case .passReplayed: ("This pass has been used already", "Please hold the card or phone itself here.")
            case .passExpired: ("This pass is out of date", "Check your phone’s clock, or ask at the desk.")
            case .passNotTrusted: ("This card is not enough here", "Please use your pass.")
            case .noPass: ("No pass on your phone", "Please add your pass to the wallet.")
            case .tagProtected: ("The data on this card is locked", "Please ask at the desk.")
            case .tagUnsupported: ("This kind of card is not supported", "Please use another card.")
            case .invalidUID: ("This card has no valid number", "Please use another card.")
            case .nonUniqueUID: ("This card’s number is not unique", "Please use another card.")
            case .randomUID: ("This card’s number changes each time", "Please use another card.")
            }
        }
    }
}
