import CardCore
import CardPasses

/// The identifiers of the cards of a capture, and the forms in which they stand among other bytes.
final class RedactionIdentifiers {
    private let originals: [[UInt8]]
    private let vocabulary: RedactionVocabulary
    private var patterns = RedactionPatterns(prefixLength: 4)
    /// Identifiers of one or two different bytes, which might stand anywhere by chance, and their patterns.
    private let plain: [[UInt8]]
    private var plainPatterns = RedactionPatterns(prefixLength: 4)
    private(set) var texts = RedactionPatterns(prefixLength: 8)

    init(_ identifiers: [[UInt8]], _ vocabulary: RedactionVocabulary) {
        self.vocabulary = vocabulary
        // Bytes that might stand anywhere by chance are looked for only where an identifier is reported.
        let all = Array(Set(identifiers.filter { $0.count >= 4 }))
            .sorted { $0.count != $1.count ? $0.count > $1.count : $0.lexicographicallyPrecedes($1) }
        originals = all.filter { Set($0).count >= 3 }
        // With all bits the same there is no identifier.
        plain = all.filter { Set($0).count < 3 && Set($0) != [0x00] && Set($0) != [0xFF] }
        for original in plain {
            _ = vocabulary.string(original, keeping: original.count == 8 ? [0, 1] : [0], always: true)
        }
        for original in originals {
            let forwards = Self.forwards(original)
            _ = vocabulary.string(forwards, keeping: forwards.count == 8 ? [0, 1] : [0])
            for bytes in [forwards, forwards.reversed()] {
                let hex = Array(bytes.hex.utf8)
                texts.add(hex, hex)
            }
        }
    }

    /// The identifier in its own order: some readers give one of ISO 15693 backwards.
    private static func forwards(_ bytes: [UInt8]) -> [UInt8] {
        let isRandomFeliCa = bytes.starts(with: [0x01, 0xFE]) || bytes.starts(with: [0x02, 0xFE])
        let isBackwards = bytes.count == 8 && bytes.last == 0xE0 && bytes.first != 0xE0 && !isRandomFeliCa
        return isBackwards ? bytes.reversed() : bytes
    }

    /// Makes the patterns, once the stand-ins are known.
    func make() {
        texts = RedactionPatterns(prefixLength: 8)
        for original in plain {
            guard let standIn = vocabulary.known(string: original) else { continue }
            Self.addForms(original, standIn, to: &plainPatterns)
        }
        for original in originals {
            let forwards = Self.forwards(original)
            guard let standIn = vocabulary.known(string: forwards) else { continue }
            Self.addForms(forwards, standIn, to: &patterns)
            texts.add(Array(forwards.hex.utf8), Array(standIn.hex.utf8))
            texts.add(Array(forwards.reversed().hex.utf8), Array(standIn.reversed().hex.utf8))
        }
    }

    /// The forms in which an identifier stands among other bytes.
    private static func addForms(_ forwards: [UInt8], _ standIn: [UInt8], to patterns: inout RedactionPatterns) {
        patterns.add(forwards, standIn)
        patterns.add(forwards.reversed(), standIn.reversed())
        let (old, new) = (CardUID(forwards, technology: .iso14443a), CardUID(standIn, technology: .iso14443a))
        if let oldLevels = old.cascadeLevels, let newLevels = new.cascadeLevels {
            // As in pages 0 to 2 of a Type 2 tag: no cascade tag, but the check bytes.
            func page(_ level: [UInt8]) -> [UInt8] {
                level.first == CardUID.cascadeTag ? Array(level.dropFirst()) : level
            }
            patterns.add(oldLevels.flatMap(page), newLevels.flatMap(page))
            for (old, new) in zip(oldLevels, newLevels) {
                patterns.add(page(old), page(new))
                if page(old).count == 5 { patterns.add(Array(old.dropLast()), Array(new.dropLast())) }
            }
        }
    }

