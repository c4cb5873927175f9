/// A recorded conversation, explained line by line: which command it is, which data objects and records it holds, and what
/// they mean.
///
/// It is for somebody who holds the capture: what is in it is shown, members' identifiers included. Keys and passwords are
/// left out, but those that everybody knows. What is encrypted stays so. What is not known here is told as such; a capture
/// of any content is explained, however malformed what cards and readers said in it.
///
/// The facts behind it are those of ISO/IEC 7816-4, PC/SC part 3 and the NFC Forum, and what is publicly known of Apple VAS
/// and Google Smart Tap, which are their makers' own.
public struct ConversationExplanation: Sendable, Hashable {
    /// The lines, in the order of the file where it is known, else card by card in the order of their times.
    public let lines: [ExplainedLine]

    /// Explains a capture.
    ///
    /// - Parameters:
    ///   - capture: what was recorded.
    ///   - text: the text that it was read from, which tells where the answers stand; without it only those lines have
    ///     numbers of which the capture knows them.
    public init(of capture: Capture, text: [UInt8] = []) {
        var walk = CaptureWalk(capture, text)
        lines = walk.lines()
    }

    /// Reads a capture file and explains it.
    ///
    /// - Throws: ``CaptureFileError`` if it cannot be read, ``CaptureError`` if it is malformed.
    public init(contentsOf path: String) throws {
        let bytes = try CaptureFiles.bytes(of: path)
        self.init(of: try Capture(parsing: bytes, file: path), text: bytes)
    }
}
