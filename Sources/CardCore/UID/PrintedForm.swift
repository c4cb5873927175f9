/// A form in which a reader prints an identifier: which of its bytes, in which order, written how.
///
/// A controller, a locker or a keyboard reader shows a card by a number of its own making, and few manuals say which. The
/// names are those that makers of readers use: `8H10D` writes eight hexadecimal digits (four bytes) as ten decimal ones,
/// `2H4D` two and four of them as facility code and number, which is what Wiegand 26 carries. Behind it stands the part
/// of the identifier, if it is not the whole, and the order, if the last byte comes first: `2H4D-first3-reversed`.
public struct PrintedForm: Sendable, Hashable {
    let notation: Notation

    /// The bytes that it shows.
    public let part: Part

    /// Whether the last of these bytes comes first.
    public let isReversed: Bool

    /// Which bytes of an identifier a reader takes. The raw values stand in names.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        /// All.
        case whole
        /// The first three, of which Wiegand 26 has room.
        case first3
        /// The last three.
        case last3
        /// The first four of more.
        case first4
        /// The last four of more.
        case last4
        /// The cascade tag 88 and the first three of 7 or 10, as a reader shows them that knows no longer identifiers.
        case cascade
        /// The cascade tag 88 and the first two: what Wiegand 26 has room for of the same, the last byte first.
        case cascade3
        /// The first cascade level with its check byte: what SimpleMFRC522 and its like count into the number.
        case check
    }

    /// How the bytes are written: the first word of its name, as `8H10D`.
    public var notationName: String { notation.name }

    /// Which bytes, and in which order, as `whole`, `reversed` or `first3-reversed`.
    public var partName: String {
        let isNamed = part != notation.part
        let words = (isNamed || part != .whole ? [part.rawValue] : []) + (isReversed ? ["reversed"] : [])
        return words.isEmpty ? part.rawValue : words.joined(separator: "-")
    }

    /// Its name, as `8H10D` or `2H4D-first3-reversed`.
    public var name: String {
        part == .whole && notation.part == .whole && !isReversed ? notationName : "\(notationName)-\(partName)"
    }

    /// The form of a name, in upper or lower case; of the names that makers give to the same form, any. `nil` if there is
    /// none.
    public init?(name: String) {
        var words = name.lowercased().split { "-_ ".contains($0) }.map(String.init)[...]
        // Some write the number of bits apart: Wiegand-26.
        if let first = words.first, ["wiegand", "wg", "w", "dez"].contains(first), words.count > 1 {
            words = [first + words[1]] + words.dropFirst(2)
        }
        guard let first = words.popFirst(), let notation = Notation.all.first(where: { $0.isNamed(first) }) else {
            return nil
        }
        let order = words.firstIndex { ["reversed", "reverse", "r"].contains($0) }
        if let order { words.remove(at: order) }
        let word = words.popFirst() ?? notation.part.rawValue
        let size = ["first", "last"].contains(word) ? "\(notation.size ?? 4)" : ""
        guard words.isEmpty, let part = Part(rawValue: word + size) else { return nil }
        self.init(notation, part, isReversed: order != nil)
    }

    init(_ notation: Notation, _ part: Part, isReversed: Bool) {
        self.notation = notation
        self.part = part
        self.isReversed = isReversed
    }

    /// Whether it can show all of a card's identifier.
    public var isComplete: Bool { CardUID.lengths.contains(where: isComplete(count:)) }

    /// Whether it shows all of an identifier of so many bytes.
    private func isComplete(count: Int) -> Bool {
        let size = notation.size
        return part == .whole && (size ?? count) == count || part == .check && count == 4 && (size ?? 5) == 5
    }
}

extension PrintedForm {
    /// How bytes are written, the most significant first.
    struct Notation: Sendable, Hashable {
        var name: String
        /// The number of bytes, or `nil` for any.
        var size: Int?
        var style: Style
        var otherNames: [String] = []

        enum Style: Sendable, Hashable {
            /// Two hexadecimal digits for each.
            case hex
            /// A decimal number for each.
            case bytes
            /// One decimal number of at least so many digits.
            case decimal(Int)
            /// Facility code and number, the latter of so many bits; how many digits each has, and what is between them.
            case pair(Int, widths: [Int], String)
            /// What the line carries, parity included, in hexadecimal.
            case parity(Wiegand.Format)
        }

