import CardPasses
import Foundation

/// What the club keeps of a member besides the five base values and custom fields, as files and people name it: whether
/// they are let in, until when, for how many visits, their tags, cards and notes.
///
/// A name that means one of these is no custom field's, in any file, so that nothing that only looks like a block or an
/// end stands among a member's values.
package enum StandingColumn: Sendable, Hashable, CaseIterable {
    /// Whether the member is not let in (yes or no), or why.
    case blocked
    /// Whether the member is let in: yes or no.
    case active
    /// A word for whether the member is let in.
    case status
    /// When the membership ends: its last day, or a time.
    case expires
    /// How many visits may still be made.
    case visitsLeft
    case tags
    /// Further cards.
    case cards
    case notes

    /// The names in English, German, Chinese and Arabic, compared by ``key(_:)``. `Documentation/desk.md` has the table.
    package var names: String {
        switch self {
        case .blocked:
            """
            blocked, block, block reason, blocked reason, reason for block, locked, banned, ban, barred, suspended, \
            suspension, frozen, disabled, deactivated, inactive, blacklisted, access denied, blocked since, blocked at, \
            blocked on, blocked until, blocked by, suspended until, frozen until
            gesperrt, Sperre, Sperrung, Sperrgrund, gesperrt wegen, blockiert, deaktiviert, inaktiv, ruhend, \
            Hausverbot, gesperrt seit, gesperrt am, gesperrt bis
            冻结, 已冻结, 凍結, 封禁, 锁定, 已锁定, 停用, 已停用, 禁用, 拉黑, 黑名单, 冻结原因
            محظور, محظورة, حظر, سبب الحظر, موقوف, موقوفة, معلق, مجمد, معطل, غير نشط, غير فعال
            """
        case .active:
            """
            active, enabled, in good standing, access allowed
            aktiv, freigeschaltet
            激活, 已激活, 有效, 启用, 已启用, 是否有效
            نشط, نشطة, فعال, فعالة, مفعل
            """
        case .status:
            """
            status, membership state, standing
            Mitgliedsstatus, Mitgliederstatus
            状态, 狀態
            حالة, حالة العضوية
            """
        case .expires:
            """
            expires, expired, expire, expires at, expires on, expiry, expiry date, expiration, expiration date, exp, \
            exp date, end, ends, ended, end date, ends at, ends on, valid until, valid till, valid to, valid thru, \
            valid through, validity, until, paid until, paid to, paid through, contract end, contract end date, \
            last day, termination date
            Ablauf, Ablaufdatum, abgelaufen am, läuft ab, läuft ab am, Ende, Enddatum, endet, endet am, gültig bis, \
            Gültigkeit, befristet bis, bezahlt bis, bis, Mitglied bis, Mitgliedschaftsende, Mitgliedsende, \
            Ende der Mitgliedschaft, Vertragsende, Laufzeitende, Austritt, Austrittsdatum, Kündigungsdatum
            有效期, 有效期至, 有效期到, 有效期限, 有效至, 到期, 到期日, 到期日期, 到期时间, 截止日期, 截止, 失效日期, 过期日期, 过期时间, \
            结束日期, 结束时间, 終止日期
            انتهاء, تاريخ الانتهاء, تاريخ انتهاء العضوية, انتهاء العضوية, نهاية العضوية, تاريخ النهاية, ينتهي, ينتهي في, تنتهي في, \
            صالح حتى, صالحة حتى, صلاحية, تاريخ الصلاحية, انتهاء الصلاحية, نهاية
            """
        case .visitsLeft:
            """
            visits left, visits remaining, remaining visits, sessions, sessions left, sessions remaining, \
            remaining sessions, classes left, classes remaining, remaining classes, entries left, remaining entries, \
            entries remaining, credits, credits left, credits remaining, remaining credits, punches left, \
            remaining punches, pack, pass left, visit pack, session pack, remaining
            Restbesuche, Besuche übrig, übrige Besuche, verbleibende Besuche, offene Besuche, Resteintritte, \
            verbleibende Eintritte, Resteinheiten, verbleibende Einheiten, Einheiten übrig, Reststunden, \
            verbleibend, übrig, Rest, Zehnerkarte, Mehrfachkarte
            剩余次数, 剩余, 剩余课时, 剩余到访次数, 余次, 次卡, 可用次数, 課時剩餘, 剩餘次數
            زيارات متبقية, الزيارات المتبقية, جلسات, جلسات متبقية, حصص متبقية, مرات متبقية, متبقي, المتبقي, المتبقية
            """
        case .tags:
            """
            tags, tag, labels, label
            Schlagworte, Schlagwörter, Schlagwort, Etiketten, Etikett, Markierungen, Markierung, Merkmale
            标签, 標籤
            وسوم, وسم, علامات
            """
        case .cards:
            """
            cards, card, card id, card ids, card uid, card uids, card number, card numbers, further cards, other cards, \
            additional cards, second card, key fob, fob
            Karten, Karte, Kartennummer, Kartennummern, weitere Karten, Zusatzkarte, Zusatzkarten, Zweitkarte
            卡, 卡片, 卡号, 卡號, 其他卡, 其他卡片
            بطاقات, بطاقة, رقم البطاقة, أرقام البطاقات, بطاقات أخرى
            """
        case .notes:
            """
            notes, note, remarks, remark, comments, comment
            Notizen, Notiz, Bemerkungen, Bemerkung, Anmerkungen, Anmerkung, Kommentare, Kommentar
            备注, 備註, 注释
            ملاحظات, ملاحظة
            """
        }
    }

    /// Words before a name that say only of whom or what it is.
    private static let subjects = [
        "membership", "members", "member", "customer", "client", "account", "subscription", "staff", "is", "mitglieds",
        "mitgliedschafts", "mitgliedschaft", "mitglied", "kunden", "konto", "会员", "会籍", "會員",
    ].map(key)

    private static let umlauts: [Substring: String] = ["ä": "ae", "ö": "oe", "ü": "ue"]

    private static let byName: [String: StandingColumn] = {
        var byName: [String: StandingColumn] = [:]
        for column in allCases {
            // Umlauts are also written as two letters.
            let names = column.names + "," + column.names.replacing(/[äöü]/) { umlauts[$0.output] ?? "" }
            for name in names.split(whereSeparator: { ",\n".contains($0) }) { byName[key(String(name))] = column }
        }
        return byName
    }()

    /// What a name means, in whatever case and with whatever blanks and punctuation it is written; `nil` for other names.
    package static func named(_ name: String) -> StandingColumn? {
        guard !name.hasPrefix("$"), !FieldKey.baseNames.contains(name) else { return nil }
        let key = key(name)
        if let column = byName[key] { return column }
        for subject in subjects where key.hasPrefix(subject) {
            if let column = byName[String(key.dropFirst(subject.count))] { return column }
        }
        return nil
    }

    /// A name by its letters alone, without a number at the end (`card 2`).
    private static func key(_ name: String) -> String {
        var key = letters(name)
        while let last = key.last, last.isNumber, key.count > 1 { key.removeLast() }
        return key
    }

    /// The letters and digits of a text: without case, accents, blanks, punctuation and, of Arabic words, the article.
    static func letters(_ text: String) -> String {
        let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        let words = folded.split { !$0.isLetter && !$0.isNumber }
        let joined = words.map { $0.hasPrefix("ال") && $0.count > 4 ? $0.dropFirst(2) : $0 }.joined()
        return joined.replacing("ة", with: "ه").replacing("ى", with: "ي")
    }

    /// What it is, for people; and the name under which reports have it.
    package var caption: (words: String, field: String) {
        switch self {
        case .blocked, .active, .status: ("whether the member is let in", "$blocked")
        case .expires: ("the end of the membership", "$expires")
        case .visitsLeft: ("the visits left", "$visitsLeft")
        case .tags: ("the tags", "$tags")
        case .cards: ("further cards", "$cards")
        case .notes: ("the notes", "$notes")
        }
    }

    /// Whether a member has one of it.
    var isOne: Bool { self == .visitsLeft || self == .notes }

    /// The subcommand of `clubctl members` that enters it.
    package var command: String {
        switch self {
        case .blocked, .active, .status: "block"
        case .expires: "expiry"
        case .visitsLeft: "pack"
        case .tags: "tags"
        case .cards: "cards add"
        case .notes: "notes"
        }
    }
}
