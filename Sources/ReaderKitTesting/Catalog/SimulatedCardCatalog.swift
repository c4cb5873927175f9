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

    /// Makes a card.
    ///
    /// - Parameters:
    ///   - name: the name of its kind.
    ///   - uid: its identifier; `nil` is the one that all samples of the kind have.
    ///   - message: what the card is formatted with, an empty message included; `nil` is a card as it leaves the
    ///     factory.
    /// - Throws: ``SimulatedCardError``.
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

    /// Makes a card that holds those bytes where its message belongs, whether they are one or not.
    ///
    /// - Throws: ``SimulatedCardError``.
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
