import CardCore

/// The own commands of Type 2 chips, as raw frames, and what their short answers mean.
struct Type2Link {
    private let channel: any CardChannel

    init(_ channel: any CardChannel) {
        self.channel = channel
    }

    /// What a chip answers.
    enum Answer {
        case data([UInt8])
        /// "No": an invalid argument or command (0), or that counter or password is used up (4).
        case refusal(UInt8)
    }

    /// Sends a command that is answered with at least two bytes.
    ///
    /// - Throws: ``TagError/unsupported(_:attempt:)`` if the reader carries no raw frames, else ``TagError/link(_:)``.
    func command(_ bytes: [UInt8], _ attempt: String) throws(TagError) -> Answer {
        let frame = try exchange(bytes, attempt)
        if frame.bitsInLastByte == 8, frame.bytes.count > 1 { return .data(frame.bytes) }
        return .refusal(try code(of: frame, attempt))
    }

    /// Sends a command that is answered with four bits; whether they state that it was done.
    ///
    /// Readers that handle the acknowledgement themselves return it as a byte, or nothing at all.
    func acknowledges(_ bytes: [UInt8], _ attempt: String) throws(TagError) -> Bool {
        let frame = try exchange(bytes, attempt)
        if frame.bytes.isEmpty { return true }
        guard frame.bytes.count == 1, frame.bytes[0] & 0x0F == 0x0A else {
            _ = try code(of: frame, attempt)
            return false
        }
        return true
    }

    private func exchange(_ bytes: [UInt8], _ attempt: String) throws(TagError) -> RawFrame {
        do {
            return try channel.transceive(RawFrame(bytes))
        } catch {
            throw error.kind == .unsupported ? .unsupported(.type2, attempt: attempt) : .link(error)
        }
    }

    /// The four bits of a refusal. 1 and 5 state that the command arrived damaged, which is the link's fault.
    private func code(of frame: RawFrame, _ attempt: String) throws(TagError) -> UInt8 {
        guard frame.bytes.count == 1, let code = frame.bytes.first.map({ $0 & 0x0F }), [0, 1, 4, 5].contains(code)
        else { throw StorageLink.broken(attempt, "the tag answers with \(frame.bytes.count) bytes") }
        guard code & 1 == 0 else {
            throw .link(ReaderError(.communication, attempting: attempt, detail: "the card received it damaged"))
        }
        return code
    }
}
