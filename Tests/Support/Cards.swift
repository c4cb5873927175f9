public import CardCore

/// A channel whose answers are whatever a closure says: for cards that no simulated card would be.
package final class AnsweringChannel: CardChannel {
    package let facts: CardFacts
    package let elapsed = Duration.zero
    package private(set) var commands: [[UInt8]] = []
    package private(set) var frames: [RawFrame] = []
    private let answer: ([UInt8]) throws(ReaderError) -> [UInt8]
    private let frameAnswer: (RawFrame) throws(ReaderError) -> RawFrame

    package init(
        facts: CardFacts = CardFacts(),
        frame: @escaping (RawFrame) throws(ReaderError) -> RawFrame = { _ throws(ReaderError) in
            throw ReaderError(.unsupported, attempting: "exchange a raw frame")
        },
        _ answer: @escaping ([UInt8]) throws(ReaderError) -> [UInt8]
    ) {
        self.facts = facts
        self.answer = answer
        frameAnswer = frame
    }

    /// Answers the commands in order and 6F00 afterwards; a command that is not the next one gets 6F00 too.
    package convenience init(script: [(command: String, answer: String)]) {
        var rest = script[...]
        self.init { command throws(ReaderError) in
            guard let next = rest.first, bytes(next.command) == command else { return [0x6F, 0x00] }
            rest.removeFirst()
            return bytes(next.answer)
        }
    }

    package func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        commands.append(command)
        return try answer(command)
    }

    package func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        frames.append(frame)
        return try frameAnswer(frame)
    }
}

/// The bytes of a hexadecimal text; text that is none gives nothing, which no test takes for success.
package func bytes(_ text: String) -> [UInt8] { (try? Hex.decode(text)) ?? [] }

/// The bytes of a text in ASCII.
package func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Bytes that differ from one to the next, and from a message of another seed.
package func sample(_ count: Int, seed: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8 &+ seed &* 31 &+ 1) }
}

extension ReaderError {
    /// What acsccid answers for an APDU that it does not send, and other drivers for a card that was lost.
    package static let notTransacted = ReaderError(
        .communication,
        attempting: "exchange an APDU with the card",
        code: Code(rawValue: 0x8010_0016, name: "SCARD_E_NOT_TRANSACTED")
    )
}

/// A card of these lines, each ended by CR LF.
package func vCard(_ lines: [String], version: String = "3.0") -> [UInt8] {
    ascii((["BEGIN:VCARD", "VERSION:\(version)"] + lines + ["END:VCARD", ""]).joined(separator: "\r\n"))
}
