import ReaderKit
import ToolSupport

extension InfoSection {
    /// What an NTAG or an Ultralight EV1 reports about itself; `nil` for other cards, and where the reader carries no
    /// frames of the card's own protocol.
    static func chip(_ card: CardOnReader, _ identified: Card, _ uid: CardUID?) throws -> InfoSection? {
        guard [.ntag2, .ultralight, .type2].contains(identified.product.family) else { return nil }
        // Whatever was refused before, a chip that halted is there again.
        try? card.channel.reset()
        let chip = NTAG(card.channel)
        let version: NTAG.Version
        do {
            version = try chip.version()
        } catch {
            if case .unsupported = error { return nil }
            // Chips that do not know the question may be silent, and readers that carry no frames report that.
            guard let kind = error.readerError?.kind, kind != .unsupported, kind != .timeout else { return nil }
            throw error
        }
        // A refusal halts the chip; anything but a refusal is a failure.
        func ask<Value>(_ question: () throws(TagError) -> Value) throws -> Value? {
            do {
                return try question()
            } catch {
                guard error.readerError == nil else { throw error }
                try? card.channel.reset()
                return nil
            }
        }
        let counter = try ask { () throws(TagError) in try chip.counter() }
        let signature = try ask { () throws(TagError) in try chip.signature() }
        var lines: InfoLines = [
            "version": version.bytes.hex + (version.product.map { " (\($0))" } ?? ""),
            "counter": counter.map { "\($0)" }, "signature": signature?.bytes.hex,
        ]
        if let signature { lines.add("", signature.verdict(on: uid?.bytes)) }
        if counter == nil { lines.add("counter", card.isRecorded ? "not recorded" : "off or protected") }
        if signature == nil { lines.add("signature", card.isRecorded ? "not recorded" : "not readable") }
        return InfoSection(
            json: [
                "version": version.bytes.hex, "product": version.product, "counter": counter,
                "signature": signature?.bytes.hex,
                "signatureVerified": signature.map { $0.signer(of: uid?.bytes ?? []) != nil },
            ] as JSONObject,
            lines: lines
        )
    }

    /// The most applications and files of a DESFire that are asked about.
    private static let most = 64

    /// What a DESFire shows freely; `nil` for other cards.
    static func desfire(_ card: CardOnReader, _ product: Card) throws -> InfoSection? {
        guard [.desfire, .ntag4].contains(product.product.family) else { return nil }
        try? card.channel.reset()
        var desfire = DESFireCard(card.channel)
        let version = try desfire.version()
        let hardware = "\(version.hardware.major).\(version.hardware.minor)"
        let software = "\(version.software.major).\(version.software.minor)"
        var json: JSONObject = [
            "product": version.product?.rawValue, "hardware": hardware, "software": software,
            "productionWeek": version.productionWeek, "productionYear": version.productionYear,
        ]
        let name = version.product?.rawValue ?? "unknown"
        var lines: InfoLines = ["version": "\(name), hardware \(hardware), software \(software)"]
        if let week = version.productionWeek, let year = version.productionYear {
            lines.add("made", "week \(week) of \(year)")
        }
        guard !version.hasLightCommands else {
            lines.add("applications", "listed only with a key")
            return InfoSection(json: json, lines: lines)
        }
        let memory = try optional { () throws(DESFireError) in try desfire.freeMemory() }
        json["freeMemory"] = memory
        lines.add("free", memory.map { "\($0) bytes" })
        if let settings = try optional({ () throws(DESFireError) in try desfire.keySettings() }) {
            json.add(keys(settings))
            lines.add("keys", "\(settings.keyCount), \(settings.keyType.rawValue)")
        }
        guard let ids = try optional({ () throws(DESFireError) in try desfire.applicationIDs() }) else {
            lines.add("applications", "listed only with a key")
            return InfoSection(json: json, lines: lines)
        }
        if ids.isEmpty { lines.add("applications", "none") }
        json["applications"] = try ids.prefix(most).map { id in
            try card.cancellation.check()
            return try application(id, &desfire, &lines)
        }
        return InfoSection(json: json, lines: lines)
    }

    private static func keys(_ settings: DESFireKeySettings) -> JSONObject {
        ["keyCount": settings.keyCount, "keyType": settings.keyType.rawValue, "listsFreely": settings.listsFreely]
    }

    private static func application(
        _ id: DESFireApplicationID,
        _ desfire: inout DESFireCard,
        _ lines: inout InfoLines
    ) throws -> JSONObject {
        var json: JSONObject = ["id": id.description]
        var text = ""
        var files: InfoLines = [:]
        do {
            try desfire.select(id)
            let settings = try desfire.keySettings()
            json.add(keys(settings))
            text = "\(settings.keyCount) keys, \(settings.keyType.rawValue)"
            var objects: [JSONObject] = []
            json["files"] = objects
            for number in try desfire.fileIDs().prefix(most) {
                objects.append(try file(number, &desfire, &files))
                json["files"] = objects
            }
        } catch let error as DESFireError {
            guard error.readerError == nil else { throw error }
            json["error"] = ErrorLine(error)
            text = ErrorLine(error).message
        }
        lines.add("application", id.description + "  " + text)
        lines.add(files)
        return json
    }

    private static func file(
        _ number: UInt8,
        _ desfire: inout DESFireCard,
        _ lines: inout InfoLines
    ) throws -> JSONObject {
        do {
            let settings = try desfire.fileSettings(number)
            let (content, isFree) = (settings.content, settings.isFreeToRead)
            let size = content.size.map { ", \($0) bytes" } ?? ""
            lines.add("  file \(number)", "\(content.name)\(size), " + (isFree ? "free to read" : "read with a key"))
            return [
                "number": Int(number), "kind": content.name, "size": content.size, "freeToRead": isFree,
                "communication": settings.communication,
            ]
        } catch {
            guard error.readerError == nil else { throw error }
            lines.add("  file \(number)", ErrorLine(error).message)
            return ["number": Int(number), "error": ErrorLine(error)]
        }
    }

    /// `nil` for what the card keeps to itself.
    private static func optional<Value>(_ read: () throws(DESFireError) -> Value) throws -> Value? {
        do {
            return try read()
        } catch {
            guard error.readerError == nil else { throw error }
            return nil
        }
    }

    /// The application directory of a MIFARE Classic; `nil` for other cards, and for one without a directory.
    static func directory(_ card: CardOnReader, _ product: Card) throws -> InfoSection? {
        guard product.tagType == .mifareClassic || TagReader.type(of: card.channel.facts) == .mifareClassic else {
            return nil
        }
        try? card.channel.reset()
        var tag = MIFAREClassicTag(card.channel)
        guard let directory = try tag.readDirectory() else { return nil }
        var lines: InfoLines = ["version": "\(directory.version)"]
        var (sectors, free) = ([JSONObject](), 0)
        for number in MAD.sectors {
            guard let application = directory[number] else { continue }
            let id = application.rawValue
            let code = [UInt8(truncatingIfNeeded: id >> 8), UInt8(truncatingIfNeeded: id)].hex
            sectors.append(["sector": number, "application": code, "name": application.name])
            if id == 0 {
                free += 1
            } else {
                lines.add("sector \(number)", code + (application.name.map { " \($0)" } ?? ""))
            }
        }
        lines.add("free", "\(free) of \(sectors.count) sectors")
        return InfoSection(
            json: [
                "version": directory.version, "publisherSector": Int(directory.publisherSector), "sectors": sectors,
            ] as JSONObject,
            lines: lines
        )
    }
}
