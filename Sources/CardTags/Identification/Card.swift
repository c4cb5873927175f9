import CardCore

/// What is known of a card, and how surely.
///
/// No answer of a card proves what it is: identifiers, versions and ATRs can be copied by chips that are made for it.
/// ``certainty`` describes how much the answers agree on, not that they are true. Its JSON has the properties as keys.
public struct Card: Sendable, Hashable, Encodable {
    /// The product, or the closest that is known of it.
    public var product: CardProduct

    /// How surely it is that product.
    public var certainty: Certainty

    /// The findings and their sources, in the order in which they were found.
    public var evidence: [Evidence] = []

    /// Whether its NDEF and memory are anybody's business.
    public var use = Use.general

    /// The kind of NFC Forum tag, or `nil` where it is none or not known.
    public var tagType: TagType?

    /// The radio technology, or `nil` where it is not known.
    public var technology: Technology?

    /// How surely a product is known.
    public enum Certainty: String, Sendable, Hashable, Encodable, CaseIterable, Comparable {
        /// Nothing distinguishes it from others.
        case possible
        /// What was found is usual for the product and for few others, or comes from the reader's own table.
        case likely
        /// The card itself named the product, and nothing that was found speaks against it. A copy can do so too.
        case certain

        /// The less sure before the surer.
        public static func < (a: Certainty, b: Certainty) -> Bool { a != b && (a == .possible || b == .certain) }
    }

    /// What a card is for.
    public enum Use: String, Sendable, Hashable, Encodable, CaseIterable {
        /// Anything: a club may have handed it out.
        case general
        /// A phone or a watch: it has passes for those who know how to ask, and no memory of its own.
        case phone
        /// A payment card, recognised and left alone: no further command is sent.
        case payment
        /// A passport, an identity card or the like, recognised and left alone: no further command is sent.
        case identityDocument

        /// Whether nothing more is to be asked of the card.
        public var isLeftAlone: Bool { self == .payment || self == .identityDocument }
    }

    /// One thing that was found.
    public struct Evidence: Sendable, Hashable, Encodable {
        /// Where it comes from.
        public var source: Source

        /// A description for people; it never contains an identifier.
        public var finding: String
    }

    /// Where something that was found comes from. The raw values are what JSON shows.
    public enum Source: String, Sendable, Hashable, Encodable, CaseIterable {
        /// The answer to reset that the reader reported or built.
        case atr
        /// ATQA and SAK of anticollision.
        case anticollision
        /// The form and the maker's code of the identifier.
        case uid
        /// The historical bytes, from ATS or by `FF CA 01 00`.
        case historicalBytes
        /// The card's GET VERSION.
        case version
        /// The capability container of a tag.
        case capabilityContainer
        /// Which pages or blocks can be read.
        case memory
        /// The answer to a SELECT.
        case application
        /// Topaz: header ROM bytes of RID.
        case headerROM
        /// FeliCa: the IC code in PMm.
        case pmm
        /// ISO 15693: the answer to GET SYSTEM INFORMATION.
        case systemInformation
    }
}

extension Card: CustomStringConvertible {
    /// One line, as `NTAG213 (144 bytes), certain`.
    public var description: String { "\(product), \(certainty.rawValue)" }
}
