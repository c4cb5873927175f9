#if PCSC
import ReaderKit
import ReaderKitTesting

/// What can be done with a card, one column of the table in Documentation/cards.md each.
enum CardOperation: String, CaseIterable {
    case identify, read, write, format, lock
}

/// A card of the table in Documentation/cards.md: how to make one, and what has to be possible with it.
struct SupportedCard: Sendable {
    /// What stands in the table's first column.
    var name: String
    /// The product that identification has to name.
    var product: String
    /// A card that holds ``message``, or one of a kind that holds no message.
    var formatted: @Sendable () -> any SimulatedCard
    /// A card as it leaves its factory, for the kinds that can be formatted.
    var blank: (@Sendable () -> any SimulatedCard)?
    /// What has to be possible; anything else has to be refused as unsupported.
    var operations: Set<CardOperation>
    /// How it is locked, where that takes a key.
    var lock: (@Sendable (any CardChannel, PermanentLock) throws -> Void)?

    /// The message on each card: a URI record, `https://club.example/m/1`.
    static let message: [UInt8] = [0xD1, 0x01, 0x11, 0x55, 0x04] + Array("club.example/m/1".utf8)
    /// The message that takes its place.
    static let otherMessage: [UInt8] = [0xD1, 0x01, 0x12, 0x55, 0x04] + Array("club.example/m/22".utf8)

    /// What one conversation has shown.
    struct Finding: Sendable, Equatable {
        var product = ""
        var certainty = Card.Certainty.possible
        var done: Set<CardOperation> = []
    }

    /// Does with the card all that can be done, and looks at what came of it.
    func tryAll(over channel: any CardChannel) throws -> Finding {
        var finding = Finding()
        let card = try CardIdentifier.identify(over: channel)
        finding.product = card.product.name
        finding.certainty = card.certainty
        if card.product.name == product { finding.done.insert(.identify) }

        guard var tag = try TagReader.open(over: channel) else { return finding }
        let content = try tag.readNDEF()
        guard content.ndef == .message(Self.message) else { return finding }
        finding.done.insert(.read)
        guard try Self.isPossible({ try tag.writeNDEF(Self.otherMessage) }) else { return finding }
        guard try Self.read(over: channel) == .message(Self.otherMessage) else { return finding }
        finding.done.insert(.write)
        let bytes = try channel.facts["uid"] ?? channel.facts["idm"] ?? channel.exchange(.getUID).data
        let uid = CardUID(readerBytes: bytes, technology: card.technology)
        let confirmation = PermanentLock(ofCardWith: uid)
        let isLocked = try Self.isPossible {
            if let lock { try lock(channel, confirmation) } else { try tag.lock(confirmation) }
        }
        guard isLocked else { return finding }
        // Locked is what refuses to be written and can still be read.
        guard var locked = try TagReader.open(over: channel) else { return finding }
        do {
            try locked.writeNDEF(Self.message)
        } catch TagError.readOnly {
            if try Self.read(over: channel) == .message(Self.otherMessage) { finding.done.insert(.lock) }
        }
        return finding
    }

    /// Formats a blank card, and looks whether it is an empty tag then that takes a message.
    static func format(over channel: any CardChannel) throws -> Bool {
        guard var tag = try TagReader.open(over: channel), try tag.readNDEF().ndef == .absent,
            try isPossible({ try tag.formatNDEF() }), try read(over: channel) == .empty,
            var formatted = try TagReader.open(over: channel)
        else { return false }
        try formatted.writeNDEF(message)
        return try read(over: channel) == .message(message)
    }

    private static func read(over channel: any CardChannel) throws -> TagNDEF {
        try TagReader.readNDEF(over: channel).ndef
    }

    private static func isPossible(_ work: () throws -> Void) throws -> Bool {
        do {
            try work()
            return true
        } catch TagError.unsupported {
            return false
        } catch TagError.cannotFormat {
            return false
        }
    }
}
#endif
