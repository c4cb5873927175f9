@_exported public import CardCore
import Foundation

/// How many times as many rounds the tests with seeded input make: as many as `CLUBKIT_ROUNDS` says, or once.
package let timesAsMany = ProcessInfo.processInfo.environment["CLUBKIT_ROUNDS"].flatMap { Int($0) } ?? 1

/// So many rounds, times ``timesAsMany``.
package func rounds(_ usual: Int) -> Range<Int> { 0..<usual * max(1, timesAsMany) }

/// The step between those of many cases that are tried: so long, or 1 where there are more rounds, so that all are.
package func step(_ usual: Int) -> Int { timesAsMany > 1 ? 1 : usual }

extension Array {
    /// One of so many of these, or all where there are more rounds.
    package func oneIn(_ usual: Int) -> [Element] { stride(from: 0, to: count, by: step(usual)).map { self[$0] } }
}

extension SeededNumbers {
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
