import BenchmarkSupport
import Foundation
import ReaderKit

/// Decodes mutated messages in both modes, and checks on each that nothing traps and that what is accepted comes back
/// the same from the encoder and the decoder. Prints the counts; exits with 1 when a check fails.
@main struct NDEFMutations {
    static func main() {
        do {
            let arguments = try Arguments(options: ["--count", "--seed"])
            let count = max(0, try arguments.number("--count", default: 10_000_000))
            let seed = try arguments.number("--seed", default: 0x4E44_4546 as UInt64)
            var run = try MutationRun(seed: seed)
            let seconds = try Timing.seconds { try run.decode(count) }
            print("seed 0x\(String(seed, radix: 16, uppercase: true)), \(count) mutated messages, both modes")
            print("strict:  \(run.strictAccepted) decoded, \(count - run.strictAccepted) rejected")
            print(
                "lenient: \(run.lenientAccepted) decoded (\(run.lenientTolerated) of them with a fault that is tolerated),"
                    + " \(count - run.lenientAccepted) rejected"
            )
            print("rules met: \(run.codes.count); \(run.codes.map(\.rawValue).sorted().joined(separator: " "))")
            print("\(Timing.text(seconds)) s, \(Int(Double(count) / max(seconds, 1e-9))) messages/s")
        } catch {
            FileHandle.standardError.write(Data("ndef-mutations: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }
}
