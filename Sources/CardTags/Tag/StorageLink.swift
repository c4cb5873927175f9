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
    /// - Parameters:
    ///   - length: how many bytes to ask for, 1...256; 256 asks for what the reader returns.
    ///   - isOpened: whether the card had to be opened with a key, and powered anew would be closed again.
    func read(_ block: Int, length: Int, isOpened: Bool = false, attempt: String) throws(TagError) -> [UInt8] {
        guard let number = UInt16(exactly: block), let command = try? CommandAPDU.readBlock(number, length: length)
        else { throw .protected(attempt: attempt, status: nil) }
        var answer = try send(command)
        if StorageLink.isOfTheLink(answer.statusWord), !isOpened {
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

    /// Sends a command and returns the answer, whatever its status word.
    ///
    /// - Parameter asIs: whether `61xx` and `6Cxx` are answers too.
    func send(_ command: CommandAPDU, asIs: Bool = false) throws(TagError) -> ResponseAPDU {
        do {
            return asIs ? try channel.exchange(command) : try channel.send(command)
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

    /// Whether what came is of no use, or too long, though the link is whole.
    var isUnusable: Bool {
        readerError.map { [.unsupported, .invalidAnswer, .limitExceeded].contains($0.kind) } ?? false
    }

    /// Whether the card or the reader answered, even if unusably or by the card's silence to a frame. What the backend
    /// reports of link, reader and service is not among them.
    func isAnswer(inFrames: Bool) -> Bool {
        isRefusal || isUnusable || isSilence(inFrames: inFrames) || (readerError?.isFromAnswer ?? false)
    }

    /// Whether the reader has no way to carry the command, so that another way may lead to the card.
    var isUnknownToReader: Bool {
        switch self {
        case .link(let error): error.kind == .unsupported
        case .unsupported: true
        default: false
        }
    }

    /// What is told of a first block that was read neither by the reader's own command, if that was tried, nor in the card's
    /// own frames, which ended in this; `nil` if there is no message.
    func unread(_ type: TagType, after command: TagError?) -> TagError? {
        // Silence to a frame, and whatever the card answers that is no tag's, is its no.
        guard isUnknownToReader || readerError?.kind == .communication else { return nil }
        if let status = readerError?.statusWord, status.sw1 < 0x60 || StorageLink.isOfTheLink(status) { return self }
        switch command?.firstBlock ?? .notAsked {
        case .absent: return nil
        case .failed: return command
        default: return .notAsked(type, attempt: "look for the message of the card", status: command?.status)
        }
    }

    /// What the reader's answer to its own command for the first block means.
    private var firstBlock: MessageQuestion.Meaning {
        // It read something, and that is no block of a tag's.
        if readerError?.kind == .invalidAnswer { return .absent }
        return (status ?? readerError?.statusWord).map(MessageQuestion.block.meaning) ?? .notAsked
    }
}

extension ReaderError {
    /// Whether this was made of a status word, or of the status of a reader that carries frames. The codes of PC/SC have
    /// 32 bits, the highest of them set, and those of libnfc are negative.
    fileprivate var isFromAnswer: Bool { statusWord != nil }

    fileprivate var statusWord: StatusWord? { code.flatMap { UInt16(exactly: $0.rawValue) }.map(StatusWord.init(_:)) }
}
