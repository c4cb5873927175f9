import CardCore
import CardPasses

/// What the columns of a CSV file, or the keys of a user list, are taken for.
struct ColumnPlan: Sendable {
    /// The longest name of a custom field, in UTF-8 bytes.
    static let longestName = 256

    enum Target: Sendable, Hashable {
        case userId, username, timeStampAdded, numVisits, timeStampOfLastVisit
        case custom(String)
        case standing(StandingColumn)
        case nothing
    }

    /// One for each column, in the file's order.
    private(set) var targets: [Target] = []

    private(set) var columns: [ImportReport.Column] = []

    /// The columns of which a mapping says what they are.
    private(set) var mapped: Set<Int> = []

    /// What is worth knowing of the columns, without quoting names that are no field's.
    private(set) var notes: [String] = []

    /// How the column of the `userId` has cards' numbers, where a mapping says so.
    let numbers: CardNumbers?

    /// The columns that are taken, by name of the value.
    private var taken: [String: Int] = [:]

    /// Plans the columns of a CSV file.
    ///
    /// Names of both generations of files are understood: with no column `userId`, `passId` is it. `memberId` becomes a
    /// custom field of that name, and stands in where a row has no other identifier. Names that mean something, and
    /// those that are mapped, are known in upper and lower case.
    init(header: [String], mappings: [ColumnMapping], file: String, line: Int = 1) throws(TransferError) {
        let found = header.map(Self.trimmed)
        let spelledSo = Set(found)
        let names = found.map { name in
            Self.known[Self.key(name)].map { spelledSo.contains($0) ? name : $0 } ?? name
        }
        let mappings = mappings.map { Self.found($0, in: names) }
        let map = try Self.map(mappings, file: file)
        numbers = try CardNumbers(mappings, file: file)
        let missing = mappings.filter { !names.contains($0.column) }
        guard missing.isEmpty else {
            let wanted = missing.prefix(12).map { "\(Self.quoted($0.column)), mapped to '\($0.field ?? "nothing")'" }
            let detail = "there is no column " + wanted.joined(separator: ", and none ") + "; " + Self.list(found)
            throw TransferError(.badMapping, file: file, line: line, detail: detail)
        }
        let hasUserId = names.contains { (map[$0] ?? $0) == "userId" }
        for (index, name) in names.enumerated() {
            add(name, meaning: Self.meaning(of: name, map, passIsUser: !hasUserId), number: index + 1)
            if map[name] != nil { mapped.insert(index) }
        }
        guard targets.contains(.userId) || targets.contains(.custom("memberId")) else {
            throw TransferError(.noIdentifierColumn, file: file, line: line, detail: Self.list(found))
        }
        notes += Self.notes(on: columns, map)
    }

    /// A line for each custom field whose name looks like something else, unless it is mapped to that name.
    static func notes(on columns: [ImportReport.Column], _ map: [String: String?]) -> [String] {
        let fields = Set(columns.compactMap(\.field))
        // More than people read, and as many as a user list reports.
        return columns.prefix(256).compactMap { column in
            guard let field = column.field, FieldKey.isCustom(field), map[column.column] != .some(field) else {
                return nil
            }
            let (words, meaning): (String, String)
            if let standing = StandingColumn.resembled(by: field) {
                (words, meaning) = (standing.caption.words, "\(standing)")
            } else if let base = resemblances.first(where: { StandingColumn.isLike(field, $0.stems) }),
                !fields.contains(base.field)
            {
                (words, meaning) = (base.words, base.field)
            } else {
                return nil
            }
            return """
                '\(PlainText.line(column.column))' is kept as a field of your own, without effect; if it is \(words), \
                \(option(column.column, meaning)) takes it as that.
                """
        }
    }

    /// The option that maps a column, as it is typed in a shell.
    static func option(_ column: String, _ field: String) -> String {
        "--map '\(PlainText.line(column).replacing("'", with: #"'\''"#))=\(field)'"
    }

    /// Names that others give the base values.
    private static let resemblances: [(field: String, words: String, stems: [String])] = [
        (
            "timeStampOfLastVisit", "the last visit",
            """
            last visit, last check in, last seen, last attend, letzter Besuch, letzte Besuch, letzte Anwesen, zuletzt, \
            derniere visite, ultima visita, 上次, 最后到, 最后访, 最近到, آخر زيار
            """
        ),
        (
            "timeStampAdded", "when the member was added",
            """
            _joined, join date, member since, Mitglied seit, Beitritt, Eintrittsdatum, first visit, erster Besuch, 入会, 注册, \
            تاريخ الانضمام
            """
        ),
        (
            "numVisits", "the total of visits",
            """
            _visits_, _Besuche_, visit count, number of visit, Anzahl Besuch, Besuchszahl, Besuchsanzahl, attendance, \
            check ins_, Anwesenheit, _visites_, _visitas_, 到访, 访问次, 次数, زيارات
            """
        ),
    ].map { ($0, $1, StandingColumn.stems($2)) }

