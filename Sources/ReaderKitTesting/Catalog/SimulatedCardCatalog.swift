import ReaderKit

/// The kinds of simulated cards, each by a name that a person can type.
///
///     let card = try SimulatedCardCatalog.make("ntag213", message: [.uri("https://club.example/m/42")])
public enum SimulatedCardCatalog {
    /// A kind of cards.
    public struct Kind: Sendable {
        /// Its name, such as `ntag213`.
        public let name: String
        /// The product, in words.
        public let title: String
        /// The longest message in bytes that fits; `nil` for a card that holds none.
        public let capacity: Int?
        /// The lengths that an identifier may have.
        public let identifierLengths: [Int]
        /// The first byte of all identifiers, where there is a rule.
        public let firstByte: UInt8?

        /// Makes a card with an identifier (`nil`: the sample's) and a message (`nil`: as it leaves the factory).
        let make: @Sendable ([UInt8]?, [UInt8]?) -> (any SimulatedCard)?

        init(
            _ name: String,
            _ title: String,
            capacity: Int?,
            identifiers: [Int] = [7],
            firstByte: UInt8? = nil,
            make: @escaping @Sendable ([UInt8]?, [UInt8]?) -> (any SimulatedCard)?
        ) {
            self.name = name
            self.title = title
            self.capacity = capacity
            identifierLengths = identifiers
            self.firstByte = firstByte
            self.make = make
        }
    }

    /// All kinds.
    public static let kinds: [Kind] = type2 + classic + others + smartCards + identities

    /// The kind of that name, whatever its case.
    public static func kind(_ name: String) -> Kind? { kinds.first { $0.name == name.lowercased() } }

    /// Makes a card with the sample's identifier or another one, formatted with a message, an empty one included, or as
    /// it leaves the factory (`nil`). Throws ``SimulatedCardError``.
    public static func make(
        _ name: String,
        uid: [UInt8]? = nil,
        message: NDEFMessage? = nil
    ) throws(SimulatedCardError) -> any SimulatedCard {
        var bytes: [UInt8]?
        if let message {
            do throws(NDEFError) {
                bytes = message.records.isEmpty ? [] : try message.encoded()
            } catch {
                throw .message(error)
            }
        }
        return try make(name, uid: uid, messageBytes: bytes)
    }

    /// Makes a card that holds those bytes where its message belongs, whether they are one or not. Throws
    /// ``SimulatedCardError``.
    public static func make(
        _ name: String,
        uid: [UInt8]? = nil,
        messageBytes bytes: [UInt8]?
    ) throws(SimulatedCardError) -> any SimulatedCard {
        guard let kind = kind(name) else { throw .unknownKind(name) }
        if let uid {
            let isRight = kind.identifierLengths.contains(uid.count) && (kind.firstByte ?? uid.first) == uid.first
            guard isRight else { throw .identifier(kind: kind.name, rule: kind.identifierRule) }
        }
        if let bytes {
            guard let capacity = kind.capacity else { throw .noMessages(kind: kind.name) }
            guard bytes.count <= capacity else {
                throw .tooLong(kind: kind.name, length: bytes.count, capacity: capacity)
            }
        }
        guard let card = kind.make(uid, bytes) else {
            throw .tooLong(kind: kind.name, length: bytes?.count ?? 0, capacity: kind.capacity ?? 0)
        }
        return card
    }
}

extension SimulatedCardCatalog.Kind {
    /// How an identifier has to be, in words.
    public var identifierRule: String {
        guard !identifierLengths.isEmpty else { return "left to the card, which makes one up at each tap" }
        let lengths = identifierLengths.map(String.init)
        let list =
            lengths.count < 2
            ? lengths.joined()
            : lengths.dropLast().joined(separator: ", ") + " or " + (lengths.last ?? "")
        return list + " bytes" + (firstByte.map { ", the first of them \([$0].hex)" } ?? "")
    }
}

extension SimulatedCardCatalog {
    // MARK: Type 2

    static let type2: [Kind] = [
        type2("ultralight", .ultralight), type2("ultralight-c", .ultralightC),
        type2("ultralight-ev1", .ultralightEV1Small), type2("ultralight-ev1-128", .ultralightEV1Large),
        type2("ntag210", .ntag210), type2("ntag212", .ntag212), type2("ntag213", .ntag213), type2("ntag215", .ntag215),
        type2("ntag216", .ntag216),
    ]

    private static func type2(_ name: String, _ model: SimulatedNTAG.Model) -> Kind {
        // What the capability container counts, less type and length of the message.
        Kind(name, model.name, capacity: capacity(of: Int(model.sizeByte) * 8)) { uid, message in
            let uid = uid ?? SimulatedNTAG.sampleUID
            guard let message else { return SimulatedNTAG(model, uid: uid) }
            return SimulatedNTAG.formatted(model, uid: uid, message: message)
        }
    }

    /// The longest message in a data area: its length takes one byte or three.
    private static func capacity(of area: Int) -> Int { area - 2 < 255 ? area - 2 : area - 4 }

    // MARK: MIFARE Classic

    static let classic: [Kind] = [
        classic("classic-mini", "MIFARE Classic Mini", .mini), classic("classic-1k", "MIFARE Classic 1K", .oneK),
        classic("classic-4k", "MIFARE Classic 4K", .fourK),
    ]

