import CardCore
import CardPasses
import Foundation

/// What a row of a file states of a member's standing (see ``StandingColumn``).
package struct Standing: Sendable, Hashable {
    /// A value of a column, under the name by which the club keeps it.
    package struct Statement: Sendable, Hashable {
        package var column: StandingColumn
        /// The column as it is named in the file, and what it contains: what the member has as a custom field of that
        /// name, from a time when it was one, comes from the club's own export and states nothing. No name where
        /// somebody mapped the column.
        package var name: String?
        package var text: String
        /// What it says; null for a member who is let in, or whose membership has no end.
        package var value: FieldValue
    }

    package private(set) var statements: [Statement] = []

    package init() {}

    /// The name of the value that contains how many visits were left by a file: the same on every device, so that it is
    /// one pack, however often and wherever the file is imported.
    package static let visitsOfFile = SystemValues.Name.carried(from: "")

    /// Without what the member has as custom fields of those names.
    package func without(_ fields: [String: FieldValue]) -> Standing {
        var standing = self
        standing.statements.removeAll { one in one.name.flatMap { fields[$0] }?.cellText == one.text }
        return standing
    }

    private func values(of column: StandingColumn) -> [FieldValue] {
        statements.filter { $0.column == column }.map(\.value)
    }

    private func texts(of column: StandingColumn) -> [String] {
        values(of: column).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    package var tags: [String] { texts(of: .tags) }
    package var cards: [String] { texts(of: .cards) }

    package var visitsLeft: Int? {
        if case .int(let visits)? = values(of: .visitsLeft).first { visits } else { nil }
    }

    /// What it states under the names by which the club keeps it, apart from cards and visits.
    ///
    /// - Parameter facts: what is known; a block without a reason states nothing new of one that has a reason.
    package func values(besides facts: MemberFacts) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        // Whatever keeps the member out counts, and a reason more than none.
        let blocks = [.blocked, .status, .active].flatMap(self.values(of:))
        let reasons = blocks.filter { $0 != .null }
        if let block = reasons.first(where: { $0 != .string("") }) ?? reasons.first ?? blocks.first {
            let isKnown = block == .string("") && SystemValues(facts).blocked != nil
            if !isKnown { values[SystemValues.Name.blocked] = block }
        }
        // Whichever ends first.
        let ends = self.values(of: .expires)
        let earliest = ends.compactMap { if case .int(let end) = $0 { end } else { nil } }.min()
        if let end = earliest.map({ .int($0) }) ?? ends.first { values[SystemValues.Name.expires] = end }
        let notes = texts(of: .notes).joined(separator: "\n")
        if !notes.isEmpty { values[SystemValues.Name.notes] = .string(notes) }
        for tag in tags { values[SystemValues.Name.tag(tag)] = .bool(true) }
        return values
    }

    /// When the membership ends, as microseconds since 1970, of a day its last second here.
    static func end(_ date: DateText, in zone: TimeZone) -> Int64? {
        guard let year = date.year, let month = date.month, let day = date.day else { return nil }
        let midnight = Int64(ISO8601.days(year: year, month: month, day: day)) * DateText.day
        if let time = date.time, let offset = date.offset {
            return midnight + time - Int64(offset) * Timestamp.second
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = DateComponents(year: year, month: month, day: day)
        guard let start = calendar.date(from: parts), let span = calendar.dateInterval(of: .day, for: start) else {
            return nil
        }
        // Midnight is how programs write a day that know no days.
        let end =
            date.time.flatMap { $0 == 0 ? nil : start.addingTimeInterval(Timestamp.seconds($0)) }
            ?? span.end.addingTimeInterval(-1)
        return Timestamp.microseconds(end)
    }

    /// Takes in what a column contains.
    ///
    /// - Parameters:
    ///   - value: as the file has it; in CSV a text.
    ///   - name: the column as the file names it.
    ///   - isMapped: whether somebody said what it is.
    ///   - order: the order of the numbers of dates.
    ///   - zone: the time zone of days.
    /// - Returns: a note, if it has no effect.
    /// - Throws: a ``RowFault`` if it decides who is let in, and cannot be read.
    mutating func read(
        _ column: StandingColumn,
        _ value: FieldValue,
        name: String,
        isMapped: Bool = false,
        order: DateOrder? = nil,
        zone: TimeZone = .current
    ) throws(RowFault) -> String? {
        let shown = PlainText.line(name)
        let list: [String]
        switch value {
        case .null: return nil
        case .array(let values): list = values.compactMap(\.cellText)
        case .bool, .int, .double, .string: list = [value.cellText ?? ""]
        case .object: throw RowFault(shown, "expected a text")
        }
        let text = list.joined(separator: ", ").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.allSatisfy({ "-–—".contains($0) }) else { return nil }
        guard !text.hasNUL else { throw .nul(shown) }
        let cell = value.cellText ?? ""
        let word = Words.ticks[text] ?? StandingColumn.letters(text)
        switch IdentifierText.finding(text) {
        case .error: throw RowFault(shown, IdentifierText.Finding.error.reason)
        // A mark such as `!` may be how a desk marks somebody: that is no word for none.
        case .nothing
        where text.contains(where: \.isLetter) && (word != "none" || [.tags, .cards, .notes].contains(column)):
            return nil
        default: break
        }
        func add(_ value: FieldValue) {
            statements.append(Statement(column: column, name: isMapped ? nil : name, text: cell, value: value))
        }
        switch column {
        case .blocked where Words.yes.contains(word): add(.string(""))
        case .blocked where Words.no.contains(word) || Words.good.contains(word): add(.null)
        case .blocked:
            // A letter, a day or a number is no reason that a visitor could be shown.
            guard text.count > 1, text.contains(where: \.isLetter), Self.day(text, order) == nil else {
                throw RowFault(shown, "expected yes, no, or the reason why the member is not let in")
            }
            add(.string(PlainText.line(text)))
        case .active where Words.yes.contains(word), .active where Words.good.contains(word),
            .status where Words.good.contains(word):
            add(.null)
        case .active where Words.no.contains(word): add(.string(""))
        case .active where Words.bad.contains(word), .status where Words.bad.contains(word):
            add(.string(PlainText.line(text)))
        case .active, .status:
            return """
                \(shown): it is no word for a member who is let in, or is not, and has no effect; 'members block' \
                blocks a member, and \(ColumnPlan.option(name, "FIELD")) takes the column as a field of another name
                """
        case .expires where Words.never.contains(word): add(.null)
        case .expires:
            guard let end = Self.time(text, order, zone), end > 0, end <= Timestamp.latest else {
                throw RowFault(
                    shown,
                    "expected the last day of the membership, such as 2026-12-31, or 'never'; of a day that could be two, "
                        + "the order of its numbers has to be given"
                )
            }
            add(.int(Int(end)))
        case .visitsLeft where Words.unlimited.contains(word) || text == "∞": break
        case .visitsLeft:
            let digits = Array(PlainDigits.text(text).utf8)
            let number = digits.withUnsafeBufferPointer { NumberText.visits($0, NumberText.Forms()) }
            guard case .success(let visits) = number, visits <= 1_000_000 else {
                throw RowFault(shown, "expected how many visits are left: a whole number, or 'unlimited'")
            }
            add(.int(visits))
        case .tags:
            for tag in Self.parts(list).map(PlainText.line) where !tag.isEmpty {
                add(.string(tag))
            }
        case .cards:
            var note: String?
            // A number may have a mark that else stands between two; what is a list already has one card in each place.
            let isWhole = list != [cell] || IdentifierText.finding(text) != nil
            for part in isWhole ? list : Self.parts(list) {
                let (card, finding) = IdentifierText.read(part)
                if finding?.isFault == true || !MemberID.isUsable(card) {
                    note = "what it contains is no card's identifier, and has no effect"
                } else {
                    add(.string(card))
                }
                if let finding { note = (note.map { $0 + ": " } ?? "") + finding.reason }
                // Parts of an identifier are shorter, and never divided so.
                let pieces = card.split { $0 == "/" || $0.isWhitespace }
                if pieces.count > 1, card.contains("/") || pieces.allSatisfy({ $0.count >= 8 }) {
                    note = "what it contains is one card, and looks like several; divide them by commas"
                }
            }
            if let note { return "\(shown): \(note)" }
        case .notes: add(.string(text))
        }
        return nil
    }

    /// The parts of a list that was written as a text, or as one.
    private static func parts(_ list: [String]) -> [String] {
        list.flatMap { $0.split { ",;|\n、，；،؛".contains($0) } }
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    private static func day(_ text: String, _ order: DateOrder?) -> DateText? {
        try? DateText.read(text, order: order).get()
    }

    /// A day or a time as microseconds since 1970: of a number that is a spreadsheet's, or seconds.
    private static func time(_ text: String, _ order: DateOrder?, _ zone: TimeZone) -> Int64? {
        if let day = day(text, order) { return end(day, in: zone) }
        let moment = Array(text.utf8).withUnsafeBufferPointer {
            NumberText.moment($0, NumberText.Forms(order: order, zone: zone))
        }
        guard case .success(let end) = moment, end.after < Timestamp.second, end.at >= 1_000_000_000 * Timestamp.second
        else { return nil }
        return end.at
    }
}

/// What people and programs write for yes, no, and a member who is or is not let in.
private enum Words {
    static let ticks = ["✓": "yes", "✔": "yes", "☑": "yes", "✗": "no", "✘": "no", "☐": "no"]
    static let yes = keys("yes, y, true, t, 1, x, on, ja, j, wahr, 是, 对, 真, 有, نعم, صحيح")
    static let no = keys(
        "no, n, false, f, 0, off, none, never, nein, nie, niemals, non, falsch, keine, 否, 不, 不是, 假, 无, 沒有, 没有, لا, خطا"
    )
    static let never = keys(
        """
        never, none, no, no end, unlimited, lifetime, life, permanent, open, open ended, forever, nie, kein, keins, \
        unbefristet, unbegrenzt, lebenslang, 永久, 无限期, 终身, 长期, 无, ابدا, دائم, دائمة, مدى الحياة, بلا نهاية
        """
    )
    static let unlimited = keys("unlimited, unbegrenzt, no limit, none, infinite, 无限, 不限, 无限制, غير محدود, بلا حدود")
    static let good = keys(
        """
        active, ok, okay, valid, current, good, good standing, normal, open, enabled, allowed, unblocked, not blocked, \
        aktiv, gültig, laufend, frei, freigeschaltet, nicht gesperrt, 有效, 正常, 激活, 已激活, 启用, 已启用, 未冻结, نشط, نشطة, \
        فعال, فعالة, ساري, سارية, صالح, صالحة, غير محظور
        """
    )
    static let bad = keys(
        """
        inactive, not active, blocked, suspended, cancelled, canceled, expired, frozen, banned, barred, locked, disabled, \
        deactivated, terminated, paused, on hold, hold, former, left, ended, closed, lapsed, revoked, invalid, overdue, \
        unpaid, inaktiv, nicht aktiv, gesperrt, gekündigt, abgelaufen, ruhend, ruht, pausiert, ausgetreten, beendet, \
        stillgelegt, blockiert, deaktiviert, ungültig, unbezahlt, 停用, 已停用, 冻结, 已冻结, 过期, 已过期, 到期, 已到期, 禁用, 已禁用, \
        封禁, 暂停, 注销, 已注销, 失效, 已失效, 无效, 未激活, غير نشط, غير نشطة, غير فعال, محظور, محظورة, موقوف, موقوفة, معلق, منتهي, \
        منتهية, ملغي, ملغاة, مجمد, معطل
        """
    )

    private static func keys(_ words: String) -> Set<String> {
        Set(words.split { ",\n".contains($0) }.map { StandingColumn.letters(String($0)) })
    }
}
