import ReaderKit
import ToolSupport

/// The conversation of `apdu`: sends commands and shows them with their answers.
struct APDUSession {
    let card: CardOnReader
    let style: Style
    private let output: Output
    private let pipeline: APDUPipeline

    struct Style: Sendable {
        var isRaw = false
        /// Whether `61xx` and `6Cxx` are acted on.
        var followsUp = true
        var hexdump = false
    }

    init(_ card: CardOnReader, _ output: Output, _ style: Style) {
        self.card = card
        self.output = output
        self.style = style
        pipeline = APDUPipeline(card.channel)
    }

    /// Sends a command and shows the answer.
    func send(_ command: CardCommand) throws {
        let start = card.channel.elapsed
        switch command {
        case .apdu(let shorthand):
            try output.text("> " + Hex.encode(shorthand.bytes, separator: " "))
            let answer = try exchange(shorthand)
            let status = answer.statusWord
            let word = [status.sw1, status.sw2].hex
            try output.result(
                fields: [
                    "command": shorthand.bytes.hex, "data": answer.data.hex, "statusWord": word,
                    "statusName": status.name, "durationMs": milliseconds(since: start),
                ],
                text: "< " + text(answer.data, "\(word) (\(status.name))")
            )
            if let expected = shorthand.expectedStatus, status != expected {
                throw ToolFailure(
                    "The status word is \(status), and \(expected) was expected, for the command \(shorthand.bytes.hex)."
                )
            }
        case .frame(let frame):
            try output.text(">> " + Self.text(frame))
            let answer = try card.channel.transceive(frame)
            try output.result(
                fields: ["command": frame.text, "data": answer.text, "durationMs": milliseconds(since: start)],
                text: "<< " + (style.hexdump ? text(answer.bytes, "") : Self.text(answer))
            )
        }
    }

    private func exchange(_ shorthand: APDUShorthand) throws -> ResponseAPDU {
        guard style.followsUp else { return try ResponseAPDU(bytes: card.channel.transmit(shorthand.bytes)) }
        // What was typed in the extended form is sent so, and only its repetitions are shortened.
        guard shorthand.form != shorthand.command.form else { return try pipeline.send(shorthand.command) }
        return try APDUPipeline(FirstAsTyped(card.channel, shorthand.bytes)).send(shorthand.command)
    }

    /// Sends other bytes in place of those of the first command.
    private final class FirstAsTyped: CardChannel {
        private let channel: any CardChannel
        private var typed: [UInt8]?

        init(_ channel: any CardChannel, _ typed: [UInt8]) {
            self.channel = channel
            self.typed = typed
        }

        var facts: CardFacts { channel.facts }
        var capabilities: ChannelCapabilities { channel.capabilities }
        var elapsed: Duration { channel.elapsed }

        func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
            defer { typed = nil }
            return try channel.transmit(typed ?? command)
        }
    }

    func reset() throws {
        try card.channel.reset()
        output.message("The card was reset.")
    }

    private func milliseconds(since start: Duration) -> Double {
        let parts = (card.channel.elapsed - start).components
        let microseconds = Double(parts.seconds) * 1e6 + Double(parts.attoseconds) / 1e12
        return microseconds.rounded() / 1000
    }

    // MARK: For people

    private func text(_ data: [UInt8], _ end: String) -> String {
        guard style.hexdump else { return data.isEmpty ? end : Hex.encode(data, separator: " ") + " " + end }
        let count = data.isEmpty ? "" : ", \(data.count) byte\(data.count == 1 ? "" : "s")"
        return ([end + count] + HexDump.lines(data)).joined(separator: "\n")
    }

    private static func text(_ frame: RawFrame) -> String {
        Hex.encode(frame.bytes, separator: " ") + (frame.bitsInLastByte == 8 ? "" : "/\(frame.bitsInLastByte)")
    }
}

extension RawFrame {
    /// As captures write it: `0A/4`.
    fileprivate var text: String { bytes.hex + (bitsInLastByte == 8 ? "" : "/\(bitsInLastByte)") }
}
