import CardPasses

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
