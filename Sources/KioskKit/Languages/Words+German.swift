import ClubKit

extension Words {
    static func german(_ key: Key) -> Phrase {
        switch key {
        case .holdCard: "Bitte Karte oder Handy hier vorhalten"
        case .place: "Lesegerät: {place}"
        case .idle: "Bereit für Ihre Karte oder Ihr Handy"
        case .join: "Mitglied werden: {address}"
        case .reading: "Wird gelesen … bitte ruhig halten"
        case .holdLonger: "Bitte etwas länger vorhalten"
        case .welcome: "Willkommen"
        case .welcomeName: "Willkommen, {name}"
        case .firstVisit: "Das ist Ihr erster Besuch. Schön, dass Sie da sind!"
        case .visitNumber: "Besuch Nummer {number}"
        case .milestone: "Ihr Besuch Nummer {number}. Herzlichen Glückwunsch!"
        case .birthday: "Alles Gute zum Geburtstag!"
        case .birthdayName: "Alles Gute zum Geburtstag, {name}!"
        case .alreadyCounted: "Schon gezählt"
        case .alreadyCountedNote: "Ihr Besuch wurde bereits gezählt."
        case .notRecognised: "Karte nicht erkannt"
        case .visitsLeft: [.one: "Noch {count} Besuch übrig", .other: "Noch {count} Besuche übrig"]
        case .membershipEnds: "Ihre Mitgliedschaft endet am {date}"
        case .stampsLeft: [.one: "Noch {count} Besuch bis: {reward}", .other: "Noch {count} Besuche bis: {reward}"]
        case .announcement: "Mitteilung"
        case .outOfOrder: "Dieses Lesegerät ist außer Betrieb"
        case .askAtDesk: "Bitte fragen Sie am Empfang."
        case .cannotRecord: "Besuche können gerade nicht erfasst werden"
        case .maintenance: "Dieser Kiosk wird gerade gewartet"
        case .noReader: "Personal: Kein Lesegerät angeschlossen. Bitte eines einstecken."
        case .serviceLost: "Personal: Der Dienst für Lesegeräte (pcscd) antwortet nicht."
        case .readerStuck: "Personal: Lesegerät {reader} hängt. Bitte aus- und wieder einstecken."
        case .clockWrong: "Personal: Die Uhr ist nicht gestellt, sie zeigt den {date}."
        case .someone: "Mitglied"
        case .outcomeFirstVisit: "Erster Besuch"
        case .outcomeVisit: "Besuch"
        case .outcomeRepeat: "Schon gezählt"
        case .outcomeIgnored: "Nicht gezählt"
        case .outcomeRefused: "Abgelehnt"
        case .visitsToday: [.one: "{count} Besuch heute", .other: "{count} Besuche heute"]
        case .latestTaps: "Zuletzt"
        case .tapsToday: "Heute"
        case .connecting: "Verbindung wird aufgebaut …"
        case .disconnected: "Keine Verbindung zum Kiosk. Neuer Versuch läuft …"
        case .soundOn: "Ton einschalten"
        case .soundOff: "Ton ausschalten"
        case .reason(let code): german(code).title
        case .advice(let code): german(code).advice
        }
    }

    private static func german(_ code: Receipt.Reason.Code) -> Reason {
        switch code {
        case .unknownCard: ("Karte nicht erkannt", "Mitglied werden? Bitte fragen Sie am Empfang.")
        case .noIdentifier: ("Es konnte nichts gelesen werden", "Bitte noch einmal versuchen oder am Empfang fragen.")
        case .invalidIdentifier: ("Die Nummer auf dieser Karte ist ungültig", "Bitte fragen Sie am Empfang.")
        case .invalidTime: ("Die Uhr dieses Kiosks geht falsch", "Bitte fragen Sie am Empfang.")
        case .cardBlocked: ("Diese Karte ist gesperrt", "Bitte neue Karte benutzen oder am Empfang fragen.")
        case .blocked: ("Diese Mitgliedschaft ist gesperrt", "Bitte fragen Sie am Empfang.")
        case .expired: ("Ihre Mitgliedschaft ist abgelaufen", "Zum Verlängern bitte am Empfang fragen.")
        case .noVisitsLeft: ("Keine Besuche mehr übrig", "Weitere Besuche erhalten Sie am Empfang.")
        case .erased: ("Dieser Eintrag wurde gelöscht", "Bitte fragen Sie am Empfang.")
        case .maintenance: ("Dieser Kiosk wird gerade gewartet", "Bitte später wiederkommen oder am Empfang fragen.")
        case .card(let problem):
            switch problem {
            case .cardRemoved: ("Zu früh weggenommen", "Bitte bis zum Signal an das Lesegerät halten.")
            case .readFailed: ("Die Karte konnte nicht gelesen werden", "Bitte näher und ruhig vorhalten.")
            case .phoneLocked: ("Ihr Handy ist gesperrt", "Bitte entsperren und noch einmal vorhalten.")
            case .phoneNeedsOwner: ("Ihr Handy bittet um Auswahl", "Bitte Pass auswählen und noch einmal vorhalten.")
            case .tagCorrupt: ("Diese Karte ist beschädigt", "Bitte fragen Sie am Empfang.")
            case .ndefMalformed: ("Die Daten auf dieser Karte sind beschädigt", "Bitte fragen Sie am Empfang.")
            case .invalidPass: ("Der Pass auf dieser Karte ist ungültig", "Bitte fragen Sie am Empfang.")
            case .passNotAccepted: ("Dieser Pass konnte nicht geprüft werden", "Bitte fragen Sie am Empfang.")
            case .passReplayed: ("Dieser Pass wurde schon benutzt", "Bitte die Karte oder das Handy selbst vorhalten.")
            case .passExpired: ("Dieser Pass ist veraltet", "Bitte Uhr des Handys prüfen oder am Empfang fragen.")
            case .passNotTrusted: ("Diese Karte genügt hier nicht", "Bitte benutzen Sie Ihren Pass.")
            case .noPass: ("Kein Pass auf Ihrem Handy", "Bitte fügen Sie Ihren Pass zur Wallet hinzu.")
            case .tagProtected: ("Die Daten auf dieser Karte sind gesperrt", "Bitte fragen Sie am Empfang.")
            case .tagUnsupported: ("Diese Kartenart wird nicht unterstützt", "Bitte benutzen Sie eine andere Karte.")
            case .invalidUID: ("Diese Karte hat keine gültige Nummer", "Bitte benutzen Sie eine andere Karte.")
            case .nonUniqueUID: ("Die Nummer dieser Karte ist nicht eindeutig", "Bitte benutzen Sie eine andere Karte.")
            case .randomUID: ("Die Nummer dieser Karte wechselt jedes Mal", "Bitte benutzen Sie eine andere Karte.")
            }
        }
    }
}
