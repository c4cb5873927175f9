import ReaderKit

/// A card that leaves after so many commands.
final class TornChannel: CardChannel {
    private let base: any CardChannel
    private var commandsLeft: Int
    /// Whether the command at which the card leaves is still carried out.
    private let executesLast: Bool

    init(_ base: any CardChannel, after commands: Int, executesLast: Bool) {
        self.base = base
        commandsLeft = commands
        self.executesLast = executesLast
    }

    var facts: CardFacts { base.facts }
    var capabilities: ChannelCapabilities { base.capabilities }
    var elapsed: Duration { base.elapsed }

    private func tear(_ last: () throws(ReaderError) -> Void) throws(ReaderError) {
        if commandsLeft > 0 {
            commandsLeft -= 1
            return
        }
        if commandsLeft == 0, executesLast { try last() }
        commandsLeft = -1
        throw ReaderError(.cardRemoved, attempting: "send a command")
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        try tear { () throws(ReaderError) in _ = try base.transmit(command) }
        return try base.transmit(command)
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        try tear { () throws(ReaderError) in _ = try base.transceive(frame) }
        return try base.transceive(frame)
    }

    func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        try tear { () throws(ReaderError) in }
        return try base.control(code, data)
    }

    func reset() throws(ReaderError) {
        try tear { () throws(ReaderError) in }
        try base.reset()
    }
}

/// Writes to a tag, whole and torn, and holds it to what writing promises.
struct WritingRules {
    /// A new conversation with the same tag.
    var channel: () -> any CardChannel
    /// What the tag holds, byte for byte, to be compared.
    var memory: () -> [[UInt8]]
    /// Puts the tag back.
    var restore: () -> Void

    func content() -> TagContent? { try? TagReader.readNDEF(over: channel()) }

    /// - Parameters:
    ///   - commands: after how many commands the tag is torn away.
    ///   - message: what is written.
    func check(_ message: [UInt8], tornAfter commands: Int, executesLast: Bool) throws(FuzzFinding) {
        let before = memory()
        let old = content()
        try require(memory() == before, "reading changes nothing")

        // Whole.
        do {
            guard var tag = try TagReader.open(over: channel()) else { return }
            try tag.writeNDEF(message)
            try require(
                content()?.ndef.bytes == message,
                "what was written is read: \(message.hex), not \(content()?.ndef.bytes?.hex ?? "nothing")"
            )
        } catch let finding as FuzzFinding {
            throw finding
        } catch {
            switch error as? TagError {
            case .tooLarge, .readOnly, .notFormatted, .unsupported, .guarded:
                try require(memory() == before, "what is refused changes nothing: \(error)")
            default: break
            }
            // A tag that cannot be written whole promises nothing when it is torn.
            restore()
            return
        }
        restore()

        // Torn. A message that begins with a zero is none, and looks like an empty tag's rest when its length is gone.
        guard let old, old.ndef.bytes?.first != 0 else { return }
        let torn = TornChannel(channel(), after: commands, executesLast: executesLast)
        guard var tag = try? TagReader.open(over: torn) else { return }
        do {
            try tag.writeNDEF(message)
            restore()
            return
        } catch {}
        let found = content()
        let isOld = found?.ndef == old.ndef
        let isNew = found?.ndef.bytes == message
        let isInterrupted = found?.ndef == .empty && found?.isInterrupted == true
        try require(
            isOld || isNew || isInterrupted,
            "a torn tag holds the old message, the new one or none: \(found.map { "\($0.ndef)" } ?? "unreadable")"
        )
        if isInterrupted, !isOld, !isNew {
            let repair = try unfailing("a torn tag can be repaired") { () -> TagRepair? in
                guard var tag = try TagReader.open(over: channel()) else { return nil }
                return try tag.repairNDEF()
            }
            try require(repair == .repaired, "a torn tag is repaired")
            try require(content()?.ndef == .empty && content()?.isInterrupted == false, "a repaired tag is clean")
        }
        restore()
    }
}
