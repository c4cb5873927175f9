import ReaderKit

/// A bad line: some of the bytes on it are changed, lost, or joined by others, the same ones for the same seed.
public struct LineNoise: Sendable, Hashable {
    /// One of so many bytes is spoilt, on average; at least 1.
    public let oneIn: Int

    private var random: SeededNumbers

    /// Noise that spoils one of so many bytes, on average. What is below 1 counts as 1.
    public init(seed: UInt64, oneIn: Int) {
        random = SeededNumbers(seed: seed)
        self.oneIn = max(1, oneIn)
    }

    /// What arrives of the bytes.
    public mutating func spoil(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            guard random.next() % UInt64(oneIn) == 0 else {
                result.append(byte)
                continue
            }
            let other = UInt8(truncatingIfNeeded: random.next())
            switch random.next() % 3 {
            case 0: result.append(byte ^ (other == 0 ? 0x01 : other))
            case 1: break
            default: result += [other, byte]
            }
        }
        return result
    }
}
