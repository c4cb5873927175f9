import ReaderKit
import ToolSupport

/// What an NTAG or an Ultralight EV1 says of itself.
struct ChipSection: InfoSection {
    static let key = "chip"
    static let title = "Chip"

    var version: String
    var product: String?
    var counter: Int?
    var signature: String?
    var signatureVerified: Bool?
    private var notes: [InfoLine] = []

    private enum CodingKeys: CodingKey {
        case version, product, counter, signature, signatureVerified
    }

    /// `nil` for other cards, and where the reader carries no frames of the card's own protocol.
    init?(_ card: CardOnReader, _ product: Card) throws {
        guard [.ntag2, .ultralight, .type2].contains(product.product.family) else { return nil }
        // Whatever was refused before, a chip that halted is there again.
        try? card.channel.reset()
        let chip = NTAG(card.channel)
        do {
            let answer = try chip.version()
            version = answer.bytes.hex
            self.product = answer.product
        } catch {
            if case .unsupported = error { return nil }
            // Chips that do not know the question may be silent, and readers that carry no frames say so.
            guard let kind = error.readerError?.kind, kind != .unsupported, kind != .timeout else { return nil }
            throw error
        }
        do {
            counter = try chip.counter()
        } catch {
            try Self.go(on: card, error)
            notes.append(InfoLine("counter", card.isRecorded ? "not recorded" : "off or protected"))
        }
        do {
            signature = try chip.signature().hex
            signatureVerified = false
        } catch {
            try Self.go(on: card, error)
            notes.append(InfoLine("signature", card.isRecorded ? "not recorded" : "not readable"))
        }
    }

    /// A refusal halts the chip; anything but a refusal is a failure.
    private static func go(on card: CardOnReader, _ error: TagError) throws {
        guard error.readerError == nil else { throw error }
        try? card.channel.reset()
    }

    var lines: [InfoLine] {
        var lines = [InfoLine("version", version + (product.map { " (\($0))" } ?? ""))]
        if let counter { lines.append(InfoLine("counter", "\(counter)")) }
        if let signature {
            lines.append(InfoLine("signature", signature))
            lines.append(InfoLine("", "not verified: shown as the chip gives it, and a copy can give the same"))
        }
        return lines + notes
    }
}

/// What a DESFire shows freely.
struct DESFireSection: InfoSection {
    static let key = "desfire"
    static let title = "DESFire"

    /// The most applications and files that are asked about.
    private static let most = 64

    var product: String?
    var hardware: String
    var software: String
    var productionWeek: Int?
    var productionYear: Int?
    var freeMemory: Int?
    var keyCount: Int?
    var keyType: String?
    var listsFreely: Bool?
    var applications: [Application]?

    struct Application: Encodable, Sendable {
        var id: String
        var keyCount: Int?
        var keyType: String?
        var listsFreely: Bool?
        var files: [File]?
        var error: ErrorLine?
    }

    struct File: Encodable, Sendable {
        var number: Int
        var kind: String?
        var size: Int?
        var freeToRead: Bool?
        var communication: String?
        var error: ErrorLine?
    }

    /// `nil` for other cards.
    init?(_ card: CardOnReader, _ product: Card) throws {
        guard [.desfire, .ntag4].contains(product.product.family) else { return nil }
        try? card.channel.reset()
        var desfire = DESFireCard(card.channel)
        let version = try desfire.version()
        self.product = version.product?.rawValue
        hardware = "\(version.hardware.major).\(version.hardware.minor)"
        software = "\(version.software.major).\(version.software.minor)"
        productionWeek = version.productionWeek
        productionYear = version.productionYear
        guard !version.hasLightCommands else { return }
        freeMemory = try Self.optional { () throws(DESFireError) in try desfire.freeMemory() }
        if let settings = try Self.optional({ () throws(DESFireError) in try desfire.keySettings() }) {
            keyCount = settings.keyCount
            keyType = settings.keyType.rawValue
            listsFreely = settings.listsFreely
        }
        let ids = try Self.optional { () throws(DESFireError) in try desfire.applicationIDs() }
        applications = try ids?.prefix(Self.most).map { id in
            try card.cancellation.check()
            return try Self.application(id, &desfire)
        }
    }

