/// Numbers that are the same for the same seed everywhere (SplitMix64).
package struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// That many bytes. Loops of 100 000 collect what fails and expect nothing to: an expectation in each round is slow.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    package mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
        bytes(Int.random(in: range, using: &self))
    }

    package mutating func text(_ range: ClosedRange<Int>) -> String {
        let alphabets = ["abc xyz", "äöüß€", "漢字かな", "👩🏽‍🚀🎟\u{FEFF}\u{FFFE}"]
        var text = ""
        for _ in 0..<Int.random(in: range, using: &self) {
            let alphabet = alphabets[Int.random(in: 0..<alphabets.count, using: &self)].unicodeScalars
            text.unicodeScalars.append(alphabet.randomElement(using: &self) ?? "a")
        }
        return text
    }
}
