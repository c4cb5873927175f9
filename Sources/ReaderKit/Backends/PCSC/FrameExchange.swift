/// The raw frames of one conversation: finds the form in which the reader takes them, once, and keeps to it.
struct FrameExchange {
    typealias Transmit = ([UInt8]) throws(ReaderError) -> [UInt8]

    /// The forms that the reader may take: those that are probed, then one or none.
    private var candidates: [FrameEncapsulation]
    private let technology: Technology?
    private var isInSession = false

    init(reader name: String, facts: CardFacts) {
        let atr = facts.atr.flatMap { try? ATR($0) }
        candidates = FrameEncapsulation.candidates(reader: name, card: atr?.storageCard)
        technology = facts.technology ?? atr?.technology
    }

    var encapsulation: FrameEncapsulation? { candidates.count == 1 ? candidates[0] : nil }

    /// Sends a frame and returns the card's; ``ReaderError/Kind/unsupported`` if the reader takes no frames.
    mutating func transceive(_ frame: RawFrame, _ transmit: Transmit) throws(ReaderError) -> RawFrame {
        var unclear: ReaderError?
        for candidate in candidates {
            switch try exchange(frame, candidate, transmit) {
            case .frame(let answer):
                candidates = [candidate]
                return answer
            case .fault(let error):
                candidates = [candidate]
                throw error
            case .unclear(let error):
                if candidate == encapsulation { throw error }
                unclear = error
            case .unknownCommand: break
            }
        }
        // A reader of known make did not carry the frame this time.
        if let unclear, candidates.first == .acr122 { throw unclear }
        if encapsulation == nil { candidates = [] }
        throw ReaderError(.unsupported, attempting: "exchange a raw frame")
    }

    mutating func endSession(_ transmit: Transmit) throws(ReaderError) {
        if let command = takeSessionEnd() { _ = try transmit(command) }
    }

    /// The command that ends the transparent session, once, or `nil` if absent.
    mutating func takeSessionEnd() -> [UInt8]? {
        guard isInSession else { return nil }
        isInSession = false
        return FrameEncapsulation.endSession
    }

    private mutating func exchange(
        _ frame: RawFrame,
        _ form: FrameEncapsulation,
        _ transmit: Transmit
    ) throws(ReaderError) -> FrameEncapsulation.Outcome {
        let command = try form.command(frame, technology: technology)
        if form == .transparentSession, !isInSession {
            guard Self.isAccepted(try transmit(FrameEncapsulation.startSession)) else { return .unknownCommand }
            isInSession = true
        }
        return form.outcome(of: try transmit(command), technology: technology)
    }

    /// Whether the answer to MANAGE SESSION is 9000 without an error in its object C0.
    private static func isAccepted(_ answer: [UInt8]) -> Bool {
        guard let response = try? ResponseAPDU(bytes: answer), response.isSuccess else { return false }
        guard let status = BERTLV.decodePrefix(response.data).objects.find(0xC0)?.value else { return true }
        return status.count == 3 && status[1] == 0x90 && status[2] == 0x00
    }
}
