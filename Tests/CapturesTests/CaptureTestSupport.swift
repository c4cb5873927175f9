import Foundation
import TestSupport

@testable import Captures

/// Numbers for mutations, the same for the same seed.
struct MutationRandom {
    private var random: SeededNumbers

    init(seed: UInt64) { random = SeededNumbers(seed: seed) }

    /// A number from 0 to one below `limit`.
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }

    /// Changes, removes, doubles or puts in some bytes.
    mutating func mutate(_ original: [UInt8], times: Int = 6) -> [UInt8] {
        var bytes = original
        for _ in 0...below(times) where !bytes.isEmpty {
            let place = below(bytes.count)
            switch below(5) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8(below(128)), at: place)
            case 3: bytes[place] = Array("0123456789ABCDEF".utf8)[below(16)]
            default: bytes.removeSubrange(place..<min(bytes.count, place + below(60)))
            }
        }
        return bytes
    }
}
