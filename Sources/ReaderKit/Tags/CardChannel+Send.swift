extension CardChannel {
    /// Sends a command and returns the card's answer as it is, whatever its status word.
    ///
    /// - Throws: ``ReaderError``; an answer that is no response APDU is ``ReaderError/Kind/invalidAnswer``.
    public func exchange(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let bytes = try transmit(command.encoded())
        do {
            return try ResponseAPDU(bytes: bytes)
        } catch {
            throw ReaderError(.invalidAnswer, attempting: "read the card's answer", detail: error.message)
        }
    }

    /// Sends a command and returns the whole answer: a status word `6Cxx` repeats the command with the length that the
    /// card names, and `61xx` fetches the rest with GET RESPONSE (ISO/IEC 7816-4).
    ///
    /// Protocols in which `61xx` has a meaning of its own use ``exchange(_:)``.
    ///
    /// - Returns: the data of all parts, and the last status word.
    /// - Throws: ``ReaderError``; more rounds or more data than ``ReaderLimits`` allows is
    ///   ``ReaderError/Kind/limitExceeded``.
    public func send(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        var answer = try exchangeCorrectingLength(command)
        guard case .moreData = answer.statusWord.classification else { return answer }
        var data = answer.data
        var rounds = 0
        while let next = CommandAPDU.getResponse(after: answer.statusWord, cla: command.cla) {
            guard rounds < ReaderLimits.moreDataRounds else {
                throw ReaderError(
                    .limitExceeded,
                    attempting: "fetch the rest of the card's answer",
                    detail: "more than \(ReaderLimits.moreDataRounds) parts"
                )
            }
            rounds += 1
            answer = try exchangeCorrectingLength(next)
            guard data.count + answer.data.count <= ReaderLimits.responseLength - 2 else {
                throw ReaderError(
                    .limitExceeded,
                    attempting: "fetch the rest of the card's answer",
                    detail: "more than \(ReaderLimits.responseLength - 2) bytes"
                )
            }
            data += answer.data
        }
        return ResponseAPDU(data: data, statusWord: answer.statusWord)
    }

    /// Repeats a command as long as the card names another length, which an honest card does once.
    private func exchangeCorrectingLength(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        var answer = try exchange(command)
        var rounds = 0
        while case .wrongLength(let correct) = answer.statusWord.classification {
            guard rounds < ReaderLimits.wrongLengthRounds, let repeated = try? command.expecting(correct) else {
                throw ReaderError(
                    .limitExceeded,
                    attempting: "send a command to the card",
                    detail: "it names another length each time (\(answer.statusWord))"
                )
            }
            rounds += 1
            answer = try exchange(repeated)
        }
        return answer
    }
}
