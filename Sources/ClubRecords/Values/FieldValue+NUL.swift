/// SQLite ends a text at a NUL, so what was kept in a column would differ from what merges. No such text is taken in.
extension FieldValue {
    /// Whether a text or a name in the value has a NUL.
    package var hasNUL: Bool {
        switch self {
        case .null, .bool, .int, .double: false
        case .string(let text): text.hasNUL
        case .array(let values): values.contains(where: \.hasNUL)
        case .object(let values): values.nameWithNUL != nil
        }
    }
}

extension String {
    var hasNUL: Bool { utf8.contains(0) }
}

extension [String: FieldValue] {
    /// The first name that has a NUL, or whose value has one.
    package var nameWithNUL: String? {
        var found: String?
        for (name, value) in self where name.hasNUL || value.hasNUL {
            found = found.map { Swift.min($0, name) } ?? name
        }
        return found
    }

    /// - Throws: ``ClubError/Kind/invalidValue`` if a name or a value has a NUL.
    package func refuseNUL(attempting attempt: String) throws(ClubError) {
        guard let name = nameWithNUL else { return }
        let detail = "the field '\(PlainText.line(name))' has a NUL character; remove it"
        throw ClubError(.invalidValue, attempting: attempt, detail: detail)
    }
}
