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

    /// The names in English, German, Chinese and Arabic, compared by ``letters(_:)``. `Documentation/desk.md` has the table.
    package var names: String {
        switch self {
        case .blocked:
            """
            blocked, block reason, blocked reason, reason for block, locked, banned, ban, barred, suspended, \
            suspension, frozen, disabled, deactivated, inactive, blacklisted, blocked since, blocked at, \
            blocked on, blocked until, blocked by, suspended until, frozen until, freeze, freeze until, access denied, \
            entry denied
            gesperrt, Sperre, Sperrung, Sperrgrund, gesperrt wegen, blockiert, deaktiviert, inaktiv, ruhend, \
            Hausverbot, gesperrt seit, gesperrt am, gesperrt bis, Hausverbot bis, Sperrdatum, Sperrvermerk, ausgetreten
            冻结, 已冻结, 凍結, 封禁, 锁定, 已锁定, 停用, 已停用, 禁用, 拉黑, 黑名单, 冻结原因
            محظور, محظورة, حظر, سبب الحظر, موقوف, موقوفة, معلق, مجمد, معطل, غير نشط, غير فعال
            """
        case .active:
            """
            active, enabled, in good standing, access allowed, access granted, entry allowed
            aktiv, freigeschaltet, Zutritt erlaubt
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
            last day, termination date, valid until date, exit date, leave date, leaving date, active until
            Ablauf, Ablaufdatum, abgelaufen am, läuft ab, läuft ab am, Ende, Enddatum, endet, endet am, gültig bis, \
            Gültigkeit, befristet bis, bezahlt bis, bis, Mitglied bis, Mitgliedschaftsende, Mitgliedsende, \
            Ende der Mitgliedschaft, Vertragsende, Laufzeitende, Austritt, Austrittsdatum, Kündigungsdatum, \
            Austritt am, Austritt zum, gekündigt zum, Kündigung zum, aktiv bis, Laufzeit bis, läuft bis
            有效期, 有效期至, 有效期到, 有效期限, 有效至, 到期, 到期日, 到期日期, 到期时间, 截止日期, 截止, 失效日期, 过期日期, 过期时间, \
            结束日期, 结束时间, 終止日期
            انتهاء, تاريخ الانتهاء, تاريخ انتهاء العضوية, انتهاء العضوية, نهاية العضوية, تاريخ النهاية, ينتهي, ينتهي في, تنتهي في, \
            صالح حتى, صالحة حتى, صلاحية, تاريخ الصلاحية, انتهاء الصلاحية, نهاية, تاريخ انتهاء الاشتراك, انتهاء الاشتراك, \
            نهاية الاشتراك
            """
        case .visitsLeft:
            """
            visits left, visits remaining, remaining visits, sessions, sessions left, sessions remaining, \
            remaining sessions, classes left, classes remaining, remaining classes, entries left, remaining entries, \
            entries remaining, credits, credits left, credits remaining, remaining credits, punches left, \
            remaining punches, pack, pass left, visit pack, session pack, remaining
            Restbesuche, Besuche übrig, übrige Besuche, verbleibende Besuche, offene Besuche, Resteintritte, \
            verbleibende Eintritte, Resteinheiten, verbleibende Einheiten, Einheiten übrig, Reststunden, \
            verbleibend, übrig, Rest, Zehnerkarte, 10er-Karte, Mehrfachkarte
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
            additional cards, second card, key fob, fob, card no, RFID, RFID number, transponder, badge, \
            badge number, badge no, badge id, chip number, chip id
            Karten, Karte, Kartennummer, Kartennummern, weitere Karten, Zusatzkarte, Zusatzkarten, Zweitkarte, \
            Kartennr, Chipnummer, Chipnr, Transpondernummer
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
        "membership", "members", "member", "customer", "client", "account", "subscription", "staff", "is",
        "plan", "contract", "internal", "desk", "mitglieds", "mitgliedschafts",
        "mitgliedschaft", "mitglied", "kunden", "konto", "vertrags", "vertrag", "abo", "beitrags", "beitrag", "interne",
        "会员", "会籍", "會員", "是否",
    ].map(letters)

    /// Words before an end alone: a pass and a ticket have states of their own, a card has a day.
    private static let beforeEnds = ["date of", "pass", "ticket", "user", "تاريخ"].map(letters)

    /// What stands in brackets behind a name of how it is written.
    private static let forms = ["yes no", "y n", "ja nein", "j n", "date", "datum", "optional", "utc", "internal"].map(
        letters
    )

    /// Words before what says itself that it is left.
    private static let counts = ["number of", "no of", "anzahl"].map(letters)
    private static let left = ["left", "remaining", "rest", "übrig", "uebrig", "verbleibende"].map(letters)

    private static let umlauts: [Substring: String] = ["ä": "ae", "ö": "oe", "ü": "ue"]

    private static let byName: [String: StandingColumn] = {
        var byName: [String: StandingColumn] = [:]
        for column in allCases {
            // Umlauts are also written as two letters.
            let names = column.names + "," + column.names.replacing(/[äöü]/) { umlauts[$0.output] ?? "" }
            for name in names.split(whereSeparator: { ",\n".contains($0) }) { byName[letters(String(name))] = column }
        }
        return byName
    }()

    /// What a name means, in whatever case and with whatever blanks and punctuation it is written; `nil` for other names.
    package static func named(_ name: String) -> StandingColumn? {
        guard !name.hasPrefix("$"), !FieldKey.baseNames.contains(name) else { return nil }
        if let column = known(letters(name)) { return column }
        guard name.contains(where: "(（[".contains) else { return nil }
        // In brackets stands how it is written, as (YYYY-MM-DD), or what else it is of: `Valid until (passport)`.
        var isForm = true
        let rest = name.replacing(/[(（\[]([^)）\]]*)[)）\]]/) { match in
            let inside = letters(String(match.1))
            isForm = isForm && (forms.contains(inside) || inside.allSatisfy { "ymdjthsa".contains($0) })
            return ""
        }
        return isForm ? known(letters(rest)) : nil
    }

    private static func known(_ key: String, subjects count: Int = 2) -> StandingColumn? {
        if let column = byName[key] { return column }
        // `card 2`; but `sessions 25` may be of a year.
        let digits = key.reversed().prefix(while: \.isNumber).count
        if 1...2 ~= digits, let column = byName[String(key.dropLast(digits))], column != .visitsLeft { return column }
        for choice in ["yesno", "yn", "janein", "jn"] where key.hasSuffix(choice) {
            if let column = byName[String(key.dropLast(choice.count))] { return column }
        }
        if let count = counts.first(where: key.hasPrefix), left.contains(where: key.contains) {
            return byName[String(key.dropFirst(count.count))]
        }
        for subject in subjects where count > 0 && key.hasPrefix(subject) {
            if let column = known(String(key.dropFirst(subject.count)), subjects: count - 1) { return column }
        }
        if let subject = beforeEnds.first(where: key.hasPrefix), count > 0 {
            let rest = String(key.dropFirst(subject.count))
            // Not `passend`, which fits.
            return rest.count > 4 && known(rest, subjects: count - 1) == .expires ? .expires : nil
        }
        return nil
    }

    /// What a custom field's name makes people think of, in these languages and in French, Spanish and Italian: it is
    /// without effect, and whoever has such a field has to know.
    package static func resembled(by name: String) -> StandingColumn? {
        guard named(name) == nil, FieldKey.isCustom(name), !BirthdayText.isName(name) else { return nil }
        // `Inactive 2025`
        let key = letters(name)
        let year = key.reversed().prefix(while: \.isNumber).count
        if year > 2, let column = known(String(key.dropLast(year))) { return column }
        return resemblances.first { isLike(name, $0.stems) }?.column
    }

    /// What such names contain; the first that fits counts.
    private static let resemblances: [(column: StandingColumn, stems: [String])] = [
        (.status, "status, statut, _etat_, _estado_, _stato_, zustand, 状态, 狀態, حالة"),
        (
            .expires,
            """
            expir, ablauf, ablaeuf, abgelauf, valid until, valid till, valid to, valid thru, valable, gültig, gueltig, befrist, jusqu, _hasta_, caduc, _scad, \
            _venc, _fin_, _fino_, until, _till_, _bis_, _ende_, endet, _end_, _ends_, _ended_, enddate, last day, paid through, laufzeit, \
            kündigung_, kuendigung_, gekünd, gekuend, cancelled, canceled, annul, resili, austritt, ausgetret, terminat, \
            _exit_, exit date, 有效期, 到期, 截止, 失效, 过期, انتهاء, صلاحية, \
            نهاية
            """
        ),
        (
            .visitsLeft,
            """
            _rest_, restbes, resteint, restein, reststunden, restguthaben, _remain, _left_, übrig, uebrig, verbleib, guthaben, _credits_, 10er, zehner, _riman, carnet, _sessions_, \
            _seances_, _sesiones_, 剩, 余次, 次卡, متبق
            """
        ),
        (
            .blocked,
            """
            _block_, blocked, blockiert, bloq, blocc, sperr, gesperrt, hausverbot, kein zutritt, _lock_, locked, suspend, \
            suspens, sospes, _freeze_, frozen, _gelé, congel, deaktiv, deactiv, desactiv, disattiv, disabl, inactiv, inaktiv, \
            _ban_, banned, barred, blacklist, denied, _archived_, deleted, gelöscht, geloescht, ruhend, paused, _baja_, 冻, \
            凍, 禁用, 禁止, 封禁, 锁定, 停用, 停卡, 黑名单, 黑名單, 注销, 退会, حظر, محظور, موقوف, معلق, مجمد, معطل
            """
        ),
        (
            .active,
            """
            _active_, _activo_, _activa_, _actif_, _attivo_, _attiva_, _aktiv_, enabled, acceso, zutritt, 激活, 启用, نشط, فعال
            """
        ),
        (.tags, "_tags_, label, etikett, schlagw, etiquet, etichett, 标签, 標籤, وسم, وسوم"),
        (
            .cards,
            """
            _card_, _cards_, _cardn, keycard, _karte_, _karten_, _kartenn, _carte_, _tarjeta, tessera, rfid, nfc, _uid_, _chip_, \
            _chipn, transponder, badge, fob_, 卡号, 卡號, بطاق
            """
        ),
        (
            .notes,
            """
            _note_, notes_, notiz, _notas_, _nota_, bemerk, anmerk, kommentar, comment, comentar, remark, remarque, 备注, 備註, \
            ملاحظ
            """
        ),
    ].map { ($0, stems($1)) }

    /// A list of stems, in which `_` is the beginning or end of a word.
    static func stems(_ list: String) -> [String] {
        list.split { ",\n".contains($0) }.map { stem in
            let (start, end) = (stem.contains(" _") || stem.hasPrefix("_"), stem.hasSuffix("_"))
            return (start ? "_" : "") + letters(String(stem)) + (end ? "_" : "")
        }
    }

    /// Whether a name has one of these, word by word, also where capitals divide them, or written as one.
    static func isLike(_ name: String, _ stems: [String]) -> Bool {
        let apart = name.replacing(/(\p{Ll})(\p{Lu})/) { "\($0.1) \($0.2)" }
        let words = apart.split { !$0.isLetter && !$0.isNumber }.map { letters(String($0)) }
        let text = "_\(words.joined(separator: "_"))_\(letters(name))_"
        return stems.contains(where: text.contains)
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
