import CardCore
import CardPasses
import CardTags
import Foundation

/// A capture in which stand-ins take the place of what identifies people and of what opens cards.
///
/// | replaced | how |
/// |---|---|
/// | identifiers of cards, wherever they stand, forwards or backwards, with their check bytes | the manufacturer's bytes stay, the check bytes are made anew |
/// | texts, addresses and JSON in NDEF messages | letters for letters, digits for digits; scheme, host, names of parameters and JSON keys stay |
/// | other payloads | other bytes |
/// | keys, passwords, proofs of keys | other bytes; keys of the factory stay |
/// | what passes on phones answer | other bytes in the same structure |
/// | titles and other headers | the words that were replaced elsewhere |
/// | lines of a reader in Smart Reader mode | letters for letters, digits for digits; the checksum is made anew |
///
/// Everything keeps its length, and the same original has the same stand-in everywhere, so that the capture replays and
/// gives the same kind of scan events. Comments are left out. ATRs and the names of readers stay.
///
/// The stand-ins depend on the originals and a seed. Who knows the seed can check a guess, so a seed that is published
/// does not hide a member number of a few digits; without a seed it is made from the whole original capture.
public struct CaptureRedaction: Sendable {
    /// The capture with stand-ins.
    public private(set) var capture: Capture

    /// How many different identifiers, keys and payloads were replaced.
    public private(set) var replacedValues = 0

    /// How many different words of texts were replaced.
    public private(set) var replacedWords = 0

    /// Lines of commands that hold data that this package does not understand, or whose answers do, and of those that
    /// show data outside of messages. They are as they were: look at them before the capture is given away.
    public private(set) var unexaminedLines: [Int] = []

    /// How many such commands there are, also in a capture that was not read from a file and has no lines.
    public private(set) var unexaminedCount = 0

    /// What was found, in the order of the capture.
    public private(set) var secrets: [CaptureSecret] = []

    /// Redacts a capture.
    ///
    /// - Parameter seed: what the stand-ins depend on, or `nil` to make it from the capture.
    public init(of original: Capture, seed: UInt64? = nil) {
        let seed = seed ?? RedactionRandom.hash(original.text().utf8)
        let vocabulary = RedactionVocabulary(seed: seed)
        capture = original
        let conversations = original.presentations.map { RedactionConversation($0) }
        let identifiers = RedactionIdentifiers(conversations.flatMap(\.identifiers), vocabulary)
        var text = RedactionText(vocabulary: vocabulary)
        text.identifiers = { identifiers.texts }
        var plain: [Set<Int>] = []
        for _ in 0..<2 {
            // First what is asked for is collected, then it is replaced.
            capture = original
            plain = []
            for (index, conversation) in conversations.enumerated() {
                let presentation = original.presentations[index]
                let (redacted, unexamined) = Self.redact(presentation, conversation, identifiers, text)
                capture.presentations[index] = redacted
                plain.append(unexamined)
            }
            let lines = RedactionLine(text: text, identifiers: identifiers)
            for index in capture.lines.indices { capture.lines[index].text = lines.redact(original.lines[index].text) }
            guard vocabulary.isCollecting else { break }
            vocabulary.make()
            identifiers.make()
        }
        redactHeaders(identifiers, vocabulary)
        replacedValues = vocabulary.stringCount
        replacedWords = vocabulary.wordCount
        note(original, conversations, plain)
    }

    // MARK: Presentations