        /// All, each with how makers and other programs name it.
        static let all: [Notation] = [
            Notation(name: "hex", style: .hex),
            Notation(name: "bytes", style: .bytes),
            Notation(name: "6H8D", size: 3, style: .decimal(8), otherNames: ["DEZ8"]),
            Notation(name: "6H10D", size: 3, style: .decimal(10)),
            Notation(name: "2H4D", size: 3, style: .pair(16, widths: [3, 5], ","), otherNames: names26),
            Notation(name: "3H5D", size: 3, style: .pair(16, widths: [3, 5], "")),
            Notation(name: "H10301+parity", size: 3, style: .parity(.h10301)),
            Notation(name: "8H10D", size: 4, style: .decimal(10), otherNames: ["DEZ10"]),
            Notation(name: "4H4D", size: 4, style: .pair(16, widths: [5, 5], ","), otherNames: names34),
            Notation(name: "H10306+parity", size: 4, style: .parity(.h10306)),
            Notation(name: "H10302", size: 4, style: .decimal(1)),
            Notation(name: "H10302+parity", size: 4, style: .parity(.h10302)),
            Notation(name: "H10304", size: 4, style: .pair(19, widths: [1, 1], ","), otherNames: names37),
            Notation(name: "10H13D", size: 5, style: .decimal(13)),
            Notation(name: "14H17D", size: 7, style: .decimal(17)),
            Notation(name: "16H20D", size: 8, style: .decimal(20)),
            Notation(name: "20H25D", size: 10, style: .decimal(25)),
        ]
        private static let names26 = ["2H4H", "3D5D", "DEZ3.5C", "H10301", "WG26", "W26", "Wiegand26"]
        private static let names34 = ["4H4H", "5D5D", "DEZ5.5", "H10306", "WG34", "W34", "Wiegand34"]
        private static let names37 = ["WG37", "W37", "Wiegand37"]

        /// What it shows where nothing else is said.
        var part: Part { size == 3 ? .last3 : size == 5 ? .check : .whole }

        func isNamed(_ name: String) -> Bool {
            ([self.name] + otherNames).contains { $0.lowercased() == name.lowercased() }
        }
    }
}

// MARK: Printing

extension CardUID {
    /// What a reader prints of it in that form, or `nil` if the form does not apply to so many bytes.
    public func text(as form: PrintedForm) -> String? {
        guard let bytes = form.part.bytes(of: bytes) else { return nil }
        return form.notation.text(form.isReversed ? bytes.reversed() : bytes)
    }

    /// The forms that apply to it, the whole first.
    public var printedForms: [PrintedForm] { PrintedForm.all.filter { text(as: $0) != nil } }
}

extension PrintedForm {
    /// How many bytes it shows of an identifier; `nil` if it does not apply to it.
    public func byteCount(of uid: CardUID) -> Int? { part.bytes(of: uid.bytes)?.count }

    /// All forms: the whole first, then by the bytes that they show.
    static let all: [PrintedForm] = Part.allCases.flatMap { part in
        // Byte by byte a reader prints what it took for the identifier.
        let notations = Notation.all.filter { $0.style != .bytes || [.whole, .cascade, .check].contains(part) }
        return [false, true].flatMap { isReversed in
            notations.map { PrintedForm($0, part, isReversed: isReversed) }
        }
    }
}

extension PrintedForm.Part {
    /// Whether the cascade tag stands before, which bytes of an identifier of so many follow, and whether the check byte
    /// does; `nil` if it does not apply to so many.
    private func layout(_ count: Int) -> (hasTag: Bool, range: Range<Int>, hasCheck: Bool)? {
        let isLong = count == 7 || count == 10
        return switch self {
        case .whole where count > 0: (false, 0..<count, false)
        case .first3 where count > 3: (false, 0..<3, false)
        case .last3 where count > 3: (false, count - 3..<count, false)
        case .first4 where count > 4: (false, 0..<4, false)
        case .last4 where count > 4: (false, count - 4..<count, false)
        case .cascade where isLong: (true, 0..<3, false)
        case .cascade3 where isLong: (true, 0..<2, false)
        case .check where isLong: (true, 0..<3, true)
        case .check where count == 4: (false, 0..<4, true)
        default: nil
        }
    }

    fileprivate func bytes(of uid: [UInt8]) -> [UInt8]? {
        guard let (hasTag, range, hasCheck) = layout(uid.count) else { return nil }
        let bytes = (hasTag ? [CardUID.cascadeTag] : []) + uid[range]
        return hasCheck ? bytes + [CardUID.checkByte(of: bytes)] : bytes
    }

    /// The identifier of so many bytes of which these are the part, `nil` being bytes that are not in it.
    fileprivate func identifier(of bytes: [UInt8], count: Int) -> [UInt8?]? {
        guard let (hasTag, range, hasCheck) = layout(count),
            bytes.count == range.count + (hasTag ? 1 : 0) + (hasCheck ? 1 : 0),
            !hasTag || bytes.first == CardUID.cascadeTag,
            !hasCheck || CardUID.checkByte(of: bytes) == 0
        else { return nil }
        var uid = [UInt8?](repeating: nil, count: count)
        uid.replaceSubrange(range, with: bytes.dropFirst(hasTag ? 1 : 0).prefix(range.count).map { $0 })
        return uid
    }
}

