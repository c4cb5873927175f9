import ReaderKit

/// A dump of a card's memory: what `nfc-mfclassic`, `nfc-mfultralight` and Proxmark write (`.mfd`, `.bin`), and the text
/// forms of Flipper (`.nfc`), Proxmark (`.eml`, `.json`) and MIFARE Classic Tool (`.mct`).
///
///     let image = try CardImage(contents: bytes)
///     terminal.insert(image.card())
public struct CardImage: Sendable, Hashable {
    /// What the memory is of.
    public let product: Product

    /// The memory from block or page 0 on: the product's whole size, or less where the rest was not read.
    public let bytes: [UInt8]

    /// The signature of a Type 2 tag, 32 bytes, where the dump has it.
    public var signature: [UInt8]?

    /// The three counters of a Type 2 tag, where the dump has them.
    public var counters: [Int]?

    /// A card whose memory can be dumped.
    public enum Product: Sendable, Hashable {
        /// MIFARE Classic: blocks of 16 bytes, with the keys in the trailers.
        case classic(ClassicSize)
        /// A Type 2 tag: pages of 4 bytes.
        case type2(SimulatedNTAG.Model)

        /// The size of its memory in bytes.
        public var size: Int {
            switch self {
            case .classic(let size): size.blocks * 16
            case .type2(let model): model.pages * 4
            }
        }

        /// Its name.
        public var name: String {
            switch self {
            case .classic(.mini): "MIFARE Classic Mini"
            case .classic(.oneK): "MIFARE Classic 1K"
            case .classic(.twoK): "MIFARE Plus 2K"
            case .classic(.fourK): "MIFARE Classic 4K"
            case .type2(let model): model.name
            }
        }

        /// All products. Of two with the same size the first is taken where nothing else is known.
        public static let all: [Product] =
            ClassicSize.allCases.map(Product.classic) + SimulatedNTAG.Model.all.map(Product.type2)

        /// The product that a kind of ``SimulatedCardCatalog`` is; `nil` for one without such a memory.
        public init?(kind name: String) {
            switch try? SimulatedCardCatalog.make(name) {
            case let card as SimulatedNTAG: self = .type2(card.model)
            case let card as SimulatedMIFAREClassic: self = .classic(card.size)
            default: return nil
            }
        }
    }

    /// The fewest bytes of a Type 2 tag: the pages of the smallest one.
    static let shortest = 64

    /// Both keys of 16 sectors, which are as many bytes as an Ultralight C has.
    private static let keyFile = 192

    /// An image of raw bytes from block or page 0 on. Without a product the size determines it; with one, the end of
    /// the memory may be missing. Throws ``CardImageError/size(_:product:)``.
    public init(_ bytes: [UInt8], of product: Product? = nil) throws(CardImageError) {
        guard let product else {
            guard let found = Product.all.first(where: { $0.size == bytes.count }) else {
                throw .size(bytes.count, product: nil)
            }
            if bytes.count == Self.keyFile, !ProxmarkDump.isType2(bytes) {
                let reason =
                    "192 bytes without the check bytes of a Type 2 tag are perhaps the keys of a MIFARE Classic 1K"
                throw .content(reason + ", which Proxmark keeps in a file of their own")
            }
            (self.product, self.bytes) = (found, bytes)
            return
        }
        let unit = if case .classic = product { 16 } else { 4 }
        guard bytes.count % unit == 0, (Self.shortest...product.size).contains(bytes.count) else {
            throw .size(bytes.count, product: product)
        }
        (self.product, self.bytes) = (product, bytes)
    }

    /// An image of what a file holds: one of the text forms if it is text, else raw bytes. Throws ``CardImageError``.
    public init(contents: [UInt8], of product: Product? = nil) throws(CardImageError) {
        if let text = CardImageText(contents) {
            let dump = try text.dump()
            if product == nil, let unknown = dump.unknown {
                throw .content("it is a Flipper dump of \(unknown), which cannot be emulated")
            }
            self = try CardImage(dump.bytes, of: product ?? dump.product)
            signature = dump.signature
            counters = dump.counters
        } else if let dump = ProxmarkDump(contents) {
            let found = try dump.product()
            self = try CardImage(dump.bytes, of: product ?? found)
            signature = dump.signature
            counters = dump.counters
        } else {
            self = try CardImage(contents, of: product)
        }
    }

    /// The image of a simulated card as it is now, keys and passwords not hidden; `nil` for one that is neither a
    /// MIFARE Classic nor a Type 2 tag.
    public init?(of card: any SimulatedCard) {
        switch card {
        case let card as SimulatedMIFAREClassic: (product, bytes) = (.classic(card.size), card.memory)
        case let card as SimulatedNTAG:
            (product, bytes) = (.type2(card.model), card.memory)
            counters = card.counters
        default: return nil
        }
    }

