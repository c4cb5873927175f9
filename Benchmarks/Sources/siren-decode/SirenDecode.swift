import BenchmarkSupport
import Foundation
import SirenKit

/// Reads a Siren document from standard input, decodes it again and again, and prints the time for one decoding in
/// nanoseconds, and how many sub-entities it has.
@main struct SirenDecode {
    static func main() {
        do {
            let iterations = max(1, try Arguments(options: ["--iterations"]).number("--iterations", default: 20))
            let bytes = Array(FileHandle.standardInput.readDataToEndOfFile())
            // The first round fills caches and the allocator's free lists.
            var count = try SirenDocument(decoding: bytes, .strict).entity.entities.count
            print("entities", count)
            let seconds = try Timing.seconds {
                for _ in 0..<iterations { count += try SirenDocument(decoding: bytes).entity.entities.count }
            }
            print("document", Timing.text(seconds / Double(iterations) * 1e9))
        } catch {
            FileHandle.standardError.write(Data("siren-decode: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }
}
