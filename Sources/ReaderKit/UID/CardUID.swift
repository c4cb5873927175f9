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
