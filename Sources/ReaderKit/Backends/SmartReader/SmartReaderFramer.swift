/// Cuts the bytes that a reader sends into lines, and finds its way back after noise.
///
/// A line ends with CR, LF or both, with the configured suffix, or with the brace that closes a JSON object. NULs are
/// dropped. A `$`, which no `$SCRDR` line has within it, begins a new line wherever it comes, so that a torn line takes
/// the next one not with it. What cannot be a line of the reader is dropped and counted; what could be one is returned,
/// damaged or not.
struct SmartReaderFramer {
    let rules: SmartReaderRules
    private(set) var counts = SmartReaderCounts()
    private var pending: [UInt8] = []
    private var isSkipping = false
    private var json = Brackets()

    init(_ rules: SmartReaderRules = SmartReaderRules()) {
        self.rules = rules
    }

    var isWithinLine: Bool { !pending.isEmpty || isSkipping }

    mutating func append(_ bytes: some Sequence<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes { append(byte, &lines) }
        return lines
    }

    /// Nothing came for a while. What is whole but for its end is a line; what has begun otherwise will not be ended.
    mutating func hearSilence() -> [String] {
        guard isWithinLine else { return [] }
        let isWhole = rules.endsWithSilence || SmartReaderRules.isWhole(pending[...])
        guard isWhole, !isSkipping else {
            tear()
            return []
        }
        return finish()
    }

    /// Nothing more will come: what there is is the last line.
    mutating func finish() -> [String] {
        var lines: [String] = []
        end(&lines)
        return lines
    }

    /// The reader is gone, which ends a line as a silence does.
    mutating func hangUp() -> [String] {
        guard !isSkipping, SmartReaderRules.isWhole(pending[...]) else {
            tear()
            return []
        }
        return finish()
    }

    private mutating func tear() {
        guard isWithinLine else { return }
        if !isSkipping { counts.tornLines += 1 }
        counts.noiseBytes += pending.count
        restart()
    }

    private mutating func restart() {
        pending.removeAll(keepingCapacity: true)
        isSkipping = false
        json = Brackets()
    }

    private mutating func append(_ byte: UInt8, _ lines: inout [String]) {
        switch byte {
        case 0: counts.noiseBytes += 1
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"): end(&lines)
        default:
            if isSkipping {
                guard byte == UInt8(ascii: "$"), rules.knows(.scrdr) else {
                    counts.noiseBytes += 1
                    return
                }
                restart()
            }
            pending.append(byte)
            guard pending.count <= SmartReaderLimits.lineLength else {
                counts.longLines += 1
                counts.noiseBytes += pending.count
                restart()
                isSkipping = true
                return
            }
            let isObject = rules.knows(.json) && pending[0] == UInt8(ascii: "{")
            if isObject && json.close(with: byte) || rules.endsLine(pending) { end(&lines) }
        }
    }

    private mutating func end(_ lines: inout [String]) {
        let line = pending
        restart()
        guard !line.isEmpty else { return }
        let found = rules.lines(in: line[...])
        counts.noiseBytes += line.count - found.reduce(0) { $0 + $1.taken }
        lines += found.map(\.text)
    }
}

/// Finds the brace that ends a JSON object.
private struct Brackets {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    mutating func close(with byte: UInt8) -> Bool {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"):
            depth -= 1
            return depth == 0
        default: break
        }
        return false
    }
}
