import ClubRecords

/// Finds a message's type in its payload.
enum MessageType {
    /// The text at a key path whose names are parted by dots, if it can be a type. A name that has dots itself is found
    /// too, where it stands at the top, and counts first.
    static func find(_ path: String, in payload: FieldValue) -> String? {
        guard case .object(let fields) = payload else { return nil }
        if let value = fields[path] { return name(value) }
        var value = payload
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .object(let fields) = value, let next = fields[String(part)] else { return nil }
            value = next
        }
        return name(value)
    }

    private static func name(_ value: FieldValue) -> String? {
        guard case .string(let text) = value, Message.isName(text) else { return nil }
        return text
    }
}
