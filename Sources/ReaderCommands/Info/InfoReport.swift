import Foundation
import ReaderKit
import ToolSupport

/// Names and values for people, one a line. What is `nil` is left out.
struct InfoLines: ExpressibleByDictionaryLiteral, Sendable {
    private(set) var all: [(name: String, value: String)] = []

    init(dictionaryLiteral lines: (String, String?)...) {
        for (name, value) in lines { add(name, value) }
    }

    mutating func add(_ name: String, _ value: String?) {
        if let value { all.append((name, value)) }
    }

    mutating func add(_ lines: InfoLines) { all += lines.all }

    func rows(width: Int = 11) -> [String] { all.map { "  " + $0.name.padded(to: width) + $0.value } }
}

/// A part of the report: what JSON has of it, and what people read.
struct InfoSection: Sendable {
    var json: any Encodable & Sendable
    var lines: InfoLines
}

/// Everything that is known of a card. What cannot be read is among it as an error, and stops nothing else.
struct InfoReport: Encodable, Sendable {
    private let at: Date
    private var parts: [(key: String, title: String, content: Result<InfoSection, Failure>)] = []
    private var isLeftAlone = false

    private struct Failure: Error {
        var line: ErrorLine
    }

    /// Asks the card.
    init(of card: CardOnReader) throws {
        at = card.presence.at
        let facts = card.channel.facts
        add("reader", "Reader") { .reader(card) }
        add("phonePasses", "Phone passes") { .phonePasses(card.presence.reader) }
        add("atr", "Answer to reset") { try facts.atr.map { try .atr($0) } }
        add("facts", "Anticollision") { .facts(facts.values) }
        try card.cancellation.check()
        var uid: CardUID?
        add("uid", "Identifier") {
            uid = try card.channel.identifier()
            return uid.map(InfoSection.uid)
        }
        // Known without a question, so that it stands there even if the card leaves now.
        var product = CardIdentifier.identify(facts: facts, uid: uid)
        var failure: ReaderError?
        do throws(ReaderError) {
            product = try CardIdentifier.identify(over: card.channel)
        } catch {
            failure = error
        }
        add("product", "Product") { .product(product, isRecorded: card.isRecorded) }
        if let failure { add("product", "Product") { throw failure } }
        isLeftAlone = product.use.isLeftAlone
        guard !isLeftAlone else { return }
        try card.cancellation.check()
        add("ndef", "NDEF") { try .ndef(card) }
        try card.cancellation.check()
        add("chip", "Chip") { try .chip(card, product, uid) }
        add("desfire", "DESFire") { try .desfire(card, product) }
        add("directory", "MIFARE application directory") { try .directory(card, product) }
    }

    private mutating func add(_ key: String, _ title: String, _ read: () throws -> InfoSection?) {
        do {
            guard let section = try read() else { return }
            parts.append((key, title, .success(section)))
        } catch {
            parts.append((key, title, .failure(Failure(line: ErrorLine(error)))))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object: JSONObject = ["event": "info", "at": ISO8601.text(at)]
        var errors: [String: ErrorLine] = [:]
        for part in parts {
            switch part.content {
            case .success(let section): object[part.key] = section.json
            case .failure(let failure): errors[part.key] = failure.line
            }
        }
        if !errors.isEmpty { object["errors"] = errors }
        try object.encode(to: encoder)
    }

    var text: String {
        let blocks = parts.map { part in
            switch part.content {
            case .success(let section):
                let width = max(12, section.lines.all.map(\.name.count).max() ?? 0)
                return ([part.title] + section.lines.rows(width: width + 2)).joined(separator: "\n")
            case .failure(let failure): return "\(part.title)\n  \(failure.line.message)"
            }
        }
        let end = isLeftAlone ? ["Left alone: nothing more is asked of cards of this kind."] : []
        return (blocks + end).joined(separator: "\n\n")
    }
}