    /// How many of the names that are looked for a row has: most of all one for the identifiers, then those that are
    /// mapped, then those that mean something by themselves.
    static func score(_ row: [String], _ mappings: [ColumnMapping]) -> Int {
        let keys = Set(row.map(key))
        let mapped = mappings.filter { keys.contains(key($0.column)) }
        let known = Self.known.filter { key, _ in keys.contains(key) && !mapped.contains { Self.key($0.column) == key }
        }
        let hasIdentifier =
            mapped.contains { $0.field.map { isSame($0, "userId") || isSame($0, "memberId") } ?? false }
            || known.values.contains { $0 == "userId" || $0 == "passId" || $0 == "memberId" }
        return (hasIdentifier ? 1_000_000 : 0) + 1000 * mapped.count + known.count
    }

    /// The mapping with the names as they are spelled in the file and here.
    private static func found(_ mapping: ColumnMapping, in names: [String]) -> ColumnMapping {
        var mapping = mapping
        if !names.contains(mapping.column), let name = names.first(where: { isSame($0, mapping.column) }) {
            mapping.column = name
        }
        if let field = mapping.field, let base = base.first(where: { isSame($0, field) }) { mapping.field = base }
        return mapping
    }

    /// Whether a row with this key of a name may be one of names.
    static func isKnown(_ key: String, _ mappings: [ColumnMapping]) -> Bool {
        known[key] != nil || mappings.contains { Self.key($0.column) == key }
    }

    /// Whether a known name is so long.
    static func mayBeKnown(length: Int) -> Bool { knownLengths.contains(length) }

    private static func isSame(_ one: String, _ other: String) -> Bool { key(one) == key(other) }

    /// What names have in common that are the same but for case and blanks.
    static func key(_ name: String) -> String {
        name.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static let base = FieldKey.baseNames

    /// The names that mean something by themselves, by their keys.
    private static let known = Dictionary(uniqueKeysWithValues: (base + ["passId", "memberId"]).map { (key($0), $0) })
    private static let knownLengths = Set(known.keys.map(\.utf8.count))

    /// The first names, in short, for a person who looks for the right one.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map(quoted).joined(separator: ", ")
        return "its columns are \(shown)" + (names.count > 12 ? " and \(names.count - 12) more" : "")
    }

    private static func quoted(_ name: String) -> String { "'\(PlainText.line(String(name.prefix(40))))'" }

    /// What each mapped column means, by name.
    static func map(_ mappings: [ColumnMapping], file: String) throws(TransferError) -> [String: String?] {
        var map: [String: String?] = [:]
        var fields: Set<String> = []
        for mapping in mappings {
            guard map.updateValue(mapping.field, forKey: mapping.column) == nil else {
                let detail = "the column \(quoted(mapping.column)) is mapped twice"
                throw TransferError(.badMapping, file: file, detail: detail)
            }
            guard let field = mapping.field else { continue }
            guard fields.insert(field).inserted else {
                let detail = "two columns are mapped to \(quoted(field)), one of them \(quoted(mapping.column))"
                throw TransferError(.badMapping, file: file, detail: detail)
            }
            guard isUsable(field) else {
                let detail = "\(quoted(mapping.column)) is mapped to \(quoted(field)), which cannot be a field's name"
                throw TransferError(.badMapping, file: file, detail: detail)
            }
        }
        return map
    }

    /// The name of the value that a column holds; `nil` for one that is left out.
    static func meaning(of name: String, _ map: [String: String?], passIsUser: Bool) -> String? {
        if let mapped = map[name] { return mapped }
        return name == "passId" && passIsUser ? "userId" : name
    }

    static func isUsable(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("$") && name.utf8.count <= longestName
            && !name.unicodeScalars.contains(where: PlainText.isControl)
    }

    static func target(_ name: String) -> Target {
        switch name {
        case "userId": .userId
        case "username": .username
        case "timeStampAdded": .timeStampAdded
        case "numVisits": .numVisits
        case "timeStampOfLastVisit": .timeStampOfLastVisit
        default: StandingColumn.named(name).map(Target.standing) ?? .custom(name)
        }
    }

    private mutating func add(_ name: String, meaning: String?, number: Int) {
        var target = Target.nothing
        var meaning = meaning?.normalized
        if let name = meaning, let column = StandingColumn.named(name) {
            meaning = column.caption.field
            target = .standing(column)
            // Of the others, several all count.
            if column == .visitsLeft, let first = taken.updateValue(number, forKey: column.caption.field) {
                notes.append(
                    "Columns \(first) and \(number) have the same meaning; the first that a row has a number in counts."
                )
            }
        } else if let meaning {
            if let first = taken[meaning] {
                notes.append("Columns \(first) and \(number) have the same name or meaning; the first one counts.")
            } else if !Self.isUsable(meaning) {
                notes.append("Column \(number) has no name that a field can have; it is left out.")
            } else {
                taken[meaning] = number
                target = Self.target(meaning)
            }
        }
        targets.append(target)
        columns.append(ImportReport.Column(column: name, field: target == .nothing ? nil : meaning))
    }

    /// A column's name without the blanks around it, on one line.
    static func trimmed(_ name: String) -> String {
        guard name.unicodeScalars.contains(where: { $0.value < 0x20 }) else { return name.trimmed }
        return name.split { $0.isNewline || $0 == "\t" }.map(\.trimmed).filter { !$0.isEmpty }.joined(separator: " ")
    }
}
