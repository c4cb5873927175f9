/// Sends a command in several parts (command chaining of ISO/IEC 7816-4): all but the last have bit 5 of CLA set, and
/// the card answers them with `9000`. Any other status word ends the chain and is the answer.
public struct CommandChaining<Part: APDUProcessor, Last: APDUProcessor>: APDUProcessor {
    private let part: Part
    private let last: Last
    private let partLength: Int

    /// A part before two others.
    ///
    /// - Parameters:
    ///   - part: sends the parts before the last.
    ///   - last: sends the last part, which has the expected length, and commands that need no chain.
    ///   - partLength: the most data bytes in one part, 1...255; others are brought into that range.
    public init(parts part: Part, last: Last, partLength: Int = 255) {
        self.part = part
        self.last = last
        self.partLength = min(max(partLength, 1), 255)
    }

    /// Whether commands of that class can be sent in parts: the interindustry classes `00`...`7F` whose bit 5 is clear.
    /// In others the bit may mean something else, as in DESFire's `90`.
    public static func canChain(cla: UInt8) -> Bool {
        cla & 0x90 == 0
    }

    /// Carries out a command, in parts if its data are longer than one.
    ///
    /// - Throws: ``ReaderError``: ``ReaderError/Kind/unsupported`` for a class that cannot be chained,
    ///   ``ReaderError/Kind/limitExceeded`` before anything is sent if it takes more than ``ReaderLimits/commandParts``,
    ///   and ``ReaderError/Kind/invalidAnswer`` if the card has data to fetch before the last part.
    public func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        try processParts(command).answer
    }

    /// The same, with the number of parts that the card took before it answered.
    func processParts(_ command: CommandAPDU) throws(ReaderError) -> (answer: ResponseAPDU, taken: Int) {
        guard command.data.count > partLength else { return (try last.process(command), 0) }
        guard Self.canChain(cla: command.cla) else {
            throw ReaderError(
                .unsupported,
                attempting: "send a command to the card in parts",
                detail: "class \(Hex.encode([command.cla])) has no command chaining"
            )
        }
        let count = (command.data.count - 1) / partLength + 1
        guard count <= ReaderLimits.commandParts else {
            throw ReaderError(
                .limitExceeded,
                attempting: "send a command to the card in parts",
                detail: "\(count) parts, more than \(ReaderLimits.commandParts)",
                advice: "Send less data with one command."
            )
        }
        var offset = 0
        while command.data.count - offset > partLength {
            let data = Array(command.data[offset..<offset + partLength])
            let answer = try part.process(
                CommandAPDU(trusted: command.cla | 0x10, command.ins, command.p1, command.p2, data)
            )
            if case .moreData = answer.statusWord.classification {
                // It must not be taken for the answer to the whole command, of which the rest would then be fetched.
                throw ReaderError(
                    .invalidAnswer,
                    attempting: "send a command to the card in parts",
                    detail: "it answers before the last part (\(answer.statusWord))"
                )
            }
            guard answer.isSuccess else { return (answer, offset / partLength) }
            offset += partLength
        }
        let rest = CommandAPDU(
            trusted: command.cla,
            command.ins,
            command.p1,
            command.p2,
            Array(command.data[offset...]),
            command.expectedLength
        )
        return (try last.process(rest), count - 1)
    }
}

/// Fetches with GET RESPONSE what a status word `61xx` announces, until the answer is whole (ISO/IEC 7816-4).
///
/// Protocols in which `61xx` has a meaning of its own leave this part out.
public struct ResponseChaining<Next: APDUProcessor>: APDUProcessor {
    private let next: Next
    private let rounds: Int
    private let bytes: Int

    /// A part before another.
    ///
    /// - Parameters:
    ///   - next: the part that sends the command and each GET RESPONSE.
    ///   - rounds: how many times GET RESPONSE is sent for one command.
    ///   - bytes: how many bytes of data are taken for one command.
    public init(
        before next: Next,
        rounds: Int = ReaderLimits.moreDataRounds,
        bytes: Int = ReaderLimits.responseLength - 2
    ) {
        self.next = next
        self.rounds = rounds
        self.bytes = bytes
    }

    /// Carries out a command.
    ///
    /// - Returns: the data of all parts, and the last status word.
    /// - Throws: ``ReaderError``; more rounds or more data than allowed is ``ReaderError/Kind/limitExceeded``.
    public func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        var answer = try next.process(command)
        guard case .moreData = answer.statusWord.classification else { return answer }
        var data = answer.data
        var round = 0
        while let fetch = CommandAPDU.getResponse(after: answer.statusWord, cla: command.cla) {
            guard round < rounds else { throw Self.limitExceeded("more than \(rounds) parts") }
            guard data.count <= bytes else { throw Self.limitExceeded("more than \(bytes) bytes") }
            round += 1
            answer = try next.process(fetch)
            guard answer.data.count <= bytes - data.count else { throw Self.limitExceeded("more than \(bytes) bytes") }
            data += answer.data
        }
        return ResponseAPDU(data: data, statusWord: answer.statusWord)
    }

    private static func limitExceeded(_ detail: String) -> ReaderError {
        ReaderError(.limitExceeded, attempting: "fetch the rest of the card's answer", detail: detail)
    }
}
