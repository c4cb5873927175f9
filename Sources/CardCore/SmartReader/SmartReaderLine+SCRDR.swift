extension SmartReaderLine {
    /// What such a line begins with.
    static let mark = Array("$SCRDR".utf8)
    /// The fields behind the mark.
    static let fields = 8

    /// Reads a `$SCRDR` line.
    static func scrdr(_ line: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderLine {
        if let place = line.firstIndex(where: { !(0x20...0x7E).contains($0) }) {
            throw SmartReaderLineError(.notPrintable, at: place)
        }
        guard line.starts(with: mark) else { throw SmartReaderLineError(.wrongBeginning, at: line.startIndex) }
        guard let star = line.lastIndex(of: UInt8(ascii: "*")), line.endIndex - star == 3 else {
            throw SmartReaderLineError(.noCheckByte, at: line.endIndex)
        }
        let check = line[(star + 1)...]
        guard check.allSatisfy({ hexDigit($0) != nil }) else { throw SmartReaderLineError(.noCheckByte, at: star + 1) }
        let digits = Array(String(decoding: check, as: UTF8.self).uppercased().utf8)
        guard digits == SmartReaderChecksum.text(line[..<star]) else {
            throw SmartReaderLineError(.wrongCheckByte, at: star + 1)
        }

        let body = line[(line.startIndex + mark.count)..<star]
        let parts = body.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        // An empty message tells whoever has just connected that the reader is there.
        if body.allSatisfy({ $0 == UInt8(ascii: ";") }) { return .greeting }
        guard parts.count == fields + 1, parts[0].isEmpty else {
            throw SmartReaderLineError(.fieldCount, at: parts[0].isEmpty ? star : body.startIndex)
        }
        let move = try move(parts[6])
        let tag = SmartReaderTag(
            interface: try number(parts[1]),
            radioProtocol: try number(parts[2]),
            template: try number(parts[3]).flatMap { UInt8($0, radix: 16) },
            rssi: try rssi(parts[4]),
            id: String(decoding: parts[5], as: UTF8.self).trimmed,
            move: move,
            data: text(parts[7]),
            details: text(parts[8])
        )
        guard !tag.id.isEmpty || tag.data != nil || move == .remove else {
            throw SmartReaderLineError(.noIdentifier, at: parts[5].startIndex)
        }
        return .tag(tag)
    }

    static func hexDigit(_ byte: UInt8) -> Int? { Character(Unicode.Scalar(byte)).hexDigitValue }

    private static func text(_ field: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: field, as: UTF8.self).trimmed
        return text.isEmpty ? nil : text
    }

    /// A byte as one or two hexadecimal digits.
    private static func number(_ field: ArraySlice<UInt8>) throws(SmartReaderLineError) -> String? {
        guard !field.isEmpty else { return nil }
        guard field.count <= 2, field.allSatisfy({ hexDigit($0) != nil }) else {
            throw SmartReaderLineError(.invalidField, at: field.startIndex)
        }
        let digits = String(decoding: field, as: UTF8.self).uppercased()
        return digits.count == 1 ? "0" + digits : digits
    }

    /// A byte in hexadecimal, or a negative number of decibels as some versions write it.
    private static func rssi(_ field: ArraySlice<UInt8>) throws(SmartReaderLineError) -> Int? {
        if field.first == UInt8(ascii: "-") {
            guard let value = Int8(String(decoding: field, as: UTF8.self)) else {
                throw SmartReaderLineError(.invalidField, at: field.startIndex)
            }
            return Int(value)
        }
        return try number(field).flatMap { UInt8($0, radix: 16) }.map { Int(Int8(bitPattern: $0)) }
    }

    private static func move(_ field: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderTag.Move? {
        let text = String(decoding: field, as: UTF8.self).trimmed
        guard !text.isEmpty else { return nil }
        guard let move = SmartReaderTag.Move(rawValue: text) else {
            throw SmartReaderLineError(.invalidField, at: field.startIndex)
        }
        return move
    }
}
