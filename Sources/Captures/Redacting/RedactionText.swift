import CardCore
import CardPasses
import Foundation

/// Replaces what is personal in texts, leaving their form: lengths, separators, the parts of an address.
struct RedactionText {
    let vocabulary: RedactionVocabulary
    /// The identifiers of cards in hexadecimal, as a tag mirrors them into its message, with their stand-ins.
    var identifiers: () -> RedactionPatterns = { RedactionPatterns(prefixLength: 8) }

    /// The length of a UTF-8 sequence by its first byte.
    static func scalarLength(_ byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }

    // MARK: Units

    /// A byte of a text, and where it stands there: several bytes where it is escaped.
    private struct Unit {
        var byte: UInt8
        var place: Range<Int>
        var isEscaped: Bool
    }

    static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
    }

    private static func units(_ bytes: [UInt8], _ range: Range<Int>, decodingPercent: Bool) -> [Unit] {
        var units: [Unit] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if decodingPercent, bytes[index] == UInt8(ascii: "%"), index + 2 < range.upperBound,
                let high = CaptureCursor.digit(bytes[index + 1]), let low = CaptureCursor.digit(bytes[index + 2])
            {
                units.append(Unit(byte: high << 4 | low, place: index..<(index + 3), isEscaped: true))
                index += 3
            } else {
                units.append(Unit(byte: bytes[index], place: index..<(index + 1), isEscaped: false))
                index += 1
            }
        }
        return units
    }

    /// Replaces the words of a part of a text, but those to keep.
    private func words(
        in bytes: inout [UInt8],
        _ range: Range<Int>,
        decodingPercent: Bool = false,
        keep: ([UInt8]) -> Bool = { _ in false }
    ) {
        let units = Self.units(bytes, range, decodingPercent: decodingPercent)
        var index = 0
        while index < units.count {
            guard Self.isWord(units[index].byte) else {
                index += 1
                continue
            }
            var end = index
            while end < units.count, Self.isWord(units[end].byte) { end += 1 }
            let run = units[index..<end]
            index = end
            replace(run, in: &bytes, keep: keep)
        }
    }

    private func replace(_ run: ArraySlice<Unit>, in bytes: inout [UInt8], keep: ([UInt8]) -> Bool) {
        let original = run.map(\.byte)
        guard !keep(original) else { return }
        let standIn: [UInt8]
        if original.contains(where: { $0 >= 0x80 }), String(validating: original, as: UTF8.self) == nil {
            // Not UTF-8: each byte for itself.
            standIn = original.map { $0 >= 0x80 ? $0 ^ 0x15 | 0x80 : vocabulary.word([$0]).first ?? $0 }
        } else if original.contains(where: { $0 >= 0x80 }),
            !String(decoding: original, as: UTF8.self).unicodeScalars.allSatisfy(Self.isLetter)
        {
            // Signs such as a dash or an emoji are kept where words are taken apart at them.
            standIn = mixed(original)
        } else {
            standIn = word(original)
        }
        guard standIn.count == original.count else { return }
        for (unit, byte) in zip(run, standIn) {
            guard unit.isEscaped else {
                bytes[unit.place.lowerBound] = byte
                continue
            }
            let isLower = bytes[unit.place].contains { (0x61...0x66).contains($0) }
            let digits = Array((isLower ? Hex.encode([byte]).lowercased() : Hex.encode([byte])).utf8)
            bytes.replaceSubrange((unit.place.lowerBound + 1)..<unit.place.upperBound, with: digits)
        }
    }

    private func word(_ original: [UInt8]) -> [UInt8] {
        let upper = original.map { (0x61...0x66).contains($0) ? $0 - 0x20 : $0 }
        var result: [UInt8] = []
        while let (text, standIn) = identifiers().find(in: upper[result.count...]) {
            let isUpper = original[result.count..<(result.count + text.count)].elementsEqual(text)
            result += isUpper ? standIn : standIn.map { (0x41...0x46).contains($0) ? $0 + 0x20 : $0 }
        }
        return result + vocabulary.word(Array(original[result.count...]))
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    private func mixed(_ original: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var pending: [UInt8] = []
        for scalar in String(decoding: original, as: UTF8.self).unicodeScalars {
            if Self.isLetter(scalar) {
                pending += Array(String(scalar).utf8)
            } else {
                result += vocabulary.word(pending) + Array(String(scalar).utf8)
                pending = []
            }
        }
        return result + vocabulary.word(pending)
    }

    // MARK: Forms

    /// A text that people read, or JSON.
    func text(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        let first = original.first { !CaptureCursor.isSpace($0) && $0 != 0x0A && $0 != 0x0D }
        if first == UInt8(ascii: "{") { return json(original) }
        if let colon = Self.schemeEnd(original), original[colon...].starts(with: Array("://".utf8)) {
            return uri(original)
        }
        words(in: &bytes, 0..<bytes.count)
        return bytes
    }

    func utf16(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        // With a byte order mark FF FE, low byte first.
        let isLittle = original.starts(with: [0xFF, 0xFE])
        let (low, high) = isLittle ? (0, 1) : (1, 0)
        var place = 0
        var run: [Int] = []
        func flush() {
            for (place, byte) in zip(run, vocabulary.word(run.map { bytes[$0] })) { bytes[place] = byte }
            run = []
        }
        while place + 1 < bytes.count {
            if bytes[place + high] == 0, Self.isWord(bytes[place + low]), bytes[place + low] < 0x80 {
                run.append(place + low)
            } else {
                flush()
                let isSurrogate = (0xD8...0xDF).contains(bytes[place + high])
                let isMark = bytes[place + high] >= 0xFE
                // Another letter of the same block.
                if bytes[place + high] != 0 || bytes[place + low] >= 0xC0, !isSurrogate, !isMark,
                    bytes[place + high] < 0x20
                {
                    bytes[place + low] ^= 0x05
                }
            }
            place += 2
        }
        flush()
        return bytes
    }

    /// An address, behind a prefix that is not written: its scheme and host stay, and the words by which a member's id is
    /// found.
    func uri(_ original: [UInt8], prefix: [UInt8] = []) -> [UInt8] {
        var bytes = prefix + original
        var place = 0
        if let colon = Self.schemeEnd(bytes) {
            place = colon + 1
            if bytes[place...].starts(with: Array("//".utf8)) { place = authority(in: &bytes, from: place + 2) }
        } else if let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[..<slash].contains(UInt8(ascii: ".")) {
            // A host without a scheme.
            place = slash
        }
        let scheme = Self.schemeEnd(bytes).map { String(decoding: bytes[..<$0], as: UTF8.self).lowercased() }
        let (query, end) = (UInt8(ascii: "?"), bytes.count)
        let path = bytes[min(place, end)...].firstIndex { $0 == query || $0 == UInt8(ascii: "#") } ?? end
        let isNamespace = scheme == "urn"
        var isFirst = true
        words(in: &bytes, min(place, path)..<path, decodingPercent: true) { word in
            defer { isFirst = false }
            return RedactionVocabulary.isStructural(word) || isNamespace && isFirst
        }
        parameters(in: &bytes, path..<end)
        return Array(bytes.dropFirst(prefix.count))
    }

    /// Goes past the host, replacing who is named before it.
    private func authority(in bytes: inout [UInt8], from start: Int) -> Int {
        let end = bytes[start...].firstIndex { [0x2F, 0x3F, 0x23].contains($0) } ?? bytes.count
        if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            words(in: &bytes, start..<at, decodingPercent: true)
        }
        return end
    }

    /// `?name=value&…#fragment`: the names stay.
    private func parameters(in bytes: inout [UInt8], _ range: Range<Int>) {
        var place = range.lowerBound
        while place < range.upperBound {
            let isFragment = bytes[place] == UInt8(ascii: "#")
            let start = place + 1
            let next =
                bytes[start..<range.upperBound].firstIndex { [0x26, 0x3B, 0x23].contains($0) } ?? range.upperBound
            let equals = isFragment ? nil : bytes[start..<next].firstIndex(of: UInt8(ascii: "="))
            words(in: &bytes, (equals.map { $0 + 1 } ?? start)..<next, decodingPercent: true)
            place = next
        }
    }

    /// The place of the colon behind a scheme.
    private static func schemeEnd(_ bytes: [UInt8]) -> Int? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0, (bytes[0] | 0x20) >= 0x61,
            (bytes[0] | 0x20) <= 0x7A
        else { return nil }
        let isScheme = bytes[..<colon].allSatisfy {
            isWord($0) && $0 < 0x80 || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains($0)
        }
        return isScheme ? colon : nil
    }

    /// JSON: names, structure and words such as `true` stay; texts and numbers are replaced.
    func json(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        var place = 0
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "\"") else {
                if (0x30...0x39).contains(bytes[place]) {
                    let end = bytes[place...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.count
                    words(in: &bytes, place..<end)
                    place = end
                } else {
                    place += 1
                }
                continue
            }
            var end = place + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
                end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            end = min(end, bytes.count)
            let after = bytes[end...].dropFirst().first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            if after != UInt8(ascii: ":") { jsonText(in: &bytes, (place + 1)..<end) }
            place = end + 1
        }
        return bytes
    }

    /// The parts of a JSON text between its escapes. A letter written as `\uXXXX` becomes another one.
    private func jsonText(in bytes: inout [UInt8], _ range: Range<Int>) {
        var start = range.lowerBound
        var place = start
        while place < range.upperBound {
            guard bytes[place] == UInt8(ascii: "\\") else {
                place += 1
                continue
            }
            words(in: &bytes, start..<place)
            let isUnicode = place + 5 < range.upperBound && bytes[place + 1] == UInt8(ascii: "u")
            let digits = isUnicode ? (place + 2)..<(place + 6) : place..<place
            if isUnicode, let value = Int(String(decoding: bytes[digits], as: UTF8.self), radix: 16),
                (0xA0..<0xD800).contains(value)
            {
                // Latin Extended-A, as with letters that are not escaped.
                let other = 0x100 | ((value ^ 0x15) & 0x7F)
                bytes.replaceSubrange(digits, with: Array(Hex.encode([UInt8(other >> 8), UInt8(other & 0xFF)]).utf8))
            }
            place = min(place + (isUnicode ? 6 : 2), range.upperBound)
            start = place
        }
        words(in: &bytes, start..<range.upperBound)
    }

    /// Lines of `NAME:value` (vCard, iCalendar): what stands before the first colon of a line stays.
    func card(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            let colon = bytes[start..<end].firstIndex(of: UInt8(ascii: ":"))
            let value = colon.map { $0 + 1 } ?? start
            let name = String(decoding: bytes[start..<(colon ?? start)], as: UTF8.self).uppercased()
            if value < end, !["BEGIN", "END", "VERSION"].contains(name) { words(in: &bytes, value..<end) }
            start = end + 1
        }
        return bytes
    }

    /// Runs of at least four printable characters in bytes of which nothing is known.
    func printableRuns(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for run in original.split(whereSeparator: { !(0x20...0x7E).contains($0) }) where run.count >= 4 {
            words(in: &bytes, run.indices)
        }
        return bytes
    }
}

