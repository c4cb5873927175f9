import Foundation

/// The lines of standard input, as they come, until the tool is to end.
package final class InputLines {
    /// The longest line: an APDU of the greatest length, with spaces.
    private static let longest = 262_144

    private let cancellation: CardOnReader.Cancellation
    private var pending: [UInt8] = []
    private var hasEnded = false

    package init(_ cancellation: CardOnReader.Cancellation) {
        self.cancellation = cancellation
    }

    /// The next line, or `nil` at the end.
    ///
    /// - Throws: `CancellationError`, or exit code 74 where nothing can be read.
    package func next() throws -> String? {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            if hasEnded {
                defer { pending = [] }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            }
            guard pending.count <= Self.longest else {
                throw ToolFailure("A line of the input is too long.", exit: ToolExit.malformed)
            }
            try InputFile.wait(for: STDIN_FILENO, or: [cancellation.descriptor])
            try cancellation.check()
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ToolFailure(
                    "could not read standard input: \(String(cString: strerror(errno)))",
                    exit: ToolExit.inputOutput
                )
            }
            hasEnded = count == 0
            pending += buffer.prefix(count)
        }
    }
}
