import Foundation
import ReaderKit

/// The text forms of memory dumps: lines of hexadecimal, Flipper's `Page 0: …`, Proxmark's JSON.
struct CardImageText {
    struct Dump {
        var bytes: [UInt8] = []
        var product: CardImage.Product?
        var signature: [UInt8]?
        var counters: [Int]?
    }

    private let text: String

    private static let mostBlocks = 256

    /// `nil` if the bytes are no text.
    init?(_ bytes: [UInt8]) {
        let isText = bytes.allSatisfy { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
        guard isText, !bytes.isEmpty else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    func dump() throws(CardImageError) -> Dump {
        if text.hasPrefix("Filetype: Flipper NFC") { return try flipper() }
        if text.first == "{" { return try proxmark() }
        return try lines()
    }

    // MARK: Lines of 16 or 4 bytes (.eml)

    private func lines() throws(CardImageError) -> Dump {
        var dump = Dump()
        var length: Int?
        for (index, line) in numbered {
            guard let bytes = try? Hex.decode(line), [4, 16].contains(bytes.count), bytes.count == length ?? bytes.count
            else { throw .line(index, "it is not a block of 16 bytes or a page of 4 in hexadecimal, as the others") }
            length = bytes.count
            dump.bytes += bytes
        }
        return dump
    }

    private var numbered: [(Int, String)] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            .map { ($0 + 1, $1.trimmingCharacters(in: .whitespaces)) }
            .filter { !$0.1.isEmpty && !$0.1.hasPrefix("#") }
    }

    // MARK: Flipper

    private func flipper() throws(CardImageError) -> Dump {
        var dump = Dump()
        var blocks: [Int: [UInt8]] = [:]
        for (index, line) in numbered {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let key = String(line[..<colon])
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            let words = key.split(separator: " ")
            switch (words.first, words.count) {
            case ("Page", 2), ("Block", 2):
                // What was not read is written as question marks.
                guard let number = Int(words[1]), (0..<Self.mostBlocks).contains(number),
                    let bytes = try? Hex.decode(value.replacingOccurrences(of: "??", with: "00")),
                    bytes.count == (words[0] == "Page" ? 4 : 16)
                else { throw .line(index, "it has no number, or not the bytes of a \(words[0].lowercased())") }
                blocks[number] = bytes
            case ("Signature", 1): dump.signature = (try? Hex.decode(value)).flatMap { $0.count == 32 ? $0 : nil }
            case ("Counter", 2):
                guard let number = Int(words[1]), (0..<3).contains(number), let count = Int(value) else { continue }
                var counters = dump.counters ?? [0, 0, 0]
                counters[number] = count
                dump.counters = counters
            default:
                if key.hasSuffix("type") { dump.product = Self.product(value) ?? dump.product }
            }
        }
        dump.bytes = try Self.joined(blocks)
        return dump
    }

    private static func product(_ name: String) -> CardImage.Product? {
        switch name {
        case "MINI": .classic(.mini)
        case "1K": .classic(.oneK)
        case "4K": .classic(.fourK)
        case "Mifare Ultralight": .type2(.ultralight)
        case "Mifare Ultralight C": .type2(.ultralightC)
        case "Mifare Ultralight 11": .type2(.ultralightEV1Small)
        case "Mifare Ultralight 21": .type2(.ultralightEV1Large)
        default: SimulatedNTAG.Model.all.first { $0.name == name }.map { .type2($0) }
        }
    }

    // MARK: Proxmark

    private func proxmark() throws(CardImageError) -> Dump {
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let texts = object["blocks"] as? [String: String]
        else { throw .content("it is no JSON with blocks, as Proxmark writes it") }
        var dump = Dump()
        var blocks: [Int: [UInt8]] = [:]
        for (name, value) in texts {
            guard let number = Int(name), (0..<Self.mostBlocks).contains(number), let bytes = try? Hex.decode(value),
                [4, 16].contains(bytes.count)
            else { throw .content("its block '\(name.prefix(8))' is none of 16 bytes, or page of 4") }
            blocks[number] = bytes
        }
        dump.bytes = try Self.joined(blocks)
        let card = object["Card"] as? [String: Any]
        func bytes(_ key: String) -> [UInt8]? { (card?[key] as? String).flatMap { try? Hex.decode($0) } }
        dump.signature = bytes("Signature").flatMap { $0.count == 32 ? $0 : nil }
        if let version = bytes("Version") {
            dump.product = SimulatedNTAG.Model.all.first { $0.version == version }.map { .type2($0) }
        }
        return dump
    }

    /// The blocks in their order, none of which may be missing.
    private static func joined(_ blocks: [Int: [UInt8]]) throws(CardImageError) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in 0..<blocks.count {
            guard let block = blocks[number], block.count == blocks[0]?.count else {
                throw .content("its block or page \(number) is missing, or of another length than the first")
            }
            bytes += block
        }
        return bytes
    }
}
