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
