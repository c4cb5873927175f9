extension SmartReaderTag {
    /// The line that a reader sends for this, without its end.
    ///
    /// MK1 and plain text hold one value alone: what the template read, or else the identifier.
    ///
    /// - Throws: ``SmartReaderLineError/Code/notEncodable`` for a character that the format cannot hold: anything but
    ///   printable ASCII, and `$`, `*` and `;`, in a `$SCRDR` line; control characters in MK1 and plain text.
    public func line(as format: SmartReaderFormat) throws(SmartReaderLineError) -> String {
        let text: String
        switch format {
        case .scrdr: text = try scrdr()
        case .json: text = json()
        case .mk1: text = "+" + (try value())
        case .plain: text = try value()
        }
        guard text.utf8.count <= SmartReaderLimits.lineLength else {
            throw SmartReaderLineError(.tooLong, at: SmartReaderLimits.lineLength)
        }
        return text
    }

    private func value() throws(SmartReaderLineError) -> String {
        let value = data ?? id
        guard !value.isEmpty else { throw SmartReaderLineError(.noIdentifier, at: 0) }
        guard let place = value.utf8.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) else { return value }
        throw SmartReaderLineError(.notEncodable, at: value.utf8.distance(from: value.utf8.startIndex, to: place))
    }

    private func scrdr() throws(SmartReaderLineError) -> String {
        let number = Self.protocols.first { $0.name == radioProtocol }?.number ?? radioProtocol
        let fields = [
            interface == "13.56" ? "01" : interface, number, template.map { Hex.encode([$0]) },
            rssi.map { Hex.encode([UInt8(truncatingIfNeeded: $0)]) }, id, move?.rawValue, data, details,
        ]
        var line = SmartReaderLine.mark
        for field in fields {
            line.append(UInt8(ascii: ";"))
            for byte in (field ?? "").utf8 {
                guard (0x20...0x7E).contains(byte), !"$*;".utf8.contains(byte) else {
                    throw SmartReaderLineError(.notEncodable, at: line.count)
                }
                line.append(byte)
            }
        }
        line += [UInt8(ascii: "*")] + SmartReaderChecksum.text(line[...])
        return String(decoding: line, as: UTF8.self)
    }

    private func json() -> String {
        let name = Self.protocols.first { $0.number == radioProtocol }?.name ?? radioProtocol
        let moves: [Move: String] = [.insert: "Insert", .remove: "Remove", .insertAndRemove: "Insert,Remove"]
        let values: [(String, String?)] = [
            ("Interface", interface.map(Self.quoted)), ("Protocol", name.map(Self.quoted)),
            ("Template", template.map { "\($0)" }), ("RSSI", rssi.map { "\($0)" }), ("TagId", Self.quoted(id)),
            ("Move", move.flatMap { moves[$0] }.map(Self.quoted)), ("TagData", data.map(Self.quoted)),
            ("TagDetails", details.map(Self.quoted)), ("Uptime", uptime.map(Self.quoted)),
        ]
        let members = values.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }

    /// A JSON string.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20: result += "\\u00\(Hex.encode([UInt8(scalar.value)]))"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
