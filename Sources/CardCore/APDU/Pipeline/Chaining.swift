/// Sends a command in several parts (command chaining of ISO/IEC 7816-4): all but the last have bit 5 of CLA set, and
/// the card answers them with `9000`. Any other status word ends the chain and is the answer.
struct CommandChaining {
    let part: APDUTransport
    /// Sends the last part, which has the expected length, and commands that need no chain.
    let last: LengthCorrection
    /// The most data bytes in one part, 1...255.
    let partLength: Int

    /// Whether commands of that class can be sent in parts: the interindustry classes `00`...`7F` whose bit 5 is clear.
    /// In others the bit may mean something else, as in DESFire's `90`.
    static func canChain(cla: UInt8) -> Bool { cla & 0x90 == 0 }

    /// The answer, and the number of parts that the card took before it answered.
    ///
    /// - Throws: ``ReaderError``: ``ReaderError/Kind/unsupported`` for a class that cannot be chained,
    ///   ``ReaderError/Kind/limitExceeded`` before anything is sent if it takes more than ``ReaderLimits/commandParts``,
    ///   and ``ReaderError/Kind/invalidAnswer`` if the card has data to fetch before the last part.
    func process(_ command: CommandAPDU) throws(ReaderError) -> (answer: ResponseAPDU, taken: Int) {
        guard command.data.count > partLength else { return (try last.process(command), 0) }
        func fault(_ kind: ReaderError.Kind, _ detail: String, advice: String? = nil) -> ReaderError {
            ReaderError(kind, attempting: "send a command to the card in parts", detail: detail, advice: advice)
        }
        guard Self.canChain(cla: command.cla) else {
            throw fault(.unsupported, "class \(Hex.encode([command.cla])) has no command chaining")
        }
        let count = (command.data.count - 1) / partLength + 1
        guard count <= ReaderLimits.commandParts else {
            let detail = "\(count) parts, more than \(ReaderLimits.commandParts)"
            throw fault(.limitExceeded, detail, advice: "Send less data with one command.")
        }
        let (ins, p1, p2) = (command.ins, command.p1, command.p2)
        var offset = 0
        while command.data.count - offset > partLength {
            let data = Array(command.data[offset..<offset + partLength])
            let answer = try part.process(CommandAPDU(trusted: command.cla | 0x10, ins, p1, p2, data))
            if case .moreData = answer.statusWord.classification {
                // It must not be taken for the answer to the whole command, of which the rest would then be fetched.
                throw fault(.invalidAnswer, "it answers before the last part (\(answer.statusWord))")
            }
            guard answer.isSuccess else { return (answer, offset / partLength) }
            offset += partLength
        }
        let rest = Array(command.data[offset...])
        let end = CommandAPDU(trusted: command.cla, ins, p1, p2, rest, command.expectedLength)
        return (try last.process(end), count - 1)
    }
}

/// Fetches with GET RESPONSE what a status word `61xx` announces, until the answer is whole (ISO/IEC 7816-4).
///
/// Protocols in which `61xx` has a meaning of its own leave this part out.
struct ResponseChaining<Next: APDUProcessor>: APDUProcessor {
    let next: Next
    /// How many times GET RESPONSE is sent for one command.
    var rounds = ReaderLimits.moreDataRounds
    /// How many bytes of data are taken for one command.
    var bytes = ReaderLimits.responseLength - 2

    /// - Returns: the data of all parts, and the last status word.
    /// - Throws: ``ReaderError``; more rounds or more data than allowed is ``ReaderError/Kind/limitExceeded``.
    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
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
