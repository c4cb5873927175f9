import BenchmarkSupport
import Foundation
import ReaderKit

/// Decodes one message of 20 Text records again and again, and prints the time for one message in nanoseconds:
/// `records` for the decoder alone (which checks every rule, the texts' UTF-8 included), `texts` for the decoder and
/// the texts as strings.
@main struct NDEFDecode {
    static func main() {
        do {
            let arguments = try Arguments(options: ["--iterations"], flags: ["--print-message"])
            let iterations = max(1, try arguments.number("--iterations", default: 100_000))
            let records = try (1...20).map { try NDEFRecord.text("hello world, record \($0)") }
            let bytes = try NDEFMessage(records).encoded()
            if arguments.has("--print-message") {
                print(Hexadecimal.encode(bytes))
                return
            }
            // The first rounds fill caches and the allocator's free lists.
            _ = try decodeRecords(bytes, iterations / 10 + 1)
            _ = try decodeTexts(bytes, iterations / 10 + 1)
            try report("records", iterations, expected: 20) { try decodeRecords(bytes, iterations) }
            let length = records.reduce(0) { $0 + $1.payload.count - 3 }
            try report("texts", iterations, expected: length) { try decodeTexts(bytes, iterations) }
        } catch {
            FileHandle.standardError.write(Data("ndef-decode: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }

    /// The sum of the numbers of records.
    private static func decodeRecords(_ bytes: [UInt8], _ iterations: Int) throws -> Int {
        var sum = 0
        for _ in 0..<iterations { sum += try NDEFMessage(decoding: bytes).records.count }
        return sum
    }

    /// The sum of the lengths of the texts.
    private static func decodeTexts(_ bytes: [UInt8], _ iterations: Int) throws -> Int {
        var sum = 0
        for _ in 0..<iterations {
            for record in try NDEFMessage(decoding: bytes).records {
                if case .text(let text) = record.content { sum += text.text.utf8.count }
            }
        }
        return sum
    }

    private static func report(
        _ name: String,
        _ iterations: Int,
        expected: Int,
        _ body: () throws -> Int
    ) throws {
        var sum = 0
        let seconds = try Timing.seconds { sum = try body() }
        guard sum == expected * iterations else { throw WrongResult(name: name) }
        print(name, Timing.text(seconds / Double(iterations) * 1e9))
    }

    private struct WrongResult: Error, CustomStringConvertible {
        var name: String
        var description: String { "\(name): the message was not decoded as expected" }
    }
}