/// Byte strings to look for, with what takes their place: found by their beginnings, the longest first.
struct RedactionPatterns {
    private let prefixLength: Int
    private var byPrefix: [[UInt8]: [(original: [UInt8], standIn: [UInt8])]] = [:]
    private var known: Set<[UInt8]> = []

    /// Nothing to look for; what is added has at least `prefixLength` bytes.
    init(prefixLength: Int) {
        self.prefixLength = prefixLength
    }

    var isEmpty: Bool { byPrefix.isEmpty }

    /// Adds a byte string, if it is long enough and new; the first one counts.
    mutating func add(_ original: [UInt8], _ standIn: [UInt8]) {
        guard original.count >= prefixLength, original.count == standIn.count, known.insert(original).inserted else {
            return
        }
        var patterns = byPrefix[Array(original.prefix(prefixLength))] ?? []
        let place = patterns.firstIndex { $0.original.count < original.count } ?? patterns.count
        patterns.insert((original, standIn), at: place)
        byPrefix[Array(original.prefix(prefixLength))] = patterns
    }

    /// The longest byte string with which some bytes begin.
    func find(in bytes: ArraySlice<UInt8>) -> (original: [UInt8], standIn: [UInt8])? {
        guard bytes.count >= prefixLength, let patterns = byPrefix[Array(bytes.prefix(prefixLength))] else {
            return nil
        }
        return patterns.first { bytes.starts(with: $0.original) }
    }
}
