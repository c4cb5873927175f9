import CardCore

/// The way to the blocks of a storage card: commands of class `FF` (PC/SC part 3), or frames of the card's own protocol.
struct StorageLink {
    let channel: any CardChannel

    /// Whether the reader answers no commands of class `FF`.
    var usesRawFrames: Bool { !channel.capabilities.hasPseudoAPDUs }

    init(_ channel: any CardChannel) {
        self.channel = channel
    }

    // MARK: Through the reader

    /// Reads at a block with `FF B0`; whether `block` counts blocks of 4, 8 or 16 bytes is the card's.
    ///
    /// - Parameter length: how many bytes to ask for, 1...256; 256 asks for what the reader returns.
    func read(_ block: Int, length: Int, attempt: String) throws(TagError) -> [UInt8] {
        guard let number = UInt16(exactly: block), let command = try? CommandAPDU.readBlock(number, length: length)
        else { throw .protected(attempt: attempt, status: nil) }
        var answer = try send(command)
        if StorageLink.isOfTheLink(answer.statusWord) {
            // A weak field must not make a card one without a message, so it gets another chance.
            try confirmPresence()
            answer = try send(command)
        }
        guard answer.isSuccess || (answer.statusWord == .endReached && !answer.data.isEmpty) else {
            throw StorageLink.fault(attempt, answer.statusWord)
        }
        return answer.data
    }

    /// Writes a block with `FF D6`.
    func write(_ block: Int, _ bytes: [UInt8], attempt: String) throws(TagError) {
        guard let number = UInt16(exactly: block), let command = try? CommandAPDU.updateBlock(number, data: bytes)
        else { throw .protected(attempt: attempt, status: nil) }
        let answer = try send(command)
        guard answer.isSuccess else { throw StorageLink.fault(attempt, answer.statusWord) }
    }

    /// Sends a command of class `FF` and returns the answer, whatever its status word.
    func send(_ command: CommandAPDU) throws(TagError) -> ResponseAPDU {
        do {
            return try channel.send(command)
        } catch {
            throw .link(error)
        }
    }

    /// Whether a status word is the reader's report on the radio link (`6F01` to `6FFF`).
    static func isOfTheLink(_ status: StatusWord) -> Bool { status.sw1 == 0x6F && status.sw2 != 0 }

    /// What a status word other than `9000` means where only the reader answers.
    static func fault(_ attempt: String, _ status: StatusWord) -> TagError {
        switch status.rawValue {
        case 0x6300, 0x6982, 0x6A82, 0x6B00:
            .protected(attempt: attempt, status: status)
        case 0x6F01...0x6FFF:
            // The reader's own reports on the radio link (6F1B: no answer in time).
            .link(
                ReaderError(
                    status.sw2 == 0x1B ? .timeout : .communication,
                    attempting: attempt,
                    code: ReaderError.Code(rawValue: Int64(status.rawValue), name: status.name)
                )
            )
        default:
            .refused(attempt: attempt, status: status)
        }
    }

    // MARK: In the card's own frames

    /// Exchanges a frame; a refusal in four bits is an answer.
    func exchange(_ frame: [UInt8]) throws(TagError) -> RawFrame {
        do {
            return try channel.transceive(RawFrame(frame))
        } catch {
            throw .link(error)
        }
    }

    /// Exchanges a frame whose answer has whole bytes.
    func transceive(_ frame: [UInt8], attempt: String) throws(TagError) -> [UInt8] {
        let answer = try exchange(frame)
        guard answer.bitsInLastByte == 8 else { throw .protected(attempt: attempt, status: nil) }
        return answer.bytes
    }

    /// An answer that breaks the card's protocol.
    static func broken(_ attempt: String, _ detail: String) -> TagError {
        .link(ReaderError(.invalidAnswer, attempting: attempt, detail: detail))
    }

    // MARK: The card itself

    /// Makes sure that the card is still there after it did not answer a command that it need not know.
    ///
    /// - Throws: ``TagError`` if it is not.
    func confirmPresence() throws(TagError) {
        do {
            try channel.reset()
        } catch {
            guard error.kind == .unsupported else { throw .link(error) }
        }
    }
}

extension TagError {
    /// Whether the card or the reader refused, rather than the link being broken.
    var isRefusal: Bool {
        switch self {
        case .refused, .protected, .unsupported: true
        default: false
        }
    }

    /// Whether the card stayed silent, as some do on a command that they do not know: a frame got no answer in time, or
    /// the reader reports so in a status word. A command APDU that got no answer is a fault of the reader.
    func isSilence(inFrames: Bool) -> Bool {
        guard case .link(let error) = self else { return false }
        return error.kind == .timeout && (inFrames || error.isFromAnswer) || error.code?.rawValue == 0x6F01
    }

    /// Whether the card or the reader answered, even if unusably or by the card's silence to a frame.
    ///
    /// As long as nothing was seen that belongs to a message, all of these mean that there is none: a card that is no
    /// tag may answer in any way, at every tap. What the backend reports of link, reader and service is not among them.
    func isAnswer(inFrames: Bool) -> Bool {
        switch self {
        case .refused, .protected, .unsupported: true
        case .link(let error):
            switch error.kind {
            case .unsupported, .invalidAnswer, .limitExceeded: true
            case .timeout: inFrames || error.isFromAnswer
            default: error.isFromAnswer
            }
        default: false
        }
    }

    /// Whether the reader itself does not know the command, so that another way may lead to the card.
    var isUnknownToReader: Bool {
        switch self {
        case .refused(_, let status), .protected(_, let status?):
            MessageQuestion.block.meaning(of: status) == .notAsked
        case .link(let error): error.kind == .unsupported
        case .unsupported: true
        default: false
        }
    }

    /// The error of a first block that could not be asked for: neither with the reader's command, if that was tried, nor in
    /// the card's own frames, whose refusal this is; `nil` if the card was asked in either way.
    func notAsked(_ type: TagType, after command: TagError?) -> TagError? {
        guard isUnknownToReader, command?.isUnknownToReader ?? true else { return nil }
        return .notAsked(type, attempt: "look for the message of the card", status: command?.status)
    }
}

extension ReaderError {
    /// Whether this was made of a status word, or of the status of a reader that carries frames. The codes of PC/SC have
    /// 32 bits, the highest of them set, and those of libnfc are negative.
    fileprivate var isFromAnswer: Bool { code.map { (0...0xFFFF).contains($0.rawValue) } ?? false }
}
