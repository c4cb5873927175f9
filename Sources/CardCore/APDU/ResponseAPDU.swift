/// A card's answer to a command: data and a status word.
public struct ResponseAPDU: Sendable, Hashable {
    /// The data, 0...65 536 bytes.
    public var data: [UInt8]

    /// The status word, the last two bytes of the answer.
    public var statusWord: StatusWord

    /// An answer.
    public init(data: [UInt8] = [], statusWord: StatusWord) {
        self.data = data
        self.statusWord = statusWord
    }

    /// Reads an answer as it came.
    ///
    /// - Parameter bytes: 2 to ``ReaderLimits/responseLength`` bytes.
    /// - Throws: ``APDUError`` with `tooShort` or `tooLong`.
    public init(bytes: [UInt8]) throws(APDUError) {
        guard bytes.count >= 2 else {
            let message = "could not read an answer of \(bytes.count) bytes: its status word has 2"
            throw APDUError(.tooShort, offset: bytes.count, message: message)
        }
        guard bytes.count <= ReaderLimits.responseLength else {
            let message = "could not read an answer of \(bytes.count) bytes: at most \(ReaderLimits.responseLength)"
            throw APDUError(.tooLong, offset: ReaderLimits.responseLength, message: message)
        }
        data = Array(bytes.dropLast(2))
        statusWord = StatusWord(sw1: bytes[bytes.count - 2], sw2: bytes[bytes.count - 1])
    }

    /// The bytes: the data, then the status word.
    public var encoded: [UInt8] { data + [statusWord.sw1, statusWord.sw2] }

    /// Whether the status word is `9000`.
    public var isSuccess: Bool { statusWord.isSuccess }
}
