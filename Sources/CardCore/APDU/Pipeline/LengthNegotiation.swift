/// Chooses how a command that is too long for the short form goes to the card: with extended lengths, in parts, or with
/// the longest short answer; and takes another way when the card or the reader's driver refuses the first.
///
/// | The card's extended lengths | Data over 255 bytes | Only the expected length over 256 |
/// |---|---|---|
/// | known, or proven before | extended | extended |
/// | not known | in parts; if the card refuses the first part, extended | short with Le 256; the rest by `61xx` |
/// | known not to be there, or refused before | in parts | short with Le 256 |
///
/// What counts as a refusal of extended lengths, after which the command is sent again in another way:
/// - `6700` and `6701`, wrong length, from a card that has not carried out an extended command before;
/// - `6D00` and `6E00` from a card that states that it takes parts and not that it takes extended lengths: with T=0
///   they refuse the command that wraps an extended one. Otherwise they are the answer: the card does not know the
///   command;
/// - ``ReaderError/Kind/unsupported`` from the backend, and `SCARD_E_NOT_TRANSACTED`, `SCARD_E_INVALID_PARAMETER` or
///   `SCARD_E_INSUFFICIENT_BUFFER` from a driver that does not carry long commands, while the card is still there. The
///   codes cannot distinguish a command that was not sent from an answer that was lost. So only commands that may be
///   carried out twice are sent again: reading, SELECT, and writing at a fixed place.
final class LengthNegotiation: APDUProcessor {
    private let transport: APDUTransport
    private let single: LengthCorrection
    private let channel: ChannelCapabilities
    private let card: CardCapabilities
    private let policy: APDUPipeline.Lengths

    /// Whether extended lengths work with this card and reader, as far as the conversation has shown; `nil` before.
    private(set) var extendedLengthsWork: Bool?

    init(
        _ transport: APDUTransport,
        _ channel: ChannelCapabilities,
        _ card: CardCapabilities,
        _ policy: APDUPipeline.Lengths,
        wrongLengthRounds: Int
    ) {
        self.transport = transport
        self.channel = channel
        self.card = card
        self.policy = policy
        single = LengthCorrection(next: transport, rounds: wrongLengthRounds)
    }