    private static func application(_ id: DESFireApplicationID, _ desfire: inout DESFireCard) throws -> Application {
        var application = Application(id: id.description)
        do {
            try desfire.select(id)
            let settings = try desfire.keySettings()
            application.keyCount = settings.keyCount
            application.keyType = settings.keyType.rawValue
            application.listsFreely = settings.listsFreely
            application.files = []
            for number in try desfire.fileIDs().prefix(most) {
                application.files?.append(try file(number, &desfire))
            }
        } catch let error as DESFireError {
            guard error.readerError == nil else { throw error }
            application.error = ErrorLine(error)
        }
        return application
    }

    private static func file(_ number: UInt8, _ desfire: inout DESFireCard) throws -> File {
        var file = File(number: Int(number))
        do {
            let settings = try desfire.fileSettings(number)
            file.kind = settings.content.name
            file.size = settings.content.size
            file.freeToRead = settings.isFreeToRead
            file.communication = settings.communication.name
        } catch {
            guard error.readerError == nil else { throw error }
            file.error = ErrorLine(error)
        }
        return file
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

    var lines: [InfoLine] {
        var lines = [InfoLine("version", "\(product ?? "unknown"), hardware \(hardware), software \(software)")]
        if let productionWeek, let productionYear {
            lines.append(InfoLine("made", "week \(productionWeek) of \(productionYear)"))
        }
        if let freeMemory { lines.append(InfoLine("free", "\(freeMemory) bytes")) }
        if let keyCount, let keyType { lines.append(InfoLine("keys", "\(keyCount), \(keyType)")) }
        if let applications {
            if applications.isEmpty { lines.append(InfoLine("applications", "none")) }
        } else {
            lines.append(InfoLine("applications", "listed only with a key"))
        }
        for application in applications ?? [] {
            var text = application.keyCount.map { "\($0) keys, \(application.keyType ?? "unknown")" } ?? ""
            if let error = application.error { text = error.message }
            lines.append(InfoLine("application", application.id + "  " + text))
            for file in application.files ?? [] {
                let size = file.size.map { ", \($0) bytes" } ?? ""
                let access = file.freeToRead == true ? ", free to read" : ", read with a key"
                let text = file.error?.message ?? "\(file.kind ?? "unknown")\(size)\(access)"
                lines.append(InfoLine("  file \(file.number)", text))
            }
        }
        return lines
    }
}

extension DESFireCommunication {
    /// As JSON has it.
    fileprivate var name: String {
        switch self {
        case .plain: "plain"
        case .authenticated: "authenticated"
        case .encrypted: "encrypted"
        }
    }
}

/// The application directory of a MIFARE Classic.
struct DirectorySection: InfoSection {
    static let key = "directory"
    static let title = "MIFARE application directory"

    var version: Int
    var publisherSector: Int
    var sectors: [Sector]

    struct Sector: Encodable, Sendable {
        var sector: Int
        var application: String
        var name: String?
    }

    /// `nil` for other cards, and for one without a directory.
    init?(_ card: CardOnReader, _ product: Card) throws {
        guard product.tagType == .mifareClassic || TagReader.type(of: card.channel.facts) == .mifareClassic else {
            return nil
        }
        try? card.channel.reset()
        var tag = MIFAREClassicTag(card.channel)
        guard let directory = try tag.readDirectory() else { return nil }
        version = directory.version
        publisherSector = Int(directory.publisherSector)
        sectors = MAD.sectors.compactMap { number in
            directory[number].map { application in
                Sector(
                    sector: number,
                    application: [
                        UInt8(truncatingIfNeeded: application.rawValue >> 8),
                        UInt8(truncatingIfNeeded: application.rawValue),
                    ].hex,
                    name: application.name
                )
            }
        }
    }

    var lines: [InfoLine] {
        let used = sectors.filter { $0.application != "0000" }
        var lines = [InfoLine("version", "\(version)")]
        lines += used.map { InfoLine("sector \($0.sector)", $0.application + ($0.name.map { " \($0)" } ?? "")) }
        lines.append(InfoLine("free", "\(sectors.count - used.count) of \(sectors.count) sectors"))
        return lines
    }
}
