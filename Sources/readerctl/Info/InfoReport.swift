import Foundation
import ReaderKit
import ToolSupport

/// A part of the report, which knows how to read itself and how to look.
protocol InfoSection: Encodable, Sendable {
    /// Its key in JSON.
    static var key: String { get }
    /// Its title for people.
    static var title: String { get }
    /// Names and values for people.
    var lines: [InfoLine] { get }
}

/// A name and a value.
struct InfoLine: Sendable {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Everything that is known of a card. What cannot be read is among it as an error, and stops nothing else.
struct InfoReport: Encodable, Sendable {
    private let at: Date
    private var parts: [Part] = []
    private var isLeftAlone = false

    private struct Part: Sendable {
        var key: String
        var title: String
        var content: Result<any InfoSection, Failure>
    }

    private struct Failure: Error {
        var line: ErrorLine
    }

    /// Asks the card.
    ///
    /// - Throws: `CancellationError` when the tool is to end.
    init(of card: CardOnReader) throws {
        at = card.presence.at
        let facts = card.channel.facts
        add { ReaderSection(card) }
        add { PassSection(card.presence.reader) }
        add { try facts.atr.map(ATRSection.init) }
        add { FactsSection(facts) }
        try card.cancellation.check()
        var uid: CardUID?
        add { () throws -> UIDSection? in
            uid = try card.channel.identifier()
            return uid.map(UIDSection.init)
        }
        // Known without a question, so that it stands there even if the card leaves now.
        var product = CardIdentifier.identify(facts: facts, uid: uid)
        var failure: ReaderError?
        do throws(ReaderError) {
            product = try CardIdentifier.identify(over: card.channel)
        } catch {
            failure = error
        }
        add { ProductSection(product, isRecorded: card.isRecorded) }
        if let failure { add { () throws -> ProductSection? in throw failure } }
        isLeftAlone = product.use.isLeftAlone
        guard !isLeftAlone else { return }
        try card.cancellation.check()
        add { try NDEFSection(card) }
        try card.cancellation.check()
        add { try ChipSection(card, product) }
        add { try DESFireSection(card, product) }
        add { try DirectorySection(card, product) }
    }

    private mutating func add<Section: InfoSection>(_ read: () throws -> Section?) {
        do {
            guard let section = try read() else { return }
            parts.append(Part(key: Section.key, title: Section.title, content: .success(section)))
        } catch {
            let failure = Failure(line: ErrorLine(error))
            parts.append(Part(key: Section.key, title: Section.title, content: .failure(failure)))
        }
    }

    // MARK: JSON

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("info", forKey: Key(stringValue: "event"))
        try container.encode(ISO8601.text(at), forKey: Key(stringValue: "at"))
        var errors: [String: ErrorLine] = [:]
        for part in parts {
            switch part.content {
            case .success(let section): try container.encode(section, forKey: Key(stringValue: part.key))
            case .failure(let failure): errors[part.key] = failure.line
            }
        }
        if !errors.isEmpty { try container.encode(errors, forKey: Key(stringValue: "errors")) }
    }

    // MARK: For people

    var text: String {
        let blocks = parts.map { part in
            switch part.content {
            case .success(let section):
                let lines = section.lines
                let width = max(12, lines.map(\.name.count).max() ?? 0)
                return ([part.title] + lines.map { "  " + HexDump.pad($0.name, to: width) + "  " + $0.value })
                    .joined(separator: "\n")
            case .failure(let failure):
                return "\(part.title)\n  \(failure.line.message)"
            }
        }
        let end = isLeftAlone ? ["Left alone: nothing more is asked of cards of this kind."] : []
        return (blocks + end).joined(separator: "\n\n")
    }
}
