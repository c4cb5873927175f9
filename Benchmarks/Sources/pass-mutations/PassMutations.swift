import BenchmarkSupport
import Foundation
import ReaderKit

/// Reads mutated answers of phones, half of them with the reader of Apple VAS and half with that of Smart Tap, and checks on
/// each that nothing traps, that nothing counts but what was made with the keys, and that messages tell nothing of it.
/// Prints the counts; exits with 1 when a check fails.
@main struct PassMutations {
    static func main() {
        do {
            let arguments = try Arguments(options: ["--count", "--seed"])
            let count = max(0, try arguments.number("--count", default: 10_000_000))
            let seed = try arguments.number("--seed", default: 0x5041_5353 as UInt64)
            var run = try PassMutationRun(seed: seed)
            let seconds = try Timing.seconds { try run.read(count) }
            print("seed 0x\(String(seed, radix: 16, uppercase: true)), \(count) taps with mutated answers")
            report("Apple VAS", run.apple)
            report("Smart Tap", run.google)
            print("\(Timing.text(seconds)) s, \(Int(Double(count) / max(seconds, 1e-9))) taps/s")
        } catch {
            FileHandle.standardError.write(Data("pass-mutations: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }

    private static func report(_ name: String, _ counts: [String: Int]) {
        let accepted = counts["accepted"] ?? 0
        print("\(name): \(accepted) accepted, \(counts.values.reduce(0, +) - accepted) not:")
        for (code, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) where code != "accepted" {
            print("  \(code) \(count)")
        }
    }
}
