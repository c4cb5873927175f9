import Foundation

/// One selected card. Lives and dies on the thread of its ``NFCReader``.
///
/// APDUs go through the chip's own ISO-DEP. Frames go as they are to Type 2 tags, whose answers may be four bits, and
/// through the chip's protocols to MIFARE Classic (which does the cipher), FeliCa and Jewel. After a silence the card is
/// selected again, which reports whether it is still there, and leaves it as it came.
final class NFCChannel: CardChannel {
    private let reader: NFCReader
    private let device: NFCDevice
    private let presence: CardPresence
    private let cancellation: Cancellation
    private let start = ContinuousClock.now
    private var target: NFCTarget
    /// The last authentication to a sector of a MIFARE Classic that went well.
    private var authentication: [UInt8] = []
    /// Whether the card may have been sent a password.
    private var isOpened = false
    private var isOver = false
    private var isClosed = false

    private static let longestResponse = 263
    /// How long a raw frame may take; the chip itself gives up after 52 ms.
    private static let frameTimeout: Int32 = 1000
    private static let acknowledgement = RawFrame([0x0A], bitsInLastByte: 4)
    private static let refusal = RawFrame([0x04], bitsInLastByte: 4)

    init(
        _ reader: NFCReader,
        _ device: NFCDevice,
        presence: CardPresence,
        target: NFCTarget,
        _ cancellation: Cancellation
    ) {
        self.reader = reader
        self.device = device
        self.presence = presence
        self.target = target
        self.cancellation = cancellation
    }

    var facts: CardFacts { presence.facts }

    /// Short APDUs: libnfc takes 262 bytes at most to a card, and 263 from it. It answers no commands of class `FF`.
    var capabilities: ChannelCapabilities {
        ChannelCapabilities(
            longestCommand: 261,
            longestResponse: Self.longestResponse,
            extendedLength: false,
            hasPseudoAPDUs: false,
            technologies: device.technologies
        )
    }

    var elapsed: Duration { ContinuousClock.now - start }