    /// Replaces every form of every identifier; where one is reported, those of one or two different bytes too.
    func replace(in original: [UInt8], isTold: Bool = false) -> [UInt8] {
        guard !patterns.isEmpty || isTold && !plainPatterns.isEmpty else { return original }
        var bytes = original
        var place = 0
        while place < original.count {
            let rest = original[place...]
            let found = patterns.find(in: rest) ?? (isTold ? plainPatterns.find(in: rest) : nil)
            if let found { bytes.replaceSubrange(place..<(place + found.original.count), with: found.standIn) }
            place += found?.original.count ?? 1
        }
        return bytes
    }

    /// The second check byte stands in page 2, and is read by itself where a reading begins there.
    func replaceCheckBytes(_ conversation: RedactionConversation, _ answers: inout [[UInt8]]) {
        for touch in conversation.memory.touches {
            guard touch.space == .pages(sector: 0), !touch.isCommand, (5...8).contains(touch.address) else { continue }
            let place = touch.offset + 8 - touch.address
            guard place < touch.offset + touch.count, place < answers[touch.exchange].count else { continue }
            let check = answers[touch.exchange][place]
            for identifier in conversation.identifiers
            where identifier.count == 7 && CardUID.checkByte(of: identifier[3...]) == check {
                guard let standIn = vocabulary.known(string: identifier) else { continue }
                answers[touch.exchange][place] = CardUID.checkByte(of: standIn[3...])
                break
            }
        }
    }

    // MARK: Headers

    /// Replaces identifiers in hexadecimal or decimal, and words that were replaced in the cards' texts.
    func replace(in text: String, _ vocabulary: RedactionVocabulary) -> String {
        var bytes = Array(text.utf8)
        replaceHex(in: &bytes)
        var place = 0
        while place < bytes.count {
            guard RedactionText.isWord(bytes[place]) else {
                place += 1
                continue
            }
            let end = bytes[place...].firstIndex { !RedactionText.isWord($0) } ?? bytes.count
            let word = Array(bytes[place..<end])
            // Words such as 'of' and 'the' are nobody's name.
            let isSmall = word.count <= 3 && word.allSatisfy { (0x61...0x7A).contains($0) }
            if !isSmall, let standIn = vocabulary.known(word: word) ?? decimal(word) {
                bytes.replaceSubrange(place..<end, with: standIn)
            }
            place = end
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func replaceHex(in bytes: inout [UInt8]) {
        let digits = bytes.indices.filter { CaptureCursor.digit(bytes[$0]) != nil }
        var index = 0
        while index < digits.count {
            // Digits with at most one separator between bytes.
            var end = index + 1
            while end < digits.count, digits[end] - digits[end - 1] <= 2 { end += 1 }
            var start = index
            while start < end {
                // No identifier has more than twenty digits.
                let rest = digits[start..<min(end, start + 20)].map { index in
                    (0x61...0x66).contains(bytes[index]) ? bytes[index] - 0x20 : bytes[index]
                }
                guard let found = texts.find(in: rest[...]) else {
                    start += 1
                    continue
                }
                for (offset, digit) in found.standIn.enumerated() { bytes[digits[start + offset]] = digit }
                start += found.original.count
            }
            index = end
        }
    }

    /// The decimal form of an identifier, as door systems show it.
    private func decimal(_ word: [UInt8]) -> [UInt8]? {
        guard word.count > 6, word.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(String(decoding: word, as: UTF8.self))
        else { return nil }
        for original in originals where original.count <= 8 {
            let forwards = original.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let backwards = original.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard number == forwards || number == backwards,
                let standIn = vocabulary.known(string: Self.forwards(original))
            else { continue }
            let isForwards = (number == forwards) == (Self.forwards(original) == original)
            let bytes = isForwards ? standIn : standIn.reversed()
            return Array(String(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }).utf8)
        }
        return nil
    }
}