    /// - Throws: ``ReaderError``; ``ReaderError/Kind/unsupported`` if neither way carries it.
    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let needsParts = command.data.count > shortData
        guard needsParts || command.form == .extended else { return try single.process(command) }
        // The reader answers commands of class FF itself; parts are for cards.
        guard command.cla != 0xFF else { return try single.process(command) }
        if canTryExtended(command), policy == .extended || isExtendedKnown || (needsParts && !canTryParts(command)) {
            return try extended(command)
        }
        return needsParts ? try inParts(command) : try single.process(short(command))
    }

    // MARK: - The ways

    private func extended(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let answer: ResponseAPDU
        do throws(ReaderError) {
            answer = try single.process(limited(command))
        } catch {
            guard isRefusal(error, of: command), policy == .automatic else { throw error }
            extendedLengthsWork = false
            guard let answer = try other(command) else { throw error }
            return answer
        }
        guard isRefusal(answer.statusWord) else {
            if answer.statusWord.classification != .checkingError { extendedLengthsWork = true }
            return answer
        }
        guard policy == .automatic else { return answer }
        extendedLengthsWork = false
        guard let second = try other(command) else { return answer }
        // A card that refuses the other way as well refuses the command, and its first answer explains why.
        return second.statusWord.classification == .checkingError ? answer : second
    }

    /// The other way after extended lengths were refused, or `nil` if absent.
    private func other(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU? {
        guard command.data.count > shortData else { return try single.process(short(command)) }
        guard canTryParts(command) else { return nil }
        return try parts.process(short(command)).answer
    }

    private func inParts(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        guard canTryParts(command) else {
            throw ReaderError(
                .unsupported,
                attempting: "send a command of \(command.data.count) bytes of data to the card",
                detail: "neither extended lengths nor command chaining carry it",
                advice: "Split the data into commands of at most \(shortData) bytes."
            )
        }
        let (answer, taken) = try parts.process(short(command))
        // After a part that the card took, another command might be joined to it.
        guard taken == 0, isRefusalOfParts(answer.statusWord), policy == .automatic, canTryExtended(command) else {
            return answer
        }
        return try extendedOnly(command) ?? answer
    }

    /// An extended command after the card refused parts; `nil` if that is refused as well.
    private func extendedOnly(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU? {
        do throws(ReaderError) {
            let answer = try single.process(limited(command))
            extendedLengthsWork = answer.statusWord.classification != .checkingError
            return extendedLengthsWork == true ? answer : nil
        } catch {
            guard isRefusal(error, of: command) else { throw error }
            extendedLengthsWork = false
            return nil
        }
    }

    private var parts: CommandChaining { CommandChaining(part: transport, last: single, partLength: shortData) }

    // MARK: - What is possible

    /// The most data bytes of one short command: 255, or what the reader or the card carries with header, Lc and Le.
    private var shortData: Int {
        let longest = min(channel.longestCommand, card.longestCommand ?? Int.max)
        return min(255, max(1, longest - 6))
    }

    private var isExtendedKnown: Bool {
        extendedLengthsWork ?? (card.extendedLengths == true && channel.extendedLength != false)
    }

    private func canTryExtended(_ command: CommandAPDU) -> Bool {
        guard policy != .short, extendedLengthsWork != false else { return false }
        guard policy == .extended || (channel.extendedLength != false && card.extendedLengths != false) else {
            return false
        }
        let length = 7 + command.data.count + (command.expectedLength == nil || command.data.isEmpty ? 0 : 2)
        return command.data.count > 255
            ? length <= min(channel.longestCommand, card.longestCommand ?? Int.max)
            : command.form == .extended
    }

    private func canTryParts(_ command: CommandAPDU) -> Bool {
        policy != .extended && card.commandChaining != false && CommandChaining.canChain(cla: command.cla)
    }

    /// The command with an expected length that the short form carries: what is more is announced with `61xx`.
    private func short(_ command: CommandAPDU) -> CommandAPDU {
        guard let length = command.expectedLength, length > 256 else { return command }
        return CommandAPDU(trusted: command.cla, command.ins, command.p1, command.p2, command.data, 256)
    }

    /// The command with an expected length that the reader and the card carry.
    private func limited(_ command: CommandAPDU) -> CommandAPDU {
        let longest = max(3, min(channel.longestResponse, card.longestResponse ?? Int.max)) - 2
        guard let length = command.expectedLength, length > longest else { return command }
        return CommandAPDU(trusted: command.cla, command.ins, command.p1, command.p2, command.data, longest)
    }

    // MARK: - What is a refusal

    private func isRefusal(_ statusWord: StatusWord) -> Bool {
        guard extendedLengthsWork != true else { return false }
        switch statusWord.rawValue {
        case 0x6700, 0x6701: return true
        case 0x6D00, 0x6E00: return card.commandChaining == true && card.extendedLengths != true
        default: return false
        }
    }

    private func isRefusalOfParts(_ statusWord: StatusWord) -> Bool {
        [0x6884, 0x6E00, 0x6881, 0x6800].contains(statusWord.rawValue)
    }

    private func isRefusal(_ error: ReaderError, of command: CommandAPDU) -> Bool {
        guard extendedLengthsWork != true else { return false }
        switch error.kind {
        case .unsupported: return true
        case .communication, .other:
            // SCARD_E_INVALID_PARAMETER, SCARD_E_INSUFFICIENT_BUFFER and SCARD_E_NOT_TRANSACTED.
            guard let code = error.code?.rawValue, [0x8010_0004, 0x8010_0008, 0x8010_0016].contains(code) else {
                return false
            }
            return command.isRepeatable
        default: return false
        }
    }
}

extension CommandAPDU {
    /// Whether carrying it out twice leaves the card as carrying it out once does: SELECT, reading, searching, and
    /// writing at a place that the command names.
    var isRepeatable: Bool {
        switch ins {
        case 0xA4, 0xB0...0xB3, 0xCA, 0xCB, 0xA0...0xA2, 0xD6, 0xD7, 0xDC, 0xDD, 0xDA, 0xDB: cla & 0x80 == 0
        default: false
        }
    }
}

/// Repeats a command with the expected length that the card names in a status word `6Cxx` (ISO/IEC 7816-4).
struct LengthCorrection: APDUProcessor {
    let next: APDUTransport
    /// How often a command is repeated; an honest card names the right length once. With 0 the status word is the answer.
    var rounds = ReaderLimits.wrongLengthRounds

    /// - Throws: ``ReaderError``; a card that names another length each time is ``ReaderError/Kind/limitExceeded``.
    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        var answer = try next.process(command)
        guard rounds > 0 else { return answer }
        var round = 0
        while case .wrongLength(let correct) = answer.statusWord.classification {
            guard round < rounds, let repeated = try? command.expecting(correct) else {
                let detail = "it names another length each time (\(answer.statusWord))"
                throw ReaderError(.limitExceeded, attempting: "send a command to the card", detail: detail)
            }
            round += 1
            answer = try next.process(repeated)
        }
        return answer
    }
}