    private static func classic(_ name: String, _ title: String, _ size: ClassicSize) -> Kind {
        let sectors = (1..<size.sectors).filter { $0 != 16 }
        let area = sectors.reduce(0) { $0 + (ClassicSize.blocks(ofSector: $1).count - 1) * 16 }
        return Kind(name, title, capacity: capacity(of: area), identifiers: [4, 7]) { uid, message in
            let uid = uid ?? SimulatedMIFAREClassic.sampleUID
            guard let message else { return SimulatedMIFAREClassic(size, uid: uid) }
            return SimulatedMIFAREClassic.formatted(size, message: message, uid: uid)
        }
    }

    // MARK: Types 1, 3 and 5

    static let others: [Kind] = [
        topaz("topaz", "Topaz 96 (Type 1)", isLarge: false, area: 92),
        topaz("topaz-512", "Topaz 512 (Type 1)", isLarge: true, area: 466),
        Kind("felica", "FeliCa Lite-S (Type 3)", capacity: 208, identifiers: [8]) { uid, message in
            let uid = uid ?? SimulatedFeliCa.sampleIDm
            guard let message else { return SimulatedFeliCa.formatted(uid: uid) }
            return SimulatedFeliCa.formatted(message: message, uid: uid)
        },
        Kind("icode", "ICODE SLIX (Type 5)", capacity: 102, identifiers: [8], firstByte: 0xE0) { uid, message in
            let uid = uid ?? SimulatedVicinityTag.sampleUID
            guard let message else { return SimulatedVicinityTag(uid: uid) }
            return SimulatedVicinityTag.formatted(message: message, uid: uid)
        },
    ]

    private static func topaz(_ name: String, _ title: String, isLarge: Bool, area: Int) -> Kind {
        Kind(name, title, capacity: capacity(of: area)) { uid, message in
            let uid = uid ?? SimulatedTopaz.sampleUID
            return SimulatedTopaz.formatted(message: message ?? [], isLarge: isLarge, uid: uid)
        }
    }

    // MARK: Type 4

    /// The longest message of a Type 4 tag whose capability container has the usual form.
    private static let longestFile = 0x7FFF

    static let smartCards: [Kind] = [
        Kind("type4", "Type 4 tag of any maker", capacity: longestFile - 2, identifiers: [4, 7, 10]) { type4($0, $1) },
        Kind("type4-b", "Type 4 tag reached by type B", capacity: longestFile - 2, identifiers: [4]) { uid, message in
            SimulatedTypeB(type4(uid, message))
        },
        desfire("desfire-ev1", "MIFARE DESFire EV1", .ev1), desfire("desfire", "MIFARE DESFire EV2", .ev2),
        desfire("desfire-ev3", "MIFARE DESFire EV3", .ev3),
        Kind("ntag424", "NTAG 424 DNA", capacity: 254) { uid, message in
            let uid = uid ?? [0x04, 0x95, 0x8C, 0xAA, 0x5C, 0x5E, 0x80]
            return SimulatedNTAG424.card(message: message ?? [], uid: uid)
        },
    ]

    private static func type4(_ uid: [UInt8]?, _ message: [UInt8]?) -> SimulatedType4Tag {
        var configuration = SimulatedType4Tag.Configuration()
        configuration.fileSize = max(256, (message?.count ?? 0) + 2)
        let uid = uid ?? [0x04, 0x46, 0x3A, 0x7B, 0x2C, 0x5D, 0x80]
        return SimulatedType4Tag(message: message ?? [], configuration: configuration, uid: uid)
    }

    private static func desfire(_ name: String, _ title: String, _ model: SimulatedDESFire.Model) -> Kind {
        Kind(name, title, capacity: 4094) { uid, message in
            var configuration = SimulatedDESFire.Configuration()
            configuration.model = model
            if let uid { configuration.uid = uid }
            if let message {
                configuration.applications = [.ndef(message: message, fileSize: max(256, message.count + 2))]
            }
            return SimulatedDESFire(configuration)
        }
    }

    // MARK: Cards that show who they are, and no more

    static let identities: [Kind] = [
        Kind("identity", "card that shows its identifier and no more", capacity: nil, identifiers: [4, 7, 10]) {
            uid,
            _ in
            SimulatedIdentityCard.classic1K(uid: uid ?? SimulatedMIFAREClassic.sampleUID)
        },
        Kind("phone", "phone without a pass: another identifier at each tap", capacity: nil, identifiers: []) { _, _ in
            SimulatedIdentityCard.phone()
        },
    ]
}

/// A simulated card could not be made as it was asked for.
public enum SimulatedCardError: Error, Sendable, Hashable {
    /// There is no kind of that name.
    case unknownKind(String)
    /// A card of that kind has identifiers of other lengths, or that begin otherwise.
    case identifier(kind: String, rule: String)
    /// A card of that kind holds no message.
    case noMessages(kind: String)
    /// The message has so many bytes, and a card of that kind takes at most so many.
    case tooLong(kind: String, length: Int, capacity: Int)
    /// The message cannot be encoded.
    case message(NDEFError)
}

extension SimulatedCardError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .unknownKind(let name):
            "there is no simulated card of the kind '\(name)'. Choose one of: "
                + SimulatedCardCatalog.kinds.map(\.name).joined(separator: ", ") + "."
        case .identifier(let kind, let rule):
            "could not make a card of the kind '\(kind)': its identifier has to be \(rule)."
        case .noMessages(let kind):
            "could not make a card of the kind '\(kind)' with a message: such a card holds none. Choose another kind."
        case .tooLong(let kind, let length, let capacity):
            "could not make a card of the kind '\(kind)': the message has \(length) bytes, and it holds \(capacity). "
                + "Shorten the message, or choose another kind."
        case .message(let error): "could not encode the message: \(error)"
        }
    }
}
