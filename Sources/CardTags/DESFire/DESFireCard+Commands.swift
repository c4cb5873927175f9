import CardCore

extension DESFireCard {
    /// The most data bytes in the APDU of a native frame: with the wrapping, a block of 64 bytes on the radio.
    static let frameLength = 55

    /// Sends a command, in the session if there is one, and returns the verified data of the whole answer.
    ///
    /// - Parameters:
    ///   - instruction: the native command.
    ///   - header: parameters that are never encrypted.
    ///   - data: what is to be protected.
    ///   - protection: how the command travels in a session. Without data there is nothing to encrypt; EV1 sends a code
    ///     only with data.
    ///   - answer: how the answer travels in a session.
    ///   - length: how many bytes are expected, where that is known.
    ///   - attempt: to be read after "could not".
    mutating func execute(
        _ instruction: UInt8,
        header: [UInt8] = [],
        data: [UInt8] = [],
        protection: DESFireCommunication = .authenticated,
        answer: DESFireCommunication = .authenticated,
        length: Int? = nil,
        attempt: String
    ) throws(DESFireError) -> [UInt8] {
        guard var session else { return try exchange(instruction, header + data, attempt) }
        // Whatever goes wrong from here on, the two sides no longer agree.
        self.session = nil
        let sent = try Self.mapping(attempt) { () throws(CryptoFailure) in
            try session.wrap(instruction, header, data, protection)
        }
        let received = try exchange(instruction, sent, attempt)
        let clear = try Self.mapping(attempt) { () throws(CryptoFailure) in
            try session.unwrap(received, status: 0x00, answer, length: length)
        }
        self.session = session
        return clear
    }

    /// Sends a native command in as many frames as it takes, and gathers the answer from as many as come.
    func exchange(_ instruction: UInt8, _ payload: [UInt8], _ attempt: String) throws(DESFireError) -> [UInt8] {
        var rest = payload[...]
        var (data, status) = try frame(instruction, takeFrame(&rest, instruction), attempt)
        while !rest.isEmpty {
            guard status == .additionalFrame, data.isEmpty else {
                throw status == .done || status == .additionalFrame
                    ? .invalidAnswer(attempt: attempt, detail: "the card ended the command before it had all of it")
                    : .refused(attempt: attempt, status: StatusWord(sw1: 0x91, sw2: status.rawValue))
            }
            (data, status) = try frame(0xAF, takeFrame(&rest, 0xAF), attempt)
        }
        var rounds = 0
        while status == .additionalFrame {
            guard rounds < ReaderLimits.moreDataRounds else {
                throw .limitExceeded(attempt: attempt, detail: "more than \(ReaderLimits.moreDataRounds) parts")
            }
            rounds += 1
            let next: [UInt8]
            (next, status) = try frame(0xAF, [], attempt)
            guard data.count + next.count <= ReaderLimits.responseLength - 2 else {
                throw .limitExceeded(
                    attempt: attempt,
                    detail: "more than \(ReaderLimits.responseLength - 2) bytes"
                )
            }
            data += next
        }
        guard status == .done else {
            throw .refused(attempt: attempt, status: StatusWord(sw1: 0x91, sw2: status.rawValue))
        }
        return data
    }

    /// One frame and the card's answer to it, whatever its status.
    func frame(
        _ instruction: UInt8,
        _ payload: [UInt8],
        _ attempt: String
    ) throws(DESFireError) -> (data: [UInt8], status: DESFireStatus) {
        guard payload.count <= 255,
            let command = try? CommandAPDU(
                cla: 0x90,
                ins: instruction,
                p1: 0,
                p2: 0,
                data: payload,
                expectedLength: 256
            )
        else {
            throw .invalidRequest(attempt: attempt, detail: "the command has \(payload.count) bytes, more than 255")
        }
        let answer: ResponseAPDU
        do {
            answer = try channel.exchange(command)
        } catch {
            throw .link(error)
        }
        guard let status = DESFireStatus(answer.statusWord) else {
            throw .refused(attempt: attempt, status: answer.statusWord)
        }
        return (answer.data, status)
    }

    /// The next frame's worth of bytes. Commands of the light set travel in one APDU.
    private func takeFrame(_ rest: inout ArraySlice<UInt8>, _ instruction: UInt8) -> [UInt8] {
        let part = rest.prefix(commandSet == .light ? rest.count : Self.frameLength)
        rest = rest.dropFirst(part.count)
        return Array(part)
    }

    /// An answer of another length than the command has.
    func wrongLength(_ answer: [UInt8], _ attempt: String) -> DESFireError {
        .invalidAnswer(attempt: attempt, detail: "it has \(answer.count) bytes")
    }

    /// Turns what went wrong in the secure messaging into an error of the conversation.
    static func mapping<Value>(
        _ attempt: String,
        _ body: () throws(CryptoFailure) -> Value
    ) throws(DESFireError) -> Value {
        do {
            return try body()
        } catch {
            switch error {
            case .forged: throw .forged(attempt: attempt)
            case .wrongLength:
                throw .invalidAnswer(attempt: attempt, detail: "its length does not fit what it should hold")
            case .wrongPadding: throw .invalidAnswer(attempt: attempt, detail: "its padding is not the right one")
            case .exhausted:
                throw .limitExceeded(attempt: attempt, detail: "a session has at most 65535 commands")
            }
        }
    }
}
