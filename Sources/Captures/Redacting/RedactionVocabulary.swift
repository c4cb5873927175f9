import CardCore
import CardPasses

/// The stand-ins of one redaction: the same original has the same one everywhere, two originals have two.
///
/// The redaction goes over a capture twice. The first time the originals are collected, so that what stands for them
/// depends neither on their order nor equals another original.
final class RedactionVocabulary {
    private let seed: UInt64
    /// Whether originals are still being collected; what is asked for is then given back as it is.
    private(set) var isCollecting = true
    private var words: [[UInt8]: [UInt8]] = [:]
    /// Byte strings: identifiers, keys, payloads.
    private var strings: [[UInt8]: [UInt8]] = [:]
    /// How an identifier's stand-in is made.
    private var kept: [[UInt8]: Set<Int>] = [:]
    /// Every run of four bytes of an original.
    private var runs: Set<UInt32> = []

    init(seed: UInt64) {
        self.seed = seed
    }

    var wordCount: Int { words.count }
    var stringCount: Int { strings.count }

    /// Words that mean something by themselves: the parts of an address behind which, and the names under which, an id
    /// stands.
    private static let structural = NDEFPassReader.idSegments.union(
        (NDEFPassReader.idNames + NDEFPassReader.nameNames).map { $0.lowercased() }
    )

    // MARK: Asking

    func word(_ original: [UInt8]) -> [UInt8] {
        guard !original.isEmpty else { return original }
        if isCollecting { words[original] = original }
        return words[original] ?? original
    }

    /// The stand-in of some bytes, of which places may stay, such as a manufacturer's code. Empty memory, and keys that
    /// everybody knows, stand for themselves, but `always` replaces them too, as in an identifier or a PIN.
    func string(_ original: [UInt8], keeping: Set<Int> = [], always: Bool = false) -> [UInt8] {
        guard always || !Self.isPublic(original) else { return original }
        if isCollecting {
            strings[original] = original
            kept[original, default: []].formUnion(keeping)
        }
        return strings[original] ?? original
    }

    /// The stand-in of a word or a string that is one, and nothing for others.
    func known(word: [UInt8]) -> [UInt8]? { words[word] }
    func known(string: [UInt8]) -> [UInt8]? { strings[string] }