    // MARK: - APDUs

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "exchange an APDU with the card"
        try checkUsable(attempt)
        guard target.isISODEP else {
            throw ReaderError(.unsupported, attempting: attempt, detail: "the card takes no APDUs")
        }
        guard command.count <= NFCLibrary.longestFrame else {
            let detail = "libnfc carries \(NFCLibrary.longestFrame) bytes at most, not \(command.count)"
            throw ReaderError(.unsupported, attempting: attempt, detail: detail)
        }
        try usingDevice(attempt) { () throws(ReaderError) in try device.set(.easy) }
        let (code, answer) = try usingDevice(attempt) { () throws(ReaderError) in
            try device.transceive(command, milliseconds: milliseconds(reader.configuration.answerTimeout))
        }
        guard code.isSuccess else { throw apduFailure(code, attempt) }
        guard answer.count >= 2 else {
            throw ReaderError(.invalidAnswer, attempting: attempt, detail: "\(answer.count) bytes are no response APDU")
        }
        return answer
    }

    /// The error for an APDU that failed. What the card holds of the conversation is kept if it can be.
    private func apduFailure(_ code: NFCCode, _ attempt: String) -> ReaderError {
        guard !code.meansDeviceLost else { return lost(code.error(attempting: attempt), attempt) }
        guard !code.isRefusal, code != .aborted, code != .overflow else { return failure(code, attempt) }
        do throws(ReaderError) {
            if try device.ping().isSuccess {
                guard code == .chip else { return code.error(attempting: attempt) }
                let detail = "the chip reports a fault, or the answer is longer than \(Self.longestResponse) bytes"
                return code.error(attempting: attempt, detail: detail)
            }
            guard try selectAgain() else { return removed(attempt, code) }
            return ReaderError(.cardReset, attempting: attempt, code: code.code)
        } catch {
            return lost(error, attempt)
        }
    }

    // MARK: - Frames

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        let attempt = "exchange a raw frame"
        try checkUsable(attempt)
        // The checksum comes behind it.
        guard !frame.bytes.isEmpty, frame.bytes.count <= NFCLibrary.longestFrame - 2 else {
            let detail = "libnfc carries frames of 1 to \(NFCLibrary.longestFrame - 2) bytes, not \(frame.bytes.count)"
            throw ReaderError(.unsupported, attempting: attempt, detail: detail)
        }
        if frame.bitsInLastByte < 8 { return try exchangeBits(frame, attempt) }
        switch target.modulation {
        case .iso14443a where target.isClassic: return try exchangeClassic(frame.bytes, attempt)
        case .iso14443a: return try exchangePlain(frame.bytes, attempt)
        case .iso14443b: return RawFrame(try exchange(frame.bytes, .checksum, attempt))
        case .felica212, .felica424: return RawFrame(try exchange(frame.bytes, .easy, attempt))
        case .jewel: return RawFrame(Self.complete(try exchange(frame.bytes, .easy, attempt), to: frame.bytes))
        }
    }

    /// Exchanges a frame, and makes of its failure an error that reports whether the card is there.
    ///
    /// Silence may be the card's answer, and a weak field must not look like it. So what only reads is tried once more.
    private func exchange(
        _ bytes: [UInt8],
        _ framing: NFCDevice.Framing,
        _ attempt: String
    ) throws(ReaderError) -> [UInt8] {
        let (code, answer) = try send(bytes, framing, attempt)
        if code.isSuccess { return answer }
        let error = try frameFailure(code, attempt)
        guard error.kind == .timeout, onlyReads(bytes), !isOpened else { throw error }
        let (nextCode, nextAnswer) = try send(bytes, framing, attempt)
        if nextCode.isSuccess { return nextAnswer }
        throw try frameFailure(nextCode, attempt)
    }

    /// Whether a frame changes nothing on the card, not even a counter of attempts.
    private func onlyReads(_ bytes: [UInt8]) -> Bool {
        switch target.modulation {
        // READ, FAST_READ, GET_VERSION, READ_CNT and READ_SIG.
        case .iso14443a: !target.isISODEP && [0x30, 0x3A, 0x60, 0x39, 0x3C].contains(bytes[0])
        // Polling and Read Without Encryption.
        case .felica212, .felica424: bytes.count > 1 && [0x00, 0x06].contains(bytes[1])
        // RID, RALL, READ, READ8 and RSEG.
        case .jewel: [0x78, 0x00, 0x01, 0x02, 0x10].contains(bytes[0])
        case .iso14443b: false
        }
    }

    private func send(
        _ bytes: [UInt8],
        _ framing: NFCDevice.Framing,
        _ attempt: String
    ) throws(ReaderError) -> (code: NFCCode, answer: [UInt8]) {
        try usingDevice(attempt) { () throws(ReaderError) in
            try device.set(framing)
            return try device.transceive(bytes, milliseconds: Self.frameTimeout)
        }
    }

    /// Frames of Type 2 tags and their kin, with the checksum made and checked here: an answer of one byte is four bits.
    private func exchangePlain(_ bytes: [UInt8], _ attempt: String) throws(ReaderError) -> RawFrame {
        // PWD_AUTH and AUTHENTICATE: what they open is closed again when the card is selected anew.
        if [0x1B, 0x1A, 0xAF].contains(bytes[0]) { isOpened = true }
        let answer = try exchange(bytes + RadioChecksum.typeA.bytes(of: bytes), .none, attempt)
        if answer.count == 1 { return RawFrame([answer[0] & 0x0F], bitsInLastByte: 4) }
        guard let plain = RadioChecksum.typeA.strip(answer) else {
            throw ReaderError(.communication, attempting: attempt, detail: "the card's answer arrived damaged")
        }
        return RawFrame(plain)
    }

    /// The answer of a Type 1 tag with the address that it begins with, which the chip keeps to itself.
    private static func complete(_ answer: [UInt8], to command: [UInt8]) -> [UInt8] {
        let lengths: [UInt8: Int] = [0x01: 2, 0x1A: 2, 0x53: 2, 0x02: 9, 0x1B: 9, 0x54: 9, 0x10: 129]
        guard command.count > 1, let length = lengths[command[0]], answer.count == length - 1 else { return answer }
        return [command[1]] + answer
    }

    private func exchangeBits(_ frame: RawFrame, _ attempt: String) throws(ReaderError) -> RawFrame {
        let count = (frame.bytes.count - 1) * 8 + frame.bitsInLastByte
        let (code, answer, bits) = try usingDevice(attempt) { () throws(ReaderError) in
            try device.set(.none)
            return try device.transceiveBits(frame.bytes, bits: count)
        }
        guard code.isSuccess else { throw try frameFailure(code, attempt) }
        return RawFrame(answer, bitsInLastByte: bits % 8 == 0 ? 8 : bits % 8)
    }

    /// Frames of a MIFARE Classic. The chip keeps the card's "yes" to itself, and reports a "no" and a damaged answer
    /// alike; what fails is therefore tried once more, in the state in which it was.
    private func exchangeClassic(_ bytes: [UInt8], _ attempt: String) throws(ReaderError) -> RawFrame {
        let isAuthentication = bytes.count > 1 && (bytes[0] == 0x60 || bytes[0] == 0x61)
        for isLast in [false, true] {
            let (code, answer) = try send(bytes, .easy, attempt)
            if code.isSuccess {
                if isAuthentication { authentication = bytes }
                return answer.isEmpty ? Self.acknowledgement : RawFrame(answer)
            }
            let error = try frameFailure(code, attempt)
            let known = authentication
            authentication = []
            guard error.kind == .timeout, code != .authenticationFailed else { throw error }
            guard !isAuthentication else {
                // A wrong key has a code of its own, so this is the link.
                guard isLast else { continue }
                throw ReaderError(.communication, attempting: attempt, code: code.code)
            }
            guard !known.isEmpty else { throw error }
            // Opened again with the key, and refused again: that is the card's answer.
            guard !isLast else { break }
            let (keyCode, _) = try send(known, .easy, attempt)
            guard keyCode.isSuccess else {
                _ = try frameFailure(keyCode, attempt)
                throw ReaderError(.communication, attempting: attempt, code: code.code)
            }
            authentication = known
        }
        return Self.refusal
    }

    /// The error for a frame that failed, once it is known whether the card is still there. If it is, it was selected
    /// again, and silence is what it came to.
    private func frameFailure(_ code: NFCCode, _ attempt: String) throws(ReaderError) -> ReaderError {
        switch code {
        case _ where code.meansDeviceLost: return lost(code.error(attempting: attempt), attempt)
        case .timeout, .radio, .targetReleased, .authenticationFailed, .chip: break
        default: return failure(code, attempt)
        }
        do throws(ReaderError) {
            guard try selectAgain() else { return removed(attempt, code) }
        } catch {
            return lost(error, attempt)
        }
        var error = code.error(attempting: attempt)
        if code == .radio || code == .targetReleased { error.kind = .timeout }
        // No frame of another card is answered so.
        if code == .authenticationFailed, !target.isClassic { error.kind = .communication }
        return error
    }

    // MARK: - Life

    /// Selects the card anew: it is deselected, or called while it is selected, which makes it forget what was
    /// authenticated; and the field is taken away for a moment if it does not come by that.
    func reset() throws(ReaderError) {
        let attempt = "reset the card"
        try checkUsable(attempt)
        authentication = []
        isOpened = false
        let isThere = try usingDevice(attempt) { () throws(ReaderError) in try selectAgain() }
        guard isThere else { throw removed(attempt, nil) }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        authentication = []
        let isOver = isOver
        reader.assumeIsolated { $0.conversationEnded(isOver: isOver) }
    }

    private func selectAgain() throws(ReaderError) -> Bool {
        let isThere = try device.reselect(target, dropsField: true)
        if isThere { target = device.target ?? target }
        return isThere
    }

    private func checkUsable(_ attempt: String) throws(ReaderError) {
        if isClosed { throw ReaderError(.cancelled, attempting: attempt, detail: "the conversation is over") }
        if cancellation.isCancelled { throw ReaderError(.cancelled, attempting: attempt) }
        if isOver { throw ReaderError(.cardRemoved, attempting: attempt) }
    }

    private func usingDevice<Value>(
        _ attempt: String,
        _ body: () throws(ReaderError) -> Value
    ) throws(ReaderError) -> Value {
        do throws(ReaderError) {
            return try body()
        } catch {
            throw lost(error, attempt)
        }
    }

    private func removed(_ attempt: String, _ code: NFCCode?) -> ReaderError {
        isOver = true
        return ReaderError(.cardRemoved, attempting: attempt, code: code?.code)
    }

    private func failure(_ code: NFCCode, _ attempt: String) -> ReaderError {
        var error = code.error(attempting: attempt)
        // Aborted by nobody: what was to be ended was another call.
        if code == .aborted, !cancellation.isCancelled { error.kind = .communication }
        return error
    }

    /// The error after the device failed. It is opened anew, so that the conversation can be begun again if the card is
    /// still there.
    private func lost(_ error: ReaderError, _ attempt: String) -> ReaderError {
        guard NFCReader.meansDeviceLost(error) else { return error }
        let (reader, target) = (reader, target)
        guard reader.assumeIsolated({ $0.reopen(target) }) else {
            isOver = true
            return ReaderError(.readerUnavailable, attempting: attempt, code: error.code, advice: error.advice)
        }
        self.target = device.target ?? target
        authentication = []
        return ReaderError(.communication, attempting: attempt, code: error.code)
    }

    private func milliseconds(_ duration: Duration) -> Int32 {
        Int32(min(max(1, (duration.seconds * 1000).rounded(.up)), 600_000))
    }
}
