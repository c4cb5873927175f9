/// Repeats a command with the expected length that the card names in a status word `6Cxx` (ISO/IEC 7816-4).
public struct LengthCorrection<Next: APDUProcessor>: APDUProcessor {
    private let next: Next
    private let rounds: Int

    /// A part before another.
    ///
    /// - Parameters:
    ///   - next: the part that sends the command.
    ///   - rounds: how often a command is repeated; an honest card names the right length once. With 0
    ///     the status word is the answer.
    public init(before next: Next, rounds: Int = ReaderLimits.wrongLengthRounds) {
        self.next = next
        self.rounds = rounds
    }

    /// Carries out a command.
    ///
    /// - Throws: ``ReaderError``; a card that names another length each time is ``ReaderError/Kind/limitExceeded``.
    public func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        var answer = try next.process(command)
        guard rounds > 0 else { return answer }
        var round = 0
        while case .wrongLength(let correct) = answer.statusWord.classification {
            guard round < rounds, let repeated = try? command.expecting(correct) else {
                throw ReaderError(
                    .limitExceeded,
                    attempting: "send a command to the card",
                    detail: "it names another length each time (\(answer.statusWord))"
                )
            }
            round += 1
            answer = try next.process(repeated)
        }
        return answer
    }
}
