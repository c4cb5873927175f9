import Foundation
import ReaderKit

/// The text forms of memory dumps: lines of hexadecimal, Flipper's `Page 0: …`, Proxmark's JSON, the sectors of MIFARE
/// Classic Tool.
struct CardImageText {
    struct Dump {
        var bytes: [UInt8] = []
        var product: CardImage.Product?
        /// The name of a product that is not simulated.
        var unknown: String?
        var signature: [UInt8]?
        var counters: [Int]?
    }

    private let text: String

    private static let mostBlocks = 256

    /// `nil` if the bytes are no text.
    init?(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }
        guard isText, !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.text = text
    }

    func dump() throws(CardImageError) -> Dump {
        if text.hasPrefix("Filetype: ") { return try flipper() }
        if text.trimmed.first == "{" { return try proxmark() }
        if numbered.contains(where: { $0.1.hasPrefix(Self.sector) }) { return try sectors() }
        return try lines()
    }

    // MARK: Lines of 16 or 4 bytes (.eml)

    private func lines() throws(CardImageError) -> Dump {
        var dump = Dump()
        var length: Int?
        if !numbered.isEmpty, numbered.allSatisfy({ (try? Hex.decode($0.1))?.count == 6 }) {
            throw .content("lines of 6 bytes are keys, not what stands on a card")
        }
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

    // MARK: MIFARE Classic Tool

    private static let sector = "+Sector:"

    /// The blocks of each sector that could be read, with dashes for what could not.
    private func sectors() throws(CardImageError) -> Dump {
        var blocks: [Int: [UInt8]] = [:]
        // What is left of the sector at hand.
        var free = 0..<0
        // A line that begins so says that a sector could not be read.
        for (index, line) in numbered where !line.hasPrefix("*") {
            if line.hasPrefix(Self.sector) {
                free = Int(line.dropFirst(Self.sector.count).trimmed).map(ClassicSize.blocks(ofSector:)) ?? 0..<0
                guard !free.isEmpty else { throw .line(index, "it has no number of a sector from 0 to 39") }
                continue
            }
            guard let block = free.popFirst(), let bytes = try? Hex.decode(line.replacing("-", with: "0")),
                bytes.count == 16
            else { throw .line(index, "it is not a block of 16 bytes of its sector, in hexadecimal or as dashes") }
            blocks[block] = bytes
        }
        guard blocks[0] != nil else { throw .content("the first sector, which has the identifier, could not be read") }
        let last = blocks.keys.max() ?? 0
        // A Mini is one only if nothing more was looked for.
        let sizes: [ClassicSize] = numbered.filter { $0.1.hasPrefix(Self.sector) }.count == 5 ? [.mini] : []
        let size = (sizes + [.oneK, .twoK]).first { last < $0.blocks } ?? .fourK
        return Dump(
            bytes: (0..<size.blocks).flatMap { blocks[$0] ?? [UInt8](repeating: 0, count: 16) },
            product: .classic(size)
        )
    }

    // MARK: Flipper

    private func flipper() throws(CardImageError) -> Dump {
        var dump = Dump()
        if let other = value(of: "Filetype"), other != "Flipper NFC device" {
            throw .content("it is a file of the kind '\(other.prefix(40))', which has no card's memory in it")
        }
        // Older ones have the chip as the device.
        let device = value(of: "Device type") ?? "NTAG/Ultralight"
        guard ["NTAG/Ultralight", "Mifare Classic"].contains(device) || Self.product(device) != nil else {
            throw .content("it is a Flipper dump of '\(device.prefix(40))', which cannot be emulated")
        }
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
                guard key.hasSuffix(" type") else { continue }
                dump.product = Self.product(value) ?? dump.product
                if key != "Device type", dump.product == nil { dump.unknown = "'\(value.prefix(40))'" }
            }
        }
        dump.bytes = try Self.joined(blocks)
        return dump
    }

    private func value(of key: String) -> String? {
        let line = numbered.first { $0.1.hasPrefix("\(key):") }?.1
        return line?.dropFirst(key.count + 1).trimmed
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
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw .content("it is no JSON, as Proxmark writes it")
        }
        if let type = object["FileType"] as? String, !["mfc", "mfu"].contains(String(type.prefix(3))) {
            throw .content("it is a Proxmark dump of '\(type.prefix(40))', which cannot be emulated")
        }
        guard let texts = object["blocks"] as? [String: String] else {
            throw .content("it is no JSON with blocks, as Proxmark writes it")
        }
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
        if let version = bytes("Version") { dump.product = SimulatedNTAG.Model(version: version).map { .type2($0) } }
        let counters = (0..<3).map { bytes("Counter\($0)").map { ProxmarkDump.counter($0) } ?? 0 }
        if counters != [0, 0, 0] { dump.counters = counters }
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