    /// Keys of the factory and of the standards, and empty memory. Equal digits are not: they may be a PIN.
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        if first == 0x00 || first == 0xFF, bytes.allSatisfy({ $0 == first }) { return true }
        let keys: [[UInt8]] = [
            [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5], [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7],
            [0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5],
        ]
        return keys.contains(bytes)
    }

    // MARK: Making

    func make() {
        isCollecting = false
        for original in Array(words.keys) + Array(strings.keys) where original.count >= 4 {
            runs.formUnion(Self.runs(of: original))
        }
        var used: Set<[UInt8]> = []
        // In an order that does not depend on the capture's.
        for original in strings.keys.sorted(by: Self.isBefore) {
            let places = kept[original] ?? []
            let made = choose(for: original, domain: 1, originals: strings, used: used) { random in
                Self.string(original, keeping: places, &random)
            }
            strings[original] = made
            used.insert(made)
        }
        used = []
        for original in words.keys.sorted(by: Self.isBefore) {
            let made = choose(for: original, domain: 2, originals: words, used: used) { Self.word(original, &$0) }
            words[original] = made
            used.insert(made)
        }
    }

    private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count != right.count ? left.count < right.count : left.lexicographicallyPrecedes(right)
    }

    /// Tries stand-ins until one is new, is no original, and has no run of four bytes of one. Short words can run out;
    /// then another original may be taken, and at last one that is used.
    private func choose(
        for original: [UInt8],
        domain: UInt64,
        originals: [[UInt8]: [UInt8]],
        used: Set<[UInt8]>,
        make: (inout RedactionRandom) -> [UInt8]
    ) -> [UInt8] {
        var random = RedactionRandom(seed: seed, domain: domain, original)
        var candidate = original
        for attempt in 0..<96 {
            candidate = make(&random)
            guard !used.contains(candidate), !Self.isStructural(candidate) else { continue }
            // In a long payload such a run is there by chance.
            let hasRun = candidate.count <= 1024 && Self.runs(of: candidate).contains { runs.contains($0) }
            if !hasRun, attempt >= 64 || originals[candidate] == nil { return candidate }
        }
        return candidate
    }

    private static func runs(of bytes: [UInt8]) -> [UInt32] {
        guard bytes.count >= 4 else { return [] }
        var run: UInt32 = 0
        return bytes.enumerated().compactMap { index, byte in
            run = run << 8 | UInt32(byte)
            return index >= 3 ? run : nil
        }
    }

    static func isStructural(_ word: [UInt8]) -> Bool {
        word.count <= 8 && structural.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    private static func string(_ original: [UInt8], keeping: Set<Int>, _ random: inout RedactionRandom) -> [UInt8] {
        var result = original
        for index in result.indices where !keeping.contains(index) {
            // 88 would be taken for a cascade tag.
            repeat {
                result[index] = UInt8(truncatingIfNeeded: random.next() >> 24)
            } while result[index] == original[index] || result[index] == 0x88
        }
        return result
    }

    /// A word of the same length in UTF-8, each letter and digit another of its kind; the first digit is not 0.
    private static func word(_ original: [UInt8], _ random: inout RedactionRandom) -> [UInt8] {
        var result: [UInt8] = []
        var isLeading = true
        func other(than byte: UInt8, in range: ClosedRange<UInt8>, _ random: inout RedactionRandom) -> UInt8 {
            let others = range.filter { $0 != byte }
            return others.isEmpty ? byte : others[Int(random.next() >> 33) % others.count]
        }
        var index = 0
        while index < original.count {
            let byte = original[index]
            let length = RedactionText.scalarLength(byte)
            switch byte {
            case 0x30...0x39:
                // A number of 19 digits or more must not become one that no integer holds.
                let range: ClosedRange<UInt8> =
                    isLeading ? (original.count > 18 ? 0x31...0x32 : 0x31...0x39) : 0x30...0x39
                result.append(other(than: byte, in: range, &random))
            case 0x41...0x5A: result.append(other(than: byte, in: 0x41...0x5A, &random))
            case 0x61...0x7A: result.append(other(than: byte, in: 0x61...0x7A, &random))
            case 0xC2...0xDF where index + 1 < original.count:
                // Latin Extended-A: U+0100 to U+017F.
                let lead: UInt8 = random.next() & 1 == 0 ? 0xC4 : 0xC5
                result += [lead, other(than: original[index + 1], in: 0x80...0xBF, &random)]
            case 0xE0...0xEF where index + 2 < original.count:
                // CJK ideographs: U+5000 to U+5FFF.
                result += [0xE5, other(than: original[index + 1], in: 0x80...0xBF, &random)]
                result.append(other(than: original[index + 2], in: 0x80...0xBF, &random))
            case 0xF0...0xF4 where index + 3 < original.count:
                // CJK ideographs: U+20000 to U+20FFF.
                result += [0xF0, 0xA0, other(than: original[index + 2], in: 0x80...0xBF, &random)]
                result.append(other(than: original[index + 3], in: 0x80...0xBF, &random))
            default: result += original[index..<min(index + length, original.count)]
            }
            isLeading = false
            index += length
        }
        return result
    }
}

/// Numbers that depend on a seed and on what they are for (FNV-1a, then SplitMix64).
struct RedactionRandom {
    private var numbers: SeededNumbers

    init(seed: UInt64, domain: UInt64, _ bytes: [UInt8]) {
        let start = seed ^ 0xCBF2_9CE4_8422_2325 ^ (domain &* 0x9E37_79B9_7F4A_7C15)
        numbers = SeededNumbers(seed: Self.hash(bytes, from: start))
    }

    static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    mutating func next() -> UInt64 { numbers.next() }
}
