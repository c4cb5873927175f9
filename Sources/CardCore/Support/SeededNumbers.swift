import Foundation
import Synchronization

/// Numbers that are the same for the same seed everywhere (SplitMix64): enough to look random.
package struct SeededNumbers: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// That many bytes, each of a number of its own.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            while initialized < count {
                bytes[initialized] = UInt8(truncatingIfNeeded: next())
                initialized += 1
            }
        }
    }
}

/// UUIDs of version 4 form that are the same for the same seed, in the same order.
package final class SeededUUIDs: Sendable {
    private let numbers: Mutex<SeededNumbers>

    package init(seed: UInt64) {
        numbers = Mutex(SeededNumbers(seed: seed))
    }

    /// The next UUID.
    package func next() -> UUID {
        let (high, low) = numbers.withLock { ($0.next(), $0.next()) }
        func byte(_ word: UInt64, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                byte(high, 6) & 0x0F | 0x40, byte(high, 7),
                byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
                byte(low, 6), byte(low, 7)
            )
        )
    }
}