extension PrintedForm.Notation {
    fileprivate func text(_ bytes: [UInt8]) -> String? {
        guard size == nil || size == bytes.count else { return nil }
        switch style {
        case .hex: return bytes.hex
        case .bytes: return bytes.map(String.init).joined(separator: ",")
        case .decimal(let width): return CardUID.decimal(bytes, width: width)
        case .pair(let bits, let widths, let separator):
            let number = bytes.bigEndianNumber
            return CardUID.padded(number >> bits, widths[0]) + separator
                + CardUID.padded(number & (1 << bits - 1), widths[1])
        case .parity(let format): return Wiegand(format, number: bytes.bigEndianNumber)?.hex
        }
    }
}

extension [UInt8] {
    /// The number of up to eight bytes, the first being the most significant.
    fileprivate var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

// MARK: Reading

extension PrintedForm {
    /// An identifier that a printed number can stand for.
    public struct Match: Sendable, Hashable {
        /// The form that was taken.
        public let form: PrintedForm

        /// The bytes; `nil` for those that the form does not show.
        public let bytes: [UInt8?]

        /// The identifier, if the form shows all of it.
        public var uid: CardUID? {
            let known = bytes.compactMap(\.self)
            return known.count == bytes.count ? CardUID(known, technology: nil) : nil
        }

        fileprivate func agrees(with other: Match) -> Bool {
            bytes.count == other.bytes.count
                && zip(bytes, other.bytes).allSatisfy { one, other in one == nil || other == nil || one == other }
        }

        /// Hexadecimal, with `??` for each byte that the form does not show.
        public var pattern: String { bytes.map { $0.map { [$0].hex } ?? "??" }.joined() }
    }

