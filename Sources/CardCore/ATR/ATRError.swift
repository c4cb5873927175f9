/// Bytes are not an answer to reset.
public struct ATRError: Error, Sendable, Hashable {
    /// What is wrong, for programs.
    public var code: Code

    /// Where: the offset in bytes of the first byte that is wrong or missing.
    public var offset: Int

    /// What was attempted and what is wrong, for people.
    public var message: String

    /// What can be wrong with an ATR. A bad checksum is none of these; see ``ATR/warnings``.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// No bytes at all.
        case empty
        /// The first byte is neither `3B` nor `3F`.
        case invalidTS
        /// It ends before everything that it announces.
        case truncated
        /// It announces more than ``ReaderLimits/atrLength`` bytes.
        case tooLong
    }

    /// An error of that code at that offset.
    public init(_ code: Code, offset: Int, message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .empty: "Give the bytes that the reader reports; a powered card always has an ATR."
        case .invalidTS: "An ATR begins with 3B or 3F; check that no byte before it or of it was lost."
        case .truncated: "Check that all of the ATR is there; 'readerctl watch' shows what the reader reports."
        case .tooLong: "Check that the bytes are an ATR; if a reader reports them, it or the card is faulty."
        }
    }
}

extension ATRError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do.
    public var description: String {
        "\(message) (\(code.rawValue) at byte \(offset)). \(hint)"
    }
}
