extension SmartReaderLine {
    /// Reads a JSON object, or gives `nil` if it has none of a reader's names.
    static func json(_ line: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderLine? {
        guard line.first == UInt8(ascii: "{") else { throw SmartReaderLineError(.wrongBeginning, at: line.startIndex) }
        let values = try SmartReaderJSON(line).values
        func text(_ names: String...) -> String? {
            names.lazy.compactMap { values[$0]?.text.trimmed }.first { !$0.isEmpty }
        }
        guard values["tagid"] != nil || values["tagdata"] != nil else {
            // What a reader says of itself when it starts.
            if values["vendorname"] != nil, values["serialnumber"] != nil { return .greeting }
            guard values["interface"] == nil, values["protocol"] == nil, values["template"] == nil else {
                throw SmartReaderLineError(.noIdentifier, at: line.endIndex)
            }
            return nil
        }
        let move = try move(values["move"] ?? values["state"])
        let tag = SmartReaderTag(
            interface: text("interface"),
            radioProtocol: text("protocol"),
            template: try number(values["template"], UInt8.self),
            rssi: try number(values["rssi"], Int.self),
            id: text("tagid") ?? "",
            move: move,
            data: text("tagdata"),
            details: text("tagdetails"),
            uptime: text("uptime")
        )
        guard !tag.id.isEmpty || tag.data != nil || move == .remove else {
            throw SmartReaderLineError(.noIdentifier, at: values["tagid"]?.place ?? line.endIndex)
        }
        return .tag(tag)
    }

    private static func number<Number: FixedWidthInteger>(
        _ value: (text: String, place: Int)?,
        _ type: Number.Type
    ) throws(SmartReaderLineError) -> Number? {
        guard let value, !value.text.isEmpty else { return nil }
        guard let number = Number(value.text) else { throw SmartReaderLineError(.invalidField, at: value.place) }
        return number
    }

    /// `Insert`, `Remove`, or both.
    private static func move(
        _ value: (text: String, place: Int)?
    ) throws(SmartReaderLineError) -> SmartReaderTag.Move? {
        guard let value, !value.text.trimmed.isEmpty else { return nil }
        let words = value.text.lowercased().split { $0 == "," || $0 == "/" }.map(\.trimmed)
        switch words {
        case ["insert"]: return .insert
        case ["remove"]: return .remove
        case ["insert", "remove"]: return .insertAndRemove
        default: throw SmartReaderLineError(.invalidField, at: value.place)
        }
    }
}