    /// The identifier that the memory holds.
    public var uid: [UInt8] {
        switch product {
        case .classic:
            // Four bytes are followed by their check byte, seven are not.
            let isShort = bytes[..<4].reduce(0, ^) == bytes[4]
            return Array(bytes.prefix(isShort ? 4 : 7))
        case .type2: return Array(bytes[..<3] + bytes[4..<8])
        }
    }

    /// A card with this memory. What the image does not cover is as the factory made it.
    public func card() -> any SimulatedCard {
        switch product {
        case .classic(let size): return SimulatedMIFAREClassic(size, image: bytes, uid: uid)
        case .type2(let model):
            let tag = SimulatedNTAG(model, image: bytes, signature: signature)
            if let counters { tag.counters = counters }
            return tag
        }
    }
}

/// Proxmark's binary dump of a Type 2 tag (`hf mfu dump`): version, signature and counters stand before the pages.
///
/// ```text
/// now      version 8, 0 3, number of the last page 1, signature 32, three counters of 3, each with a tearing flag 1
/// before   version 8, 0 2, tearing flags 3, PACK 2, 0 1, signature 32
/// ```
struct ProxmarkDump {
    let bytes: [UInt8]
    let version: [UInt8]
    let signature: [UInt8]?
    let counters: [Int]?

    private static let (header, oldHeader) = (56, 48)

    /// `nil` for other bytes, such as pages alone.
    init?(_ dump: [UInt8]) {
        guard dump.count >= Self.oldHeader + CardImage.shortest, !Self.isType2(dump),
            !CardImage.Product.all.contains(where: { $0.size == dump.count })
        else { return nil }
        let hasHeader = dump.count - Self.header == (Int(dump[11]) + 1) * 4
        guard hasHeader || Self.isType2(dump.dropFirst(Self.oldHeader)) else { return nil }
        bytes = Array(dump.dropFirst(hasHeader ? Self.header : Self.oldHeader))
        version = Array(dump[..<8])
        let start = hasHeader ? 12 : 16
        let signature = Array(dump[start..<start + 32])
        self.signature = signature.allSatisfy { $0 == 0 } ? nil : signature
        counters = hasHeader ? (0..<3).map { Self.counter(dump[44 + 4 * $0..<47 + 4 * $0]) } : nil
    }

    /// The lowest byte comes first, as READ_CNT has it.
    static func counter(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// What the version says, or, of chips that have none, the size; `nil` if that says nothing either.
    func product() throws(CardImageError) -> CardImage.Product? {
        guard version.contains(where: { $0 != 0 }) else { return nil }
        guard let model = SimulatedNTAG.Model(version: version) else {
            throw .content("its version, \(version.hex), is that of a Type 2 tag that is not simulated")
        }
        return .type2(model)
    }

    /// Whether the check bytes of the identifier are where a Type 2 tag has them.
    static func isType2(_ bytes: some Collection<UInt8>) -> Bool {
        let start = Array(bytes.prefix(9))
        return start.count == 9 && CardUID.checkByte(of: [CardUID.cascadeTag] + start[..<4]) == 0
            && CardUID.checkByte(of: start[4...]) == 0 && start.contains { $0 != 0 }
    }
}

extension SimulatedNTAG.Model {
    /// The chip that answers so to GET_VERSION, or one with the same memory that differs in its capacitance alone.
    init?(version: [UInt8]) {
        // But for the maker, the subtype and the protocol: product, major and minor version, size.
        func kind(_ version: [UInt8]) -> [UInt8] { version.count == 8 ? [version[2]] + version[4...6] : [] }
        let found = Self.all.first { $0.version == version }
        guard let model = found ?? Self.all.first(where: { $0.version.map(kind) == kind(version) }) else { return nil }
        self = model
    }
}

/// A dump of a card's memory cannot be used.
public enum CardImageError: Error, Sendable, Hashable {
    /// No known card, or not the one that was named, has a memory of so many bytes.
    case size(Int, product: CardImage.Product?)
    /// A line of a text form states nothing that belongs there.
    case line(Int, String)
    /// A text form is of a card that is not simulated from its memory, or has none.
    case content(String)
}

extension CardImageError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .size(let count, nil):
            "\(count) bytes are no memory of a known card. Known sizes: \(CardImageError.sizes)."
        case .size(let count, let product?):
            "\(count) bytes are no memory of a card of the kind \(product.name), which has \(product.size)."
        case .line(let number, let reason): "line \(number): \(reason)."
        case .content(let reason): "\(reason). Take a dump of a memory, of one of these sizes: \(CardImageError.sizes)."
        }
    }

    /// Each size with the cards that have it.
    private static var sizes: String {
        Set(CardImage.Product.all.map(\.size)).sorted().map { size in
            let names = CardImage.Product.all.filter { $0.size == size }.map(\.name)
            return "\(size) (\(names.joined(separator: " or ")))"
        }.joined(separator: ", ")
    }
}