    /// What a printed number can stand for: each form that fits, with the identifier that it shows or the part of it.
    ///
    /// Only identifiers that a card can have are listed: four bytes do not begin with the cascade tag, seven and ten begin
    /// with the code of a maker, eight with what those of ISO 15693, FeliCa and ST SR begin with. Of a part, identifiers
    /// of four and seven bytes are.
    public static func matches(of text: String) -> [Match] {
        // Some write before each number what it is: FC: 155 CN: 16298.
        let named = text.wholeMatch(of: /(?i)\s*FC[ :=#]*([0-9]+)[,; ]+CN[ :=#]*([0-9]+)\s*/)
        let text = named.map { "\($0.1),\($0.2)" } ?? text
        var matches = matches(exactly: text)
        // With more zeros before it than any form has.
        if matches.isEmpty, text.first == "0" { matches = self.matches(exactly: String(text.drop { $0 == "0" })) }
        let words = text.replacing(/[,;]\s/, with: " ").split(whereSeparator: \.isWhitespace).map(String.init)
        guard matches.isEmpty, words.count == 2 else { return matches }
        // Many cards have two numbers on them, as 0003685287 056,15271: what fits both.
        let others = self.matches(exactly: words[1])
        return self.matches(exactly: words[0]).filter { match in others.contains { $0.agrees(with: match) } }
    }

    /// First those whose form has just these digits, then those with zeros that were dropped.
    private static func matches(exactly text: String) -> [Match] {
        func characters(_ text: String) -> String { text.uppercased().filter { $0.isLetter || $0.isNumber } }
        let given = characters(text)
        var matches: (exact: [Match], others: [Match]) = ([], [])
        for form in all {
            guard let bytes = form.bytes(of: text) else { continue }
            let found = CardUID.lengths.compactMap { count -> Match? in
                guard let uid = form.part.identifier(of: bytes, count: count), isPlausible(uid),
                    form.isComplete(count: count) || count < 8
                else { return nil }
                return Match(form: form, bytes: uid)
            }
            let printed = form.notation.text(form.isReversed ? bytes.reversed() : bytes)
            if printed.map(characters) == given { matches.exact += found } else { matches.others += found }
        }
        return matches.exact + matches.others
    }

    private static func isPlausible(_ uid: [UInt8?]) -> Bool {
        guard let first = uid[0] else { return true }
        return switch uid.count {
        case 4: first != CardUID.cascadeTag
        case 8: [0xE0, 0xD0, 0x01, 0x02, 0x03].contains(first)
        default: ICManufacturer.name(of: first) != nil
        }
    }

    /// Whether a printed number is this identifier's in this form. Zeros that a spreadsheet has dropped do not count.
    public func matches(_ text: String, _ uid: CardUID) -> Bool {
        guard let shown = part.bytes(of: uid.bytes) else { return false }
        return bytes(of: text) == shown
    }

    /// The bytes of UTF-8 that a number may have: ten bytes in any notation have less.
    private static let longestText = 100

    /// The bytes that a printed number shows, first byte first; `nil` if it is none of this form.
    private func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count <= Self.longestText else { return nil }
        return notation.bytes(text).map { isReversed ? $0.reversed() : $0 }
    }

    /// The identifier of a printed number, where the form shows all of it.
    ///
    /// - Throws: ``UIDError`` with `otherForm` where the text is none of this form, or no card has such an identifier;
    ///   `onlyPart` where the form does not show all.
    public func identifier(of text: String) throws(UIDError) -> CardUID {
        guard let bytes = bytes(of: text) else {
            throw UIDError(.otherForm, offset: 0, message: "could not read the number: it is none of the form \(name)")
        }
        let matches = CardUID.lengths.compactMap { count in part.identifier(of: bytes, count: count).map { (count, $0) }
        }
        for (count, uid) in matches where isComplete(count: count) {
            if Self.isPlausible(uid), let uid = Match(form: self, bytes: uid).uid { return uid }
        }
        if bytes.first == CardUID.cascadeTag || matches.contains(where: { !isComplete(count: $0.0) }) {
            let message = "could not read the number: \(name) shows only a part of this identifier"
            throw UIDError(.onlyPart, offset: 0, message: message)
        }
        let message = "could not read the number: no card has an identifier as it is in the form \(name)"
        throw UIDError(.otherForm, offset: 0, message: message)
    }
}

extension PrintedForm.Notation {
    /// The bytes of a text in this notation; `nil` if it is none.
    fileprivate func bytes(_ text: String) -> [UInt8]? {
        switch style {
        case .hex:
            guard let bytes = try? CardUID(text: text).bytes else { return nil }
            return bytes
        case .bytes:
            let numbers = Self.numbers(text)
            let bytes = numbers.compactMap { UInt8($0) }
            return bytes.count > 2 && bytes.count == numbers.count ? bytes : nil
        case .decimal(let width): return size.flatMap { Self.decimal(text, width: width, count: $0) }
        case .pair(let bits, let widths, let separator):
            var numbers = Self.numbers(text)
            if separator.isEmpty {
                guard let joined = numbers.first, numbers.count == 1, Self.isPadded(joined, widths[0] + widths[1])
                else {
                    return nil
                }
                let digits = CardUID.padded(UInt64(joined) ?? 0, widths[0] + widths[1])
                numbers = [digits.prefix(widths[0]), digits.suffix(widths[1])]
            }
            guard numbers.count == 2, zip(numbers, widths).allSatisfy(Self.isPadded), let size,
                let facility = UInt64(numbers[0]), let card = UInt64(numbers[1]),
                facility >> (8 * size - bits) == 0, card >> bits == 0
            else { return nil }
            return Self.bytes(facility << bits | card, size)
        case .parity(let format):
            guard let size, text.count <= 10, let frame = UInt64(text, radix: 16) else { return nil }
            let number = frame >> 1 & (1 << format.dataBits - 1)
            // Its digits are as many as the format has, and its parity is right.
            guard number >> (8 * size) == 0, Wiegand(format, number: number)?.hex == text.uppercased() else {
                return nil
            }
            return Self.bytes(number, size)
        }
    }

    private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// The runs of digits between what readers and people put between numbers; none if there is anything else.
    private static func numbers(_ text: String) -> [Substring] {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
        guard bare.first?.isWholeNumber == true, bare.last?.isWholeNumber == true else { return [] }
        let numbers = bare.split { ",/:;.-_ ".contains($0) }
        return numbers.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isWholeNumber } } ? numbers : []
    }

    /// Whether a text of digits is a number of that width, zeros before it included or all dropped.
    private static func isPadded(_ digits: Substring, _ width: Int) -> Bool {
        digits.first == "0" ? digits.count == width : digits.count <= (width == 1 ? mostUnpadded : width)
    }

    /// The digits of 35 bits: of a number that is never written with zeros before it.
    private static let mostUnpadded = 11

    /// More zeros than these are not dropped from a number of more than ten digits: other forms fit better.
    private static let mostDropped = 4

    private static func decimal(_ text: String, width: Int, count: Int) -> [UInt8]? {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isWholeNumber }), isPadded(text[...], width),
            width <= 10 || text.count >= width - mostDropped
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        for digit in text.utf8 {
            var carry = Int(digit - 0x30)
            for index in bytes.indices.reversed() {
                carry += Int(bytes[index]) * 10
                bytes[index] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
            guard carry == 0 else { return nil }
        }
        return bytes
    }
}
