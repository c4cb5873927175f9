import CardCore
import TestSupport

@testable import CardTags

/// A card of certain facts that answers some commands and frames, and refuses or ignores all others.
final class ScriptedCard: CardChannel {
    let facts: CardFacts
    let capabilities: ChannelCapabilities
    let elapsed = Duration.zero
    private let answers: [String: String]
    private let takesFrames: Bool
    /// What was asked, frames with `>` before them, and resets.
    private(set) var asked: [String] = []

    /// A card.
    ///
    /// - Parameters:
    ///   - facts: what the reader knows.
    ///   - answers: the answer to each command; to a frame if the key begins with `>`. A value that begins with `!` is an
    ///     error of that kind.
    ///   - takesFrames: whether the reader carries frames; a frame without an answer is met with silence.
    init(_ facts: CardFacts, _ answers: [String: String] = [:], takesFrames: Bool = true) {
        self.facts = facts
        self.answers = answers
        self.takesFrames = takesFrames
        capabilities = ChannelCapabilities(hasPseudoAPDUs: facts.atr != nil)
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        asked.append(command.hex)
        guard let answer = answers[command.hex] else { return command.first == 0x00 ? [0x6A, 0x82] : [0x6D, 0x00] }
        try fail(answer)
        return bytes(answer)
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        guard takesFrames else { throw ReaderError(.unsupported, attempting: "exchange a raw frame") }
        asked.append(">" + frame.bytes.hex)
        guard let answer = answers[">" + frame.bytes.hex] else {
            throw ReaderError(.timeout, attempting: "exchange a raw frame")
        }
        try fail(answer)
        let given = bytes(answer)
        return RawFrame(given, bitsInLastByte: given.count == 1 ? 4 : 8)
    }

    func reset() throws(ReaderError) {
        asked.append("reset")
    }

    private func fail(_ answer: String) throws(ReaderError) {
        guard answer.hasPrefix("!"), let kind = ReaderError.Kind(rawValue: String(answer.dropFirst())) else { return }
        throw ReaderError(kind, attempting: "ask the card")
    }
}

extension CardFacts {
    /// A storage card behind a PC/SC reader.
    static func storage(_ standard: UInt8, _ name: UInt16) -> CardFacts {
        pcsc([0x80, 0x4F, 0x0C, 0xA0, 0, 0, 0x03, 0x06, standard, UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0])
    }

    /// A contactless card with those historical bytes behind a PC/SC reader.
    static func pcsc(_ historicalBytes: [UInt8]) -> CardFacts {
        let body = [0x80 | UInt8(historicalBytes.count), 0x80, 0x01] + historicalBytes
        return CardFacts(atr: [0x3B] + body + [body.reduce(0, ^)])
    }

    /// A type A card as libnfc tells of it.
    static func typeA(_ atqa: String, _ sak: String, _ uid: String, ats: String? = nil) -> CardFacts {
        var values = [Value("atqa", bytes(atqa)), Value("sak", bytes(sak)), Value("uid", bytes(uid))]
        if let ats { values.append(Value("ats", bytes(ats))) }
        return CardFacts(technology: .iso14443a, values: values)
    }
}
