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
    init(header: [String], mappings: [ColumnMapping], file: String) throws(TransferError) {
        let found = header.map(Self.trimmed)
        let names = found.map { Self.spelled($0, besides: found) }
        let mappings = mappings.map { Self.found($0, in: names) }
        let map = try Self.map(mappings, file: file)
        numbers = try CardNumbers(mappings, file: file)
        for mapping in mappings where !names.contains(mapping.column) {
            let detail = "there is no column of the name that is mapped to '\(mapping.field ?? "nothing")'"
            throw TransferError(.badMapping, file: file, line: 1, detail: detail)
        }
        let hasUserId = names.contains { (map[$0] ?? $0) == "userId" }
        for (index, name) in names.enumerated() {
            add(name, meaning: Self.meaning(of: name, map, passIsUser: !hasUserId), number: index + 1)
        }
        guard targets.contains(.userId) || targets.contains(.custom("memberId")) else {
            throw TransferError(.noIdentifierColumn, file: file, line: 1, detail: Self.list(found))
        }
    }

    /// The name of a base value in its own spelling, unless another column is spelled so.
    private static func spelled(_ name: String, besides others: [String]) -> String {
        guard let known = known.first(where: { isSame($0, name) }), !others.contains(known) else { return name }
        return known
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

    private static func isSame(_ one: String, _ other: String) -> Bool { one.lowercased() == other.lowercased() }

    private static let base = FieldKey.baseNames

    /// The names that mean something by themselves.
    private static let known = base + ["passId", "memberId"]

    /// The first names, in short, for a person who looks for the right one.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { "'\(PlainText.line(String($0.prefix(40))))'" }.joined(separator: ", ")
        return "its columns are \(shown)" + (names.count > 12 ? " and \(names.count - 12) more" : "")
    }

    /// What each mapped column means, by name.
    static func map(_ mappings: [ColumnMapping], file: String) throws(TransferError) -> [String: String?] {
        var map: [String: String?] = [:]
        var fields: Set<String> = []
        for mapping in mappings {
            guard map.updateValue(mapping.field, forKey: mapping.column) == nil else {
                throw TransferError(.badMapping, file: file, detail: "one column is mapped twice")
            }
            guard let field = mapping.field else { continue }
            guard fields.insert(field).inserted else {
                throw TransferError(.badMapping, file: file, detail: "two columns are mapped to '\(field)'")
            }
            guard isUsable(field) else {
                let detail = "a column is mapped to what cannot be a field's name"
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
            // Several that may keep somebody out all count, and so do tags and cards.
            if let first = taken[column.caption.field], column.isOne {
                notes.append("Columns \(first) and \(number) have the same meaning; the first one counts.")
            } else {
                taken[column.caption.field] = number
                target = .standing(column)
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

    private static func trimmed(_ name: String) -> String {
        let scalars = name.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}