    private static func redact(
        _ original: Capture.Presentation,
        _ conversation: RedactionConversation,
        _ identifiers: RedactionIdentifiers,
        _ text: RedactionText
    ) -> (Capture.Presentation, unexamined: Set<Int>) {
        var result = original
        for index in result.facts.values.indices {
            let value = result.facts.values[index]
            let isTold = ["uid", "idm", "pupi"].contains(value.name)
            result.facts.values[index].bytes = identifiers.replace(in: value.bytes, isTold: isTold)
        }
        // The commands, under true, and the answers. What is written over identifiers afterwards was looked at as a whole.
        let old = [true: original.exchanges.map(\.request.bytes), false: original.exchanges.map(\.answer.bytes)]
        var new = old.mapValues { side in
            side.enumerated().map { identifiers.replace(in: $1, isTold: conversation.telling.contains($0)) }
        }
        let memory = conversation.memory
        var replacements: [RedactionMemory.Space: [[Int: UInt8]]] = [:]
        for space in memory.spaces {
            replacements[space] = memory.replacements(space, with: RedactionMessage(text: text))
        }
        for touch in memory.touches {
            for index in 0..<touch.count {
                guard let byte = memory.byte(touch, index, replacements[touch.space] ?? []) else { continue }
                new[touch.isCommand, default: []][touch.exchange][touch.offset + index] = byte
            }
        }
        // Behind the memory, to which a password's page belongs too.
        for span in conversation.spans {
            guard let bytes = old[span.isCommand]?[span.exchange], span.range.upperBound <= bytes.count else {
                continue
            }
            let part = Array(bytes[span.range])
            let message = RedactionMessage(text: text, keepsIDs: true)
            let isMessage = span.isMessage && (part.first ?? 0) & 0x80 != 0
            let other = isMessage ? message.redact(part) : text.vocabulary.string(part, always: span.isOwn)
            new[span.isCommand, default: []][span.exchange].replaceSubrange(span.range, with: other)
        }
        identifiers.replaceCheckBytes(conversation, &new[false, default: []])
        for index in result.exchanges.indices {
            result.exchanges[index].request.bytes = new[true]?[index] ?? []
            result.exchanges[index].answer.bytes = new[false]?[index] ?? []
        }
        guard !text.vocabulary.isCollecting else { return (result, []) }
        let unexamined = memory.unexamined(replacements) { exchange, isCommand, offset in
            old[isCommand]?[exchange][offset] != new[isCommand]?[exchange][offset]
        }
        return (result, unexamined)
    }

    // MARK: Headers

    private mutating func redactHeaders(_ identifiers: RedactionIdentifiers, _ vocabulary: RedactionVocabulary) {
        for index in capture.headers.indices {
            let key = capture.headers[index].key.lowercased()
            let isReader = key == "reader" || key.hasPrefix("reader ")
            let isSynthetic = key == "source" && capture.headers[index].value.lowercased() == "synthetic"
            guard !isReader, !isSynthetic, key != "started", key != "license" else { continue }
            capture.headers[index].value = identifiers.replace(in: capture.headers[index].value, vocabulary)
        }
        let source = capture.source ?? "unknown"
        if !source.lowercased().contains(Self.mark), source.lowercased() != "synthetic" {
            capture.source = source + ", " + Self.mark
        }
    }

    /// The word in a capture's `source` that states that it was redacted.
    static let mark = "redacted"

    // MARK: What was found

    private mutating func note(_ original: Capture, _ conversations: [RedactionConversation], _ plain: [Set<Int>]) {
        for (number, (presentation, conversation)) in zip(original.presentations, conversations).enumerated() {
            func line(_ index: Int) -> Int? { presentation.exchanges[index].sourceLine }
            if !conversation.identifiers.isEmpty {
                secrets.append(CaptureSecret(kind: .identifier, line: presentation.sourceLine))
            }
            for span in conversation.spans where !span.isPublic(in: presentation) {
                secrets.append(CaptureSecret(kind: span.kind, line: line(span.exchange)))
            }
            let unexamined = conversation.unexamined.union(plain[number])
            unexaminedCount += unexamined.count
            unexaminedLines += unexamined.sorted().compactMap(line)
        }
    }
}

/// Something in a capture that identifies a person or opens a card.
public struct CaptureSecret: Sendable, Hashable {
    /// What it is.
    public var kind: Kind

    /// The line of the command of the exchange that holds it, or of the card, where the file is known.
    public var line: Int?

    /// What can be personal or secret in a capture.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// The identifier of a card, or a part of it.
        case identifier
        /// A key or a password.
        case key
        /// What a card and a terminal sent to prove that they have a key.
        case authentication
        /// What a pass on a phone answered.
        case pass
        /// What is written on a card.
        case content
    }
}
