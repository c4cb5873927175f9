/// A card's unique identifier, as it is read: most significant byte first for ISO 15693, transmission order otherwise.
///
/// It is no credential: every identifier can be copied. Its text for people (``description``) does not show it; use
/// ``hex`` or ``text(as:)`` where it is wanted.
public struct CardUID: Sendable, Hashable {
    /// The bytes: 4, 7 or 10 for ISO 14443 A, 4 for B, 8 for FeliCa and ISO 15693.
    public var bytes: [UInt8]

    /// The radio technology, which decides what the bytes mean.
    public var technology: Technology?

    /// An identifier.
    public init(_ bytes: [UInt8], technology: Technology?) {
        self.bytes = bytes
        self.technology = technology
    }

    /// An identifier as a reader answered it to `FF CA 00 00 00`.
    ///
    /// An ISO 15693 identifier begins with E0. Most readers give it so; some give it in transmission order, which ends
    /// with E0 and is turned round here.
    public init(readerBytes: [UInt8], technology: Technology?) {
        let isReversed =
            technology == .iso15693 && readerBytes.count == 8 && readerBytes.first != 0xE0 && readerBytes.last == 0xE0
        self.init(isReversed ? readerBytes.reversed() : readerBytes, technology: technology)
    }

    /// Whether a card of the technology has so many bytes: 4, 7 or 10 for ISO 14443 A, 4 for B or 8 for its older memory
    /// cards, 8 for FeliCa and ISO 15693; any of these where the technology is not known.
    public var hasKnownLength: Bool {
        switch technology {
        case .iso14443a: [4, 7, 10].contains(bytes.count)
        case .iso14443b: [4, 8].contains(bytes.count)
        case .felica, .iso15693: bytes.count == 8
        case nil: Self.lengths.contains(bytes.count)
        }
    }

    /// The most bytes that ``init(text:technology:)`` takes. The longest identifier of a standard has 10.
    public static let longestText = 16

    /// Reads hexadecimal text of 1...16 bytes, of either case, with `:`, `-` or spaces between bytes or without, and
    /// with or without `0x` before it.
    ///
    /// - Throws: ``UIDError`` with `notHexadecimal`, `empty` or `tooLong`.
    public init(text: some StringProtocol, technology: Technology? = nil) throws(UIDError) {
        let prefix = text.hasPrefix("0x") || text.hasPrefix("0X") ? 2 : 0
        let bytes: [UInt8]
        do {
            bytes = try Hex.decode(text.dropFirst(prefix))
        } catch {
            throw UIDError(
                .notHexadecimal,
                offset: prefix + error.offset,
                message: "could not read the identifier: \(error)"
            )
        }
        guard !bytes.isEmpty else {
            throw UIDError(.empty, offset: text.utf8.count, message: "could not read the identifier: it has no bytes")
        }
        guard bytes.count <= Self.longestText else {
            throw UIDError(
                .tooLong,
                offset: text.utf8.count,
                message: "could not read the identifier: it has \(bytes.count) bytes, more than \(Self.longestText)"
            )
        }
        self.init(bytes, technology: technology)
    }
}

extension CardUID: CustomStringConvertible, CustomDebugStringConvertible {
    /// Its length and kind, without the identifier itself, so that logs and error texts do not show it.
    public var description: String {
        "\(kind.rawValue) UID of \(bytes.count) \(bytes.count == 1 ? "byte" : "bytes")"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

// MARK: - The card at hand

extension CardUID {
    /// The identifier that the facts of a card tell: from anticollision (type A), polling (FeliCa), or the PUPI of type B.
    package init?(facts: CardFacts) {
        guard let bytes = ["uid", "idm", "pupi"].lazy.compactMap({ facts[$0] }).first(where: { !$0.isEmpty }) else {
            return nil
        }
        self.init(readerBytes: bytes, facts: facts)
    }

    private init(readerBytes: [UInt8], facts: CardFacts) {
        let technology = facts.technology ?? facts.standingATR.flatMap { try? ATR($0) }?.technology
        self.init(readerBytes: readerBytes, technology: technology)
    }

    /// The lengths that identifiers have: ISO 14443 A 4, 7 and 10 bytes, B 4 or 8, FeliCa and ISO 15693 8.
    package static let lengths = [4, 7, 8, 10]

    /// An identifier as the reader answered it to GET DATA `FF CA 00 00 00`; `nil` if the answer holds none.
    ///
    /// PC/SC part 3 (section 3.2.2.1.3): status `6282` means that the end was reached before the length asked for, and the
    /// data are whole. With any other warning they are not to be relied on.
    fileprivate init?(answer: ResponseAPDU, facts: CardFacts) {
        guard answer.isSuccess || answer.statusWord == .endReached else { return nil }
        self.init(readerBytes: answer.data, facts: facts)
    }
}

extension CardChannel {
    /// The identifier of the card, as its facts tell it, else as the reader answers it to `FF CA 00 00 00`; `nil` if
    /// neither does.
    ///
    /// A random identifier is one too: ``CardUID/kind-swift.property`` tells what it is worth.
    ///
    /// - Throws: ``ReaderError`` if the link to the card fails.
    package func identifier() throws(ReaderError) -> CardUID? {
        guard let uid = try anyIdentifier(), uid.hasKnownLength else { return nil }
        return uid
    }

    /// The same, also one of a length that no card has, for who reports that.
    package func anyIdentifier() throws(ReaderError) -> CardUID? {
        if let uid = CardUID(facts: facts) { return uid }
        guard capabilities.hasPseudoAPDUs else {
            return (facts["uid"] ?? facts["idm"] ?? facts["pupi"]).map { CardUID($0, technology: facts.technology) }
        }
        do throws(ReaderError) {
            return CardUID(answer: try send(.getUID), facts: facts)
        } catch {
            // A way to cards without a reader that answers this.
            if error.kind == .unsupported { return nil }
            throw error
        }
    }
}
