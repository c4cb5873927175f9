import CardCore
import CardPasses

/// The canonical text of captures.
package enum CaptureText {
    static func text(_ capture: Capture) -> String {
        var text = "capture \(CaptureLimits.version)\n"
        for header in capture.headers { text += line(header) }
        var lines = capture.lines[...]
        var removals: [(reader: Int?, at: Duration)] = []
        /// Writes what happened before or at that time.
        func flush(until time: Duration?) {
            while let line = lines.first, time.map({ line.at <= $0 }) ?? true {
                text += Self.line(line)
                lines = lines.dropFirst()
            }
            removals.removeAll { removal in
                guard time.map({ removal.at <= $0 }) ?? true else { return false }
                text += Self.removed(removal.reader, at: removal.at)
                return true
            }
        }
        for presentation in capture.presentations {
            flush(until: presentation.at)
            text += "\n" + card(presentation)
            if let fault = presentation.connectFault { text += "! \(fault.rawValue)\n" }
            for exchange in presentation.exchanges { text += self.exchange(exchange) }
            if let removedAt = presentation.removedAt { removals.append((presentation.reader, removedAt)) }
        }
        flush(until: nil)
        return text
    }

    // MARK: Statements, each with its line end

    static func line(_ header: Capture.Header) -> String {
        header.value.isEmpty ? "\(header.key):\n" : "\(header.key): \(escape(header.value))\n"
    }

    package static func line(_ line: Capture.Line) -> String {
        "line\(number(line.reader)) at \(CaptureTime.text(line.at)) \(oneLine(line.text))\n"
    }

    package static func card(_ presentation: Capture.Presentation) -> String {
        var text = "card\(number(presentation.reader)) at \(CaptureTime.text(presentation.at))"
        let facts = presentation.facts
        if let atr = facts.atr, !atr.isEmpty { text += " atr \(atr.hex)" }
        if let technology = facts.technology { text += " \(technology.rawValue)" }
        for value in facts.values
        where CaptureFacts.allows(value.name, of: facts.technology) && !value.bytes.isEmpty {
            text += " \(value.name) \(value.bytes.hex)"
        }
        return text + "\n"
    }

    package static func exchange(_ exchange: Capture.Exchange) -> String {
        var text = request(exchange.request) + "\n"
        switch exchange.answer {
        case .bytes(let bytes): text += bytes.isEmpty ? "<" : "< \(spaced(bytes))"
        case .raw(let frame): text += "<< \(raw(frame))"
        case .fault(let fault): text += "! \(fault.rawValue)"
        }
        if let at = exchange.at { text += " @ \(CaptureTime.text(at))" }
        return text + "\n"
    }

    package static func removed(_ reader: Int?, at time: Duration) -> String {
        "removed\(number(reader)) at \(CaptureTime.text(time))\n"
    }

    /// States that what follows belongs to the card on another reader.
    package static func change(to reader: Int) -> String { "reader \(reader)\n" }

    /// What was sent, without a line end.
    package static func request(_ request: Capture.Exchange.Request) -> String {
        switch request {
        case .apdu(let command): return "> \(spaced(command))"
        case .raw(let frame): return ">> \(raw(frame))"
        case .control(let code, let data):
            let digits = String(code, radix: 16, uppercase: true)
            let name = "control 0x\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits) >"
            return data.isEmpty ? name : "\(name) \(spaced(data))"
        }
    }

    // MARK: Parts

    private static func number(_ reader: Int?) -> String { reader.map { " \($0)" } ?? "" }

    private static func spaced(_ bytes: [UInt8]) -> String { Hex.encode(bytes, separator: " ") }

    private static func raw(_ frame: RawFrame) -> String {
        spaced(frame.bytes) + (frame.bitsInLastByte == 8 ? "" : "/\(frame.bitsInLastByte)")
    }

    /// A text without line ends, which the format has no way to write; they become spaces.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\n" || $0 == "\r" ? " " : $0 }))
    }

    /// A header's value: `\` and a `#` that would begin a comment are written as `\\` and `\#`.
    private static func escape(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        for scalar in value.unicodeScalars {
            let isControl = scalar.value < 0x20 || scalar.value == 0x7F
            if scalar == "\\" || scalar == "#" && previous == " " { text.append("\\") }
            text.append(isControl ? " " : scalar)
            previous = isControl ? " " : scalar
        }
        return String(text)
    }
}

extension Capture {
    /// The capture as text, in the one form that this package writes: `Capture(parsing: text())` is equal to it.
    ///
    /// Comments and blank lines of the file from which it was read are not kept, nor are bytes that the format has no
    /// way to write: control characters in a header and line ends in a Smart Reader line become spaces, facts with
    /// names that the format does not know are left out.
    public func text() -> String { CaptureText.text(self) }
}
